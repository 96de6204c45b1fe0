// What is recorded of runs: src/passes/run.ts and src/passes/steps/funds.ts, run after run, and the second reading agree about answers and all rows.
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { passFinished, secondsSincePass, withoutSuccess } from '../../../src/db/core/passes.ts'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { recordIdentity } from '../../../src/db/core/state.ts'
import { HaltFault } from '../../../src/follower/halt.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { passRunner } from '../../../src/passes/run.ts'
import { watchFunds } from '../../../src/passes/steps/funds.ts'
import type { Run } from '../../../src/ports/contexts.ts'
import { account, openTables, type Tables } from '../../db/direct-rows.ts'
import { type Act, act, inOrder, letPass, play, stepsOf } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './passes.ts'
import { pass, readRows, rowsOf } from './settings.ts'
import { emptyLedger } from './troubles.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const TIMES = { passes: ['started_at', 'finished_at', 'succeeded_at'], ledger_state: ['started_at'] }

async function runOnce(sql: Sql, { name, isLocked, ends, reports, counts }: model.Run): Promise<unknown> {
  const ctx = {
    pool: poolWithin(sql),
    log: silentLog,
    lock: (_name: string, body: (signal: AbortSignal) => unknown) =>
      isLocked ? null : body(new AbortController().signal),
    preflight: async () => {
      if (ends === 'preflight') throw new Error(ends)
      return { guardUsable: true }
    },
  }
  const runs = passRunner(
    ctx as never,
    {
      name,
      async body(run: Run) {
        for (const one of reports) run.reportFault(one)
        if (ends === 'throws') throw new Error(ends)
        if (ends !== 'well') throw new HaltFault('tooDeep', { counts }, { noted: ends === 'haltedBefore' })
        return { counts }
      },
      halted: async () => ({ halted: true }),
    } as never,
  )
  return await runs().catch((error: Error) => error.message)
}

/** The rows of the passes, with their times as ages. A halt's words are not compared, only that they are there. */
const readPasses = (sql: Sql) => sql<object[]>`
  SELECT name, floor(extract(epoch FROM clock_timestamp() - started_at))::int AS started,
    floor(extract(epoch FROM clock_timestamp() - finished_at))::int AS finished,
    floor(extract(epoch FROM clock_timestamp() - succeeded_at))::int AS succeeded, outcome,
    CASE WHEN error LIKE 'halted: %' THEN 'halted' ELSE error END AS error FROM passes`

const agesOf = ({ passes, now }: model.Recorded) =>
  [...passes].map(([name, { started, finished, succeeded, outcome, error }]) => ({
    ...{ name, started: now - started, finished: finished === null ? null : now - finished },
    ...{ succeeded: succeeded === null ? null : now - succeeded, outcome, error },
  }))

const time = (...seconds: number[]): Act<model.Recorded> =>
  act({
    draw: fc.constantFrom(...seconds),
    run: async (sql, seconds) => {
      await pass(sql, seconds)
      await letPass(sql, seconds, TIMES)
    },
    expects: (state: model.Recorded, seconds) => {
      state.now += seconds
    },
  })

const compare = async (steps: Parameters<typeof play<model.Recorded, unknown>>[1]['steps']) => {
  await tables.within({}, async (sql) => {
    await recordIdentity(sql, { chainId: 1, genesisHash: '0x', factory: account(1), startBlock: 0 })
    const state = { ...emptyLedger(), passes: new Map() }
    await play(
      sql,
      { steps, state },
      {
        read: async (sql) => [await readRows(sql), inOrder(await readPasses(sql))],
        expected: (state) => [rowsOf(state), inOrder(agesOf(state))],
      },
    )
  })
}

const runs: Record<string, Act<model.Recorded>> = {
  time: time(1, 30, 60, 600),
  run: act({
    draw: fc.record({
      name: fc.constantFrom<model.Run['name']>('payments', 'payments', 'credit'),
      isLocked: fc.constantFrom(false, false, false, true),
      ends: fc.constantFrom<model.Run['ends']>('well', 'well', 'well', 'preflight', 'throws', 'halts', 'haltedBefore'),
      reports: fc.constantFrom<string[]>([], [], ['a fault'], ['a fault', 'another'], ['x'.repeat(2_001)]),
      counts: fc.nat(3),
    }),
    run: runOnce,
    expects: model.run,
  }),
  finish: act({
    draw: fc.constantFrom('payments', 'funds'),
    run: (sql, name) => passFinished(sql, name, { outcome: { by: 'hand' } }),
    expects: (state: model.Recorded, name) => model.finished(state, name, { by: 'hand' }, null),
  }),
  read: act({
    draw: fc.constantFrom('payments', 'credit'),
    run: async (sql, name) => {
      const [row] = await sql<{ seconds: number }[]>`
        SELECT ${withoutSuccess(sql, sql`p`)} AS seconds FROM passes p WHERE name = ${name}`
      return [await secondsSincePass(sql, name), row?.seconds ?? Infinity].map(Math.floor)
    },
    expects: (state: model.Recorded, name) => {
      const row = state.passes.get(name)
      return row === undefined ? [Infinity, Infinity] : [state.now - row.started, state.now - (row.succeeded ?? 0)]
    },
  }),
}

test('every run is on record, and counts as a success only if nothing went wrong in it', async () => {
  const steps = stepsOf(runs, { least: 2, most: 10, weights: { run: 6, time: 2, read: 2 } })
  await fc.assert(fc.asyncProperty(steps, compare), { numRuns: cases(80) })
})

const above = fc.constantFrom(-1n, -1n, 0n, 0n, 1n, 5n, null)
const funds: Record<string, Act<model.Recorded>> = {
  time: time(120, 298, 300, 600, 600),
  look: act({
    draw: fc.record({
      minter: fc.option(above, { freq: 9, nil: undefined }),
      distributor: fc.option(above, { freq: 2, nil: undefined }),
      warn: fc.constantFrom(5, 5, 5, 5, 1, 0),
      maxFeeWei: fc.constantFrom(2n, 7n),
    }),
    run: async (sql, { minter, distributor, warn, maxFeeWei }) => {
      const neededWei = 200_000n * maxFeeWei * BigInt(warn)
      const reader = (address: string, above: bigint | null | undefined) =>
        above === undefined
          ? null
          : {
              address,
              fees: async () => ({ maxFeeWei, maxPriorityFeeWei: 1n }),
              balance: async () => {
                if (above === null) throw new Error('no balance')
                return neededWei + above
              },
            }
      const accounts = { minter: reader(account(1), minter), distributor: reader(account(2), distributor) }
      const rules = { fundsWarnTransactions: warn, distMode: 'treasury', feeCapWei: 100n, tipMaxWei: 10n }
      await watchFunds({ pool: poolWithin(sql), log: silentLog, rules, ...accounts } as never)
    },
    expects: (state: model.Recorded, { minter, distributor, warn, maxFeeWei }) => {
      const both: model.Account[] = []
      if (minter !== undefined) both.push({ role: 'minter', address: account(1), above: minter })
      if (distributor !== undefined) both.push({ role: 'distributor', address: account(2), above: distributor })
      model.funds(state, both, warn, maxFeeWei)
    },
  }),
}

test('funds are low from the first shortage until they have sufficed for ten minutes', async () => {
  const steps = stepsOf(funds, { least: 6, most: 14 })
  await fc.assert(fc.asyncProperty(steps, compare), { numRuns: cases(80) })
})
