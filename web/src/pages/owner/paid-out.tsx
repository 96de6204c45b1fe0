// The end of a withdrawal: how much went where, according to the contract's own events.
import type { Withdrawn } from '@node-ledger/client/viem'
import { checksummed, ether, figure } from '../../format.ts'
import { useDeployment } from '../../ledger.ts'
import { useSite } from '../../site.ts'
import { Block } from '../../ui/explorer.tsx'
import { Hash } from '../../ui/facts.tsx'
import { Receipt } from '../../ui/receipt.tsx'
import { fill, rich } from '../../words/message.ts'
import { words } from '../../words/owner.ts'

const t = words.paid

export function PaidOut({ withdrawal, close }: { withdrawal: Withdrawn; close: () => void }) {
  const { blockNumber, txHash, payouts } = withdrawal
  const site = useSite()
  const factory = useDeployment().data?.factoryAddress
  const totalWei = payouts.reduce((sum, { amountWei }) => sum + amountWei, 0n)
  const receivers = [...new Set(payouts.map(({ to }) => checksummed(to)))]
  return (
    <div className="stack">
      <p className="notice good" role="status">
        {rich(t.paidOutIn, { block: <Block of={blockNumber} />, hash: <Hash of={txHash} /> })}
      </p>
      <Receipt
        name={`receipt-withdrawal-${txHash.slice(2, 10)}`}
        rows={[
          [t.paidOut, fill(t.inWei, { ether: ether(totalWei), wei: String(totalWei) })],
          [t.to, receivers.join(', ')],
          [
            payouts.length === 1 ? t.node : fill(words.nodes, { n: payouts.length }),
            payouts.map(({ nodeId }) => nodeId).join(', '),
          ],
          [t.block, figure(blockNumber)],
          [t.transaction, txHash],
          [t.contract, factory && checksummed(factory)],
          [t.network, site.chain],
        ]}
      />
      <button type="button" className="button" onClick={close}>
        {t.done}
      </button>
    </div>
  )
}
