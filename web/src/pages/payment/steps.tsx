// A payment's steps from the transfer to the node, live; or why it is held, and what happens next.
import type { LedgerError, Payment } from '@node-ledger/client'
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react'
import { useCover, useTiers } from '../../ledger.ts'
import { Block } from '../../ui/explorer.tsx'
import { Address, Amount, Hash, Time } from '../../ui/facts.tsx'
import { useStepTitle } from '../../ui/page.tsx'
import { Failed, limitInWords, Waiting } from '../../ui/states.tsx'
import { fill, rich } from '../../words/message.ts'
import { words } from '../../words/payment.ts'
import { noteOver } from './intent.ts'
import { NotSeen } from './not-seen.tsx'
import { isNoPayment, isOver, usePaymentsIn } from './reading.ts'
import { Stopped } from './stopped.tsx'
import { Success } from './success.tsx'

const STOPPED: readonly Payment['status'][] = ['held', 'refunded', 'dismissed']
const STEPS = ['seen', 'checked', 'minting', 'minted'] as const
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

interface StepsProps {
  txHash: string
  payer?: string | undefined
  /** What the connected wallet can do with the new node. */
  ofNode?: (nodeId: string) => ReactNode
}

/** Follows the payments of a transaction until all are final. A contract may make several in one: the payer's come first. */
export function PaymentSteps({ txHash, payer, ofNode }: StepsProps) {
  const reading = usePaymentsIn(txHash)
  const [since] = useState(Date.now)
  const isDone = isOver(reading.data ?? [])
  const sawUndone = useRef(false)
  if (reading.data && !isDone) sawUndone.current = true
  useEffect(() => {
    if (isDone) noteOver(txHash)
  }, [isDone, txHash])
  if (isNoPayment(reading.error)) return <Failed error={notAPayment(reading.error)} />
  const payments = [...(reading.data ?? [])].sort((a, b) => Number(b.from === payer) - Number(a.from === payer))
  const [first] = payments
  const state = reading.isPending ? null : words.said[first ? first.status : reading.isError ? 'unchecked' : 'none']
  return (
    <div className="payment">
      <Announcement said={state} />
      <p className="note">{rich(words.transfer, { hash: <Hash of={txHash} /> })}</p>
      {reading.isError && (
        <p className="notice warn" role="alert">
          {limitInWords(reading.error) ?? words.cannotAsk} {words.goesOn}
        </p>
      )}
      {reading.isPending && <Waiting lines={4} />}
      {reading.isSuccess && payments.length === 0 && (
        <>
          <Way payment={null} />
          <NotSeen txHash={txHash} payer={payer} since={since} asked={reading.dataUpdatedAt} />
        </>
      )}
      {payments.map((payment, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the payments of a transaction keep their order
        <Fragment key={index}>
          {payments.length > 1 && (
            <p>
              {rich(words.one, {
                at: index + 1,
                all: payments.length,
                amount: <Amount wei={payment.valueWei} />,
                payer: <Address of={payment.from} />,
              })}
            </p>
          )}
          {payment.status === 'minted' && payment.nodeId ? (
            <Success payment={payment} nodeId={payment.nodeId} justCame={sawUndone.current}>
              {payment.from === payer && ofNode?.(payment.nodeId)}
            </Success>
          ) : STOPPED.includes(payment.status) ? (
            <Stopped payment={payment} />
          ) : (
            <Way payment={payment} />
          )}
          {payment.assurance && <p className="note">{words.assurance[restsOn(payment, payment.assurance)]}</p>}
        </Fragment>
      ))}
    </div>
  )
}

/** With several providers, the service does not judge what only one shows. */
const restsOn = ({ status }: Payment, assurance: NonNullable<Payment['assurance']>) =>
  status === 'seen' && assurance === 'believed' ? 'waits' : assurance

/** Announces each step to screen readers, and in the document's title. */
function Announcement({ said }: { said: string | null }) {
  useStepTitle(said)
  return (
    <p role="status" className="visually-hidden">
      {said}
    </p>
  )
}

function Way({ payment }: { payment: Payment | null }) {
  const done = payment ? DONE[payment.status] : 0
  // The newest block that the service has read.
  const { data: cover } = useCover()
  const isSoldOut = useTiers().data?.some(({ soldOut }) => soldOut) ?? false
  const confirmations = Math.max(0, (cover?.blockNumber ?? 0) - (payment?.blockNumber ?? Number.POSITIVE_INFINITY) + 1)
  return (
    <>
      <ol className="way">
        {STEPS.map((step, index) => {
          const state = index < done ? 'done' : index === done ? 'now' : 'later'
          return (
            <li key={step} className={state} aria-current={state === 'now' ? 'step' : undefined}>
              <span>{words.steps[step]}</span>
              <span className="note">{noteFor(index, state, payment, { confirmations, isSoldOut })}</span>
            </li>
          )
        })}
      </ol>
      {payment?.status === 'orphaned' && <p className="notice warn">{words.orphaned}</p>}
    </>
  )
}

function noteFor(
  step: number,
  state: 'done' | 'now' | 'later',
  payment: Payment | null,
  { confirmations, isSoldOut }: { confirmations: number; isSoldOut: boolean },
): ReactNode {
  if (step === 0) {
    if (state !== 'done') return words.notes.waiting
    const block = <Block of={payment?.blockNumber ?? null} />
    return confirmations > 0 ? rich(words.notes.inBlock, { n: confirmations, block }) : block
  }
  if (step === 1 && state === 'now') return words.notes.checks
  if (step === 2 && state === 'now')
    return words.notes[payment?.status === 'minting' ? 'sent' : isSoldOut ? 'soldOut' : 'nextRun']
  if (step === 3 && state === 'done') return <Time at={payment?.updatedAt ?? null} />
  return null
}

function notAPayment(error: LedgerError): Error {
  return new Error(fill(words.notAPayment, { why: error.message }))
}
