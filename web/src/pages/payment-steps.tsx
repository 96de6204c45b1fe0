// A payment's way from the transfer to the node, live; or why it is held, and what happens next.
import { LedgerError, type Payment } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { count } from '../format.ts'
import { ledger, useCover } from '../ledger.ts'
import { Amount, Hash, Time } from '../ui/facts.tsx'
import { Failed } from '../ui/states.tsx'

/** Claims are limited to twenty a minute and address. */
const EVERY_MS = 3_500
/** A held payment waits for a person, or for room in its wallet. */
const HELD_EVERY_MS = 15_000
const STOPPED: readonly Payment['status'][] = ['held', 'refunded', 'dismissed']
const FINAL: readonly Payment['status'][] = ['minted', 'refunded', 'dismissed']
const STEPS = ['Seen in a block', 'Checked', 'Being minted', 'Minted'] as const
/** The number of steps done in each state. */
const DONE: Record<Payment['status'], number> = {
  orphaned: 0,
  seen: 1,
  accepted: 2,
  minting: 2,
  minted: 4,
  held: 1,
  refunded: 1,
  dismissed: 1,
}

type Seen = { payment: Payment | null }

/** Follows the payment until nothing more can come of it. */
export function PaymentSteps({ txHash }: { txHash: string }) {
  const reading = useQuery({
    queryKey: ['payment', txHash],
    queryFn: ({ signal }) => look(txHash, signal),
    refetchInterval: ({ state }) => !isRefused(state.error) && untilAskedAgain(state.data?.payment ?? null),
    gcTime: 0,
  })
  if (isRefused(reading.error)) return <Failed error={notAPayment(reading.error)} />
  const payment = reading.data?.payment ?? null
  return (
    <div className="payment" aria-live="polite">
      <p className="note">
        Transfer <Hash of={txHash} />
        {reading.isError && ' · the service cannot be reached just now; this page keeps asking'}
      </p>
      {payment && STOPPED.includes(payment.status) ? <Stopped payment={payment} /> : <Way payment={payment} />}
    </div>
  )
}

/** Milliseconds; false: never again. */
function untilAskedAgain(payment: Payment | null): number | false {
  if (payment && FINAL.includes(payment.status)) return false
  return payment?.status === 'held' ? HELD_EVERY_MS : EVERY_MS
}

function Way({ payment }: { payment: Payment | null }) {
  const done = payment ? DONE[payment.status] : 0
  // The newest block the service has looked at.
  const { data: cover } = useCover()
  const confirmations = Math.max(0, (cover?.blockNumber ?? 0) - (payment?.blockNumber ?? Number.POSITIVE_INFINITY) + 1)
  return (
    <>
      <ol className="way">
        {STEPS.map((step, index) => {
          const state = index < done ? 'done' : index === done ? 'now' : 'later'
          return (
            <li key={step} className={state} aria-current={state === 'now' ? 'step' : undefined}>
              <span>{step}</span>
              <span className="note">{noteFor(index, state, payment, confirmations)}</span>
            </li>
          )
        })}
      </ol>
      {payment?.status === 'minted' && (
        <div className="notice good">
          <p>Node {payment.nodeId} is yours.</p>
          <Link href={`/node/${payment.nodeId}`} className="button">
            See the node
          </Link>
        </div>
      )}
      {payment?.status === 'orphaned' && (
        <p className="notice warn">
          The chain took the block of this transfer back. It counts again as soon as it is in another one.
        </p>
      )}
    </>
  )
}

function noteFor(
  step: number,
  state: 'done' | 'now' | 'later',
  payment: Payment | null,
  confirmations: number,
): ReactNode {
  if (step === 0) {
    if (state !== 'done') return 'waiting for the next block'
    const block = `block ${payment?.blockNumber?.toLocaleString('en-US') ?? '?'}`
    return confirmations > 0 ? `${block}, ${count(confirmations, 'confirmation')}` : block
  }
  if (step === 1 && state === 'now') return 'amount, tier, allowance, holding'
  if (step === 2 && state === 'now')
    return payment?.status === 'minting' ? 'sent to the contract' : 'with the next run, in seconds'
  if (step === 3 && state === 'done') return <Time at={payment?.updatedAt ?? null} />
  return null
}

/** Every reason in plain words, and what happens next. */
const HELD: Record<NonNullable<Payment['reason']>, string> = {
  wrongAmount: 'The amount is no tier’s exact price.',
  saleClosed: 'The tier was not on sale when the transfer was made.',
  tierAllowance: 'The wallet already holds, or has under way, as many nodes of this tier as one wallet may.',
  holding:
    'The wallet did not hold the tokens this tier asks for at the block of the transfer, or that could not be read.',
  walletLimit:
    'The wallet holds as many nodes as the contract allows. Once one is moved away, this node is minted by itself.',
  senderDenied: 'Transfers from this sender are looked at by a person, as is usual for exchanges.',
  unattributed: 'The ether came by a call inside another transaction, so that its sender is not certain.',
  contractWallet:
    'A contract sent the ether, a Safe or another smart account. Sign in with that wallet: where the operator sells to proven wallets, your node comes by itself. Else the operator makes sure that it is yours.',
  mintReverted: 'The contract refused the mint.',
  oldWallet:
    'It went to a wallet that is no longer the one for payments. The operator decides about it, or sends the ether back.',
  mintedElsewhere: 'Another wallet was given the node of this payment. The operator sends the ether back.',
  recheck:
    'The ledger was restored from a backup; the operator makes sure that this payment has not been dealt with before.',
  refunding: 'The operator is about to send the ether back.',
}

function Stopped({ payment }: { payment: Payment }) {
  if (payment.status === 'refunded') return <p className="notice good">The operator has sent the ether back.</p>
  if (payment.status === 'dismissed')
    return <p className="notice warn">The operator has closed this payment without a node.</p>
  return (
    <div className="notice warn held">
      <p>
        <strong>Held.</strong> {payment.reason ? HELD[payment.reason] : 'The operator looks at it.'}
      </p>
      <p>
        Nothing is lost: <Amount wei={payment.valueWei} /> lies in the payments wallet.{' '}
        {payment.reason === 'walletLimit'
          ? 'No one has to decide anything; ask the operator if you want the ether back instead.'
          : 'The operator decides whether it becomes a node or is sent back.'}{' '}
        Keep the hash; this page shows what becomes of it.
      </p>
    </div>
  )
}

async function look(txHash: string, signal: AbortSignal): Promise<Seen> {
  try {
    return { payment: await ledger.claimPayment(txHash, { signal, attempts: 1 }) }
  } catch (error) {
    // Not in a block yet.
    if (error instanceof LedgerError && error.status === 409) return { payment: null }
    throw error
  }
}

function isRefused(error: Error | null): error is LedgerError {
  return error instanceof LedgerError && error.status === 400
}

function notAPayment(error: LedgerError): Error {
  return new Error(`No node comes of this transaction by itself. ${error.message}`)
}
