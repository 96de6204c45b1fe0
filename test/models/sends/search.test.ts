// The search for cohorts at fault: src/passes/steps/send-round.ts, with any of the contract's errors, too little gas and ether and more faults than it may look for,
// simulates, stores and reports what the second reading does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { readCreditTerms } from '../../../src/db/sale/terms.ts'
import { readTierVersions } from '../../../src/db/sale/tiers.ts'
import { sendRound } from '../../../src/passes/steps/send-round.ts'
import type { FactoryCall } from '../../../src/ports/sending.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './search.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

type Credit = Extract<FactoryCall, { kind: 'credit' }>
const [SENDER, CURSOR, VALID_SEC] = [account(8), { number: 100, hash: word(100), time: 1_000 }, 900]
const GUARD = { number: CURSOR.number, hash: CURSOR.hash }

const error = fc.constantFrom(...model.OF_A_COHORT)
const wei = fc.constantFrom(1n, 2n, 7n)
const isFaulty = fc.constantFrom(false, false, true)
const drawn = fc.record({
  cohorts: fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.tuple(wei, isFaulty), { minLength: 1, maxLength: 9 }) },
    // More at fault than a run can look for.
    fc.array(fc.tuple(wei, isFaulty), { minLength: 40, maxLength: 60 }),
  ),
  error,
  wholeError: fc.constantFrom(null, null, null, null, null, null, 'WrongRound', 'Paused', 'TurnNotDue'),
  mode: fc.constantFrom('treasury' as const, 'treasury' as const, 'swaps' as const),
  etherFor: fc.constantFrom(99, 99, 99, 0, 1, 2, 4),
  etherOff: fc.constantFrom(-1n, 0n, 0n, 1n),
  isEtherFirst: fc.boolean(),
  fits: fc.constantFrom(99, 99, 1, 2, 5),
  lastRound: fc.constantFrom(0, 1, 7),
  /** The cohorts of the last report. */
  before: fc.constantFrom(null, [], [1], [2], [1, 2]),
  guardUsable: fc.boolean(),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function planOf({ cohorts, error: one, etherFor, etherOff, ...given }: Drawn): model.Plan {
  const etherWei = cohorts.slice(0, etherFor).reduce((sum, [needed]) => sum + needed, 0n) + etherOff
  const all = cohorts.map(([needed, isAtFault]) => ({ wei: needed, error: isAtFault ? one : null }))
  return { ...given, cohorts: all, etherWei: etherWei < 0n ? 0n : etherWei }
}

/** Up to two turns are skipped before the one that is paid. */
const creditOf = ({ cohorts }: model.Plan, cohort: number) => {
  const needed = cohorts[cohort - 1]?.wei ?? 0n
  const nodeCount = cohort % 2 === 0 && needed === 2n ? 2 : 1
  const amountWei = needed / BigInt(nodeCount)
  const turns = [{ due: 500 + cohort, amountWei }]
  return { cohort, pendingDue: 400 + cohort, skipped: cohort % 3, turns, amountWei, nodeCount }
}

function accountOf(plan: model.Plan, calls: Credit[]) {
  const nonces = async () => [4]
  return {
    ...{ address: SENDER, nonce: async () => 4, nonces, noncesAt: nonces, balance: async () => plan.etherWei },
    // The fee is nothing, so that only the round's own ether counts.
    fees: async () => ({ maxFeeWei: 0n, maxPriorityFeeWei: 0n }),
    estimate: async (call: Credit) => {
      calls.push(call)
      const answer = model.simulate(plan, cohortsOf(call))
      if (typeof answer === 'object') return { kind: 'reverts', error: answer.error }
      return answer === 'ok' ? { kind: answer, gas: 1n } : { kind: answer }
    },
    sign: async () => ({ txHash: word(77), raw: '0x01' }),
    broadcast: async () => ({ kind: 'accepted' }),
  }
}
const cohortsOf = ({ credits }: Credit) => credits.map(({ cohort }) => cohort)

const rowsOf = ({ lastRound, before: reported }: Drawn): Rows => ({
  ledger_state: [{ refused_cohorts: reported === null ? null : JSON.stringify(reported) }],
  sender_bases: [{ sender: SENDER, nonce: 4, block_number: 1 }],
  blocks: [{ ...GUARD, parent_hash: word(99), time: CURSOR.time, prevrandao: word(1) }],
  rounds: Array.from({ length: lastRound }, (_, n) => ({
    ...{ round: 1 + n, mode: 'treasury', total_wei: 1, node_count: 1, tx_hash: word(n), created_at: at(10) },
    ...{ block_number: 10, block_hash: word(10) },
  })),
})

