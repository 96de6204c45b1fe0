// Finds the payment that took the place of a transaction which is in no block. A buyer who speeds a transaction up in a wallet sends another one with the
// same nonce. Learns sender and nonce from the chain while the transaction is pending, and keeps them for the tab.
import type { Payment } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { keptForTab } from '../../kept.ts'
import { usePaymentsOf } from '../../live.ts'
import { queryChain } from '../../providers.ts'
import { isPaidSince, readIntent, writeIntent } from './intent.ts'

const EVERY_MS = 4_000
const KEY = 'node-ledger.sent.'

/** A transaction as it was sent. */
interface Sent {
  from: string
  /** Null if we do not know it. */
  nonce: number | null
  /** When this browser heard of it, in milliseconds since 1970. */
  at: number
  /** The sender's payments that are on record for other transfers. */
  known: readonly string[]
}

export interface Replacement {
  payment: Payment
  /** True if it has the nonce of the transaction. False if it may be another purchase. */
  isCertain: boolean
}

/**
 * The replacement of a transaction that no block has; null while there is none. `txHash`: null if a block has it. `since`: when the page polled for the
 * first time.
 */
export function useReplacement(txHash: string | null, payer: string | undefined, since: number): Replacement | null {
  const { data: own = null } = useQuery({
    queryKey: ['sent', txHash],
    queryFn: () => (txHash === null ? null : readSent(txHash)),
    enabled: txHash !== null,
    refetchInterval: ({ state }) => (state.data?.nonce == null ? EVERY_MS : false),
  })
  const transaction =
    txHash === null ? null : (own ?? (payer ? { from: payer, nonce: null, at: since, known: [] } : null))
  const { data: payments } = usePaymentsOf(transaction?.from, { isLive: false })
  const { from, nonce, at, known: knownHashes }: Sent = transaction ?? { from: '', nonce: null, at: since, known: [] }
  const others = (payments ?? []).filter(
    (one) => one.txHash !== txHash && isPaidSince(one, at) && !knownHashes.includes(one.txHash),
  )
  const hashes = others.map((one) => one.txHash)
  const { data: same } = useQuery({
    queryKey: ['same nonce', from, nonce, hashes],
    queryFn: async () => {
      for (const hash of hashes) if ((await readTransaction(hash))?.nonce === nonce) return hash
      return null
    },
    enabled: nonce !== null && hashes.length > 0,
  })
  const certain = others.find((one) => one.txHash === same)
  useEffect(() => {
    if (txHash && certain) noteReplaced(txHash, certain.txHash)
  }, [txHash, certain])
  if (certain) return { payment: certain, isCertain: true }
  // If the chain shows that it is another transaction, it replaced nothing.
  const [other] = same === null ? [] : others
  return other ? { payment: other, isCertain: false } : null
}

/** The purchase of this browser goes on with the replacement. */
function noteReplaced(txHash: string, by: string): void {
  const intent = readIntent()
  if (intent?.sent.includes(txHash))
    writeIntent({ ...intent, sent: intent.sent.map((hash) => (hash === txHash ? by : hash)) })
}

/** What we know of a transaction: from this tab, from the purchase of this browser, or from the chain. */
async function readSent(txHash: string): Promise<Sent | null> {
  const name = KEY + txHash
  const before = keptForTab.getItem(name)
  if (before) return JSON.parse(before) as Sent
  const intent = readIntent()
  const mine = intent?.sent.includes(txHash) ? intent : null
  const onChain = await readTransaction(txHash).catch(() => null)
  // The intent has the nonce of its last transfer.
  const nonce = onChain?.nonce ?? (mine && mine.sent.at(-1) === txHash && mine.asks === 1 ? (mine.nonce ?? null) : null)
  const from = onChain?.from ?? mine?.payer
  if (!from) return null
  const knownHashes = mine ? [...(mine.known ?? []), ...mine.sent] : []
  const transaction = { from, nonce, at: mine?.at ?? Date.now(), known: knownHashes }
  if (nonce !== null) keptForTab.setItem(name, JSON.stringify(transaction))
  return transaction
}

/** A transaction's sender and nonce, as a provider of this browser reads them; null if it does not have the transaction. */
async function readTransaction(hash: string): Promise<{ from: string; nonce: number } | null> {
  const transaction = (await queryChain('eth_getTransactionByHash', [hash])) as {
    from?: unknown
    nonce?: unknown
  } | null
  if (typeof transaction?.from !== 'string') return null
  return { from: transaction.from.toLowerCase(), nonce: Number(transaction.nonce) }
}
