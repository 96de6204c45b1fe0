// The receipt of a purchase: what was paid by whom, and what came of it, as the ledger has it.
import type { NodeDetail, Payment } from '@node-ledger/client'
import { checksummed, ether, exactTime } from '../../format.ts'
import { useDeployment, useTiers } from '../../ledger.ts'
import { OWN_NAME, useSite } from '../../site.ts'
import { Receipt } from '../../ui/receipt.tsx'

export function PurchaseReceipt({ payment, node }: { payment: Payment; node: NodeDetail | null }) {
  const tiers = useTiers().data
  const deployment = useDeployment().data
  const site = useSite()
  const { txHash, from, tierId, valueWei, blockNumber, paidAt, nodeId, mintTxHash } = payment
  return (
    <Receipt
      name={`receipt-node-${nodeId}`}
      rows={[
        ['Node', nodeId],
        ['Tier', tiers?.find(({ id }) => id === tierId)?.label ?? tierId],
        ['Paid', `${ether(valueWei)} ETH (${valueWei} wei)`],
        ['Paid by', from && checksummed(from)],
        ['Time', paidAt && exactTime(paidAt)],
        ['Block', blockNumber?.toLocaleString('en-US')],
        ['Transfer', txHash],
        ['Minted', node?.mintedAt && exactTime(node.mintedAt)],
        ['Mint', mintTxHash],
        ['Contract', deployment?.factoryAddress && checksummed(deployment.factoryAddress)],
        ['Network', site.chain],
        ['Sold by', site.name === OWN_NAME ? null : site.name],
        ['Page', nodeId && new URL(`/node/${nodeId}`, window.location.origin).href],
      ]}
    />
  )
}
