// A payment's steps from the transfer to the node, live; or why it is held, and what happens next.
import type { LedgerError, Payment, Tier } from '@node-ledger/client'
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react'
import { useCover, useTiers } from '../../ledger.ts'
import { useSite } from '../../site.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Block, InExplorer } from '../../ui/explorer.tsx'
import { Address, Amount, Hash } from '../../ui/facts.tsx'
import { useStepTitle } from '../../ui/page.tsx'
import { limitInWords, Waiting } from '../../ui/states.tsx'
import { fill, rich } from '../../words/message.ts'
import { words } from '../../words/payment.ts'
import { ui } from '../../words/ui.ts'
import { noteOver, readIntent } from './intent.ts'
import { LATE_MS, NotSeen } from './not-seen.tsx'
import { usePace } from './pace.ts'
import { isNoPayment, isOver, usePaymentsIn } from './reading.ts'
import { useReplacement } from './replaced.ts'
import { contactAbout, KeepPage, Stopped } from './stopped.tsx'
import { Success } from './success.tsx'
import './payment.css'

const STOPPED: readonly Payment['status'][] = ['held', 'refunded', 'dismissed']
const STEPS = ['seen', 'checked', 'minting', 'minted'] as const
/** How many steps are done in each state. */
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

export interface StepsProps {
  txHash: string
  payer?: string | undefined
  /** True if the page is about this transaction alone, so that its state is the page's heading. */
  isPage?: boolean
  /** What the page calls it, if it also follows other transactions. */
  name?: string | undefined
  /** Called with the states of its payments, whenever one changes. */
  onState?: (states: readonly Payment['status'][]) => void
  /** What the connected wallet can do with the new node. */
  ofNode?: ((nodeId: string) => ReactNode) | undefined
}

/** Follows the payments of a transaction until all are final. A contract may make several payments in one transaction; the payer's own come first. */
export function PaymentSteps(props: StepsProps) {
  const [by, setBy] = useState<Payment | null>(null)
  // The page no longer asks for a transaction that was replaced.
  if (by === null) return <Steps {...props} onReplaced={setBy} />
  return (
    <>
      <p className="notice">{rich(words.notSeen.replaced, { hash: <Hash of={by.txHash} /> })}</p>
      <PaymentSteps {...props} txHash={by.txHash} />
    </>
  )
}

interface OwnStepsProps extends StepsProps {
  /** Called with the payment that took the place of the transaction. */
  onReplaced: (by: Payment) => void
}

function Steps({ txHash, payer, isPage = false, name, onState, ofNode, onReplaced }: OwnStepsProps) {
  const reading = usePaymentsIn(txHash)
  const [since] = useState(Date.now)
  const isDone = isOver(reading.data ?? [])
  const sawUndone = useRef(false)
  if (reading.data && !isDone) sawUndone.current = true
  // The intent is deleted once the payment is final.
  const [isSentHere] = useState(() => readIntent()?.sent.includes(txHash) ?? false)
  useEffect(() => {
    if (isDone) noteOver(txHash)
  }, [isDone, txHash])
  useReport(reading.data, onState)
  const payments = [...(reading.data ?? [])].sort((a, b) => Number(b.from === payer) - Number(a.from === payer))
  const [first] = payments
  const isMissing = reading.isSuccess && payments.length === 0
  const replacement = useReplacement(isMissing ? txHash : null, payer, since)
  const certain = replacement?.isCertain ? replacement.payment : null
  useEffect(() => {
    if (certain) onReplaced(certain)
  }, [certain, onReplaced])
  const Heading = headingOf(isPage)
  if (isNoPayment(reading.error)) return <NoPayment {...{ Heading, txHash }} error={reading.error} />
  const state = reading.isPending ? null : words.said[stateOf(first, reading.isError)]
  const isOneOfSeveral = name !== undefined || payments.length > 1
  return (
    <div className="payment">
      <Announcement state={state} />
      {name && first && STOPPED.includes(first.status) && <p className="note">{name}</p>}
      {!first && <Unseen {...{ Heading, txHash, payer, isMissing, name }} isPending={reading.isPending} />}
      {reading.isError && <CannotAsk error={reading.error} />}
      {isMissing && <NotSeen {...{ txHash, payer, since }} other={replacement} polledAt={reading.dataUpdatedAt} />}
      {payments.map((payment, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the payments of a transaction keep their order
        <Fragment key={index}>
          {payments.length > 1 && <Nth payment={payment} at={index + 1} all={payments.length} />}
          <Standing
            Heading={headingOf(isPage && index === 0)}
            payment={payment}
            isYours={isSentHere || payment.from === payer}
            justCame={sawUndone.current}
            isOneOfSeveral={isOneOfSeveral}
            name={name}
            ofNode={payment.from === payer ? ofNode : undefined}
          />
        </Fragment>
      ))}
      {name === undefined && (
        <End
          txHash={txHash}
          payments={payments}
          isKnown={first !== undefined || payer !== undefined}
          isLate={reading.dataUpdatedAt - since >= LATE_MS}
        />
      )}
    </div>
  )
}

