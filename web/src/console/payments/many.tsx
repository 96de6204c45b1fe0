// Decides several held payments at once. First previews what would happen to each, then shows what happened.
import { type FormEvent, type ReactNode, useState } from 'react'
import { count, ether, shortEther } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { nearestTier } from '../../nearest.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Mark } from '../../ui/facts.tsx'
import { Failed } from '../../ui/states.tsx'
import { Beyond } from '../act.tsx'
import { type Did, lacking, type Payment, useAct } from '../admin.ts'
import { etherAndWei } from '../amounts.ts'
import { RefundMany } from './refund-many.tsx'
import type { Tiers } from './sentences.ts'

interface DecideManyProps {
  /** The selected payments. */
  payments: readonly Payment[]
  choose: (payments: readonly Payment[]) => void
}

type Decision = 'release' | 'dismiss'

/** The bar above the list while payments are selected, and its dialog. */
export function DecideMany({ payments, choose }: DecideManyProps) {
  const [request, setRequest] = useState<{ decision: Decision | 'refund'; payments: readonly Payment[] } | null>(null)
  const lacks = lacking('payments/decide')
  const sumWei = payments.reduce((sum, { valueWei }) => sum + valueWei, 0n)
  const close = () => {
    setRequest(null)
    choose([])
  }
  return (
    <>
      {payments.length > 0 && (
        <div className="notice chosen">
          <span role="status" title={`${sumWei} wei`}>
            {count(payments.length, 'payment')} chosen, {shortEther(sumWei)} ETH
          </span>
          {DECISIONS.map((decision) => (
            <button
              key={decision}
              type="button"
              className="button"
              disabled={lacks !== null}
              onClick={() => setRequest({ decision, payments })}
            >
              {LABELS[decision]} chosen
              <Beyond lacks={lacks} />
            </button>
          ))}
        </div>
      )}
      <Dialog open={request !== null} onClose={() => setRequest(null)} title={TITLES[request?.decision ?? 'release']}>
        {request?.decision === 'refund' && <RefundMany payments={request.payments} close={close} />}
        {request && request.decision !== 'refund' && (
          <ManyForm decision={request.decision} payments={request.payments} close={close} />
        )}
      </Dialog>
    </>
  )
}

const DECISIONS = ['release', 'refund', 'dismiss'] as const
const LABELS = { release: 'Release', dismiss: 'Dismiss', refund: 'Refund' } as const
const TITLES = { release: 'Release payments', dismiss: 'Dismiss payments', refund: 'Refund payments' } as const

const EFFECT: Record<Decision, string> = {
  release: 'The next pass mints a node to the payer of each, despite the verdict of the rules. You cannot undo this.',
  dismiss: 'None of them gets a node or a refund. This is final.',
}

interface ManyFormProps {
  decision: Decision
  payments: readonly Payment[]
  close: () => void
}

function ManyForm({ decision, payments, close }: ManyFormProps) {
  const act = useAct<Did<'payments/decide'>>()
  const tiers = useTiers().data ?? []
  const [preview, setPreview] = useState<{ body: object; result: Did<'payments/decide'> } | null>(null)
  const withoutTier = decision === 'release' ? payments.filter(({ tierId }) => tierId === null) : []
  const decide = (body: object, dryRun: boolean) => {
    const names = payments.map(({ id }) => String(id))
    act.mutate(
      { path: 'payments/decide', body: { decision, payments: names, ...body, dryRun } },
      { onSuccess: (result) => setPreview({ body, result }) },
    )
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const entries = [...new FormData(event.currentTarget)].filter(([, text]) => text !== '')
    decide(Object.fromEntries(entries), true)
  }
  if (preview) {
    return (
      <Previewed
        {...{ decision, payments, close }}
        result={preview.result}
        act={act}
        again={() => decide(preview.body, false)}
        back={() => setPreview(null)}
      />
    )
  }
  return (
    <form className="stack" onSubmit={submit}>
      <p>{EFFECT[decision]}</p>
      {withoutTier.length > 0 && <TierFor payments={withoutTier} tiers={tiers} />}
      <Field label="Reason, for the audit log" name="reason">
        <input
          id="many-reason"
          name="reason"
          required={withoutTier.length > 0}
          placeholder={withoutTier.length > 0 ? 'why other amounts buy it' : 'may be left out'}
          autoComplete="off"
        />
      </Field>
      {act.error && <Failed error={act.error} />}
      <button type="submit" className="button main" disabled={act.isPending}>
        {act.isPending ? 'Working…' : 'Preview'}
      </button>
    </form>
  )
}

