// Floods a payments wallet with thousands of transfers, spread over blocks, from one unrelated account.
import assert from 'node:assert/strict'
import type { Pool } from '../../src/db/core/sql.ts'
import type { World } from './world.ts'

/** The unrelated account. */
const STRANGER = 14
/** How many calls we put in one request to anvil. */
const BATCH = 200
/** As many transfers as surely fit into a block, whose gas limit is 30 million. */
const PER_BLOCK_MAX = 1_000

/**
 * Sends `count` transfers to the payments wallet, the nth of `weiOf(n)` wei, `perBlock` in each block, and mines them.
 */
export async function flood(
  world: World,
  count: number,
  { perBlock, weiOf }: { perBlock: number; weiOf: (n: number) => bigint },
): Promise<void> {
  assert.ok(perBlock <= PER_BLOCK_MAX, 'a block holds no more')
  const [from, to] = [world.at(STRANGER), world.at(3)]
  const first = Number(await world.chain.rpc<string>('eth_getTransactionCount', [from, 'latest']))
  for (let sent = 0; sent < count; ) {
    const ofBlock = Math.min(perBlock, count - sent)
    for (let n = 0; n < ofBlock; n += BATCH) {
      const calls = Array.from({ length: Math.min(BATCH, ofBlock - n) }, (_, i) => {
        const place = sent + n + i
        const fees = { gas: '0x5208', gasPrice: hex(100n * 10n ** 9n) }
        const tx = { from, to, value: hex(weiOf(place)), nonce: hex(BigInt(first + place)), ...fees }
        return { jsonrpc: '2.0', id: place, method: 'eth_sendTransaction', params: [tx] }
      })
      const response = await fetch(world.chain.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(calls),
      })
      const answers = (await response.json()) as { error?: unknown }[]
      assert.ok(
        answers.every(({ error }) => error === undefined),
        `the chain takes the flood: ${JSON.stringify(answers.find(({ error }) => error))}`,
      )
    }
    await world.chain.mine()
    sent += ofBlock
  }
}

const hex = (value: bigint) => `0x${value.toString(16)}`

/** Bytes of all tables including their indexes. */
export async function ledgerBytes(pool: Pool): Promise<number> {
  const [row] = await pool<{ bytes: number }[]>`
    SELECT sum(pg_total_relation_size(c.oid))::bigint AS bytes FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`
  return row?.bytes ?? 0
}

/** How many rows the tables have to which junk must add none. */
export async function costlyRows(pool: Pool): Promise<object> {
  const [row] = await pool`
    SELECT (SELECT count(*) FROM payments) AS payments, (SELECT count(*) FROM payment_verdicts) AS verdicts,
      (SELECT count(*) FROM webhook_events) AS events, (SELECT count(*) FROM audit) AS audit`
  return { ...row }
}
