// Which payments wallets sell, and which contracts may buy, as a second reading of docs/ADMIN.md (Payments wallets, Contract wallets) and of the tables
// `payment_wallets` and `contract_wallet_modes` of migrations/0001_schema.sql.

// Choices in what the documents leave open:
// - A wallet that is watched and not yet in force sells already: no payment falls between two wallets.
// - The grace of a replaced wallet counts from its successor's `from_time`, and is over at that time plus `graceSec`, as a tier's is.
// - A further change with a shorter grace shortens an earlier grace, as with tiers; after a theft there is none for any earlier wallet.

export interface Wallet {
  wallet: string
  fromBlock: number
  fromTime: number
  stolen: boolean
  graceSec: number
}
interface Block {
  number: number
  time: number
}

const isInForce = (one: Wallet, block: Block) => one.fromBlock <= block.number && one.fromTime <= block.time

/** Whether a payment to a wallet is a sale in a block. `wallets` are in order of entry. */
export function walletSells(wallets: Wallet[], wallet: string, block: Block): boolean {
  const place = wallets.findIndex((one) => one.wallet === wallet)
  if (place === -1) return false
  for (let i = place + 1; i < wallets.length; i++) {
    const later = wallets[i] as Wallet
    if (!isInForce(later, block)) continue
    if (later.stolen || block.time >= later.fromTime + later.graceSec) return false
  }
  return true
}

/** The wallet that quotes name in a block: the last one in force. */
export function quotedWallet(wallets: Wallet[], block: Block): string | null {
  let quoted: string | null = null
  for (const one of wallets) if (isInForce(one, block)) quoted = one.wallet
  return quoted
}

export type Mode = 'hold' | 'proven' | 'all'
const WIDTH: Record<Mode, number> = { hold: 0, proven: 1, all: 2 }

/** The mode by which a payment is judged: that of its block, or the present one if that lets more contracts buy. No mode is `hold`. */
export function modeFor(modes: { fromBlock: number; mode: Mode }[], block: number, head: number): Mode {
  const at = (height: number): Mode => {
    let found: { fromBlock: number; mode: Mode } | undefined
    for (const one of modes) {
      if (one.fromBlock <= height && (found === undefined || one.fromBlock > found.fromBlock)) found = one
    }
    return found === undefined ? 'hold' : found.mode
  }
  const [then, now] = [at(block), at(head)]
  return WIDTH[now] > WIDTH[then] ? now : then
}

export interface Payer {
  /** What lies at the payer's address after the payment's block. */
  code: 'none' | 'delegation' | 'contract'
  signedIn: boolean
  isKnown: boolean
  isAllowed: boolean
}

/** Whether a contract's inner transfer buys without the operator. An account with a delegation counts as a key's account. */
export function contractMayBuy(payer: Payer, mode: Mode): boolean {
  if (payer.code === 'delegation') return true
  // The code of an inner transfer's sender may be gone: then we know no holder of the address.
  if (payer.code === 'none') return false
  if (mode === 'all') return true
  if (mode === 'hold') return false
  return payer.signedIn || payer.isKnown || payer.isAllowed
}
