// A mint of a node that the ledger has: src/follower/minted-twice.ts. By docs/ARCHITECTURE.md (Halting) the ledger goes back to before the block from which it has the node, once
// for each node, and again only if the provider shows another block there. Otherwise the passes halt.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { readCursor } from '../../../src/db/blocks/blocks.ts'
import { poolWithin } from '../../../src/db/core/sql.ts'
import { HaltFault } from '../../../src/follower/halt.ts'
import { asMintedTwice, MintedTwiceFault, rewindBeforeMint } from '../../../src/follower/minted-twice.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { blocksAfter } from './chains.ts'
import type { Block } from './follow.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const BLOCKS = blocksAfter(null, 20, 0)
const [OLDEST, CURSOR] = [6, 12]
const node = fc.record({ id: fc.constantFrom(1, 2), block: fc.constantFrom(5, 6, 7, 9, 12), isOther: fc.boolean() })
const mint = fc.record({ id: fc.constantFrom(1, 2, 3), ref: fc.constantFrom(1, 2, 3) })
const drawn = fc.record({
  nodes: fc.uniqueArray(node, { maxLength: 2, selector: ({ id }) => id }),
  mints: fc.array(mint, { minLength: 1, maxLength: 2 }),
  told: fc.subarray([1, 2]),
  hasCursor: fc.constantFrom(true, true, true, true, false),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const hashOf = ({ block, isOther }: Drawn['nodes'][number]) => (isOther ? word(3) : (BLOCKS[block] as Block).hash)
const nodeRow = (one: Drawn['nodes'][number]) => ({
  ...{ node_id: one.id, owner: account(1), cohort: 1, ref: word(one.id), per_node_at_mint_wei: 0n, turns_at_mint: 0 },
  ...{ mint_tx_hash: word(9), minted_at: at(1_000), block_number: one.block, block_hash: hashOf(one) },
})
const cursorRow = {
  name: 'follow',
  block_number: CURSOR,
  block_hash: (BLOCKS[CURSOR] as Block).hash,
  block_time: 1_144,
}
const rowsOf = ({ nodes, told }: Drawn): Rows => ({
  cursors: [cursorRow],
  blocks: BLOCKS.slice(OLDEST, CURSOR + 1).map(({ parentHash, ...one }) => ({ ...one, parent_hash: parentHash })),
  nodes: nodes.map(nodeRow),
  audit: told.map((id) => ({ actor: 'pass', action: 'mintedTwice', subject: String(id), detail: '{}' })),
})

/** The node that the ledger goes back for, and to which block; or why it halts. */
function expectedOf({ nodes, mints, told, hasCursor }: Drawn) {
  const same = (one: Drawn['nodes'][number], { id, ref }: Drawn['mints'][number]) => one.id === id || one.id === ref
  const theirs = nodes.filter((one) => mints.some((other) => same(one, other)))
  const [own] = theirs.toSorted((a, b) => a.block - b.block)
  const by = mints.find((other) => own && same(own, other)) ?? mints[0]
  const mintedIn = { nodeId: String(by?.id), block: 13 + mints.indexOf(by as never), hash: word(7) }
  if (!own) return { halts: { mintedIn } }
  const detail = { nodeId: String(own.id), ref: word(own.id), blockNumber: own.block, blockHash: hashOf(own), mintedIn }
  const isSameBlock = own.block >= OLDEST && !own.isOther
  const isHopeless = own.block - 1 < OLDEST || (isSameBlock && told.includes(own.id))
  return hasCursor && !isHopeless ? { to: own.block - 1, subject: String(own.id) } : { halts: detail }
}

test('a node that is minted again takes the ledger back once, or halts it', async () => {
  const met = { back: 0, halts: 0 }
  const compare = async (given: Drawn) => {
    // Which of two nodes of one block is read first does not matter.
    fc.pre(new Set(given.nodes.map(({ block }) => block)).size === given.nodes.length)
    const expected = expectedOf(given)
    const mints = given.mints.map(({ id, ref }, n) => ({
      ...{ nodeId: BigInt(id), ref: word(ref), blockNumber: 13 + n, blockHash: word(7) },
    }))
    await tables.within(rowsOf(given), async (sql) => {
      await sql`UPDATE totals SET nodes = ${given.nodes.length}`
      const ctx = { pool: poolWithin(sql), log: silentLog, rules: { startBlock: 0 } }
      const cursor = given.hasCursor ? await readCursor(sql) : null
      const fault = new MintedTwiceFault(mints as never, null)
      const error = await rewindBeforeMint(ctx as never, fault, cursor).catch((thrown: unknown) => thrown)
      const [state] = await sql`
        SELECT block_number AS to, mending_to AS mending, (SELECT max(concat_ws(' ', actor, action, subject)) FROM audit
          WHERE detail ? 'toBlock') AS said FROM cursors, ledger_state`
      if (expected.halts !== undefined) {
        met.halts += 1
        assert.ok(error instanceof HaltFault)
        assert.deepEqual([error.reason, error.detail], ['mintedTwice', expected.halts])
        return assert.deepEqual({ ...state }, { to: CURSOR, mending: null, said: null })
      }
      met.back += 1
      assert.equal(error, undefined)
      const said = `pass mintedTwice ${expected.subject}`
      assert.deepEqual({ ...state }, { to: expected.to, mending: CURSOR, said })
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(40) })
  assert.ok(met.back > 0 && met.halts > 0, JSON.stringify(met))
})

test('only a duplicate of a node is a mint that the ledger has', async () => {
  await tables.within({ cursors: [cursorRow] }, async (sql) => {
    const broken = new Error('broken')
    const twice = await poolWithin(sql)
      .begin((inner) => inner`INSERT INTO cursors SELECT * FROM cursors`)
      .catch((error: unknown) => error)
    for (const error of [broken, twice]) assert.equal(asMintedTwice(error, []), error)
    const node = Object.assign(new Error('duplicate'), { code: '23505', table_name: 'nodes' })
    const fault = asMintedTwice(node, [])
    assert.ok(fault instanceof MintedTwiceFault && fault.retryable && fault.cause === node && fault.minted.length === 0)
  })
})
