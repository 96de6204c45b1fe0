// What a transaction in a block is to the ledger, as a second reading of docs/ARCHITECTURE.md (Proof of blocks; The payments wallets' balances; Keys) and
// docs/DATA-MODEL.md: value that reaches a wallet, value and fee that leave one, a use of our keys or of the factory. A failed one moves nothing but its fee.
//
// Choices in what the documents leave open:
// - A transfer of nothing from a stranger is only counted, so its end is not asked for, and it counts as failed.

export interface Wallet {
  wallet: string
  /** The first and the last block whose movements count; null: its books are open. */
  from: number
  to: number | null
}
export interface Tx {
  hash: string
  index: number
  from: string
  to: string | null
  valueWei: bigint
  nonce: number
  type: number
  succeeded: boolean
  gasUsed: bigint
  /** What each gas cost, and what a rollup charged besides. */
  priceWei: bigint
  besideWei: bigint
  isUnsigned: boolean
  /** The referral codes that it carries. */
  codes: string[]
  /** The node and the amount of a call to withdraw; null for any other call. */
  withdraws: { nodeId: bigint; to: string; amountWei: bigint } | null
}
export interface Watched {
  factory: string
  signers: string[]
  wallets: Wallet[]
  /** The least value that is a payment. */
  leastWei: bigint
  /** How many providers can be asked whether it is so. */
  voices: number
}

const isIn = ({ from, to }: Wallet, block: number) => from <= block && (to === null || block <= to)

/** Whose end and sender matter: what the ledger acts on. */
function proofOf({ from, to, valueWei }: Tx, { wallets, signers, factory, leastWei, voices }: Watched) {
  const names = wallets.map(({ wallet }) => wallet)
  const isOurs = to === factory || signers.includes(from) || names.includes(from)
  const pays = to !== null && names.includes(to) && valueWei >= leastWei
  if (valueWei === 0n && !isOurs) return 'believed'
  return (isOurs || pays) && voices >= 2 ? 'agreed' : 'believed'
}

const feeOf = ({ gasUsed, priceWei, besideWei }: Tx) => gasUsed * priceWei + besideWei

/** What it is to one wallet in whose time it is: it may arrive, leave, or both. */
function ofWallet(tx: Tx, wallet: string, succeeded: boolean, proof: string) {
  const { hash: txHash, index: txIndex, from, to, valueWei, type, isUnsigned } = tx
  const codes = tx.codes.length > 0 ? tx.codes.join() : null
  const arrives = { txHash, txIndex, wallet, from, valueWei, succeeded, type, isUnsigned, codes, proof }
  const leaves = { txHash, txIndex, wallet, to, valueWei, feeWei: feeOf(tx), succeeded }
  return { transfers: to === wallet ? [arrives] : [], outflows: from === wallet ? [leaves] : [] }
}

export function movesOf(txs: Tx[], watched: Watched, block: number) {
  const { wallets, signers, factory } = watched
  const names = wallets.map(({ wallet }) => wallet)
  const found = { transfers: [] as object[], outflows: [] as object[], sent: [] as object[], failed: [] as object[] }
  for (const tx of txs) {
    const { hash: txHash, index: txIndex, from, to, valueWei, succeeded } = tx
    const isUse = signers.includes(from) || to === factory
    const proof = proofOf(tx, watched)
    const isAsked = isUse || names.includes(from) || valueWei > 0n
    for (const one of wallets.filter((each) => isIn(each, block))) {
      const { transfers, outflows } = ofWallet(tx, one.wallet, succeeded && isAsked, proof)
      found.transfers.push(...transfers)
      found.outflows.push(...outflows)
    }
    if (!isUse) continue
    const used = { gasUsed: tx.gasUsed, feeWei: feeOf(tx), nonce: tx.nonce, type: tx.type, proof }
    found.sent.push({ txHash, txIndex, sender: from, to, valueWei: succeeded ? valueWei : 0n, succeeded, ...used })
    if (to !== factory || succeeded || tx.withdraws === null) continue
    const { nodeId, to: payee, amountWei } = tx.withdraws
    found.failed.push({ txHash, txIndex, caller: from, nodeIds: [nodeId], to: payee, amountWei })
  }
  return found
}

/** What left a wallet by its books: the value of what succeeded, and every fee. */
export function leftOf(txs: Tx[], watched: Watched, block: number): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const one of watched.wallets) {
    let sum = 0n
    for (const tx of txs) {
      if (tx.from !== one.wallet || !isIn(one, block)) continue
      sum += feeOf(tx)
      if (tx.succeeded) sum += tx.valueWei
    }
    sums.set(one.wallet, sum)
  }
  return sums
}
