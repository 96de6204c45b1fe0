import type { NodeRow } from './queries'

/** A node as the API shows it. */
export function shownNode({ node, cohort, payment }: NodeRow) {
  const creditedWei = BigInt(cohort.perNodeWei) - BigInt(node.perNodeAtMintWei)
  return {
    id: node.id,
    nodeId: String(node.nodeId),
    owner: node.owner,
    tierId: payment?.tierId ?? null,
    priceWei: payment?.valueWei ?? null,
    creditedWei: String(creditedWei),
    withdrawnWei: node.withdrawnWei,
    balanceWei: String(creditedWei - BigInt(node.withdrawnWei)),
    paymentTxHash: payment?.txHash ?? null,
    mintTxHash: node.mintTxHash,
    mintedAt: node.mintedAt,
    lastCreditedAt: cohort.turnCount > node.turnsAtMint ? cohort.lastTurnAt : null,
    nextCreditAt: new Date(cohort.nextDue * 1000),
    createdAt: node.mintedAt,
  }
}
