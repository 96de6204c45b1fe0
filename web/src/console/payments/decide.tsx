// The decisions still open for a payment: release, refund in two steps, attribute, dismiss.
import { ether } from '../../format.ts'
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
        label={isRefunding ? 'May it be sent?' : 'Prepare a refund'}
        act="payments/{payment}/refund/prepare"
        params={{ payment: name }}
        says={`From now on the service signs no mint for this payment. An earlier signed mint may still succeed: the answer shows until when. Send the ${amount} only once the answer allows it.`}
      />
      {isRefunding && (
        <ActButton
          label="Cancel the refund"
          act="payments/{payment}/refund/cancel"
          params={{ payment: name }}
          says="The payment returns to its state before the refund was prepared, or the service judges it again. Do this only if you have sent nothing."
        />
      )}
      <ActButton
        label="Enter the refund"
        act="payments/{payment}/refund"
        params={{ payment: name }}
        says={`${isRefunding ? 'Send' : 'First prepare the refund, and send'} ${amount} back to ${payment.from ?? 'the payer'} with a wallet of your own once the answer allows it. Then enter that transaction here. The service looks it up on chain and checks its recipient and amount. The payment then gets no node.`}
      />
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
          act="payments/{payment}/release"
          params={{ payment: name }}
          says={`The next pass mints a node to ${payment.from} for these ${amount}, despite the verdict of the rules. You cannot undo this.`}
          fields={asksTier ? ['tierId'] : []}
          more={{
            tierId: { required: true, choices, value: nearestTier(payment.valueWei, tiers)?.id ?? '' },
            ...(payment.reason === 'wrongAmount' && {
              reason: { required: true, placeholder: 'why another amount buys it' },
            }),
          }}
          warns={({ tierId }) => <OtherPrice wei={payment.valueWei} tier={tiers.find(({ id }) => id === tierId)} />}
        />
      )}
    </>
  )
}

/** Shows by how much an amount misses a tier's price. */
function OtherPrice({ wei, tier }: { wei: bigint; tier: Tiers[number] | undefined }) {
  if (!tier || tier.priceWei === wei) return null
  return (
    <p className="notice warn" role="status">
      The amount is {difference(wei, tier.priceWei)} than the price of {tier.label}.
    </p>
  )
}
