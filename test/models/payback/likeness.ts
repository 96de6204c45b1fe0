// Which transfers look as if they paid a payment back without being recorded, as a second reading of docs/ADMIN.md (Refunds) over rows in memory: as
// much as it is, to its payer, from any payments wallet, in its block or later.

export interface Held {
  id: number
  payer: string | null
  valueWei: bigint
  block: number
}

export interface Outflow {
  /** Null for value that left without a transaction of ours. */
  txHash: string | null
  to: string | null
  valueWei: bigint
  block: number
}

/** How many of them are shown. */
const SHOWN = 5

/** The blocks and hashes of the first such transfers. `recorded`: the hashes of transactions that prove a refund or a commission. */
export function lookalikes(payment: Held, outflows: readonly Outflow[], recorded: ReadonlySet<string>): string[] {
  const all: Outflow[] = []
  for (const one of outflows) {
    if (payment.payer === null || one.to !== payment.payer) continue
    if (one.valueWei !== payment.valueWei) continue
    if (one.block < payment.block) continue
    if (one.txHash !== null && recorded.has(one.txHash)) continue
    all.push(one)
  }
  all.sort((a, b) => a.block - b.block)
  return all.slice(0, SHOWN).map(({ block, txHash }) => `${block} ${txHash}`)
}
