// The list of payments, held ones oldest first. Its filter is in the page's address, so people can link to it.
import { useState } from 'react'
import { useParams, useSearchParams } from 'wouter'
import { ether } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { ActButton } from '../act.tsx'
import { type Read, type Shape, useAdmin } from '../admin.ts'
import { Menu } from '../menu.tsx'
import { Choice, Pager, usePages } from '../pager.tsx'
import { SafeFile } from '../safe-file.tsx'
import { inWords } from '../values.ts'
import { DecideMany } from './many.tsx'
import { HEADS, PaymentDetail, PaymentLine, PaymentPage } from './payment.tsx'
import { Search } from './search.tsx'
import { reasonsOf, STATES } from './states.ts'

/** The section: one payment if the address names it, else the list. */
export function Payments() {
  const { item } = useParams<{ item?: string }>()
  return item ? <PaymentPage name={item} /> : <List />
}

/** The filter in the page's address; held payments if the address has no filter. */
function useFilter() {
  const [search, setSearch] = useSearchParams()
  const filter = Object.fromEntries(
    ['status', 'reason', 'tierId', 'from'].flatMap((name) => {
      const text = search.get(name) ?? (name === 'status' ? 'held' : '')
      return text === '' || text === 'any' ? [] : [[name, text]]
    }),
  ) as { status?: string; reason?: string; tierId?: string; from?: string }
  const set = (name: string, text: string) =>
    setSearch((before) => {
      const after = new URLSearchParams(before)
      // A reason belongs to one state.
      if (name === 'status') after.delete('reason')
      if (text === '') after.delete(name)
      else after.set(name, text)
      return after
    })
  return { filter, set }
}

function List() {
  const { filter, set } = useFilter()
  const { page, place } = usePages('payments', filter)
  const [selection, setSelection] = useState<ReadonlySet<number>>(new Set())
  const choose = (name: string) => (text: string) => {
    set(name, text)
    setSelection(new Set())
    place.go(null)
  }
  const mayChoose = filter.status === 'held'
  return (
    <Section title="Payments" aside={<OfMany />}>
      <div className="stack">
        <div className="bar">
          <Filters filter={filter} choose={choose} />
          <Search from={filter.from ?? ''} choose={choose('from')} />
        </div>
        <Shown reading={page} lines={6}>
          {({ payments, nextCursor }) => (
            <>
              {payments.length === 0 && <Empty title={isOnlyHeld(filter) ? 'Nothing is held.' : 'None of these.'} />}
              {mayChoose ? (
                <DecideMany
                  listed={payments}
                  chosen={payments.filter(({ id }) => selection.has(id))}
                  choose={(those) => setSelection(new Set(those.map(({ id }) => id)))}
                />
              ) : (
                payments.length > 0 && <div className="headed">{HEADS}</div>
              )}
              <ul className="rows lined">
                {inOrder(payments, filter.status).map((payment) => {
                  const choose = mayChoose && isOpen(payment) ? () => setSelection(toggle(selection, payment.id)) : null
                  return <PaymentRow key={payment.id} {...{ payment, choose }} isChosen={selection.has(payment.id)} />
                })}
              </ul>
              <Pager place={place} next={nextCursor} />
            </>
          )}
        </Shown>
      </div>
    </Section>
  )
}

/** True if a payment can be decided together with others: only held ones can. If a decision does not fit a payment, the preview shows that. */
const isOpen = ({ status }: Shape<'Payment'>) => status === 'held'
/** The set with `id` added or removed. */
function toggle(selection: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const others = [...selection].filter((one) => one !== id)
  return new Set(others.length < selection.size ? others : [...selection, id])
}
const isOnlyHeld = ({ status, ...others }: Record<string, string>) =>
  status === 'held' && Object.keys(others).length === 0

/** Sorts payments that wait for a decision, oldest first. */
const inOrder = (payments: readonly Shape<'Payment'>[], status: string | undefined): readonly Shape<'Payment'>[] =>
  status === 'held' ? payments.toReversed() : payments

interface FiltersProps {
  filter: { status?: string; reason?: string; tierId?: string }
  choose: (name: string) => (text: string) => void
}

function Filters({ filter: { status, reason, tierId }, choose }: FiltersProps) {
  const counts = useAdmin('payments/counts').data
  const tiers = useTiers().data ?? []
  const reasons = reasonsOf(status)
  return (
    <div className="filters">
      <Choice
        label="State"
        value={status ?? 'any'}
        choices={[
          ...STATES.map((state) => [state, withCount(counts, state, state)] as const),
          ['any', 'any state'] as const,
        ]}
        choose={choose('status')}
      />
      {reasons.length > 0 && (
        <Choice
          label="Reason"
          value={reason ?? ''}
          choices={[
            ['', 'any reason'],
            ...reasons.map((one) => [one, withCount(counts, inWords(one), 'held', one)] as const),
          ]}
          choose={choose('reason')}
        />
      )}
      <Choice
        label="Tier"
        value={tierId ?? ''}
        choices={[['', 'any tier'], ...tiers.map(({ id, label }) => [id, label] as const)]}
        choose={choose('tierId')}
      />
    </div>
  )
}

/** A choice, with the number of its payments that wait for the operator. */
function withCount(counts: Read<'payments/counts'> | undefined, text: string, status: string, reason?: string): string {
  const rows = counts?.open.filter((row) => row.status === status && (reason === undefined || row.reason === reason))
  const count = rows?.reduce((sum, row) => sum + row.count, 0) ?? 0
  if (!counts || count === 0) return text
  return `${text} (${count.toLocaleString()}${count >= counts.atMost ? ' or more' : ''})`
}

interface RowProps {
  payment: Shape<'Payment'>
  isChosen: boolean
  /** Selects the payment; null if it cannot be decided together with others. */
  choose: (() => void) | null
}

function PaymentRow({ payment, isChosen, choose }: RowProps) {
  const [open, setOpen] = useState(false)
  return (
    <li className={choose ? 'choosable' : undefined}>
      {choose && (
        <input
          type="checkbox"
          checked={isChosen}
          onChange={choose}
          aria-label={`Choose payment ${payment.id} of ${ether(payment.valueWei)} ETH`}
        />
      )}
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <PaymentLine payment={payment} />
        </summary>
        {open && <PaymentDetail payment={payment} isChosen={isChosen} />}
      </details>
    </li>
  )
}

/** What the operator can do with all payments of a kind. */
const OfMany = () => (
  <Menu label="More actions">
    <RefundAll />
    <DismissDust />
  </Menu>
)

function RefundAll() {
  return (
    <ActButton
      label="Refund all of a reason"
      act="payments/refunds/prepare-all"
      says="Holds every payment of that reason for its refund, and makes the files with which a Safe pays them. First preview their sum, then enter it. Send each file once, then record the refunds."
      more={{ dryRun: { value: 'true' } }}
      did={({ says, safeBatches }) => (
        <div className="stack">
          <p>{says}</p>
          {safeBatches.map((safeBatch, place) => (
            <SafeFile key={safeBatch.meta.checksum} safeBatch={safeBatch} name={`refunds-safe-${place + 1}.json`} />
          ))}
        </div>
      )}
    />
  )
}

function DismissDust() {
  return (
    <ActButton
      danger
      tries
      label="Dismiss dust"
      act="payments/dismiss"
      says="Dismisses every held payment below an amount that you enter."
    />
  )
}
