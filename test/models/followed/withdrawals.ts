// Withdraw calls that reverted, as a second reading of docs/API (failed withdrawals) and the tables of migrations/0001_schema.sql: a call leaves an entry with
// each node that its caller owned when the block began, with what the node had then.

export interface Transfer {
  block: number
  log: number
  to: string
}
export interface Node {
  id: number
  transfers: Transfer[]
  perNodeAtMint: bigint
  /** What a node of its cohort had been credited in all since a block. */
  states: { block: number; perNode: bigint }[]
  expelled: { block: number; credited: bigint } | null
  /** Withdrawals that went through, oldest first. */
  sent: { block: number; total: bigint }[]
}
export interface Call {
  tx: string
  caller: string
  block: number
  nodeIds: bigint[]
  to: string
  /** Null: all that it has. */
  amountWei: bigint | null
}

/** Who owned the node at the end of a block; null before its mint. */
function ownerAfter({ transfers }: Node, block: number): string | null {
  let last: Transfer | null = null
  for (const one of transfers) {
    if (one.block > block) continue
    if (last === null || one.block > last.block || (one.block === last.block && one.log > last.log)) last = one
  }
  return last?.to ?? null
}

/** What it could withdraw at the end of a block, and no less than nothing. */
function balanceAfter(node: Node, block: number): bigint {
  const paid = node.states.filter((one) => one.block <= block).toSorted((a, b) => a.block - b.block)
  const since = (paid.at(-1)?.perNode ?? node.perNodeAtMint) - node.perNodeAtMint
  const credited = node.expelled !== null && node.expelled.block <= block ? node.expelled.credited : since
  const withdrawn = node.sent.filter((one) => one.block <= block).at(-1)?.total ?? 0n
  return credited > withdrawn ? credited - withdrawn : 0n
}

export function entries(nodes: Node[], calls: Call[]): { tx: string; node: number; to: string; wei: bigint }[] {
  return calls.flatMap(({ tx, caller, block, nodeIds, to, amountWei }) =>
    nodes.flatMap((node) => {
      if (!nodeIds.includes(BigInt(node.id)) || ownerAfter(node, block - 1) !== caller) return []
      return [{ tx, node: node.id, to, wei: amountWei ?? balanceAfter(node, block - 1) }]
    }),
  )
}
