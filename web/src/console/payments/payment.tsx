// One payment with its evidence and the open decisions. Expanded in the list, and on its own page so that an alert can link to it.
import { Link } from 'wouter'
import { checksummed, ether, short } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { nearestTier } from '../../nearest.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Address, Hash, Mark, Time } from '../../ui/facts.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Shown } from '../../ui/states.tsx'
import { type PaymentFacts, type Shape, useAdmin } from '../admin.ts'
import { difference, etherAndWei } from '../amounts.ts'
import { Aligned } from '../exact.tsx'
import { useHeading } from '../heading.ts'
import { Heads } from '../lines.tsx'
import { Pairs } from '../record.tsx'
import { asText, inWords } from '../values.ts'
import { Decide } from './decide.tsx'
import { Evidence } from './evidence.tsx'
import type { Tiers } from './sentences.ts'
import { TONES } from './states.ts'

/** States of a payment that is on chain and has no node, so the operator may refund it. */
const UNDECIDED = new Set(['seen', 'accepted', 'minting', 'held', 'dismissed'])

/** A payment's name in a path: its transaction, unless that has several payments. */
const nameOf = ({ innerIndex, txHash, id }: PaymentFacts) => (innerIndex === 0 && txHash ? txHash : String(id))

/** True if a payment has stopped. A reason stays on record after a payment continues. */
const isStopped = (status: string) => status === 'held' || status === 'ignored'

/** The headings of payments' lines. */
export const HEADS = <Heads of={['Amount', 'Payer', 'Tier', 'Reason', 'Age']} figures={['Amount']} />

/** A payment on one line, in these columns. */
export function PaymentLine({ payment }: RowProps) {
  const { valueWei, from, tierId, reason } = payment
  const tiers = useTiers().data ?? []
  const tier = tiers.find(({ id }) => id === tierId)
  const near = reason === 'wrongAmount' ? nearestTier(valueWei, tiers) : null
  return (
    <>
      <Aligned wei={valueWei} />
      <span>
        {from === null ? (
          'not known'
        ) : (
          <code translate="no" className="hex" title={checksummed(from)}>
            {short(checksummed(from))}
          </code>
        )}
      </span>
      {near && tierId === null ? (
        <span className="note">
          {difference(valueWei, near.priceWei)} than {near.label}
        </span>
      ) : (
        <span>{tier?.label ?? tierId ?? <span className="none">–</span>}</span>
      )}
      <span>
        <State payment={payment} />
      </span>
      <Age payment={payment} />
    </>
  )
}

const State = ({ payment: { status, reason } }: RowProps) => (
  <Mark tone={TONES[status]}>{inWords((isStopped(status) && reason) || status)}</Mark>
)

const Age = ({ payment: { blockTime, blockNumber } }: RowProps) => (
  <span className="note" title={blockNumber === null ? undefined : `block ${blockNumber.toLocaleString()}`}>
    <Time at={new Date(blockTime)} />
    {blockNumber === null && ', in no block now'}
  </span>
)

interface RowProps {
  payment: PaymentFacts
}

/** The page of a payment, or of the several payments in one transaction. */
export function PaymentPage({ name }: { name: string }) {
  const reading = useAdmin('payments/{payment}', { payment: name })
  const ids = reading.data?.payments.map(({ id }) => id) ?? []
  const title = ids.length === 0 ? 'Payment' : `${ids.length === 1 ? 'Payment' : 'Payments'} ${ids.join(', ')}`
  useHeading(title)
  return (
    <Section title={title} aside={<Link href="/console/payments">All payments</Link>}>
      <Shown reading={reading} lines={6}>
        {({ payments }) => (
          <ul className="rows">
            {payments.map((payment) => (
              <li key={payment.id} className="stack">
                <p className="buttons">
                  <strong className="price" title={`${payment.valueWei} wei`}>
                    {ether(payment.valueWei)} ETH
                  </strong>
                  <State payment={payment} />
                  <Age payment={payment} />
                </p>
                <PaymentDetail payment={payment} isPage />
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </Section>
  )
}

/** True if the bar of the chosen payments has the same decisions: it has no steps of a refund, and attributes nothing. */
const isInBar = ({ reason, from }: PaymentFacts) => reason !== 'refunding' && from !== null

interface DetailProps extends RowProps {
  /** True on its own page, which has the amount and the address already. */
  isPage?: boolean
  /** True if the bar of the chosen payments decides about it. */
  isChosen?: boolean
}

/** What is known of a payment, and the open decisions. */
export function PaymentDetail({ payment, isPage = false, isChosen = false }: DetailProps) {
  const name = nameOf(payment)
  const full = useAdmin('payments/{payment}', { payment: name })
  const tiers = useTiers().data ?? []
  const path = `/console/payments/${name}`
  return (
    <div className="stack detail">
      <Facts
        of={{
          Amount: isPage ? undefined : <code translate="no">{etherAndWei(payment.valueWei)}</code>,
          From: <Address of={payment.from} />,
          Transaction: <Hash of={payment.txHash} />,
          Tier: tiers.find(({ id }) => id === payment.tierId)?.label ?? payment.tierId ?? undefined,
          Node:
            payment.nodeId === null ? undefined : <Link href={`/node/${payment.nodeId}`}>Node {payment.nodeId}</Link>,
          ...(!isPage && {
            'Buyer’s page': (
              <span className="nowrap">
                <Link href={path}>Payment {payment.id}</Link>
                <CopyButton text={new URL(path, location.href).href} what="link to this payment" />
              </span>
            ),
          }),
        }}
      />
      <Shown reading={full} lines={3}>
        {({ payments }) =>
          payments
            .filter(({ id }) => id === payment.id)
            .map(({ id, verdicts, parts, traceShows }) => (
              <div key={id} className="stack">
                <Verdicts of={verdicts.toReversed()} tiers={tiers} />
                <MadeOf parts={parts} laterTransfers={traceShows ?? []} />
              </div>
            ))
        }
      </Shown>
      {!(isChosen && isInBar(payment)) && UNDECIDED.has(payment.status) && <Decide payment={payment} name={name} />}
    </div>
  )
}

/** The newest verdict; the earlier ones at a press. */
function Verdicts({ of: [newest, ...earlier], tiers }: { of: readonly Shape<'PastVerdict'>[]; tiers: Tiers }) {
  const shown = (verdict: Shape<'PastVerdict'>) => (
    <Evidence key={`${verdict.decidedAt.toISOString()} ${verdict.verdict}`} verdict={verdict} tiers={tiers} />
  )
  return (
    <>
      {newest && shown(newest)}
      {earlier.length > 0 && (
        <details>
          <summary>Earlier ({earlier.length})</summary>
          <div className="stack after">{earlier.map(shown)}</div>
        </details>
      )}
    </>
  )
}

/** The parts taken out of a residue, and how a later trace explains it. */
function MadeOf({ parts, laterTransfers }: { parts: readonly object[]; laterTransfers: readonly object[] }) {
  const transfers = [
    ...parts.map((part) => ['Attributed parts', part] as const),
    ...laterTransfers.map((transfer) => ['A later trace shows', transfer] as const),
  ]
  return transfers.map(([says, transfer]) => (
    <div key={`${says} ${asText(transfer)}`} className="evidence">
      <p>
        <strong>{says}</strong>
      </p>
      <Pairs of={{ ...transfer }} />
    </div>
  ))
}
