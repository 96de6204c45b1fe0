// Troubles that come and go: the stores of src/db that note them, in any order, and the second reading agree about answers, rows and the audit log.
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import * as halts from '../../../src/db/blocks/halts.ts'
import * as parting from '../../../src/db/blocks/parted.ts'
import * as stopped from '../../../src/db/blocks/stuck.ts'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { endTrouble, noteCalm, noteTrouble, type Trouble } from '../../../src/db/core/troubles.ts'
import * as signers from '../../../src/db/sends/signers.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { tellUnsent, whyUnsent } from '../../../src/passes/steps/unsent.ts'
import { account, openTables, type Tables, word } from '../../db/direct-rows.ts'
import { type Act, act, play, stepsOf } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import { aged, agesBy, pass, readRows, rowsOf } from './settings.ts'
import * as model from './troubles.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

type Machine = Act<model.Ledger>
const none = fc.constant(null)

const time = (...seconds: number[]): Machine =>
  act({
    draw: fc.constantFrom(...seconds),
    run: (sql, seconds) => pass(sql, seconds),
    expects: (state: model.Ledger, seconds) => {
      state.now += seconds
    },
  })

/** An answer with its times as ages. */
const agesIn = async (sql: Sql, found: unknown) => aged(found, await agesBy(sql))
const inAges = (state: model.Ledger, found: unknown) => aged(found, (at: number) => state.now - at)

const compare =
  (ledger: () => model.Ledger = model.emptyLedger) =>
  async (steps: Parameters<typeof play<model.Ledger, unknown>>[1]['steps']) => {
    await tables.within({}, async (sql) => {
      await play(sql, { steps, state: ledger() }, { read: readRows, expected: rowsOf })
    })
  }

const trouble = fc.constantFrom<Trouble>('proof', 'proof', 'signer minter', 'signer distributor', 'fee 0x1')
const troubles: Record<string, Machine> = {
  time: time(1, 2, 60, 300, 598, 600, 600),
  seen: act({ draw: trouble, run: noteTrouble, expects: model.seen }),
  calm: act({ draw: trouble, run: noteCalm, expects: model.calm }),
  ended: act({ draw: trouble, run: endTrouble, expects: model.ended }),
}

test('a trouble begins once, and is over after ten minutes in which no check has seen it', async () => {
  const steps = stepsOf(troubles, { least: 3, most: 14, weights: { time: 5, calm: 6, seen: 3 } })
  await fc.assert(fc.asyncProperty(steps, compare()), { numRuns: cases(60) })
})

const halting: Record<string, Machine> = {
  time: time(1, 12, 20, 58, 60, 300, 600),
  halted: act({
    draw: fc.record({
      reason: fc.constantFrom('tooDeep', 'pastFinalized', 'otherChain'),
      detail: fc.constantFrom({}, { oldestHeader: 5 }, { finalized: { number: 7 } }),
      confirmed: fc.constantFrom(true, true, false),
    }),
    run: async (sql, one) => agesIn(sql, await halts.noteHalt(sql, one as never)),
    expects: (state: model.Ledger, one) => inAges(state, model.halted(state, one)),
  }),
  withdrawn: act({ draw: none, run: halts.withdrawHalt, expects: model.haltWithdrawn }),
  noHalt: act({ draw: none, run: halts.noteNoHalt, expects: (state: model.Ledger) => model.noHalt(state) }),
  read: act({
    draw: none,
    run: async (sql) => agesIn(sql, await halts.readHalt(sql)),
    expects: (state: model.Ledger) => inAges(state, state.troubles.get('halted')?.value),
  }),
  cleared: act({
    draw: fc.record({
      actor: fc.constantFrom('ada', 'ben'),
      requestId: fc.constantFrom('r1', null),
      note: fc.constantFrom('seen', null),
    }),
    run: async (sql, { actor, ...given }) => agesIn(sql, await halts.clearHalt(sql, actor, given)),
    expects: (state: model.Ledger, { actor, requestId, note }) =>
      inAges(state, model.haltCleared(state, actor, requestId, note)),
  }),
  finalized: act({
    draw: fc.constantFrom(7, 8),
    run: (sql, number) => sql`UPDATE ledger_state SET finalized_block = ${number}`.then(() => null),
    expects: (state: model.Ledger, number) => {
      state.finalized = number
    },
  }),
}

test('a halt is sealed at the fifth confirmed reading after a minute, and cleared or withdrawn', async () => {
  const weights = { halted: 8, time: 4, noHalt: 3, withdrawn: 2, cleared: 1 }
  const steps = stepsOf(halting, { least: 4, most: 18, weights })
  await fc.assert(fc.asyncProperty(steps, compare()), { numRuns: cases(60) })
})

const stuckness: Record<string, Machine> = {
  time: time(1, 58, 60, 62, 118, 120, 598, 600),
  stuck: act({
    draw: fc.record({
      block: fc.constantFrom(10, 10, 10, 11),
      rule: fc.constantFrom('no state', 'x'.repeat(300), 'y'.repeat(301)),
      host: fc.constantFrom('a', 'b', null),
    }),
    run: async (sql, one) => agesIn(sql, await stopped.noteStuck(sql, one)),
    expects: (state: model.Ledger, one) => inAges(state, model.stuck(state, one)),
  }),
  moving: act({ draw: none, run: stopped.noteMoving, expects: (state: model.Ledger) => model.moving(state) }),
  read: act({
    draw: none,
    run: async (sql) => {
      const [row] = await sql<{ stuck: unknown }[]>`SELECT ${sql.unsafe(stopped.STUCK)} AS stuck`
      return agesIn(sql, [await stopped.readStuck(sql), row?.stuck])
    },
    expects: (state: model.Ledger) => {
      const known = state.troubles.get('stuck')?.value as model.Stuck | undefined
      if (!known?.lasts) return [null, null]
      return inAges(state, [known, { block: known.block, since: known.since }])
    },
  }),
}

