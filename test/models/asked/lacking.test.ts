// Nodes that the ledger lacks: src/claims/sync.ts, asked again and again for mints in blocks that the ledger has, had or has otherwise, starts a run that compares when the second
// reading does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { createSyncer } from '../../../src/claims/sync.ts'
import { takeClaimedBlock } from '../../../src/db/blocks/claimed.ts'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { account, openTables, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './lacking.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [TX, OWNER, OLDEST, HEAD] = [word(1), account(5), 15, 30]
const hashOf = ({ number, isLedgers }: { number: number; isLedgers: boolean }) => word(isLedgers ? number : 600)
const step = fc.record({
  by: fc.constantFrom<model.Asked['by']>('transaction', 'node'),
  mint: fc.option(
    fc.record({
      number: fc.constantFrom(OLDEST - 1, OLDEST, 20, 20, 20, HEAD),
      isLedgers: fc.constantFrom(true, true, true, false),
    }),
    { freq: 6 },
  ),
  finds: fc.constantFrom(true, false, false, false),
  runs: fc.constantFrom(true, true, true, false),
  /** Seconds since the last question. */
  gap: fc.constantFrom(0, 1, 59, 60, 61, 200),
  /** Whether the first provider has no log of the node. */
  isFirstEmpty: fc.boolean(),
})
const steps = fc.array(step, { minLength: 1, maxLength: 5 })
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const ROWS = {
  cursors: [{ name: 'follow', block_number: HEAD, block_hash: word(HEAD), block_time: 900 }],
  blocks: Array.from({ length: HEAD - OLDEST + 1 }, (_, n) => {
    const number = OLDEST + n
    return { number, hash: word(number), parent_hash: word(number - 1), time: 30 * number, prevrandao: word(0) }
  }),
}

async function addNode(sql: Sql): Promise<void> {
  await sql.unsafe('SET LOCAL session_replication_role = replica')
  await sql`
    INSERT INTO nodes (node_id, owner, cohort, ref, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number, block_hash)
    VALUES (1, ${OWNER}, 1, ${word(70)}, 0, 0, ${TX}, now(), 20, ${word(20)})`
  await sql`
    INSERT INTO node_transfers (block_number, log_index, node_id, from_address, to_address, tx_hash, block_hash)
    VALUES (20, 1, 1, ${account(0)}, ${OWNER}, ${TX}, ${word(20)})`
  await sql.unsafe('SET LOCAL session_replication_role = origin')
}

/** A chain whose answers are those of the question that is being asked. */
function contextOf(sql: Sql, current: () => Step) {
  const mintReceipt = async () => {
    const { mint } = current()
    if (mint === null) return null
    return {
      succeeded: true,
      block: { number: mint.number, hash: hashOf(mint) },
      nodes: [{ nodeId: 1n, mintedTo: OWNER }],
    }
  }
  const logsOfNode = async (nodeId: bigint, from: number, to: number) => {
    assert.deepEqual([nodeId, from, to], [1n, OLDEST, HEAD])
    const { mint, isFirstEmpty } = current()
    if (mint === null) return [[], []]
    const said = [
      { blockNumber: mint.number, blockHash: hashOf(mint) },
      { blockNumber: HEAD, blockHash: word(HEAD) },
    ]
    return isFirstEmpty ? [[], said] : [said, []]
  }
  return {
    ...{ pool: poolWithin(sql), log: silentLog, rules: { startBlock: 1 } },
    chain: { head: async () => ({ number: HEAD, hash: word(HEAD), time: 900 }), providers: [] },
    pollPolicy: { looksMax: 3, pauseMs: 0, waitMs: 5_000, readMs: 5_000 },
    contract: { nodes: async () => [{ nodeId: 1n, owner: OWNER }] },
    history: { mintReceipt, logsOfNode },
  }
}

/** A ledger without the node, whose passes do what the current question says. */
function syncing(sql: Sql) {
  const now = { step: null as Step | null, passes: 0, compared: null as number | null }
  const current = () => now.step ?? assert.fail()
  const run = async () => {
    now.passes += 1
    if (!current().runs) return { ran: false, headBlock: null }
    now.compared = await takeClaimedBlock(sql)
    if (current().finds && now.compared !== null) await addNode(sql)
    return { ran: true, headBlock: HEAD }
  }
  const syncer = createSyncer(contextOf(sql, current) as never, run as never)
  return async (step: Step) => {
    Object.assign(now, { step, passes: 0, compared: null })
    const found = await (step.by === 'node' ? syncer.byNodeId(1n) : syncer.byTransaction(TX as never, OWNER as never))
    const created = 'nodes' in found ? (found.nodes[0]?.created ?? null) : null
    return { kind: found.kind, created, passes: now.passes, compared: now.compared }
  }
}

test('a run compares the block of a mint that the ledger lacks, one block a minute', async () => {
  const met = { followed: 0, following: 0, notFound: 0, compared: 0 }
  const compare = async (drawn: Step[]) => {
    await tables.within(ROWS, async (sql) => {
      const ledger: model.Ledger = { hasNode: false, sinceClaim: null, oldest: OLDEST, cursor: HEAD }
      const ask = syncing(sql)
      for (const one of drawn) {
        if (ledger.sinceClaim !== null) ledger.sinceClaim += one.gap
        await sql`
          UPDATE ledger_state SET claimed_at = now() - make_interval(secs => ${ledger.sinceClaim ?? 0})
          WHERE claimed_at IS NOT NULL`
        const expected = model.ask(ledger, one)
        assert.deepEqual(await ask(one), expected)
        met[expected.kind] += 1
        if (expected.compared !== null) met.compared += 1
        // What no run took is taken by the next one, of whichever instance.
        if (!one.runs) await takeClaimedBlock(sql)
      }
    })
  }
  await fc.assert(fc.asyncProperty(steps, compare), { numRuns: cases(150) })
  assert.ok(Math.min(...Object.values(met)) >= cases(10), JSON.stringify(met))
})
