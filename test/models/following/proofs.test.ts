// What blocks are worth as evidence: src/follower/proofs.ts finds the mode, reports false answers and ends runs as the second reading does, run after run.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { endTrouble, noteCalm } from '../../../src/db/core/troubles.ts'
import { HaltFault } from '../../../src/follower/halt.ts'
import { requireProofs, tellFailedProofs, tellFault, unprovenHalt } from '../../../src/follower/proofs.ts'
import { ChainFault, ProofFault, RpcFault } from '../../../src/ports/faults.ts'
import { account, openTables, poolAfter, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './proofs.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const mode = fc.constantFrom<model.Mode>('proven', 'agreed')
const failure = fc.record({
  part: fc.constantFrom('header', 'transactions', 'receipts', 'state'),
  blockNumber: fc.constantFrom(0, 7, 8),
  says: fc.constantFrom('a hash', 'another one'),
  host: fc.constantFrom(null, 'host 1', 'host 2'),
})
const starts = fc.record({
  kind: fc.constant('starts' as const),
  setting: fc.option(mode, { freq: 1 }),
  shown: fc.option(mode, { freq: 3 }),
  meanwhile: fc.constantFrom<model.Mode | null>(null, null, 'proven', 'agreed'),
  providerChainId: fc.constantFrom(1, 2),
})
const step = fc.oneof(
  starts,
  fc.record({ kind: fc.constant('reports' as const), failures: fc.array(failure, { maxLength: 3 }) }),
  fc.record({
    kind: fc.constantFrom('tells' as const, 'ends' as const),
    fault: fc.constantFrom<model.Fault>('error', 'silent', 'lacking', 'false', 'false'),
    failure,
  }),
  fc.record({ kind: fc.constant('calms' as const) }),
  fc.record({ kind: fc.constant('endsTrouble' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
const ledgers = fc.record({
  cursor: fc.constantFrom(null, 0, 9),
  chainId: fc.constantFrom(null, 1, 3),
  modes: fc.uniqueArray(fc.record({ fromBlock: fc.constantFrom(0, 4, 9), mode, by: fc.constantFrom('pass', 'ada') }), {
    maxLength: 2,
    selector: ({ fromBlock }) => fromBlock,
  }),
})

const rowsOf = ({ cursor, chainId, modes }: Pick<model.Ledger, 'cursor' | 'chainId' | 'modes'>): Rows => ({
  cursors:
    cursor === null
      ? []
      : [{ name: 'follow', block_number: cursor, block_hash: word(cursor), block_time: 1_000 + cursor }],
  evidence_modes: modes.map(({ fromBlock, mode: one, by }) => ({ from_block: fromBlock, mode: one, set_by: by })),
  ledger_state:
    chainId === null
      ? []
      : [{ chain_id: chainId, genesis_hash: word(1), factory: account(1), start_block: 0, started_at: 'now' }],
})

function faultOf(kind: model.Fault, { part, blockNumber, says }: model.Failure): Error {
  if (kind === 'error') return Object.assign(new Error('a bug'), { isFalse: true })
  if (kind === 'silent') return new RpcFault('unreachable', 'no answer')
  return new ProofFault(part as never, blockNumber, says, { isFalse: kind === 'false' })
}

async function startBoth(sql: Sql, ledger: model.Ledger, given: model.Start): Promise<void> {
  const { setting, shown, meanwhile, providerChainId } = given
  const required: unknown[] = []
  const proofs = {
    findMode: async () => shown && { mode: shown },
    require: (...some: unknown[]) => void required.push(some),
  }
  const fromBlock = ledger.cursor === null ? 0 : ledger.cursor + 1
  const pool = poolAfter(sql, async () => {
    if (meanwhile) await sql`INSERT INTO evidence_modes VALUES (${fromBlock}, ${meanwhile}, 'other')`
  })
  const ctx = { pool, chain: { proofs, chainId: async () => providerChainId }, rules: setting ? { mode: setting } : {} }
  const expected = model.start(ledger, given)
  const starting = requireProofs(ctx as never)
  if (expected) await starting
  else await assert.rejects(starting, ChainFault)
  assert.deepEqual(required, expected ? [expected] : [])
}

async function stepBoth(sql: Sql, ledger: model.Ledger, one: Step, warned: unknown[]): Promise<void> {
  const log = { warn: (entry: object) => void warned.push(entry), error: () => undefined, info: () => undefined }
  const ctx = { pool: poolWithin(sql), log } as never
  if (one.kind === 'starts') return await startBoth(sql, ledger, one)
  if (one.kind === 'calms') {
    await noteCalm(sql, 'proof')
    if (ledger.trouble === 'lasts') ledger.trouble = 'calm'
  } else if (one.kind === 'endsTrouble') {
    await endTrouble(sql, 'proof')
    ledger.trouble = 'none'
  } else if (one.kind === 'reports') {
    model.report(ledger, one.failures)
    await tellFailedProofs(ctx, sql, one.failures as never)
  } else {
    const fault = faultOf(one.fault, one.failure)
    const expected = model.end(ledger, one.fault, one.failure)
    if (one.kind === 'tells') return await tellFault(ctx, fault)
    const ended = await unprovenHalt(ctx, fault)
    if (expected === 'same') return assert.equal(ended, fault)
    assert.ok(ended instanceof HaltFault)
    const { reason, confirmed, noted, detail } = ended
    assert.deepEqual({ reason, confirmed, noted, detail }, expected)
  }
}

test('the first run finds what blocks are worth, and each false answer is reported or logged', async () => {
  const compare = async (given: typeof ledgers extends fc.Arbitrary<infer T> ? T : never, steps: Step[]) => {
    const ledger: model.Ledger = { ...given, modes: [...given.modes], trouble: 'none', audit: [] }
    await tables.within(rowsOf(given), async (sql) => {
      for (const one of steps) await stepBoth(sql, ledger, one, [])
      const modes = await sql`SELECT from_block AS "fromBlock", mode, set_by AS by FROM evidence_modes ORDER BY 1`
      assert.deepEqual(
        modes.map((row) => ({ ...row })),
        ledger.modes.map((one) => ({ ...one })).toSorted((a, b) => a.fromBlock - b.fromBlock),
      )
      const audit = await sql`SELECT actor, action, subject, detail FROM audit ORDER BY id`
      assert.deepEqual(
        audit.map((row) => ({ ...row })),
        ledger.audit.map((told) => ({ actor: 'pass', ...told })),
      )
      const [trouble] = await sql`SELECT value ? 'calmSince' AS "isCalm" FROM troubles WHERE name = 'trouble proof'`
      assert.equal(trouble ? (trouble.isCalm ? 'calm' : 'lasts') : 'none', ledger.trouble)
    })
  }
  const steps = fc.array(step, { minLength: 1, maxLength: 5 })
  await fc.assert(fc.asyncProperty(ledgers, steps, compare), { numRuns: cases(150) })
})
