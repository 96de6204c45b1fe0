// Proves the transactions of a block that could have an effect. The block's header is proven already. It proves the list by its root, each
// transaction by its hash, and each sender by the signature. If a chain cannot prove these, two providers must agree. It must never pass off one
// provider's word as more than that.
import type { Proof } from '../../domain/observed.ts'
import type { Hash } from '../../domain/units.ts'
import type { WatchedAddresses } from '../port.ts'
import { proveTransactions } from '../prove/body.ts'
import type { Fields } from '../prove/items.ts'
import { isAskedFor, isSound, type Soundness } from '../prove/sound.ts'
import { namesSender, proveSender, proveTransaction } from '../prove/transaction.ts'
import { transaction, type WireTransaction } from '../rpc/wire.ts'
import { agreedHashes } from './state/agreement.ts'

/** What backs each transaction, by the transaction's hash. */
export type Proofs = ReadonlyMap<Hash, Proof>

const NO_PROOFS: Proofs = new Map()

/**
 * True if a transaction could cause a mint, a credit or a settlement: a payment of exactly a tier's price, a transaction of ours (such as a refund),
 * or a call to the factory. Any other transfer costs its sender next to nothing, so it must not cost us much either.
 */
export function mayAct({ factory, wallets, signers, prices }: WatchedAddresses, tx: WireTransaction): boolean {
  const isWallet = (account: string | null) => wallets.some(({ wallet }) => wallet === account)
  if (tx.to === factory || signers.includes(tx.from) || isWallet(tx.from)) return true
  return isWallet(tx.to) && tx.valueWei > 0n && (prices === undefined || prices.includes(tx.valueWei))
}

/**
 * What backs the transactions in `acting`. `block` is the complete block from the provider. Throws a ProofFault if the block contradicts its header,
 * if it proves less than this chain's blocks usually do, or if two other providers agree on something else.
 */
export async function proveActing(
  soundness: Soundness,
  { block, number, isWhole = false }: { block: Fields; number: number; isWhole?: boolean | undefined },
  acting: readonly WireTransaction[],
): Promise<Proofs> {
  const given = block.transactions as readonly Fields[]
  // Usually a block has nothing that concerns us; this comparison is then all that it costs.
  if (acting.length === 0 && given.length > 0 && !isWhole && !soundness.isDoubted) return NO_PROOFS
  const proven = isAskedFor(soundness, 'header') ? await provenOf(soundness, { block, number }, acting) : []
  const others = acting.filter((tx) => !proven.includes(tx))
  const told = others.map((tx) => ({ hash: tx.hash, blockNumber: number, words: keyOf(tx) }))
  const agreed = await agreedHashes(soundness.voices, told, {
    method: 'eth_getTransactionByHash',
    part: 'transactions',
    what: 'transaction',
    wordsOf: (answer) => keyOf(transaction(answer)),
  })
  return new Map(
    acting.map(({ hash }) => [
      hash,
      proven.some((tx) => tx.hash === hash) ? 'proven' : agreed.has(hash) ? 'agreed' : 'believed',
    ]),
  )
}

async function provenOf(
  soundness: Soundness,
  { block, number }: { block: Fields; number: number },
  acting: readonly WireTransaction[],
): Promise<WireTransaction[]> {
  const given = block.transactions as readonly Fields[]
  const { verdict, count } = await proveTransactions(block)
  if (!isSound(soundness, 'transactions', verdict, number)) return []
  const proven: WireTransaction[] = []
  for (const tx of acting) {
    // The root does not cover the entries from `count` on.
    if (tx.index >= count) continue
    const raw = given[tx.index] as Fields
    const isItself = isSound(soundness, 'transactions', proveTransaction(raw), number)
    const isFrom = namesSender(raw) || isSound(soundness, 'transactions', await proveSender(raw), number)
    if (isItself && isFrom) proven.push(tx)
  }
  return proven
}

const keyOf = ({ hash, index, blockHash, from, to, valueWei, nonce, input, type }: WireTransaction): string =>
  [hash, index, blockHash, from, to, valueWei, nonce, input.toLowerCase(), type].join(' ')
