// Waits until a sent transaction or its replacement is in a block. The wallet's owner may replace it to raise the fee.
import {
  BlockNotFoundError,
  TransactionNotFoundError,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  WaitForTransactionReceiptTimeoutError,
} from 'viem'
import { getBlock, getBlockNumber, getTransaction, getTransactionCount, getTransactionReceipt } from 'viem/actions'
import type { Hex } from '../types.ts'
import type { OwnWallet } from './send.ts'

const WAIT_MS = 180_000

/**
 * The receipt of the transaction, or of its replacement. viem's own function looks again only when a new block arrives,
 * so it may wait forever if the chain mines no further block. It also fails if a provider shows a block before its
 * receipts.
 */
export async function receiptOf(wallet: OwnWallet, hash: Hex): Promise<TransactionReceipt> {
  const deadline = Date.now() + WAIT_MS
  let original: Sent | null = null
  while (Date.now() < deadline) {
    const receipt = await ifKnown(getTransactionReceipt(wallet, { hash }))
    if (receipt) return receipt
    original ??= await readSent(wallet, hash)
    const replacement = original && (await findReplacement(wallet, original))
    if (replacement) return replacement
    await new Promise((resolve) => setTimeout(resolve, wallet.pollingInterval))
  }
  throw new WaitForTransactionReceiptTimeoutError({ hash })
}

interface Sent {
  hash: Hex
  from: Hex
  nonce: number
  /** The head at the time when we first saw that no block has the transaction. */
  since: bigint
}

async function readSent(wallet: OwnWallet, hash: Hex): Promise<Sent | null> {
  const since = await getBlockNumber(wallet, { cacheTime: 0 })
  const transaction = await ifKnown(getTransaction(wallet, { hash }))
  return transaction && { hash, from: transaction.from, nonce: transaction.nonce, since }
}

/** The receipt of another transaction with the same nonce. Reads the blocks only once the nonce is used. */
async function findReplacement(wallet: OwnWallet, { hash, from, nonce, since }: Sent) {
  if ((await getTransactionCount(wallet, { address: from })) <= nonce) return null
  const head = await getBlockNumber(wallet, { cacheTime: 0 })
  for (let blockNumber = since; blockNumber <= head; blockNumber++) {
    const block = await ifKnown(getBlock(wallet, { blockNumber, includeTransactions: true }))
    const replacement = block?.transactions.find((each) => each.from === from && each.nonce === nonce)
    if (replacement)
      return replacement.hash === hash ? null : ifKnown(getTransactionReceipt(wallet, { hash: replacement.hash }))
  }
  return null
}

const NOT_KNOWN = [BlockNotFoundError, TransactionNotFoundError, TransactionReceiptNotFoundError]

/** The result of a reading; null if the provider does not have it yet. */
const ifKnown = <T>(reading: Promise<T>): Promise<T | null> =>
  reading.catch((error: unknown) => {
    if (NOT_KNOWN.some((kind) => error instanceof kind)) return null
    throw error
  })