/** Reports the states of the payments whenever one changes. */
function useReport(payments: readonly Payment[] = [], onState: StepsProps['onState']): void {
  const states = payments.map(({ status }) => status).join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the states alone are news
  useEffect(() => {
    if (states) onState?.(states.split(' ') as Payment['status'][])
  }, [states])
}

const stateOf = (payment: Payment | undefined, isError: boolean) => payment?.status ?? (isError ? 'unchecked' : 'none')

/** True if this browser, or the wallet here, has sent the transaction. */
const isOwn = (txHash: string, payer: string | undefined) =>
  payer !== undefined || (readIntent()?.sent.includes(txHash) ?? false)

/** The state of a transaction that is in no block. */
const missing = (txHash: string, payer: string | undefined) => (isOwn(txHash, payer) ? 'none' : 'unknown')

/** What this browser has sent, until a block has it. */
function useExpected(txHash: string): PaidProps | null {
  const intent = readIntent()
  const tier = useTiers().data?.find(({ id }) => id === intent?.tierId)
  return intent?.sent.includes(txHash) ? { wei: BigInt(intent.priceWei), tier, from: intent.payer } : null
}

interface UnseenProps {
  Heading: 'h1' | 'h2'
  txHash: string
  payer: string | undefined
  isPending: boolean
  isMissing: boolean
  name: string | undefined
}

/** A transaction whose payments the page does not know yet. One of several has its steps from the start, so that nothing jumps. */
function Unseen({ Heading, txHash, payer, isPending, isMissing, name }: UnseenProps) {
  const state = words.heads[isMissing ? missing(txHash, payer) : 'unread']
  return (
    <Course {...{ Heading, state, txHash, name }} paid={useExpected(txHash)}>
      {(name || (isMissing && isOwn(txHash, payer))) && <Way payment={null} isShort={name !== undefined} />}
      {isPending && !name && <Waiting lines={4} />}
    </Course>
  )
}

/** The state of a page's own payment is the page's heading. */
const headingOf = (isPage: boolean) => (isPage ? 'h1' : 'h2')

const Nth = ({ payment: { valueWei, from }, at, all }: { payment: Payment; at: number; all: number }) => (
  <p>{rich(words.one, { at, all, amount: <Amount wei={valueWei} />, payer: <Address of={from} /> })}</p>
)

interface StandingProps extends Pick<StepsProps, 'ofNode' | 'name'> {
  Heading: 'h1' | 'h2'
  payment: Payment
  isYours: boolean
  justCame: boolean
  isOneOfSeveral: boolean
}