async function run(sql: Sql, given: Drawn, plan: model.Plan, calls: Credit[]) {
  const credits = plan.cohorts.map((_, n) => creditOf(plan, 1 + n))
  const others = { notOwed: [], delayed: [], unbacked: [], unknown: [], outOfBounds: [] }
  const whole = { ...others, credits, totalWei: model.weiOf(plan, cohortsOf({ credits } as never)), nodeCount: 0 }
  const basis = { terms: await readCreditTerms(sql), tiers: await readTierVersions(sql) }
  const rules = { distMode: plan.mode, feeCapWei: 10n, tipMaxWei: 10n, validForSec: VALID_SEC }
  const ether = async () => plan.etherWei
  const contract = { factory: account(3), balance: ether, swapsAllowance: ether }
  const chain = { providers: [], balanceAt: async () => null, block: async () => GUARD }
  const log = { error() {}, warn() {}, info() {} }
  const sending = {
    run: { guardUsable: given.guardUsable, agreed: null, checkLock() {} },
    ...{ sender: accountOf(plan, calls), cursor: CURSOR },
  }
  const ctx = { pool: poolWithin(sql), chain, contract, rules, log }
  return await sendRound(ctx as never, sending as never, { plan: whole, basis, bounds: null } as never)
}

function compareCalls(given: Drawn, plan: model.Plan, calls: Credit[]): void {
  for (const call of calls) {
    const part = cohortsOf(call)
    assert.deepEqual(call, {
      kind: 'credit',
      round: given.lastRound + 1,
      credits: part.map((cohort) => {
        const { skipped, amountWei } = creditOf(plan, cohort)
        return { cohort, firstDue: 400 + cohort, skipped, paid: 1, amountPerNodeWei: amountWei }
      }),
      valueWei: plan.mode === 'treasury' ? model.weiOf(plan, part) : 0n,
      guard: given.guardUsable ? GUARD : null,
      validUntil: CURSOR.time + VALID_SEC,
    })
  }
}

async function compareStored(sql: Sql, { before: reported }: Drawn, { end, refused }: model.Result): Promise<void> {
  const stored = await sql`SELECT kind, nonce FROM outbox`
  assert.deepEqual([...stored], end === 'sent' ? [{ kind: 'credit', nonce: 4 }] : [])
  const [state] = await sql<{ cohorts: number[] | null }[]>`SELECT refused_cohorts AS cohorts FROM ledger_state`
  assert.deepEqual(state?.cohorts, refused ?? (end === 'sent' ? [] : reported))
  const told = await sql`SELECT actor, action, subject, detail FROM audit`
  const isNews = refused !== null && JSON.stringify(refused) !== JSON.stringify(reported)
  const news = { actor: 'pass', action: 'cohortsRefused', subject: null, detail: { cohorts: refused } }
  assert.deepEqual([...told], isNews ? [news] : [])
}

test('a run tries and simulates the same rounds in the same order, and reports the same cohorts', async () => {
  const met = { sent: 0, refused: 0, exhausted: 0, short: 0 }
  const compare = async (given: Drawn) => {
    const [plan, calls] = [planOf(given), [] as Credit[]]
    const expected = model.runOf(plan)
    await tables.within(rowsOf(given), async (sql) => {
      const { round, plan: tried, sent } = await run(sql, given, plan, calls)
      assert.deepEqual(calls.map(cohortsOf), expected.calls)
      compareCalls(given, plan, calls)
      const why =
        sent?.kind === 'refused' ? [sent.why, sent.why === 'reverts' ? sent.detail : ''].join(' ').trim() : null
      const end = sent === null ? 'noSurplus' : (why ?? sent.kind)
      assert.deepEqual([round, cohortsOf(tried as never), end], [given.lastRound + 1, expected.tried, expected.end])
      await compareStored(sql, given, expected)
    })
    met.sent += expected.end === 'sent' ? 1 : 0
    met.refused += expected.refused !== null ? 1 : 0
    met.exhausted += expected.calls.length > 47 ? 1 : 0
    met.short += ['noSurplus', 'insufficientFunds'].includes(expected.end) ? 1 : 0
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(200) })
  assert.ok(Math.min(...Object.values(met)) >= cases(5), JSON.stringify(met))
})

test('a round of which terms or tiers have changed since it was planned is not stored', async () => {
  const given = { cohorts: [[1n, false] as const], error: 'WrongTurn', wholeError: null, mode: 'treasury' as const }
  const more = {
    etherFor: 99,
    etherOff: 0n,
    isEtherFirst: true,
    fits: 99,
    lastRound: 0,
    before: null,
    guardUsable: true,
  }
  const one = { ...given, ...more } as unknown as Drawn
  await tables.within(rowsOf(one), async (sql) => {
    const sent = sendRound as unknown as (...of: unknown[]) => Promise<unknown>
    const plan = planOf(one)
    const credits = [creditOf(plan, 1)]
    const ctx = {
      ...{ pool: poolWithin(sql), chain: { providers: [], block: async () => GUARD }, log: { error() {}, info() {} } },
      rules: { distMode: 'treasury', feeCapWei: 10n, tipMaxWei: 10n, validForSec: VALID_SEC },
    }
    const sending = { run: { guardUsable: true, agreed: null }, sender: accountOf(plan, []), cursor: CURSOR }
    const planned = { plan: { credits, totalWei: 1n }, basis: { terms: [{}], tiers: [] }, bounds: null }
    await assert.rejects(sent(ctx, sending, planned), /^Error: terms were entered/)
    assert.equal((await sql`SELECT FROM outbox`).count, 0)
  })
})
