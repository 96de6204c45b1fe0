// Decides several held payments together. First previews what would happen to each, then shows what happened.
import { useState } from 'react'
import { count, ether, shortEther } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { nearestTier } from '../../nearest.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Mark } from '../../ui/facts.tsx'
import { ActButton, Beyond } from '../act.tsx'
import { type Did, lacking, type Shape } from '../admin.ts'
import { etherAndWei } from '../amounts.ts'
import { HEADS } from './payment.tsx'
import { RefundMany } from './refund-many.tsx'

interface DecideManyProps {
  /** The payments on the page, and the chosen ones. */
  listed: readonly Shape<'Payment'>[]
  chosen: readonly Shape<'Payment'>[]
  choose: (payments: readonly Shape<'Payment'>[]) => void
}

/** The head of the list: its headings, or what to do with the chosen payments. Also the dialog of their refunds. */
export function DecideMany({ listed, chosen, choose }: DecideManyProps) {
  const [refunds, setRefunds] = useState<readonly Shape<'Payment'>[] | null>(null)
  const close = () => {
    setRefunds(null)
    choose([])
  }
  return (
    <>
      {listed.length > 0 && (
        <div className="choosable headed">
          <input
            type="checkbox"
            aria-label="Choose all shown"
            checked={chosen.length === listed.length}
            onChange={({ target }) => choose(target.checked ? listed : [])}
          />
          {chosen.length === 0 ? HEADS : <Decisions payments={chosen} refund={() => setRefunds(chosen)} />}
        </div>
      )}
      <Dialog open={refunds !== null} onClose={() => setRefunds(null)} title="Refund payments">
        {refunds && <RefundMany payments={refunds} close={close} />}
      </Dialog>
    </>
  )
}

/** How many are chosen, and what to do with them. */
function Decisions({ payments, refund }: { payments: readonly Shape<'Payment'>[]; refund: () => void }) {
  const lacks = lacking('payments/decide')
  const sumWei = payments.reduce((sum, { valueWei }) => sum + valueWei, 0n)
  return (
    <div className="bar chosen">
      <strong role="status" title={`${sumWei} wei`}>
        {count(payments.length, 'payment')} chosen, {shortEther(sumWei)} ETH
      </strong>
      <Release payments={payments} />
      <button type="button" className="button" disabled={lacks !== null} onClick={refund}>
        Refund
        <Beyond lacks={lacks} />
      </button>
      <ActButton
        danger
        tries
        label="Dismiss"
        act="payments/decide"
        body={{ decision: 'dismiss', payments: namesOf(payments) }}
        fields={[]}
        says="None of them gets a node or a refund. You can still refund them later."
        did={(result) => <Results of={result} payments={payments} />}
      />
    </div>
  )
}

const namesOf = (payments: readonly Shape<'Payment'>[]) => payments.map(({ id }) => String(id))

/** Releases them. The operator chooses a tier for payments that match no price: by default the one nearest to the first of them. */
function Release({ payments }: { payments: readonly Shape<'Payment'>[] }) {
  const tiers = useTiers().data ?? []
  const [first, ...others] = payments.filter(({ tierId }) => tierId === null)
  const choices = tiers.map(({ id, label, priceWei }) => [id, `${label}, ${ether(priceWei)} ETH`] as const)
  return (
    <ActButton
      tries
      label="Release"
      act="payments/decide"
      body={{ decision: 'release', payments: namesOf(payments) }}
      fields={first ? ['tierId'] : []}
      more={{
        ...(first && {
          tierId: { required: true, choices, value: nearestTier(first.valueWei, tiers)?.id ?? '' },
          reason: { required: true, placeholder: 'Why other amounts buy it' },
        }),
      }}
      says="The next pass mints a node to the payer of each, although the rules hold it."
      warning="You cannot undo this."
      did={(result) => <Results of={result} payments={payments} />}
      warns={({ tierId }) => {
        const tier = tiers.find(({ id }) => id === tierId)
        const differing = [first, ...others].filter((payment) => payment && payment.valueWei !== tier?.priceWei)
        if (!tier || differing.length === 0) return null
        return (
          <p className="notice warn" role="status">
            {count(differing.length, 'payment does', 'payments do')} not match the price of {tier.label}.
          </p>
        )
      }}
    />
  )
}

interface ResultsProps {
  of: Did<'payments/decide'>
  payments: readonly Shape<'Payment'>[]
}

/** What happened to each payment, or would happen. */
function Results({ of: { says, results }, payments }: ResultsProps) {
  return (
    <div className="stack">
      <p role="status">{says}</p>
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

function amountOf(name: string, payments: readonly Shape<'Payment'>[]): string {
  const payment = payments.find(({ id }) => String(id) === name)
  return payment ? etherAndWei(payment.valueWei) : `number ${name}`
}