interface PreviewedProps extends ManyFormProps {
  result: Did<'payments/decide'>
  act: { isPending: boolean; error: Error | null }
  again: () => void
  back: () => void
}

/** What would happen to each payment, with the button that does it. Afterwards, what happened to each. */
function Previewed({ decision, payments, close, result, act, again, back }: PreviewedProps) {
  const { dryRun, decided } = result
  return (
    <div className="stack">
      <Results of={result} payments={payments} />
      {act.error && <Failed error={act.error} />}
      <div className="buttons">
        {dryRun && decided > 0 && (
          <button
            type="button"
            className={decision === 'dismiss' ? 'button danger' : 'button main'}
            disabled={act.isPending}
            onClick={again}
          >
            {act.isPending ? 'Working…' : `${decision === 'dismiss' ? 'Dismiss' : 'Release'} ${decided}`}
          </button>
        )}
        <button type="button" className="button quiet" onClick={dryRun ? back : close}>
          {dryRun ? 'Back' : 'Done'}
        </button>
      </div>
    </div>
  )
}

function Field({ label, name, children }: { label: string; name: string; children: ReactNode }) {
  return (
    <div className="field">
      <label htmlFor={`many-${name}`}>{label}</label>
      {children}
    </div>
  )
}

/** The tier for payments whose amount matches no tier: the tier nearest to the first payment, unless the operator picks another. */
function TierFor({ payments, tiers }: { payments: readonly Payment[]; tiers: Tiers }) {
  const [tierId, setTierId] = useState(nearestTier(payments[0]?.valueWei ?? 0n, tiers)?.id ?? '')
  const tier = tiers.find(({ id }) => id === tierId)
  const other = payments.filter(({ valueWei }) => valueWei !== tier?.priceWei)
  return (
    <>
      <Field label="Tier for payments that match no price" name="tier">
        <select
          id="many-tier"
          name="tierId"
          required
          value={tierId}
          onChange={(event) => setTierId(event.target.value)}
        >
          {tiers.map(({ id, label, priceWei }) => (
            <option key={id} value={id}>
              {label}, {ether(priceWei)} ETH
            </option>
          ))}
        </select>
      </Field>
      {tier && other.length > 0 && (
        <p className="notice warn" role="status">
          {count(other.length, 'payment does', 'payments do')} not match the price of {tier.label}.
        </p>
      )}
    </>
  )
}

function Results({ of: { dryRun, decided, results }, payments }: ResultsProps) {
  const refusals = results.length - decided
  return (
    <div className="stack">
      <p role="status">
        {dryRun ? `${decided} would be decided` : `${decided} decided`}
        {refusals > 0 && `, ${refusals} ${dryRun ? 'would be rejected' : 'rejected'}`}.
      </p>
      <ul className="changes">
        {results.map(({ payment, status, tierId, refusal }) => (
          <li key={payment}>
            {amountOf(payment, payments)}:{' '}
            {refusal === null ? (
              <Mark tone="good">{status === 'accepted' ? `accepted as ${tierId}` : status}</Mark>
            ) : (
              <>
                <Mark tone="warn">refused</Mark> {refusal}
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

interface ResultsProps {
  of: Did<'payments/decide'>
  payments: readonly Payment[]
}

function amountOf(name: string, payments: readonly Payment[]): string {
  const payment = payments.find(({ id }) => String(id) === name)
  return payment ? etherAndWei(payment.valueWei) : `number ${name}`
}
