// The decisions still open for a payment: release, refund in two steps, attribute, dismiss.
import { checksummed, ether, plainEther } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { nearestTier } from '../../nearest.ts'
import { Address } from '../../ui/facts.tsx'
import { ActButton } from '../act.tsx'
import type { PaymentFacts } from '../admin.ts'
import { difference } from '../amounts.ts'
import type { Tiers } from './sentences.ts'

export function Decide({ payment, name }: { payment: PaymentFacts; name: string }) {
  if (payment.reason === 'refunding') return <Refund payment={payment} name={name} />
  return (
    <div className="buttons">
      {payment.status === 'held' && <Accept payment={payment} name={name} />}
      <ActButton
        label="Refund"
        does="Prepare the refund"
        title={`Refund payment ${payment.id}`}
        act="payments/{payment}/refund/prepare"
        params={{ payment: name }}
        says="The service signs no more mints for this payment. One that it signed before may still succeed for a while."
        warning={`Do not send the ${ether(payment.valueWei)} ETH yet. The answer shows whether you may.`}
      />
      {payment.status === 'held' && (
        <ActButton
          danger
          label="Dismiss"
          title={`Dismiss payment ${payment.id}`}
          act="payments/{payment}/dismiss"
          params={{ payment: name }}
          says={`Payment ${payment.id} of ${ether(payment.valueWei)} ETH${payment.from === null ? '' : ` from ${payment.from}`} gets no node and no refund. You can still refund it later.`}
        />
      )}
    </div>
  )
}

/** The steps of a prepared refund in their order, and the way back. */
function Refund({ payment: { id, from, valueWei }, name }: { payment: PaymentFacts; name: string }) {
  const params = { payment: name }
  const amount = `${ether(valueWei)} ETH`
  const payer = from === null ? [] : [['To', checksummed(from), checksummed(from)] as const]
  return (
    <ol className="todo">
      <li>
        <span>
          <strong>1. Check</strong> that no mint signed earlier can still succeed.
        </span>
        <ActButton
          main
          label="Check the refund"
          title={`Check the refund of payment ${id}`}
          act="payments/{payment}/refund/prepare"
          params={params}
          fields={[]}
          says={`Shows whether a mint that was signed earlier can still succeed. If none can, you may send the ${amount}.`}
        />
      </li>
      <li>
        <span>
          <strong>2. Send</strong> the {amount} to {from === null ? 'the payer' : <Address of={from} />} with a wallet
          of your own, once the check allows it.
        </span>
      </li>
      <li>
        <span>
          <strong>3. Record</strong> your transaction. The service checks it on chain.
        </span>
        <ActButton
          label="Record the refund"
          title={`Record the refund of payment ${id}`}
          act="payments/{payment}/refund"
          params={params}
          says="Send exactly this with a wallet of your own, once the check allows it. Then enter that transaction. The service checks its recipient and amount on chain, and the payment gets no node."
          copies={[['Amount', amount, plainEther(valueWei)], ...payer]}
        />
      </li>
      <li>
        <span className="note">You will not refund it after all?</span>
        <ActButton
          label="Cancel the refund"
          title={`Cancel the refund of payment ${id}`}
          act="payments/{payment}/refund/cancel"
          params={params}
          says="The payment returns to its state before the refund was prepared, or the service judges it again."
          warning={`Do this only if you have not sent the ${amount}.`}
        />
      </li>
    </ol>
  )
}

/** The act that releases a held payment. */
function Accept({ payment, name }: { payment: PaymentFacts; name: string }) {
  const tiers = useTiers().data ?? []
  const choices = tiers.map(({ id, label, priceWei }) => [id, `${label}, ${ether(priceWei)} ETH`] as const)
  const asksTier = payment.reason === 'wrongAmount' || payment.tierId === null
  const amount = `${ether(payment.valueWei)} ETH`
  // The payment is minted once its wallet has room. Until then the contract would skip it, so the service refuses to release it.
  if (payment.reason === 'walletLimit') return <p>Minted as soon as its wallet has room for one more node.</p>
  return (
    <>
      {payment.from === null ? (
        <ActButton
          main
          label="Attribute"
          act="payments/{payment}/attribute"
          params={{ payment: name }}
          says={`Enter the transaction that brought these ${amount}; explorers list it under internal transactions. The provider’s trace has to show who sent them, and the payment can then be released to that sender. If the transaction brought only a part, enter the transfer’s place: that part becomes a payment of its own, and the remainder stays.`}
          fields={['txHash', 'innerIndex', 'from', 'valueWei']}
          more={{ txHash: { required: true } }}
        />
      ) : (
        <ActButton
          main
          label="Release"
          title={`Release payment ${payment.id}`}
          act="payments/{payment}/release"
          params={{ payment: name }}
          says={`The next pass mints a node to ${payment.from} for ${amount}, although the rules hold the payment.`}
          fields={asksTier ? ['tierId'] : []}
          more={{
            tierId: { label: 'Tier', required: true, choices, value: nearestTier(payment.valueWei, tiers)?.id ?? '' },
            ...(payment.reason === 'wrongAmount' && {
              reason: { required: true, placeholder: 'Why this amount buys it' },
            }),
          }}
          warns={({ tierId }) => <OtherPrice wei={payment.valueWei} tier={tiers.find(({ id }) => id === tierId)} />}
        />
      )}
    </>
  )
}

/** A release is final. Shows by how much an amount misses a tier's price. */
function OtherPrice({ wei, tier }: { wei: bigint; tier: Tiers[number] | undefined }) {
  return (
    <p className="notice warn" role="status">
      {tier &&
        tier.priceWei !== wei &&
        `The amount is ${difference(wei, tier.priceWei)} than the price of ${tier.label}. `}
      You cannot undo this.
    </p>
  )
}