/** The state of a payment: what happened in a heading, then its node, why it stopped, or its steps. */
function Standing({ Heading, payment, isYours, justCame, isOneOfSeveral, name, ofNode }: StandingProps) {
  const { status, nodeId, valueWei, tierId, from } = payment
  const isRefunding = status === 'held' && payment.reason === 'refunding'
  const tier = useTiers().data?.find(({ id }) => id === tierId)
  if (status === 'minted' && nodeId)
    return (
      <>
        <Success {...{ Heading, payment, nodeId, isYours, justCame, isOneOfSeveral }}>{ofNode?.(nodeId)}</Success>
        <RestsOn payment={payment} />
      </>
    )
  const state = words.heads[isRefunding ? 'refunding' : status]
  if (STOPPED.includes(status))
    return (
      <>
        <header>
          <Heading tabIndex={-1}>{state}</Heading>
          {status === 'refunded' && <Paid wei={valueWei} tier={tier} from={from} />}
        </header>
        <Stopped payment={payment} />
        {status === 'held' && <RestsOn payment={payment} />}
      </>
    )
  return (
    <Course {...{ Heading, state, name }} txHash={payment.txHash} paid={{ wei: valueWei, tier, from }}>
      {status === 'orphaned' && <p className="notice warn">{words.orphaned}</p>}
      <Way payment={payment} isShort={name !== undefined} />
      {payment.assurance !== 'linked' && <RestsOn payment={payment} />}
    </Course>
  )
}

interface CourseProps {
  Heading: 'h1' | 'h2'
  state: string
  txHash: string
  name: string | undefined
  paid: PaidProps | null
  children: ReactNode
}

/** A payment on its way. One of several has its name, hash and amount in one line. */
const Course = ({ Heading, state, txHash, name, paid, children }: CourseProps) => (
  <>
    <header>
      <Heading tabIndex={-1}>{name ?? state}</Heading>
      {name && <Hash of={txHash} />}
      {paid && (name ? <Amount wei={paid.wei} plain exact /> : <Paid {...paid} />)}
    </header>
    {children}
  </>
)

interface PaidProps {
  wei: bigint
  tier: Tier | undefined
  from: string | null
}

/** Who paid how much, and for which tier. */
const Paid = ({ wei, tier, from }: PaidProps) => (
  <p className="note">
    <Amount wei={wei} /> {tier && `· ${tier.label}`}{' '}
    {from && <>· {rich(words.from, { payer: <Address of={from} /> })}</>}
  </p>
)

/**
 * What a payment rests on. One provider is what most services have, and no news, unless the payment waits for a second. Nothing vouches for a transfer
 * in no block.
 */
function RestsOn({ payment: { status, assurance } }: { payment: Payment }) {
  if (!assurance || status === 'orphaned' || (assurance === 'believed' && status !== 'seen')) return null
  // If the service has several providers, it decides nothing about a payment that only one of them shows.
  return <p className="note">{words.assurance[assurance === 'believed' ? 'waits' : assurance]}</p>
}

/** The transaction's hash. */
const Transaction = ({ txHash }: { txHash: string }) => (
  <p className="whole note">
    {words.transaction}{' '}
    <InExplorer kind="tx" id={txHash}>
      <code translate="no">{txHash}</code>
    </InExplorer>{' '}
    <CopyButton text={txHash} what={ui.copy.transaction} />
  </p>
)

const ON_ITS_WAY: readonly string[] = ['seen', 'accepted', 'minting'] satisfies Payment['status'][]

interface EndProps {
  txHash: string
  payments: readonly Payment[]
  /** True if it is in a block, or was sent here. The hash may otherwise be wrong, and is in a field. */
  isKnown: boolean
  isLate: boolean
}

/** Whom to ask about a transfer, the link to this page, and the hash, which leads to the explorer. The receipt of a node has all of it. */
function End({ txHash, payments, isKnown, isLate }: EndProps) {
  const { contact } = useSite()
  if (payments.length > 0 && payments.every(({ status }) => status === 'minted'))
    return payments.length > 1 && <Transaction txHash={txHash} />
  // There is nothing to ask about a transfer that has just arrived.
  const isOnItsWay = payments.every(({ status }) => ON_ITS_WAY.includes(status))
  const isStopped = payments.some(({ status }) => STOPPED.includes(status))
  return (
    <>
      <p className="buttons">
        {contact !== null && !(isOnItsWay && isKnown && !isLate) && (
          <a href={contactAbout(contact, txHash)} className={isStopped ? 'button main' : 'button'}>
            {words.ask}
          </a>
        )}
        {payments.length > 0 && <KeepPage txHash={txHash} />}
      </p>
      {isKnown && <Transaction txHash={txHash} />}
    </>
  )
}

