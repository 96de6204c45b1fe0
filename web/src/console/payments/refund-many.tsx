// Refunds several payments in one transaction of the operator's own wallet. First it prepares all refunds, then the wallet sends, then it records
// each refund.
import { type FormEvent, useState } from 'react'
import { count, plainEther } from '../../format.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Mark } from '../../ui/facts.tsx'
import { Failed } from '../../ui/states.tsx'
import { type Did, type Shape, useAct } from '../admin.ts'
import { etherAndWei } from '../amounts.ts'
import { SafeFile } from '../safe-file.tsx'

/** The outcome of a step for a payment. */
interface Outcome {
  payment: Shape<'Payment'>
  /** True if the step succeeded. For a prepared refund, true if it may be sent. */
  isWell: boolean
  says: string
}

interface RefundManyProps {
  payments: readonly Shape<'Payment'>[]
  close: () => void
}

type Prepared = Did<'payments/refunds/prepare'>
type Recorded = Did<'payments/{payment}/refund'>

/** Runs a step for each payment, one after the other. If a step is refused, the next ones still run. */
async function forEach(
  payments: readonly Shape<'Payment'>[],
  step: (payment: Shape<'Payment'>) => Promise<Omit<Outcome, 'payment'>>,
) {
  const outcomes: Outcome[] = []
  for (const payment of payments) {
    const failureOf = (error: unknown) => ({
      isWell: false,
      says: error instanceof Error ? error.message : String(error),
    })
    outcomes.push({ payment, ...(await step(payment).catch(failureOf)) })
  }
  return outcomes
}

export function RefundMany({ payments, close }: RefundManyProps) {
  const prepare = useAct<Prepared>()
  const record = useAct<Recorded>()
  const [finalOutcomes, setFinalOutcomes] = useState<readonly Outcome[] | null>(null)
  const [isBusy, setBusy] = useState(false)
  // The file of a second answer replaces that of the first, so it pays the same and more.
  const [isAgain, setAgain] = useState(false)
  const preparation = prepare.data
  const outcomes = preparation && payments.map((payment) => outcomeOf(payment, preparation, isAgain))
  const ready = (outcomes ?? []).filter(({ isWell }) => isWell).map(({ payment }) => payment)
  const recordAll = async (refundTxHash: string) => {
    setBusy(true)
    const recordings = await forEach(ready, async ({ id }) => {
      const { alarm } = await record.mutateAsync({ path: `payments/${id}/refund`, body: { refundTxHash } })
      return alarm ? { isWell: false, says: `Recorded, but it contradicts the chain: ${alarm}.` } : RECORDED
    })
    setFinalOutcomes(recordings)
    setBusy(false)
  }
  if (finalOutcomes) return <Ended outcomes={finalOutcomes} close={close} />
  return (
    <div className="stack">
      <p>
        From now on the service signs no mint for these {count(payments.length, 'payment')}. It sends nothing: you
        refund them with one transaction from a wallet of your own, and enter its hash.
      </p>
      {outcomes && <Outcomes of={outcomes} well="may be sent" ill="not yet" />}
      {prepare.error && <Failed error={prepare.error} />}
      <div className="buttons">
        <button
          type="button"
          className="button"
          disabled={prepare.isPending || isBusy}
          onClick={() => {
            const again = preparation !== undefined
            setAgain(again)
            const body = { payments: payments.map(({ id }) => id), again }
            prepare.mutate({ path: 'payments/refunds/prepare', body })
          }}
        >
          {prepare.isPending ? 'Working…' : preparation ? 'Ask again' : 'Prepare the refunds'}
        </button>
      </div>
      {preparation && ready.length > 0 && (
        <Send payments={ready} prepared={preparation} isBusy={isBusy} record={recordAll} />
      )}
    </div>
  )
}

/** The outcome of preparing a payment's refund. What an earlier file pays is left out, unless the operator asks again. */
function outcomeOf(payment: Shape<'Payment'>, { results }: Prepared, isAgain: boolean): Outcome {
  const { refusal, prepared } = results.find((one) => one.payment === String(payment.id)) ?? {}
  const isFiled = !isAgain && prepared?.fileMadeAt !== null
  return {
    payment,
    isWell: prepared?.sendNow === true && !isFiled,
    says: refusal ?? prepared?.says ?? 'The service gave no answer for it.',
  }
}

const RECORDED = { isWell: true, says: 'Found on chain.' }

function Ended({ outcomes, close }: { outcomes: readonly Outcome[]; close: () => void }) {
  return (
    <div className="stack">
      <p role="status">{outcomes.filter(({ isWell }) => isWell).length} recorded.</p>
      <Outcomes of={outcomes} well="recorded" ill="view it" />
      <div className="buttons">
        <button type="button" className="button quiet" onClick={close}>
          Done
        </button>
      </div>
    </div>
  )
}

interface SendProps {
  payments: readonly Shape<'Payment'>[]
  prepared: Prepared
  isBusy: boolean
  record: (txHash: string) => void
}

/** What the transaction has to pay, and the field for its hash. */
function Send({ payments, prepared: { safeBatch, sendNowWei }, isBusy, record }: SendProps) {
  const rows = payments.map(({ from, valueWei }) => `${from ?? ''},${plainEther(valueWei)}`)
  const unknown = payments.filter(({ from }) => from === null)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    record(String(new FormData(event.currentTarget).get('refundTxHash')).trim())
  }
  return (
    <form className="stack" onSubmit={submit}>
      <p>
        Pay {etherAndWei(sendNowWei)} in all, the exact amount to each payer. For a wallet that sends several together,
        copy the recipients and amounts{' '}
        <CopyButton text={`receiver,amount\n${rows.join('\n')}`} what="recipients and amounts" />. For a Safe, save the
        file for its Transaction Builder.
      </p>
      {unknown.length > 0 && (
        <p className="notice warn">
          {count(unknown.length, 'payment has', 'payments have')} no proven payer, so the file leaves them out: only you
          can know whom to pay back.
        </p>
      )}
      {safeBatch && (
        <div className="buttons">
          <SafeFile safeBatch={safeBatch} name="refunds-safe.json" />
        </div>
      )}
      <div className="field">
        <label htmlFor="many-refund">Hash of the transaction</label>
        <input id="many-refund" name="refundTxHash" required placeholder="0x…" autoComplete="off" spellCheck="false" />
      </div>
      <div className="buttons">
        <button type="submit" className="button main" disabled={isBusy}>
          {isBusy ? 'Working…' : `Record ${count(payments.length, 'refund')}`}
        </button>
      </div>
    </form>
  )
}

function Outcomes({ of, well, ill }: { of: readonly Outcome[]; well: string; ill: string }) {
  return (
    <ul className="changes">
      {of.map(({ payment, isWell, says }) => (
        <li key={payment.id}>
          {etherAndWei(payment.valueWei)}: <Mark tone={isWell ? 'good' : 'warn'}>{isWell ? well : ill}</Mark> {says}
        </li>
      ))}
    </ul>
  )
}
