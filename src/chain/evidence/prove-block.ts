// Proves the transactions of a block that could have an effect. The block's header is proven already. It proves the list by its root, each
// transaction by its hash, and each sender by the signature. If a chain cannot prove these, two providers must agree. It must never pass off one
// provider's word as more than that.
import { hexToBytes } from 'viem/utils'
import type { Proof } from '../../domain/observed.ts'
import type { Hash } from '../../domain/units.ts'
import type { WatchedAddresses } from '../../ports/chain.ts'
import { ChainFault } from '../../ports/faults.ts'
import { proveTransactions, withChainId } from '../prove/body.ts'
import { breath } from '../prove/breath.ts'
import type { Fields } from '../prove/items.ts'
import { isSound, mustProve, type Soundness } from '../prove/sound.ts'
import { namesSender, proveSender, proveTransaction } from '../prove/transaction.ts'
import { mayPass } from '../rpc/absence.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { header, toQuantity, transaction, type WireTransaction } from '../rpc/wire.ts'
import { agreedHashes } from './state/agreement.ts'

/** What backs each transaction, by the transaction's hash. */
export type Proofs = ReadonlyMap<Hash, Proof>

/**
 * True if a transaction becomes a payment, or is one of ours (such as a refund), or a call to the factory. A smaller transfer costs its sender next to
 * nothing, so recovering its sender must not cost us anything either.
 */
export function mayAct(addresses: WatchedAddresses, tx: WireTransaction): boolean {
  const { wallets, leastWei = 1n } = addresses
  return isOwn(addresses, tx) || (wallets.some(({ wallet }) => wallet === tx.to) && tx.valueWei >= leastWei)
}

/** True if a transaction is one of ours, or a call to the factory. The ledger acts on it immediately, whereas a payment can wait for a second provider. */
export function isOwn({ factory, wallets, signers }: WatchedAddresses, { from, to }: WireTransaction): boolean {
  return to === factory || signers.includes(from) || wallets.some(({ wallet }) => wallet === from)
}

/** True if a block must be read whole: a provider left something out of it, or of a later one. */
export const mustBeWhole = ({ wholeTo = -1 }: WatchedAddresses, number: number): boolean => number <= wholeTo

/**
 * What backs the transactions in `acting`. `block` is the complete block from the provider; its list is proven even if nothing in it concerns us, so
 * that nothing can be left out. Throws a ProofFault if the block must be proven and is not, or if two other providers agree on something else.
 */
export async function proveActing(
  { rpc, soundness }: { rpc: RpcReads; soundness: Soundness },
  addresses: WatchedAddresses,
  { block, number }: { block: Fields; number: number },
  acting: readonly WireTransaction[],
): Promise<Proofs> {
  const isWhole = mustBeWhole(addresses, number)
  const proven = mustProve(soundness) ? await provenOf({ rpc, soundness }, { block, number, isWhole }, acting) : []
  const others = acting.filter((tx) => !proven.includes(tx))
  if (others.length === 0) return new Map(proven.map(({ hash }) => [hash, 'proven']))
  const blockHash = String(block.hash).toLowerCase() as Hash
  const statements = others.map((tx) => ({
    hash: tx.hash,
    blockNumber: number,
    blockHash,
    words: keyOf(tx),
    isOwn: isOwn(addresses, tx),
  }))
  const isDated = await isTimeAgreed(soundness, block, number)
  const agreedTxHashes = await agreedHashes(soundness.voices, statements, {
    ask: ({ hash }) => ({ method: 'eth_getTransactionByHash', params: [hash] }),
    part: 'transactions',
    what: 'transaction',
    read: (answer) => {
      const tx = transaction(answer)
      return { blockHash: tx.blockHash, words: keyOf(tx) }
    },
  })
  return new Map(
    acting.map(({ hash }) => [
      hash,
      proven.some((tx) => tx.hash === hash) ? 'proven' : isDated && agreedTxHashes.has(hash) ? 'agreed' : 'believed',
    ]),
  )
}

/** True if two providers report the same about a block's time, on which prices and terms depend. */
async function isTimeAgreed(soundness: Soundness, block: Fields, number: number): Promise<boolean> {
  // A header that recomputes proves it.
  if (mustProve(soundness)) return true
  const read = (answer: unknown) => {
    const { hash, time } = header(answer)
    return { blockHash: hash, words: `${hash} ${time}` }
  }
  const { blockHash, words } = read(block)
  const agreedBlocks = await agreedHashes(
    soundness.voices,
    [{ hash: blockHash, blockNumber: number, blockHash, words, isOwn: false }],
    {
      ask: () => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), false] }),
      part: 'header',
      what: 'time of block',
      read,
    },
  )
  return agreedBlocks.size > 0
}

async function provenOf(
  { rpc, soundness }: { rpc: RpcReads; soundness: Soundness },
  { block: rawBlock, number, isWhole }: { block: Fields; number: number; isWhole: boolean },
  acting: readonly WireTransaction[],
): Promise<WireTransaction[]> {
  const block = withChainId(rawBlock, soundness.chainId)
  const transactions = block.transactions as readonly Fields[]
  const { verdict, count } = await proveTransactions(block, (index) => readRaw(rpc, String(block.hash), index))
  if (!isSound(soundness, 'transactions', verdict, number)) return []
  if (isWhole) await checkSenders(soundness, transactions, number)
  const proven: WireTransaction[] = []
  for (const tx of acting) {
    // The root does not cover the entries from `count` on.
    if (tx.index >= count) continue
    const raw = transactions[tx.index] as Fields
    const isItself = isSound(soundness, 'transactions', proveTransaction(raw), number)
    const isFrom = namesSender(raw) || isSound(soundness, 'transactions', await proveSender(raw), number)
    if (isItself && isFrom) proven.push(tx)
  }
  return proven
}

/** Throws a ProofFault if any transaction of the block was signed by another account than it names. */
async function checkSenders(soundness: Soundness, transactions: readonly Fields[], number: number): Promise<void> {
  const pause = breath()
  for (const raw of transactions) {
    const verdict = await proveSender(raw)
    if (verdict.kind === 'contradicted') isSound(soundness, 'transactions', verdict, number)
    await pause()
  }
}

/** The bytes of a transaction of a block; null if the provider does not have that method. Throws a ChainFault if it does not answer. */
export async function readRaw(rpc: RpcReads, blockHash: string, index: number): Promise<Uint8Array | null> {
  const reply = await rpc.call('eth_getRawTransactionByBlockHashAndIndex', [blockHash, toQuantity(index)])
  if (!reply.ok && mayPass(reply.error)) throw new ChainFault(`the bytes of transaction ${index} were not read`)
  const answer = reply.ok ? reply.result : null
  return typeof answer === 'string' && /^0x([0-9a-f]{2})+$/i.test(answer) ? hexToBytes(answer as `0x${string}`) : null
}

const keyOf = ({ hash, index, blockHash, from, to, valueWei, nonce, input, type }: WireTransaction): string =>
  [hash, index, blockHash, from, to, valueWei, nonce, input, type].join(' ')
