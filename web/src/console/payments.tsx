// Held payments, the oldest first, with their evidence, and the decisions that are open.
import { useState } from 'react'
import { ether } from '../format.ts'
import { useTiers } from '../ledger.ts'
import { Address, Amount, Hash, Mark, Time, type Tone } from '../ui/facts.tsx'
import { Section } from '../ui/page.tsx'
import { Empty, Shown } from '../ui/states.tsx'
import { ActButton } from './act.tsx'
import { type PastVerdict, type Payment, useAdmin } from './admin.ts'
import { Choice, Pager, usePages } from './pager.tsx'

const STATES = [
  'held',
  'seen',
  'accepted',
  'minting',
  'minted',
  'refunded',
  'dismissed',
  'orphaned',
  'ignored',
] as const

export function Payments() {
  const [status, setStatus] = useState<string>('held')
  const { page, place } = usePages('payments', { status })
  return (
    <Section
      title="Payments"
      aside={
        <div className="buttons">
          <Choice
            label="State"
            value={status}
            choices={STATES.map((state) => [state, state])}
            choose={(state) => {
              setStatus(state)
              place.go(null)
            }}
          />
          <DismissDust />
        </div>
      }
    >
      <Shown reading={page} lines={6}>
        {({ payments, nextCursor }) => (
          <>
            {payments.length === 0 ? (
              <Empty title={status === 'held' ? 'Nothing is held.' : 'None in this state.'} />
            ) : (
              <ul className="rows">
                {inOrder(payments, status).map((payment) => (
                  <PaymentRow key={payment.id} payment={payment} />
                ))}
              </ul>
            )}
            <Pager place={place} next={nextCursor} />
          </>
        )}
      </Shown>
    </Section>
  )
}

/** Sorts payments that wait for a decision: the oldest first. */
function inOrder(payments: readonly Payment[], status: string): readonly Payment[] {
  return status === 'held' ? payments.toReversed() : payments
}

const TONES: Record<string, Tone> = {
  minted: 'good',
  held: 'warn',
  refunded: 'calm',
  dismissed: 'calm',
  orphaned: 'bad',
}

function PaymentRow({ payment }: { payment: Payment }) {
  const [open, setOpen] = useState(false)
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Amount wei={payment.valueWei} plain />
          <span>
            <Mark tone={TONES[payment.status] ?? 'calm'}>{payment.reason ?? payment.status}</Mark>
          </span>
          <span className="note">
            <Time at={new Date(payment.blockTime)} />,{' '}
            {payment.blockNumber === null ? 'in no block now' : `block ${payment.blockNumber.toLocaleString('en-US')}`}
          </span>
        </summary>
        {open && <PaymentDetail payment={payment} />}
      </details>
    </li>
  )
}

/** Without a node, and on the chain: what the operator may refund. */
const UNDECIDED = new Set(['seen', 'accepted', 'minting', 'held', 'dismissed'])

function PaymentDetail({ payment }: { payment: Payment }) {
  const name = payment.innerIndex === 0 && payment.txHash ? payment.txHash : String(payment.id)
  const full = useAdmin('payments/{payment}', { payment: name })
  return (
    <div className="stack detail">
      <dl className="facts">
        <dt>From</dt>
        <dd>
          <Address of={payment.from} />
        </dd>
        <dt>Transaction</dt>
        <dd>
          <Hash of={payment.txHash} />
        </dd>
        <dt>Tier</dt>
        <dd>{payment.tierId ?? <span className="none">none</span>}</dd>
      </dl>
      <Shown reading={full} lines={3}>
        {({ payments }) => (
          <>
            {payments
              .filter(({ id }) => id === payment.id)
              .flatMap(({ verdicts }) => verdicts)
              .map((verdict) => (
                <Evidence key={`${verdict.decidedAt.toISOString()} ${verdict.verdict}`} verdict={verdict} />
              ))}
          </>
        )}
      </Shown>
      {UNDECIDED.has(payment.status) && <Decide payment={payment} name={name} />}
    </div>
  )
}

function Evidence({ verdict }: { verdict: PastVerdict }) {
  return (
    <div className="evidence">
      <p>
        <strong>{verdict.reason ?? verdict.verdict}</strong> by {verdict.decidedBy}, <Time at={verdict.decidedAt} />
        {verdict.withdrawnAt && (
          <>
            , withdrawn by {verdict.withdrawnBy}, <Time at={verdict.withdrawnAt} />
          </>
        )}
      </p>
      <Pairs of={verdict.evidence} />
    </div>
  )
}

