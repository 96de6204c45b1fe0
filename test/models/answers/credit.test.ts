// The credit pass's answer: src/passes/credit.ts on a ledger with due, empty and odd cohorts, pauses, a provider that is behind and a pending round says what the
// second reading says, and records it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { noteTrouble } from '../../../src/db/core/troubles.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { creditPass } from '../../../src/passes/credit.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './credit.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [NOW, CURSOR, DISTRIBUTOR] = [1_000_200, 100, account(8)]
const [INTERVAL, SLOT] = [600, 60]
const cohort = fc.record({
  nextDue: fc.constantFrom(NOW - INTERVAL, NOW - 1, NOW - 1, NOW, NOW, NOW + 1),
  size: fc.constantFrom(0, 1, 1, 2, 2, 3),
  isOdd: fc.constantFrom(false, false, false, false, false, true),
  isGranted: fc.constantFrom(false, false, true),
})
const seldom = fc.nat(11).map((n) => n === 0)
const often = seldom.map((isIt) => !isIt)
const pending = fc.record({
  round: fc.constantFrom(1, 7),
  credits: fc.array(
    fc.record({
      cohort: fc.constantFrom(1, 2, 3),
      paid: fc.constantFrom(0, 1, 2),
      wei: fc.constantFrom(1n, 7n, 10n ** 20n),
    }),
    { minLength: 1, maxLength: 3 },
  ),
})
const drawn: fc.Arbitrary<model.Given> = fc.record({
  now: fc.constant(NOW),
  cohorts: fc.oneof(fc.array(cohort, { maxLength: 3 }), fc.array(cohort, { minLength: 3, maxLength: 3 })),
  ...{ hasKey: often, hasTerms: often, isPaused: seldom, isContractPaused: seldom },
  ...{ isLocked: seldom, isHalted: seldom, isDown: seldom },
  offFrom: fc.constantFrom(null, null, null, NOW, NOW - 1),
  seenHead: fc.constantFrom(0, 0, 0, 1, -1, null),
  head: fc.constantFrom(0, 0, 0, 0, -1),
  settled: fc.constantFrom(null, null, NOW, NOW - 1, NOW - 1, 0),
  pending: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, pending),
  unsent: fc.constantFrom(null, 'feeTooLow'),
})

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const callOf = ({ round, credits }: NonNullable<model.Given['pending']>) =>
  JSON.stringify({
    ...{ kind: 'credit', round, valueWei: '0', guard: null, validUntil: NOW + 900 },
    credits: credits.map(({ cohort, paid, wei }) => {
      return { cohort, firstDue: NOW, skipped: 0, paid, amountPerNodeWei: String(wei) }
    }),
  })

/** A call of the distributor that is settled says nothing of a pending one. */
function sentRows({ pending }: model.Given): Rows {
  const settled = { kind: 'credit', sender: DISTRIBUTOR, nonce: 3, call: '{}', gas_limit: 1, valid_until: 1 }
  const intent = { kind: 'credit', sender: DISTRIBUTOR, nonce: 4, gas_limit: 1, valid_until: NOW + 900 }
  const attempt = (id: number, n: number): Row => ({
    ...{ tx_hash: word(900 + 10 * id + n), outbox_id: id, attempt: n, raw: '0x01', max_fee_wei: 1 },
    ...{ max_priority_fee_wei: 1, signed_at_block: CURSOR },
  })
  return {
    outbox: [
      { id: 1, ...settled, state: 'mined', tx_hash: word(911), ...inBlock(90) },
      ...(pending === null ? [] : [{ id: 2, ...intent, call: callOf(pending), state: 'pending' }]),
    ].map((row) => ({ tx_hash: null, block_number: null, block_hash: null, ...row })),
    outbox_attempts: [attempt(1, 1), ...(pending === null ? [] : [attempt(2, 1), attempt(2, 2)])],
  }
}

