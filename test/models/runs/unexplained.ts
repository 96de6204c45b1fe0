// What becomes of ether that reached or left a payments wallet by internal calls, as a second reading of docs/ARCHITECTURE.md (The payments wallets'
// balances: Locating, Residues, Limits), docs/ADMIN.md (Dust) and docs/GLOSSARY.md. It follows a wallet from check to check; what moved in each block, and
// what a trace of that block shows at that time, is given.

// Choices in what the documents leave open:
// - A price is one that buys in the block of the difference, in its grace too. Without such a price each difference is below every price.
// - What is below every price in one check is filed together, over all its blocks.
// - A difference whose block was traced in vain is traced again at the next check, before new ones, and then after pauses.
import { choose, type Sale } from '../sale.ts'

export interface Move {
  txHash: string
  /** From 1, among those of the transaction in this direction. */
  index: number
  other: string
  /** Negative if it left. */
  wei: bigint
}
export interface Block {
  number: number
  time: number
  moves: Move[]
  /** Whether a trace shows all of it, nearly all, or nothing, at the first and at each later look. */
  traces: ('all' | 'short' | 'none')[]
  /** Whether the wallet's balance after it is proven, or only agreed. Other blocks are proven. */
  isProven: boolean
}
export interface Residue {
  kind: 'residue'
  fromBlock: number
  block: number
  wei: bigint
  /** True if the balances before and after all that it contains are proven. */
  isProven: boolean
  isDecided: boolean
}
export interface Booked {
  kind: 'payment' | 'dust' | 'outflow'
  block: number
  move: Move
}
export interface Wallet {
  sale: Sale
  booked: Booked[]
  residues: Residue[]
  looks: Map<number, number>
}

const sumOf = (moves: { wei: bigint }[]): bigint => moves.reduce((total, { wei }) => total + wei, 0n)
const sizeOf = (wei: bigint): bigint => (wei < 0n ? -wei : wei)

function isBelowPrices({ sale }: Wallet, block: { number: number; time: number }, wei: bigint): boolean {
  const prices = new Set(sale.versions.map(({ priceWei }) => priceWei))
  for (const price of prices) if (choose(sale, price, block).kind === 'sells' && sizeOf(wei) >= price) return false
  return true
}

/** Looks at a block's trace. Books its transfers if they are what moved, to the wei. */
function explain(wallet: Wallet, block: Block): boolean {
  const look = wallet.looks.get(block.number) ?? 0
  wallet.looks.set(block.number, look + 1)
  if (block.traces[Math.min(look, block.traces.length - 1)] !== 'all') return false
  const known = wallet.sale.versions.filter(({ fromBlock }) => fromBlock <= block.number)
  for (const move of block.moves) {
    const isDust = known.every(({ priceWei }) => move.wei * 1_000n < priceWei)
    wallet.booked.push({ kind: move.wei < 0n ? 'outflow' : isDust ? 'dust' : 'payment', block: block.number, move })
  }
  return true
}

/** One check of the wallet. `blocks` are those since the last one; `all` are all of them. */
export function check(wallet: Wallet, blocks: Block[], all: Block[]): void {
  for (const residue of [...wallet.residues]) {
    const block = all.find(({ number }) => number === residue.block)
    const isTraced = residue.fromBlock === residue.block && (wallet.looks.get(residue.block) ?? 0) === 1
    if (block === undefined || !isTraced || isBelowPrices(wallet, block, residue.wei)) continue
    // A trace never replaces what somebody has decided about.
    if (residue.isDecided) wallet.looks.set(residue.block, 2)
    else if (explain(wallet, block)) wallet.residues.splice(wallet.residues.indexOf(residue), 1)
  }
  const small: { number: number; wei: bigint; isProven: boolean }[] = []
  const isProvenAt = (height: number) => all.find(({ number }) => number === height)?.isProven ?? true
  for (const block of blocks) {
    const wei = sumOf(block.moves)
    if (wei === 0n) continue
    const isProven = isProvenAt(block.number - 1) && isProvenAt(block.number)
    if (isBelowPrices(wallet, block, wei)) small.push({ number: block.number, wei, isProven })
    else if (!explain(wallet, block)) {
      const place = { fromBlock: block.number, block: block.number }
      wallet.residues.push({ kind: 'residue', ...place, wei, isProven, isDecided: false })
    }
  }
  const [first, last] = [small[0], small.at(-1)]
  if (first === undefined || last === undefined) return
  const wei = sumOf(small)
  const isProven = small.every((one) => one.isProven)
  wallet.residues.push({
    kind: 'residue',
    fromBlock: first.number,
    block: last.number,
    wei,
    isProven,
    isDecided: false,
  })
}
