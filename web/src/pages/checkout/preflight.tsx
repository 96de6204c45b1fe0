// What the ledger would decide about a wallet's payment, shown before the buyer pays. Each rule has a tick, a cross, or "could not be checked".
import type { BuyerCheck, Tier } from '@node-ledger/client'
import type { ReactNode } from 'react'
import { checksummed, ether, everyTime, short } from '../../format.ts'
import { Amount } from '../../ui/facts.tsx'
import { limitInWords, Waiting } from '../../ui/states.tsx'
import { words as checkoutWords } from '../../words/checkout.ts'
import { fill, rich } from '../../words/message.ts'
import { words } from '../../words/paying.ts'
import { isTaken, isUnchecked, usePreflight } from './can-buy.ts'

const t = words.preflight

interface ChecksProps {
  address: string
  tier: Tier
  /** How many transfers the wallet would make. */
  quantity: number
}

/** All checks of a wallet on one line, which expands. */
export function Checks({ address, tier, quantity }: ChecksProps) {
  const { data, error } = usePreflight(address, tier.id, quantity)
  if (error && !data)
    return (
      <p className="notice warn" role="status">
        {limitInWords(error)} {t.unchecked}
      </p>
    )
  if (!data) return <Waiting lines={1} />
  const failures = data.checks.filter(({ passes }) => passes === false).length
  const takenCheck = data.checks.find(isTaken)
  return (
    <>
      {takenCheck && (
        <p className="notice warn" role="status">
          {sentenceOf(takenCheck, tier, quantity)}
        </p>
      )}
      <details className="checked">
        <summary className={SIGNS[String(data.canBuy)]}>
          {failures > 0
            ? fill(t.someFail, { n: failures })
            : data.checks.some(isUnchecked)
              ? t.someUnknown
              : takenCheck
                ? t.taken
                : t.allPass}
        </summary>
        <p>
          {rich(t.forWallet, {
            wallet: (
              <code title={checksummed(address)} translate="no">
                {short(checksummed(address))}
              </code>
            ),
          })}
        </p>
        <ul className="ticks">
          {data.checks.map((check) => (
            <li key={check.check} className={SIGNS[String(check.passes)]}>
              <span className="visually-hidden">{verdictOf(check)}: </span>
              <span>{sentenceOf(check, tier, quantity)}</span>
            </li>
          ))}
        </ul>
        <p className="note">{t.counts}</p>
      </details>
    </>
  )
}

const SIGNS: Readonly<Record<string, string>> = { true: 'passes', false: 'fails', null: 'unknown-tick' }
const verdictOf = (check: BuyerCheck) =>
  isTaken(check) ? t.taken : check.passes === null ? t.unknown : check.passes ? t.passes : t.fails

/** A check as a sentence with its numbers. `n`: how many transfers it is about. */
export function sentenceOf(check: BuyerCheck, tier: Tier, n: number): ReactNode {
  switch (check.check) {
    case 'onSale':
      if (check.passes === null) return t.saleWaits
      return tier.soldOut ? checkoutWords.buy.soldOut : fill(check.passes ? t.onSale : t.offSale, { tier: tier.label })
    case 'opening':
      return check.passes ? t.isOpen : tier.state === 'upcoming' ? opens(tier) : t.closed
    case 'supply':
      return placesIn(check)
    case 'allowlist':
      return allowlistText(check)
    case 'allowance':
      return fill(t.allowance, { owned: check.owned, limit: check.limit, underWay: underWay(check) })
    case 'cap':
      if (check.limit === null) return t.capUnknown
      return fill(t.cap, { owned: check.owned, limit: check.limit, underWay: underWay(check) })
    case 'holding':
      return holdingOf(check)
    case 'ether':
      return etherIn(check, n)
    case 'review':
      if (check.passes === null) return t.reviewUnknown
      return fill(check.passes ? t.noReview : t.review, { n })
  }
}

/** The sentence of a check, as text. */
export const textOf = (check: BuyerCheck, tier: Tier): string =>
  check.check === 'ether' ? t.noEther : String(sentenceOf(check, tier, 1))

const placesIn = (check: Extract<BuyerCheck, { check: 'supply' }>) =>
  fill(isTaken(check) ? t.allTaken : check.passes ? t.left : t.allSold, {
    n: check.limit - check.sold,
    limit: check.limit,
  })
const allowlistText = ({ limit, used }: { limit: number; used: number }) =>
  limit === 0 ? t.notListed : fill(t.listed, { n: limit, used })
const opens = ({ opensAt, opensAfter }: Tier) =>
  opensAfter === null
    ? fill(t.notOpenYet, { at: opensAt ? everyTime(opensAt) : '' })
    : fill(t.waitsForStep, { tier: opensAfter })
const underWay = ({ underWay }: { underWay: number }) => (underWay > 0 ? fill(t.underWay, { n: underWay }) : '')

function holdingOf(check: Extract<BuyerCheck, { check: 'holding' }>): string {
  if (check.requiredWei === 0n) return t.noHolding
  const amount = (wei: bigint) => ether(wei, check.decimals ?? 18)
  const requiredAmount = `${amount(check.requiredWei)} ${check.symbol ?? t.tokens}`
  if (check.heldWei === null) return fill(t.holdingUnknown, { required: requiredAmount })
  return fill(t.holding, { held: amount(check.heldWei), required: requiredAmount })
}

function etherIn({ requiredWei, balanceWei }: Extract<BuyerCheck, { check: 'ether' }>, n: number): ReactNode {
  if (requiredWei === null || balanceWei === null) return t.etherUnknown
  return rich(t.ether, {
    n,
    balance: <Amount wei={balanceWei} plain />,
    required: <Amount wei={requiredWei} plain />,
  })
}