test('a stuck block is reported on the third run in two minutes, and over after ten in motion', async () => {
  const steps = stepsOf(stuckness, { least: 4, most: 16, weights: { stuck: 8, time: 5, moving: 2 } })
  await fc.assert(fc.asyncProperty(steps, compare()), { numRuns: cases(60) })
})

const histories: Record<string, Machine> = {
  time: time(1, 60, 118, 120, 598, 600),
  parted: act({
    draw: fc.record({
      followed: fc.constantFrom(100, 111, 112, 113),
      stops: fc.boolean(),
      host: fc.constantFrom('a', 'b'),
    }),
    run: async (sql, { followed, ...one }) =>
      agesIn(sql, await parting.noteParted(sql, partingOf(one) as never, followed)),
    expects: (state: model.Ledger, { followed, ...one }) =>
      inAges(state, model.parted(state, partingOf(one), followed)),
  }),
  united: act({ draw: none, run: parting.noteUnited, expects: (state: model.Ledger) => model.united(state) }),
  read: act({
    draw: none,
    run: async (sql) => agesIn(sql, [await parting.readParted(sql), await parting.isSaleParted(sql)]),
    expects: (state: model.Ledger) =>
      inAges(state, [state.troubles.get('parted')?.value ?? null, model.isSaleParted(state)]),
  }),
}

const PASSES = ['payments', 'credit'] as const
const ofPass = fc.constantFrom(...PASSES)
const detail = fc.constantFrom('', 'by the provider', 'y'.repeat(301))
const refused = (...why: string[]) =>
  fc.record({ kind: fc.constant('refused' as const), why: fc.constantFrom(...why), detail })
const result: fc.Arbitrary<model.SendResult> = fc.oneof(
  { weight: 6, arbitrary: refused('reverts', 'nonceUnknown') },
  refused('insufficientFunds', 'roleLost', 'feeCapped', 'resting', 'notSigned', 'guardRefused'),
  fc.constantFrom(null, { kind: 'sent' as const }),
)
const waiting: Record<string, Machine> = {
  time: time(1, 58, 60, 62, 118, 120, 598, 600),
  run: act({
    draw: fc.record({ pass: ofPass, result }),
    run: async (sql, one) => {
      const why = whyUnsent(one.result)
      await tellUnsent({ pool: poolWithin(sql), log: silentLog }, one.pass, why)
      return why
    },
    expects: (state: model.Ledger, one) => model.afterSending(state, one.pass, one.result),
  }),
  read: act({
    draw: none,
    run: async (sql) => agesIn(sql, await stopped.readUnsent(sql)),
    expects: (state: model.Ledger) => {
      const known = PASSES.map((one) => state.troubles.get(`unsent ${one}`)?.value as model.Unsent | undefined)
      return inAges(
        state,
        known.filter((one) => one?.lasts),
      )
    },
  }),
}

test('what a pass does not send is reported on the third run over two minutes, pass by pass', async () => {
  const steps = stepsOf(waiting, { least: 4, most: 16, weights: { run: 10, time: 5 } })
  await fc.assert(fc.asyncProperty(steps, compare()), { numRuns: cases(60) })
})

const partingOf = (one: { stops: boolean; host: string }): model.Parting => ({
  ...{ number: 101, ours: word(1), theirs: word(2), beside: ['c'], agreed: { number: 100, hash: word(3) } },
  ...one,
})

test('histories that differ last once they are twelve blocks deep or two minutes old', async () => {
  const steps = stepsOf(histories, { least: 3, most: 12, weights: { parted: 6, time: 4, united: 3, read: 3 } })
  await fc.assert(fc.asyncProperty(steps, compare()), { numRuns: cases(50) })
})

const failing = fc.constantFrom<Trouble>('signer minter', 'signer distributor', 'role minter', 'role distributor')
const address = fc.constantFrom(account(1), account(1), account(2))
const roles: Record<string, Machine> = {
  time: time(1, 60, 600),
  failed: act({
    draw: fc.record({ of: failing, address, detail: fc.constantFrom('locked', 'away') }),
    run: (sql, { of, ...found }) => noteTrouble(sql, of, found),
    expects: (state: model.Ledger, { of, ...found }) => model.seen(state, of, found),
  }),
  works: act({ draw: failing, run: noteCalm, expects: model.calm }),
  read: act({
    draw: none,
    run: async (sql) => {
      const ageOf = await agesBy(sql)
      const [row] = await sql<{ names: unknown }[]>`
        SELECT ${sql.unsafe(signers.NOT_SIGNING)} AS names`
      const lists = [await signers.readSenderTroubles(sql, 'signer'), await signers.readSenderTroubles(sql, 'role')]
      const ages = lists.map((list) => list.map(({ since, ...one }) => ({ ...one, age: ageOf(since) })))
      return [...ages, row?.names]
    },
    expects: (state: model.Ledger) => {
      const lists = [model.onRecord(state, 'signer'), model.onRecord(state, 'role')]
      return [...lists, lists[0]?.map((one) => one.role)]
    },
  }),
}

test('a signer or a role that fails is on record with its first failure until it works', async () => {
  const steps = stepsOf(roles, { least: 3, most: 12, weights: { failed: 6, works: 2, read: 3 } })
  await fc.assert(fc.asyncProperty(steps, compare()), { numRuns: cases(50) })
})
