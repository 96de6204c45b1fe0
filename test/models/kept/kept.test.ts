// Small stores: marks of the follower, switches, keys of repeated requests, nonces, the shared price and fees. The statements of src/db, in random order,
// and a second reading of them agree about answers and rows.
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import * as claimed from '../../../src/db/blocks/claimed.ts'
import * as evidence from '../../../src/db/blocks/evidence.ts'
import * as surveyed from '../../../src/db/blocks/surveyed.ts'
import * as idempotency from '../../../src/db/core/idempotency.ts'
import type { Sql } from '../../../src/db/core/sql.ts'
import * as facts from '../../../src/db/core/state.ts'
import * as linked from '../../../src/db/nodes/seed-waits.ts'
import * as price from '../../../src/db/sale/price.ts'
import * as fees from '../../../src/db/sends/fees.ts'
import * as guard from '../../../src/db/sends/guard.ts'
import * as ahead from '../../../src/db/sends/nonce-ahead.ts'
import { spendNonce } from '../../../src/db/sends/nonces.ts'
import { account, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { type Act, act, inOrder, letPass, play, readTable, type Step, stepsOf } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './kept.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

type Machine = Act<model.Kept>
const none = fc.constant(null)
const of = <Input>(
  draw: fc.Arbitrary<Input>,
  run: (sql: Sql, input: Input) => Promise<unknown>,
  expects: (state: model.Kept, input: Input) => unknown,
): Machine => act({ draw, run, expects })

const COLUMNS = {
  ledger_state: ['started_at', 'claimed_at'],
  troubles: ['updated_at'],
  idempotency_keys: ['started_at'],
  used_nonces: ['expires_at'],
  price: ['attempted_at'],
}
const time = (...seconds: number[]) =>
  of(
    fc.constantFrom(...seconds),
    (sql, seconds) => letPass(sql, seconds, COLUMNS),
    (state, seconds) => {
      state.now += seconds
    },
  )

/** The head moves, as follower and rewinds move it. */
const head = of(
  fc.constantFrom(98, 99, 100, 101, 102),
  (sql, number) =>
    sql`INSERT INTO cursors (name, block_number, block_hash, block_time) VALUES ('follow', ${number}, ${word(number)}, 1000)
      ON CONFLICT (name) DO UPDATE SET block_number = excluded.block_number, block_hash = excluded.block_hash`.then(
      () => null,
    ),
  (state, number) => {
    state.head = number
  },
)
const height = fc.constantFrom(97, 98, 99, 100, 101)
const marks: Record<string, Machine> = {
  head,
  setMode: of(
    fc.record({
      mode: fc.constantFrom('proven', 'agreed'),
      by: fc.constantFrom('pass', 'ada'),
      reason: fc.constantFrom('x', null),
    }),
    (sql, { mode, ...by }) => evidence.setMode(sql, mode as never, { ...by, requestId: 'r' }),
    (state, { mode, ...by }) => model.setMode(state, mode, by),
  ),
  mode: of(
    none,
    async (sql) => [
      await evidence.readMode(sql),
      await evidence.isProven(sql),
      await evidence.headersProvenFrom(sql),
      await facts.readState(sql, 'read_whole_to'),
    ],
    (state) => model.modeInForce(state),
  ),
  readWhole: of(height, evidence.requireWholeReads, (state, upTo) => {
    const known = model.value<number>(state, 'read_whole_to')
    model.write(state, 'read_whole_to', known === null || upTo > known ? upTo : known)
  }),
}

const surveys: Record<string, Machine> = {
  surveyed: of(height, surveyed.noteSurveyed, (state, block) => void model.write(state, 'surveyed_to', block)),
  rewindSurveyed: of(height, surveyed.rewindSurveyed, (state, to) => {
    const known = model.value<number>(state, 'surveyed_to') ?? -1
    if (to < known) model.write(state, 'surveyed_to', to)
  }),
  surveyedTo: of(none, surveyed.readSurveyedTo, (state) => model.value<number>(state, 'surveyed_to') ?? -1),
}

const guards: Record<string, Machine> = {
  useGuard: of(none, guard.noteGuard, (state) => void model.write(state, 'guard', 'used')),
  dropGuard: of(none, guard.dropGuard, (state) => void model.write(state, 'guard', 'dropped')),
  guard: of(
    none,
    async (sql) => {
      const [row] = await sql<{ is: boolean }[]>`SELECT ${guard.isGuarded(sql)} AS is`
      return [await guard.readGuard(sql), row?.is]
    },
    (state) => {
      const now = model.value<string>(state, 'guard') ?? (state.hasGuarded ? 'used' : null)
      return [now, now === 'used']
    },
  ),
}

const claims: Record<string, Machine> = {
  time: time(1, 30, 59, 60),
  claim: of(fc.constantFrom(7, 8, 9, 70, 71), claimed.noteClaimedBlock, model.claim),
  take: of(none, claimed.takeClaimedBlock, model.takeClaim),
}

const note = fc.record({
  ...{ reported: fc.constantFrom(5, 6), known: fc.constantFrom(4, 5), sinceBlock: fc.constantFrom(99, 100) },
  takeOver: fc.boolean(),
})
const someone = fc.constantFrom(account(1), account(2))
const wait = fc.option(fc.record({ due: fc.constantFrom(999, 1_000, 1_001), says: fc.constantFrom('a', 'b') }))
const states: Record<string, Machine> = {
  time: time(1, 60),
  write: of(
    fc.oneof(
      fc.record({ name: fc.constant('paused'), value: fc.boolean() }),
      fc.record({ name: fc.constantFrom('recheck_up_to', 'mending_to'), value: fc.constantFrom(1, 2, null) }),
      fc.record({ name: fc.constant('refused_cohorts'), value: fc.constantFrom([], [1], [1, 2], null) }),
    ),
    (sql, { name, value }) => facts.writeState(sql, name as 'paused', value as boolean),
    (state, { name, value }) => model.write(state, name as 'paused', value),
  ),
  read: of(
    fc.constantFrom('paused', 'recheck_up_to', 'refused_cohorts'),
    (sql, name) => facts.readState(sql, name as 'paused'),
    (state, name) => model.value(state, name as 'paused'),
  ),
  identity: of(
    fc.record({
      chainId: fc.constantFrom(1, 2),
      genesisHash: fc.constant(word(1)),
      factory: someone,
      startBlock: fc.constant(1),
    }),
    facts.recordIdentity,
    ({ state, now }, one) => {
      if (state.started_at === null)
        Object.assign(state, {
          ...{ chain_id: one.chainId, genesis_hash: one.genesisHash, factory: one.factory },
          ...{ start_block: one.startBlock, started_at: now },
        })
      const { chain_id: chainId, genesis_hash: genesisHash, factory, start_block: startBlock } = state
      return { chainId, genesisHash, factory, startBlock }
    },
  ),
  ahead: of(
    fc.record({ sender: someone, note }),
    (sql, { sender, note }) => ahead.writeNonceAhead(sql, sender as never, note),
    (state, { sender, note }) => {
      if (JSON.stringify(state.ahead.get(sender)?.note) !== JSON.stringify(note))
        state.ahead.set(sender, { note, at: state.now })
    },
  ),
  notAhead: of(
    someone,
    (sql, one) => ahead.clearNonceAhead(sql, one as never),
    (state, one) => void state.ahead.delete(one),
  ),
  aheads: of(
    someone,
    async (sql, one) => [await ahead.readNonceAhead(sql, one as never), await ahead.listNoncesAhead(sql)],
    (state, one) => [state.ahead.get(one)?.note ?? null, model.aheads(state)],
  ),
  wait: of(wait, linked.writeSeedWait, (state, one) => {
    Object.assign(state.state, { seed_wait_due: one?.due ?? null, seed_wait_says: one?.says ?? null })
  }),
  waits: of(none, linked.readSeedWait, (state) => {
    const { seed_wait_due: due, seed_wait_says: says } = state.state
    return due !== null && state.dues.some((one) => one.size > 0 && one.due <= Number(due)) ? { due, says } : null
  }),
  link: of(
    fc
      .constantFrom(90, 91)
      .map((number) => ({ number, hash: word(number), parentHash: word(1), time: 9, prevrandao: word(2) })),
    linked.writeLinked as never,
    (state, one) => void model.write(state, 'linked_header', one),
  ),
  links: of(none, linked.readLinked, (state) => model.value(state, 'linked_header')),
}

const asked = {
  actor: fc.constantFrom('ada', 'ada', 'ben'),
  key: fc.constantFrom('k1', 'k1', 'k2'),
}
const keys: Record<string, Machine> = {
  time: time(1, 59, 60, 61, 3_600, 172_800, 172_801),
  take: of(
    fc.record({ ...asked, digest: fc.constantFrom('d1', 'd1', 'd2') }),
    (sql, { actor, key, digest }) => idempotency.takeKey(sql, actor, key, digest),
    (state, { actor, key, digest }) => model.takeKey(state, `${actor} ${key}`, digest),
  ),
  finish: of(
    fc.record({ ...asked, answer: fc.constantFrom('a1', 'a2') }),
    (sql, { actor, key, answer }) => idempotency.finishKey(sql, actor, key, answer),
    (state, { actor, key, answer }) => {
      const row = state.keys.get(`${actor} ${key}`)
      if (row !== undefined) row.answer = answer
    },
  ),
  free: of(
    fc.record(asked),
    (sql, { actor, key }) => idempotency.freeKey(sql, actor, key),
    (state, { actor, key }) => {
      if (state.keys.get(`${actor} ${key}`)?.answer === null) state.keys.delete(`${actor} ${key}`)
    },
  ),
  spend: of(
    fc.record({ nonce: fc.constantFrom('n1', 'n2', 'n3'), keepSec: fc.constantFrom(59, 60, 61, 3_600) }),
    (sql, { nonce, keepSec }) => spendNonce(sql, nonce, keepSec),
    (state, { nonce, keepSec }) => model.spend(state, nonce, keepSec),
  ),
}

const quote = fc.constantFrom(null, 1_000.5, 2_000)
const prices: Record<string, Machine> = {
  time: time(1, 30, 58, 60, 61, 90, 119, 121, -61, -62),
  turn: of(none, price.takePriceTurn, model.priceTurn),
  store: of(quote, price.storePrice, (state, usd) => {
    if (state.price !== null) state.price.usd = usd
    if (usd !== null) state.hourUsd ??= usd
  }),
  hour: of(none, price.isHourPriced, (state) => state.hourUsd !== null),
}

const feesOf: Record<string, Machine> = {
  fees: of(
    fc.record({
      top: fc.constantFrom(100, 105, 120),
      fees: fc.subarray([97, 98, 99, 100]).map((numbers) =>
        numbers.map((number) => ({
          number,
          baseFeeWei: number === 98 ? null : BigInt(number),
          tipWei: number === 99 ? null : 1n,
        })),
      ),
    }),
    (sql, { top, fees: all }) => fees.writeFees(sql, top, all as never),
    (state, { top, fees: all }) => {
      state.fees = state.fees.filter(({ number }) => number <= top && number > top - 20)
      for (const one of all) {
        state.fees = state.fees.filter(({ number }) => number !== one.number)
        state.fees.push(one)
      }
    },
  ),
  feesRead: of(none, fees.readFees, (state) => state.fees.toSorted((a, b) => a.number - b.number)),
}

async function readRows(sql: Sql) {
  const [hour] = await sql<{ usd: number }[]>`SELECT usd FROM price_history`
  return {
    state: await readTable(sql, 'ledger_state'),
    troubles: await readTable(sql, 'troubles'),
    audit: await readTable(sql, 'audit', ['id', 'at']),
    modes: await readTable(sql, 'evidence_modes'),
    keys: await readTable(sql, 'idempotency_keys'),
    nonces: await readTable(sql, 'used_nonces'),
    price: (await sql<{ usd: number | null }[]>`SELECT usd FROM price`)[0] ?? null,
    hourUsd: hour?.usd ?? null,
  }
}

const HEAD = 100
/** Nothing has been followed. */
const NO_HEAD = -1
const compare =
  (hasGuarded = false, head = HEAD) =>
  async (steps: Step<model.Kept>[]) => {
    const dues = [
      { size: 0, due: 999 },
      { size: 2, due: 1_000 },
    ]
    const inBlock = { block_number: 1, block_hash: word(1) }
    const rows: Rows = {
      cursors:
        head === NO_HEAD ? [] : [{ name: 'follow', block_number: head, block_hash: word(head), block_time: 1_000 }],
      cohorts: dues.map(({ size, due }, n) => ({
        cohort: 1 + n,
        tier_no: 1,
        interval_sec: 60,
        next_due: due,
        size,
        ...inBlock,
      })),
    }
    const intent = {
      kind: 'mint',
      sender: account(1),
      nonce: 1,
      call: '{}',
      gas_limit: 1,
      valid_until: 1,
      guard_block: 5,
    }
    if (hasGuarded) rows.outbox = [{ ...intent, state: 'pending' }]
    await tables.within(rows, async (sql) => {
      await play(
        sql,
        { steps, state: model.empty(head, hasGuarded, dues) },
        { read: readRows, expected: (state) => model.rowsOf(state, inOrder) },
      )
    })
  }

const agrees = (steps: fc.Arbitrary<Step<model.Kept>[]>, usual: number) =>
  fc.assert(fc.asyncProperty(steps, compare()), { numRuns: cases(usual) })

test('the mode of evidence and the blocks to read whole are as set', async () => {
  const steps = stepsOf(marks, { least: 3, most: 12, weights: { readWhole: 2 } })
  const head = fc.constantFrom(HEAD, HEAD, NO_HEAD)
  await fc.assert(
    fc.asyncProperty(head, steps, (is, all) => compare(false, is)(all)),
    { numRuns: cases(25) },
  )
})

test('a survey reaches as far as noted, and no rewind moves it on', async () => {
  await agrees(stepsOf(surveys, { least: 3, most: 8 }), 30)
})

test('the fork guard is used once it was, until the operator revokes it', async () => {
  const steps = stepsOf(guards, { least: 2, most: 6 })
  await fc.assert(
    fc.asyncProperty(fc.boolean(), steps, (is, all) => compare(is)(all)),
    { numRuns: cases(20) },
  )
})

test('one claimed block a minute is noted, and taken once', async () => {
  const steps = stepsOf(claims, { least: 3, most: 10, weights: { claim: 4, take: 3, time: 2 } })
  await agrees(steps, 25)
})

test('a fact changes if its value does, and each list shows what is set', async () => {
  const steps = stepsOf(states, { least: 3, most: 12, weights: { wait: 2, waits: 2, aheads: 2, ahead: 2 } })
  await agrees(steps, 40)
})

test('a request under a key is done once, another is refused, and a nonce is spent once', async () => {
  const steps = stepsOf(keys, { least: 3, most: 12, weights: { take: 4, time: 4, spend: 3 } })
  await agrees(steps, 60)
})

test('one caller a minute requests the price, and an old price is never shown', async () => {
  const steps = stepsOf(prices, { least: 3, most: 12, weights: { turn: 5, time: 5, store: 2 } })
  await agrees(steps, 60)
})

test('the fees of the last twenty blocks are kept, and those above the head are not', async () => {
  await agrees(stepsOf(feesOf, { least: 2, most: 8 }), 30)
})
