// The decisions still open for a payment: release, refund in two steps, attribute, dismiss.
import { checksummed, ether, plainEther } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { nearestTier } from '../../nearest.ts'
import { ActButton } from '../act.tsx'
import type { PaymentFacts } from '../admin.ts'
import { difference } from '../amounts.ts'
import type { Tiers } from './sentences.ts'

export function Decide({ payment, name }: { payment: PaymentFacts; name: string }) {
  const isRefunding = payment.reason === 'refunding'
  return (
    <div className="buttons">
      {payment.status === 'held' && !isRefunding && <Accept payment={payment} name={name} />}
      <Refund payment={payment} name={name} />
      {payment.status === 'held' && !isRefunding && (
        <ActButton
          danger
          label="Dismiss"
          title={`Dismiss payment ${payment.id}`}
          act="payments/{payment}/dismiss"
          params={{ payment: name }}
          says={`These ${ether(payment.valueWei)} ETH get neither node nor refund. You can still refund them later.`}
        />
      )}
    </div>
  )
}

/** The two steps of a refund, and how to undo the first. */
function Refund({ payment, name }: { payment: PaymentFacts; name: string }) {
  const isRefunding = payment.reason === 'refunding'
  const amount = `${ether(payment.valueWei)} ETH`
  return (
    <>
      <ActButton
        main={isRefunding}
        label={isRefunding ? 'Check the refund' : 'Prepare a refund'}
        title={`${isRefunding ? 'Check' : 'Prepare'} the refund of payment ${payment.id}`}
        act="payments/{payment}/refund/prepare"
        params={{ payment: name }}
        {...(isRefunding && { fields: [] })}
        says={
          isRefunding
            ? `Shows whether a mint that was signed earlier can still succeed. If none can, you may send the ${amount}.`
            : `The service stops signing mints for this payment. One that it signed before may still succeed for a while: send the ${amount} only when “Check the refund” allows it.`
        }
      />
      {isRefunding && (
        <>
          <ActButton
            label="Record the refund"
            title={`Record the refund of payment ${payment.id}`}
            act="payments/{payment}/refund"
            params={{ payment: name }}
            says="Once the check allows it, send exactly this with a wallet of your own. Then enter that transaction. The service checks its recipient and amount on chain, and the payment gets no node."
            copies={[
              ['Amount', amount, plainEther(payment.valueWei)],
              ...(payment.from ? [['To', checksummed(payment.from), checksummed(payment.from)] as const] : []),
            ]}
          />
          <ActButton
            label="Cancel the refund"
            title={`Cancel the refund of payment ${payment.id}`}
            act="payments/{payment}/refund/cancel"
            params={{ payment: name }}
            says="The payment returns to its state before the refund was prepared, or the service judges it again. Do this only if you have sent nothing."
          />
        </>
      )}
    </>
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
