// What the ledger would make of a wallet's payment, asked before anything is paid: a tick, a cross, or "could not be checked" for each rule.
import type { CanBuy, Tier } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { checksummed, ether, short } from '../../format.ts'
import { ledger, notBefore, queries } from '../../ledger.ts'
import { Amount } from '../../ui/facts.tsx'
import { limitInWords, Waiting } from '../../ui/states.tsx'

/** As often as somebody who looks at it would notice a difference. */
const EVERY_MS = 5_000

export type Check = CanBuy['checks'][number]

const asked = (address: string, tierId: string) => ({
  queryKey: ['can-buy', address, tierId],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    ledger.canBuy(address, tierId, { signal, fresh: true, attempts: 1 }),
})

/** The checks for a wallet; `undefined`: for no wallet, none. */
export const usePreflight = (address: string | undefined, tierId: string) =>
  useQuery({
    ...asked(address ?? '', tierId),
    enabled: address !== undefined,
    refetchInterval: notBefore(() => EVERY_MS),
  })

/** The checks as of now, just before a wallet is asked; null where they could not be made. */
export async function checkNow(address: string, tierId: string): Promise<CanBuy | null> {
  try {
    return await queries.fetchQuery({ ...asked(address, tierId), staleTime: 0 })
  } catch {
    return null
  }
}

/** What keeps a wallet from buying. The operator's look is apart: it costs time, and the buyer may agree to it. */
export function obstaclesIn(checks: readonly Check[] = []): { blocking: Check[]; isReviewed: boolean } {
  const failed = checks.filter(({ passes }) => passes === false)
  return {
    blocking: failed.filter(({ check }) => check !== 'review'),
    isReviewed: failed.some(({ check }) => check === 'review'),
  }
}

interface PreflightProps {
  address: string
  tier: Tier
}

/** The checks for one wallet. */
export function Preflight({ address, tier }: PreflightProps) {
  const { data, error } = usePreflight(address, tier.id)
  if (error && !data)
    return (
      <p className="notice warn" role="status">
        {limitInWords(error)} The checks could not be made just now. What does not pass is held, not lost.
      </p>
    )
  if (!data) return <Waiting lines={6} />
  return (
    <div className="stack">
      <p>
        For <code title={checksummed(address)}>{short(checksummed(address))}</code>, as of now:
      </p>
      <ul className="ticks">
        {data.checks.map((check) => (
          <li key={check.check} className={SIGNS[String(check.passes)]}>
            <span className="visually-hidden">{SAID[String(check.passes)]}: </span>
            <span>{sentenceOf(check, tier)}</span>
          </li>
        ))}
      </ul>
      <p className="note">
        What counts is the block of your transfer. What does not pass there is held, not lost: the operator releases it
        or sends it back.
      </p>
    </div>
  )
}

const SIGNS: Readonly<Record<string, string>> = { true: 'passes', false: 'fails', null: 'unknown-tick' }
const SAID: Readonly<Record<string, string>> = { true: 'Passes', false: 'Does not pass', null: 'Could not be checked' }

/** A check in a sentence with its numbers. */
export function sentenceOf(check: Check, tier: Tier): ReactNode {
  switch (check.check) {
    case 'onSale':
      return check.passes ? `${tier.label} is on sale.` : `${tier.label} is not on sale at present.`
    case 'allowance':
      return `You have ${check.owned} of the ${check.limit} nodes of this tier that a wallet may have${underWay(check)}.`
    case 'cap':
      if (check.limit === null) return 'How many nodes in all the contract allows a wallet could not be read.'
      return `You have ${check.owned} of the ${check.limit} nodes in all that the contract allows a wallet${underWay(check)}.`
    case 'holding':
      return <Holding check={check} />
    case 'ether':
      return <Ether check={check} />
    case 'review':
      if (check.passes === null) return 'Whether the operator would look at this payment first could not be checked.'
      return check.passes
        ? 'The node comes by itself: no person has to look at the payment.'
        : 'The operator would look at this payment first: it would be held until then.'
  }
}

const underWay = ({ underWay }: { underWay: number }) => (underWay > 0 ? `, and ${underWay} under way` : '')

function Holding({ check }: { check: Extract<Check, { check: 'holding' }> }) {
  if (check.requiredWei === 0n) return 'No token has to be held.'
  const amount = (wei: bigint) => ether(wei, check.decimals ?? 18)
  const required = `${amount(check.requiredWei)} ${check.symbol ?? 'tokens'}`
  if (check.heldWei === null) return `It asks for ${required}; what you hold could not be read.`
  return `You hold ${amount(check.heldWei)} of the ${required} that it asks for.`
}

function Ether({ check: { requiredWei, balanceWei } }: { check: Extract<Check, { check: 'ether' }> }) {
  if (requiredWei === null || balanceWei === null) return 'Your ether for price and gas could not be read.'
  return (
    <>
      You have <Amount wei={balanceWei} plain />; price and gas take <Amount wei={requiredWei} plain />.
    </>
  )
}