function rowsOf(given: model.Given): Rows {
  const cohorts = given.cohorts.map(({ nextDue, size, isOdd }, n) => ({
    ...{ cohort: 1 + n, tier_no: 1, interval_sec: INTERVAL, next_due: nextDue, size, opened_interval_sec: INTERVAL },
    ...{ first_due: isOdd ? 1 : 0, opened_at: 2_000, ...inBlock(50) },
  }))
  const nodes = given.cohorts.flatMap(({ size }, n) => Array.from({ length: size }, () => n))
  const halt = { reason: 'chainId', since: at(1), detail: {}, looks: 9, sealed: true }
  const terms = { from_time: 0, payouts: true, min_wei: 1, max_wei: 2, interval_sec: INTERVAL, slot_sec: SLOT }
  return {
    ...sentRows(given),
    cursors: [{ name: 'follow', ...inBlock(CURSOR), block_time: NOW }],
    blocks: [CURSOR - 1, CURSOR].map((number) => ({
      ...{
        number,
        hash: word(number),
        parent_hash: word(number - 1),
        time: NOW + number - CURSOR,
        prevrandao: word(1),
      },
    })),
    ledger_state: [{ paused: given.isPaused }],
    evidence_modes: [{ from_block: 0, mode: 'agreed', set_by: 'test' }],
    troubles: [
      ...(given.isHalted ? [{ name: 'halted', value: JSON.stringify(halt) }] : []),
      ...(given.unsent === null ? [] : [{ name: 'unsent credit', value: JSON.stringify(unsentOf(given.unsent)) }]),
    ],
    credit_terms: [
      { ...terms, entered_at: at(1_000), entered_by: 'eve' },
      ...(given.offFrom === null ? [] : [{ ...terms, from_time: given.offFrom, payouts: false, entered_by: 'eve' }]),
    ].filter(() => given.hasTerms),
    cohorts,
    grants: nodes.flatMap((cohort, n) =>
      given.cohorts[cohort]?.isGranted ? { ref: word(300 + n), reason: 'a gift', granted_by: 'eve' } : [],
    ),
    nodes: nodes.map((cohort, n) => ({
      ...{ node_id: 1 + n, owner: account(5), cohort: 1 + cohort, ref: word(300 + n), per_node_at_mint_wei: 0 },
      ...{ turns_at_mint: 0, mint_tx_hash: word(400 + n), minted_at: at(3_000), ...inBlock(60) },
    })),
  }
}

const unsentOf = (why: string) => ({ pass: 'credit', why, runs: 2, since: '2020-01-01T00:00:00Z', lasts: false })

function passOf(sql: Sql, given: model.Given) {
  const block = (number: number) => ({
    ...{ number, hash: word(number), parentHash: word(number - 1), time: NOW + number - CURSOR, prevrandao: word(1) },
  })
  let asked = 0
  const chain = {
    ...{ providers: [], chainId: async () => 1, proofs: { require: () => undefined }, finalized: async () => null },
    block: async (number: number) => block(number),
    firstBlockAt: async () => null,
    head: async () => {
      asked += 1
      return block(CURSOR + given.head)
    },
  }
  const sender = {
    ...{ address: DISTRIBUTOR, nonce: async () => 4, nonces: async () => [4], noncesAt: async () => [4] },
    ...{ fees: async () => ({ maxFeeWei: 1n, maxPriorityFeeWei: 1n }), broadcast: async () => ({ kind: 'accepted' }) },
    // Only to see whether the signer works again.
    sign: () => (given.isDown ? Promise.resolve({ txHash: word(5), raw: '0x05' }) : assert.fail('nothing is signed')),
  }
  // So many blocks deep: of the second one below the head no header is stored.
  const finality = given.settled === 0 || given.settled === null ? 2 : NOW - given.settled
  const pass = creditPass({
    ...{ pool: poolWithin(sql), chain, log: silentLog, minter: null, distributor: given.hasKey ? sender : null },
    rules: {
      finality,
      startBlock: 1,
      rewindsToShorterChain: false,
      feeCapWei: 10n,
      tipMaxWei: 1n,
      trustsProvider: false,
    },
    contract: { paused: async () => given.isContractPaused, bounds: async () => null, isDeployed: async () => true },
    lock: async (_name: string, body: (signal: AbortSignal) => unknown) =>
      given.isLocked ? null : await body(new AbortController().signal),
    preflight: async () => ({ guardUsable: given.settled === null }),
  } as never)
  return { pass, asked: () => asked }
}

test('a credit pass reports why it sent nothing, what is due and what is pending', async () => {
  const compare = async (given: model.Given) => {
    await tables.within(rowsOf(given), async (sql) => {
      const { pass, asked } = passOf(sql, given)
      const followed = given.seenHead === null ? null : { headBlock: CURSOR + given.seenHead }
      if (given.isDown) await noteTrouble(sql, 'signer distributor', { address: DISTRIBUTOR, detail: 'refused' })
      const { durationMs, ...found } = await pass(followed as never)
      const { unsent, ...expected } = model.answer(given, word(922))
      assert.deepEqual(found, expected)
      const isCut = expected.dueNodes === null
      assert.ok(isCut ? durationMs === null : durationMs !== null && durationMs >= 0 && durationMs < 60_000)
      const isDue = given.cohorts.some((one) => !one.isOdd && one.size > 0 && one.nextDue <= NOW)
      if (given.seenHead === 0 && !isDue && expected.reason === 'nothingDue' && given.pending === null)
        assert.equal(asked(), 0, 'no provider is asked again')
      const [trouble] = await sql`SELECT value ->> 'why' AS why FROM troubles WHERE name = 'unsent credit'`
      assert.equal(trouble?.why ?? null, unsent)
      const [row] = await sql<{ outcome: { totalWei: unknown }; error: string | null }[]>`
        SELECT outcome, error FROM passes WHERE name = 'credit'`
      if (!isCut)
        assert.deepEqual(row, {
          outcome: { ...expected, totalWei: String(expected.totalWei), durationMs },
          error: null,
        })
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(220) })
})
