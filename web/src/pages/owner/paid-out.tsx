// The end of a withdrawal: how much went where, as the contract's own events in its block say.
import type { Withdrawn } from '@node-ledger/client/viem'
import { checksummed, count, ether } from '../../format.ts'
import { useDeployment } from '../../ledger.ts'
import { useSite } from '../../site.ts'
import { Block } from '../../ui/explorer.tsx'
import { Hash } from '../../ui/facts.tsx'
import { Receipt } from '../../ui/receipt.tsx'

export function PaidOut({ paid, close }: { paid: Withdrawn; close: () => void }) {
  const { blockNumber, txHash, payouts } = paid
  const site = useSite()
  const factory = useDeployment().data?.factoryAddress
  const totalWei = payouts.reduce((sum, { amountWei }) => sum + amountWei, 0n)
  const receivers = [...new Set(payouts.map(({ to }) => checksummed(to)))]
  return (
    <div className="stack">
      <p className="notice good" role="status">
        Paid out in <Block of={blockNumber} />: <Hash of={txHash} />
      </p>
      <Receipt
        name={`receipt-withdrawal-${txHash.slice(2, 10)}`}
        rows={[
          ['Paid out', `${ether(totalWei)} ETH (${totalWei} wei)`],
          ['To', receivers.join(', ')],
          [
            payouts.length === 1 ? 'Node' : count(payouts.length, 'node'),
            payouts.map(({ nodeId }) => nodeId).join(', '),
          ],
          ['Block', blockNumber.toLocaleString('en-US')],
          ['Transaction', txHash],
          ['Contract', factory && checksummed(factory)],
          ['Network', site.chain],
        ]}
      />
      <button type="button" className="button" onClick={close}>
        Done
      </button>
    </div>
  )
}