/** A record as it was written down, field by field. */
export function Pairs({ of }: { of: Record<string, unknown> }) {
  return (
    <dl className="facts">
      {Object.entries(of).map(([name, value]) => (
        <div key={name} className="pair">
          <dt>{name}</dt>
          <dd>
            <code>{shown(value)}</code>
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Any value of a row of evidence, as text. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'object')
    return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? inner.toString() : inner))
  return String(value)
}

function Decide({ payment, name }: { payment: Payment; name: string }) {
  const isRefunding = payment.reason === 'refunding'
  return (
    <div className="buttons">
      {payment.status === 'held' && !isRefunding && <Accept payment={payment} name={name} />}
      <Refund payment={payment} name={name} />
      {payment.status === 'held' && !isRefunding && (
        <ActButton
          danger
          label="Dismiss"
          act="payments/{payment}/dismiss"
          params={{ payment: name }}
          says={`No node comes of these ${ether(payment.valueWei)} ETH, and nothing is sent back. It cannot be taken back.`}
          did={() => 'Dismissed.'}
        />
      )}
    </div>
  )
}

/** The two steps of a refund, and the way back from the first. */
function Refund({ payment, name }: { payment: Payment; name: string }) {
  const isRefunding = payment.reason === 'refunding'
  const amount = `${ether(payment.valueWei)} ETH`
  return (
    <>
      <ActButton
        label={isRefunding ? 'May it be sent?' : 'Prepare a refund'}
        act="payments/{payment}/refund/prepare"
        params={{ payment: name }}
        says={`No mint is signed for this payment from now on. One that was signed before may yet be carried out: the answer says until when. Send the ${amount} only once it says so.`}
        did={({ says }) => shown(says)}
      />
      {isRefunding && (
        <ActButton
          label="Give the refund up"
          act="payments/{payment}/refund/cancel"
          params={{ payment: name }}
          says="The payment stands as it did before its refund was prepared, or is judged again. Only if you have sent nothing."
          did={({ status, reason }) => `It is ${shown(status)}${reason ? ` (${shown(reason)})` : ''}.`}
        />
      )}
      <ActButton
        label="Record a refund"
        act="payments/{payment}/refund"
        params={{ payment: name }}
        says={`First prepare the refund, and send ${amount} back to ${payment.from ?? 'the payer'} with a wallet of your own once the answer says so. Then name that transaction here: it is looked up on chain, its recipient and its amount are checked, and no node will come of the payment.`}
        fields={[{ name: 'refundTxHash', label: 'Hash of the refund', required: true, placeholder: '0x…' }]}
        did={({ alarm }) =>
          alarm
            ? `Recorded, but it contradicts the chain: ${shown(alarm)}. See the runbook.`
            : 'Found on chain and recorded.'
        }
      />
    </>
  )
}

/** The act that releases a held payment. */
function Accept({ payment, name }: { payment: Payment; name: string }) {
  const tiers = useTiers()
  const choices = (tiers.data ?? []).map(({ id, label, priceWei }) => [id, `${label}, ${ether(priceWei)} ETH`] as const)
  const asksTier = payment.reason === 'wrongAmount' || payment.tierId === null
  const amount = `${ether(payment.valueWei)} ETH`
  // It is minted once its wallet has room; until then the contract would pass over it, and a release is refused.
  if (payment.reason === 'walletLimit') return <p>Minted as soon as its wallet has room for one more node.</p>
  return (
    <>
      {payment.from === null ? (
        <ActButton
          main
          label="Attribute"
          act="payments/{payment}/attribute"
          params={{ payment: name }}
          says={`Name the transaction by which these ${amount} came, as an explorer shows it among its internal ones. The provider’s trace of it has to show who sent them; to that sender the payment can then be released.`}
          fields={[{ name: 'txHash', label: 'Hash of the transaction', required: true, placeholder: '0x…' }]}
          did={({ from }) => `It came from ${shown(from)}. Now it can be released.`}
        />
      ) : (
        <ActButton
          main
          label="Release"
          act="payments/{payment}/release"
          params={{ payment: name }}
          says={`The next pass mints a node to ${payment.from} for these ${amount}, despite the verdict of the rules. It cannot be taken back.`}
          fields={asksTier ? [{ name: 'tierId', label: 'Tier', required: true, choices }] : []}
          did={() => 'Released. The next pass mints the node.'}
        />
      )}
    </>
  )
}

function DismissDust() {
  return (
    <ActButton
      danger
      label="Dismiss dust"
      act="payments/dismiss"
      says="Dismisses every held payment of less than an amount that you name. First see how many there are and what they come to."
      fields={[
        { name: 'belowWei', label: 'Of less than, in wei', required: true, placeholder: '1000000000000' },
        {
          name: 'dryRun',
          label: 'What to do',
          value: 'true',
          choices: [
            ['true', 'only count them'],
            ['false', 'dismiss them'],
          ],
          read: (text) => text === 'true',
        },
      ]}
      did={({ dryRun, count, sumWei, remaining }) => {
        const found = `${count}, ${ether(sumWei)} ETH in all`
        return dryRun ? `There are ${found}.` : `Dismissed ${found}; ${remaining} left.`
      }}
    />
  )
}
