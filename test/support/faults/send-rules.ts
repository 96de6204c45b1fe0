// Rules of real networks for sends that the test chain does not enforce: a replacement must offer ten percent more, and
// no transaction may ask for more than 2^24 gas. Also our own rule: nothing is sent that was not stored before.
import { keccak256, parseTransaction, recoverTransactionAddress } from 'viem'
import { connect, type Pool } from '../../../src/db/core/sql.ts'
import type { Refusal } from './dialects.ts'
import type { Answer, Call } from './names.ts'

export const GAS_CAP = 2n ** 24n

export interface SendRules {
  /** The refusal of a real network; null if it accepts. Notes a breach of our own rule. */
  check(raw: `0x${string}`): Promise<Refusal | null>
  /** Transactions sent without having been stored. Queries the database again for those that it could not check at the time. */
  broken(): Promise<string[]>
  close(): Promise<void>
}

interface Known {
  hash: `0x${string}`
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}
interface Handed {
  hash: `0x${string}`
  at: Date
}

/** Builds the rules for one chain. Without a database it does not check that sends were stored. */
export function createSendRules(options: {
  forward: (call: Call) => Promise<Answer>
  databaseUrl: string | null
  /** The signer of these bytes; recovered unless given. */
  signerOf?: (raw: `0x${string}`) => Promise<string>
}): SendRules {
  const pool = options.databaseUrl ? connectTo(options.databaseUrl) : null
  const known = new Map<string, Known>()
  const signers = new Map<string, string>()
  const unstored: string[] = []
  const unchecked: Handed[] = []
  const recover = (raw: `0x${string}`) => recoverTransactionAddress({ serializedTransaction: raw as never })
  const signerOf = options.signerOf ?? recover

  /** The signer of these bytes, cached because the same ones come repeatedly. */
  async function senderOf(hash: string, raw: `0x${string}`): Promise<string> {
    const sender = signers.get(hash) ?? (await signerOf(raw))
    signers.set(hash, sender)
    return sender
  }

  /** True if the bytes were stored before they arrived here, by a clock of whole milliseconds. */
  async function wasStored(sql: Pool, { hash, at }: Handed): Promise<boolean> {
    const rows = await sql`
      SELECT FROM outbox_attempts WHERE tx_hash = ${hash} AND date_trunc('milliseconds', signed_at) <= ${at}`
    return rows.count > 0
  }

  async function checkStored(hash: `0x${string}`): Promise<void> {
    if (!pool) return
    const handed = { hash, at: new Date() }
    try {
      if (!(await wasStored(pool, handed))) unstored.push(`${hash} was sent and is in no outbox`)
    } catch {
      // A test has stopped the database, so we check again at the end.
      unchecked.push(handed)
    }
  }

  async function isWaiting(hash: string): Promise<boolean> {
    const answer = await options.forward({ method: 'eth_getTransactionByHash', params: [hash] })
    const tx = 'result' in answer ? (answer.result as { blockNumber: string | null } | null) : null
    return tx !== null && tx.blockNumber === null
  }

  return {
    async check(raw) {
      const tx = parseTransaction(raw)
      const hash = keccak256(raw)
      await checkStored(hash)
      if ((tx.gas ?? 0n) > GAS_CAP) return 'overGasCap'
      const place = `${await senderOf(hash, raw)} ${tx.nonce}`
      const fees = { maxFeePerGas: tx.maxFeePerGas ?? 0n, maxPriorityFeePerGas: tx.maxPriorityFeePerGas ?? 0n }
      const old = known.get(place)
      if (old && old.hash !== hash && !outbids(fees, old) && (await isWaiting(old.hash))) return 'underpriced'
      known.set(place, { hash, ...fees })
      return null
    },
    async broken() {
      for (const handed of pool ? unchecked.splice(0) : []) {
        if (pool && !(await wasStored(pool, handed))) unstored.push(`${handed.hash} was sent before it was stored`)
      }
      return unstored
    },
    async close() {
      await pool?.end({ timeout: 1 })
    },
  }
}

function connectTo(url: string): Pool {
  return connect(url, { max: 2, prepare: false, applicationName: 'fault proxy' })
}

/** True if both fees are at least a tenth higher, and higher at all. Geth, reth, Erigon, Nethermind and Besu agree on this. */
function outbids(fees: Omit<Known, 'hash'>, old: Known): boolean {
  const tenth = (now: bigint, then: bigint) => now > then && now * 10n >= then * 11n
  return tenth(fees.maxFeePerGas, old.maxFeePerGas) && tenth(fees.maxPriorityFeePerGas, old.maxPriorityFeePerGas)
}
