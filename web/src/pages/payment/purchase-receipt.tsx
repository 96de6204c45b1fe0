// The receipt of a purchase: who paid what, and the outcome in the ledger.
import type { NodeDetail, Payment } from '@node-ledger/client'
import { checksummed, ether, exactTime, figure } from '../../format.ts'
import { useDeployment, useTiers } from '../../ledger.ts'
import { OWN_NAME, useSite } from '../../site.ts'
import { Receipt } from '../../ui/receipt.tsx'
import { fill } from '../../words/message.ts'
import { words } from '../../words/payment.ts'

const t = words.receipt

export function PurchaseReceipt({ payment, node }: { payment: Payment; node: NodeDetail | null }) {
  const tiers = useTiers().data
  const deployment = useDeployment().data
  const site = useSite()
  const { txHash, from, tierId, valueWei, blockNumber, paidAt, nodeId, mintTxHash } = payment
  return (
    <Receipt
      name={`receipt-node-${nodeId}`}
      title={fill(t.title, { node: nodeId ?? '' })}
      rows={[
        [t.paid, fill(t.inEther, { ether: ether(valueWei) })],
        [t.paidBy, from && checksummed(from)],
        [t.time, paidAt && exactTime(paidAt)],
        [t.transfer, txHash],
        [t.node, nodeId],
        [t.tier, tiers?.find(({ id }) => id === tierId)?.label ?? tierId],
        [t.block, blockNumber === null ? null : figure(blockNumber)],
        [t.minted, node?.mintedAt && exactTime(node.mintedAt)],
        [t.mint, mintTxHash],
        [t.contract, deployment?.factoryAddress && checksummed(deployment.factoryAddress)],
        [t.network, site.chain],
        [t.soldBy, site.name === OWN_NAME ? null : site.name],
        [t.page, nodeId && new URL(`/node/${nodeId}`, window.location.origin).href],
      ]}
    />
  )
}