/** Announces each step to screen readers, and in the document's title. */
function Announcement({ state }: { state: string | null }) {
  useStepTitle(state)
  return (
    <p role="status" className="visually-hidden">
      {state}
    </p>
  )
}

function Way({ payment, isShort }: { payment: Payment | null; isShort: boolean }) {
  const doneCount = payment ? DONE[payment.status] : 0
  // The newest block that the service has read.
  const { data: cover } = useCover()
  const isSoldOut = useTiers().data?.some(({ soldOut }) => soldOut) ?? false
  const pace = usePace()
  const confirmations = Math.max(0, (cover?.blockNumber ?? 0) - (payment?.blockNumber ?? Number.POSITIVE_INFINITY) + 1)
  return (
    <ol className="way">
      {STEPS.map((step, index) => {
        const state = index < doneCount ? 'done' : index === doneCount ? 'now' : 'later'
        return (
          <li key={step} className={state} aria-current={state === 'now' ? 'step' : undefined}>
            <span>{words.steps[step][state === 'done' ? 'done' : 'now']}</span>
            {!isShort && (
              <span className="note">{noteFor(index, state, payment, { confirmations, isSoldOut, pace })}</span>
            )}
          </li>
        )
      })}
    </ol>
  )
}

function noteFor(
  step: number,
  state: 'done' | 'now' | 'later',
  payment: Payment | null,
  { confirmations, isSoldOut, pace }: { confirmations: number; isSoldOut: boolean; pace: number | null },
): ReactNode {
  if (step === 0)
    return state === 'done' ? <InBlock payment={payment} confirmations={confirmations} /> : words.notes.waiting
  if (step === 1 && state !== 'done') return checksOf(state, payment)
  if (step === 2 && state === 'now')
    return words.notes[payment?.status === 'minting' ? 'sent' : isSoldOut ? 'soldOut' : 'nextRun']
  return step === 3 && payment?.status !== 'minting' ? paceInWords(pace) : null
}

/** What is checked, unless it waits for the block. */
function checksOf(state: 'now' | 'later', payment: Payment | null): string {
  if (state === 'later') return words.notes.atOnce
  return payment?.assurance === 'linked' ? words.notes.unconfirmed : words.notes.checks
}

function InBlock({ payment, confirmations }: { payment: Payment | null; confirmations: number }) {
  const block = <Block of={payment?.blockNumber ?? null} />
  return confirmations > 0 && payment?.assurance !== 'linked'
    ? rich(words.notes.inBlock, { n: confirmations, block })
    : block
}

function paceInWords(pace: number | null): string | null {
  if (pace === null) return null
  const { lastTook, lastTookMinutes } = words.notes
  return pace < 120 ? fill(lastTook, { n: pace }) : fill(lastTookMinutes, { n: Math.round(pace / 60) })
}

const CannotAsk = ({ error }: { error: Error }) => (
  <p className="notice warn" role="alert">
    {limitInWords(error) ?? words.cannotAsk} {words.goesOn}
  </p>
)

interface NoPaymentProps {
  Heading: 'h1' | 'h2'
  txHash: string
  error: LedgerError
}

function NoPayment({ Heading, txHash, error }: NoPaymentProps) {
  return (
    <div className="payment">
      <Heading tabIndex={-1}>{words.heads.noPayment}</Heading>
      <p className="notice" role="status">
        {fill(words.notAPayment, { why: error.message })}
      </p>
      <Transaction txHash={txHash} />
    </div>
  )
}
