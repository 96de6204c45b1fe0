// A page of payments: src/passes/steps/judge-page.ts, with released and undecided ones before, at and behind each other, of other tiers and wallets, in short
// supply and at the caps of wallets, stores, logs and reports what the second reading does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { lockPayments } from '../../../src/db/payments/rows.ts'
import { readTierVersions } from '../../../src/db/sale/tiers.ts'
import { byPosition } from '../../../src/domain/sale/position.ts'
import { selectTier } from '../../../src/domain/tiers.ts'
import type { Candidate } from '../../../src/passes/steps/judge-facts.ts'
import { judgePage } from '../../../src/passes/steps/judge-page.ts'
import { account, at, openTables, type Row, type Rows, recording, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { toldOf } from './opened.ts'
import * as model from './room.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [WALLET, NOW, HEIGHT] = [account(1), 100_000, 50]
const buyer = fc.constantFrom(account(5), account(5), account(6), account(7))
const tier = fc.constantFrom(0, 0, 0, 1)
const drawnPayment = fc.record({
  ...{ from: buyer, tier, block: fc.constantFrom(10, 11, 12), txIndex: fc.nat(3) },
  kind: fc.constantFrom('seen', 'seen', 'doubtful', 'doubtful', 'released', 'released', 'held', 'contract', 'other'),
  pays: fc.constantFrom('step' as const, 'step' as const, 'odd' as const, 'zero' as const),
  isGone: fc.constantFrom(false, false, false, false, false, true),
  /** The decisions of people on one that is held, newest last. */
  decisions: fc.constantFrom(
    ...[['accepted'], ['accepted'], ['held', 'accepted'], ['accepted', 'held'], ['held']],
    ...[['accepted', 'held withdrawn'], ['held', 'accepted withdrawn'], ['accepted withdrawn']],
  ),
  reason: fc.constantFrom('walletLimit', 'soldOut', 'supplySpent', 'contractWallet'),
  isInPage: fc.constantFrom(true, true, true, true, false),
})
const drawn = fc.record({
  payments: fc.uniqueArray(drawnPayment, {
    selector: ({ block, txIndex }) => `${block} ${txIndex}`,
    minLength: 2,
    maxLength: 8,
  }),
  /** The ages of the three blocks. */
  ages: fc.constantFrom<number[]>([300, 200, 100], [3_600, 3_599, 100], [3_601, 3_600, 3_599], [3_600, 3_600, 3_600]),
  nodes: fc.array(fc.record({ owner: buyer, tier }), { maxLength: 2 }),
  supply: fc.tuple(fc.constantFrom(null, 1, 2, 2, 2, 3, 12), fc.constantFrom(null, 1, 2)),
  followed: fc.constantFrom(HEIGHT, HEIGHT, HEIGHT + 1),
  walletMax: fc.constantFrom(1, 1, 2, 3, 9),
})
/** Several that come for the last places of one tier, some of them from wallets that are full. */
const crowd = drawn.map((one): typeof one => ({
  ...one,
  payments: one.payments.map((payment) => ({
    ...payment,
    ...{ tier: 0, isInPage: true, from: payment.txIndex === 3 ? account(6) : account(5) },
    kind: payment.kind === 'released' || payment.kind === 'held' ? payment.kind : ('seen' as const),
    isGone: false,
  })),
  ...{ ages: [300, 200, 100], nodes: [], supply: [one.supply[0] === null ? 3 : 2, null] },
  walletMax: 1,
}))
/** Most of them match no tier that is open. */
const leftovers = drawn.map((one): typeof one => ({
  ...one,
  payments: one.payments.map((payment, n) => ({ ...payment, kind: n === 0 ? 'seen' : ('other' as const) })),
}))
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/** The last of some decisions that was not withdrawn. */
const lastOf = (decisions: readonly string[]) => decisions.findLast((one) => !one.includes(' ')) ?? null

function ledgerOf({ payments, ages, nodes, supply, walletMax }: Drawn): model.Ledger {
  const all = payments.map((one, n): model.Payment => {
    const isHeld = one.kind === 'released' || one.kind === 'held'
    const pays = one.kind === 'other' ? one.pays : 'tier'
    return {
      ...{ id: 1 + n, from: one.from, pays, tier: pays === 'step' ? model.STEP : one.tier, block: one.block },
      ...{ txIndex: one.txIndex, age: ages[one.block - 10] ?? 0, state: isHeld ? 'held' : 'seen' },
      ...{ reason: isHeld ? one.reason : null, isDoubtful: one.kind === 'doubtful' },
      isContract: one.kind === 'contract' || (one.kind === 'held' && one.reason === 'contractWallet'),
      decision: one.kind === 'released' ? lastOf(one.decisions) : null,
      ...{ isInPage: one.isInPage, isGone: one.isGone && one.isInPage },
    }
  })
  return { payments: all, nodes, supply: [...supply, null], walletMax }
}

/** Of what buys in no tier. */
const PRICES: Record<string, number> = { odd: 99, zero: 0 }

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

function rowsOf(given: Drawn, ledger: model.Ledger): Rows {
  const tiers = ledger.supply.map((supply, n) => ({
    ...{ tier_id: `t${n}`, version: 1, tier_no: 1 + n, label: `t${n}`, price_wei: 10 + n, max_per_wallet: 99, supply },
    ...{ payout_bps: 10_000, on_sale: true, live: true, holding_wei: 0, holding_retry_sec: 0, grace_sec: 0 },
    ...{ from_block: 0, from_time: 0, entered_by: 'test', opens_after: n === model.STEP ? 't0' : null },
  }))
  const payments = ledger.payments.map((one): Row => {
    const isHeld = one.state === 'held'
    return {
      ...{ id: one.id, ref: word(one.id), tx_hash: word(one.id), wallet: WALLET, from_address: one.from },
      ...{ value_wei: PRICES[one.pays] ?? 10 + one.tier, succeeded: true, inner_index: one.isContract ? 1 : 0 },
      ...{ state: one.isGone ? 'dismissed' : one.state, reason: one.isGone ? null : one.reason },
      ...{ tier_id: isHeld ? `t${one.tier}` : null, tier_version: isHeld ? 1 : null },
      ...{
        proof: one.isDoubtful ? 'believed' : one.isContract ? 'agreed' : 'proven',
        tx_index: one.txIndex,
        block_time: at(NOW - one.age),
      },
      ...inBlock(one.block),
    }
  })
  const verdicts = given.payments.flatMap(({ kind, decisions }, n): Row[] =>
    (kind === 'released' ? decisions : []).map((decision) => {
      const [verdict = '', withdrawn] = decision.split(' ')
      const by = { withdrawn_at: withdrawn ? at(1_000) : null, withdrawn_by: withdrawn ? 'eve' : null }
      return { payment_id: 1 + n, verdict, reason: null, evidence: '{}', decided_by: 'eve', ...by }
    }),
  )
  return {
    cursors: [{ name: 'follow', block_time: NOW, ...inBlock(given.followed) }],
    payment_wallets: [{ id: 1, wallet: WALLET, from_block: 0, from_time: 0, watched_from: 0, entered_by: 'eve' }],
    ...{ tiers, payments, payment_verdicts: verdicts },
    cohorts: ledger.supply.map((_, n) => ({
      ...{ cohort: 1 + n, tier_no: 1 + n, interval_sec: 60, next_due: 0, ...inBlock(1) },
      size: ledger.nodes.filter((one) => one.tier === n).length,
    })),
    nodes: ledger.nodes.map((one, n) => ({
      ...{ node_id: 1 + n, owner: one.owner, cohort: 1 + one.tier, ref: word(500 + n), payment_id: null },
      ...{
        per_node_at_mint_wei: 0,
        turns_at_mint: 0,
        mint_tx_hash: word(600 + n),
        minted_at: at(1_000),
        ...inBlock(1),
      },
    })),
  }
}

/** What the log has of a verdict that may be a sale, and of all others by their reasons. */
type Line = { txHash: string; verdict: string } | { verdict: string; reason: string; count: number }

async function judge(sql: Sql, ledger: model.Ledger, sent: string[]) {
  const versions = await readTierVersions(sql)
  const inPage = ledger.payments.filter((one) => one.isInPage).map(({ id }) => id)
  const page = (await lockPayments(sql, inPage)).sort(byPosition).map((row): Candidate => {
    const { state, reason, isContract } = ledger.payments.find(({ id }) => id === row.id) as model.Payment
    // A person may have dismissed it after the run read it.
    const payment = { ...row, state, reason: reason as never }
    const contract = { kind: 'read', code: { kind: 'contract', codeHash: word(77), implementation: null } }
    const code = (isContract ? contract : { kind: 'unread' }) as Candidate['code']
    return { payment, selection: selectTier(versions, payment), code, holding: { kind: 'notNeeded' } }
  })
  const wallets = [
    { wallet: WALLET, watchedFrom: 0, closedBlock: null, fromBlock: 0, fromTime: 0, stolen: false, graceSec: 0 },
  ]
  const basis = {
    ...{ wallets, modes: [], walletMax: ledger.walletMax, serviceAccounts: [], now: NOW, height: HEIGHT },
    ...{ canAgree: true, trustsProvider: false, versions, recheckUpTo: null },
  }
  const lines: Line[] = []
  const log = { info: (line: Line) => lines.push(line) }
  const judged = await judgePage({ pool: recording(sql, sent), log } as never, basis as never, page)
  return { outcomes: judged.map(({ candidate, outcome }) => ({ id: candidate.payment.id, outcome })), lines }
}

interface Stored {
  id: number
  verdict: string
  reason: string | null
  evidence: Record<string, unknown>
}

/** The payments and the judge's verdicts on them, as the database has them. @returns the evidence of each. */
async function compareStored(sql: Sql, given: Drawn, ledger: model.Ledger, verdicts: model.Verdict[]) {
  const rows = await sql<{ id: number; state: string; reason: string | null; tierId: string | null }[]>`
    SELECT id, state, reason, tier_id AS "tierId" FROM payments ORDER BY id`
  const tierIdOf = (one: model.Payment) => {
    const isHeld = ['held', 'released'].includes(given.payments[one.id - 1]?.kind ?? '')
    const tier = verdicts.find(({ id }) => id === one.id)?.tier
    const has = isHeld ? one.tier : (tier ?? null)
    return has === null ? null : `t${has}`
  }
  assert.deepEqual(
    [...rows].map((row) => ({ ...row })),
    ledger.payments.map((one) => {
      const [state, reason] = one.isGone ? ['dismissed', null] : [one.state, one.reason]
      return { id: one.id, state, reason, tierId: tierIdOf(one) }
    }),
  )
  const stored = await sql<Stored[]>`
    SELECT payment_id AS id, verdict, reason, evidence FROM payment_verdicts WHERE decided_by = 'pass' ORDER BY payment_id`
  const expected = verdicts.toSorted((a, b) => a.id - b.id)
  assert.deepEqual(
    [...stored].map(({ id, verdict, reason }) => ({ id, verdict, reason })),
    expected.map(({ id, verdict, reason }) => ({ id, verdict, reason })),
  )
  for (const [n, { evidence }] of stored.entries())
    compareEvidence(evidence, given, ledger, expected[n] as model.Verdict)
  return new Map(stored.map(({ id, evidence }) => [id, evidence]))
}

function compareEvidence(evidence: Stored['evidence'], given: Drawn, ledger: model.Ledger, expected: model.Verdict) {
  const { from, block } = ledger.payments[expected.id - 1] as model.Payment
  if (expected.place) return assert.deepEqual(evidence, { rule: 'released', ...expected.place })
  const countedAtBlock = given.followed === HEIGHT ? HEIGHT : null
  const rule = expected.reason ?? 'accepted'
  const own = { rule, wallet: WALLET, from, blockNumber: block, blockHash: word(block), countedAtBlock }
  assert.deepEqual({ ...evidence, ...own }, evidence)
}

/** The lines of the log: one for each verdict that may be a sale, and one for all others of one reason. */
function linesOf(ledger: model.Ledger, verdicts: model.Verdict[], evidence: Map<number, object>): Line[] {
  const isPriced = ({ id }: model.Verdict) => ['tier', 'step'].includes(ledger.payments[id - 1]?.pays ?? '')
  const priced = verdicts
    .filter(isPriced)
    .map(({ id, verdict }) => ({ txHash: word(id), verdict, ...evidence.get(id) }))
  const others = verdicts.filter((one) => !isPriced(one))
  const reasons = [...new Set(others.map(({ reason }) => reason ?? ''))]
  const counts = reasons.map((reason) => {
    const [one, ...more] = others.filter((other) => other.reason === reason)
    return { verdict: one?.verdict ?? '', reason, count: 1 + more.length }
  })
  return [...priced, ...counts]
}

/** What is reported of the places that were taken, and whether clients hear of the verdicts. */
async function compareTold(
  sql: Sql,
  ledger: model.Ledger,
  { sales, verdicts }: model.Result,
  sent: string[],
): Promise<void> {
  const told = await sql`SELECT action, subject, detail FROM audit ORDER BY subject, id`
  const expected = sales.flatMap(({ tier, before, sold }) => {
    const [tierId, supply] = [`t${tier}`, ledger.supply[tier] ?? null]
    const actions = toldOf({ tierId, supply, sold, after: null, opened: null }, before)
    return actions.map((action) => ({ action, subject: tierId, detail: { tierId, supply, sold } }))
  })
  assert.deepEqual([...told], expected)
  assert.equal(sent.includes('NOTIFY ledger'), verdicts.length > 0)
}

test('a page stores, logs and reports a verdict on each payment, in the order of the chain', async () => {
  const met = { released: 0, stays: 0, early: 0, sales: 0, lines: 0 }
  const compare = async (given: Drawn) => {
    const [ledger, sent] = [ledgerOf(given), [] as string[]]
    const released = ledger.payments.filter(
      (one) => one.state === 'held' && one.decision === 'accepted' && one.isInPage,
    )
    await tables.within(rowsOf(given, ledger), async (sql) => {
      const { outcomes, lines } = await judge(sql, ledger, sent)
      const expected = model.judgePage(ledger)
      assert.deepEqual(outcomes, expected.outcomes)
      const evidence = await compareStored(sql, given, ledger, expected.verdicts)
      assert.deepEqual(lines, linesOf(ledger, expected.verdicts, evidence))
      await compareTold(sql, ledger, expected, sent)
      for (const { state } of released) met[state === 'accepted' ? 'released' : 'stays'] += 1
      met.early += expected.outcomes.filter(({ outcome }) => outcome === 'early').length
      met.sales += expected.sales.length
      met.lines += lines.filter((line) => 'count' in line && line.count > 1).length
    })
  }
  await fc.assert(fc.asyncProperty(fc.oneof({ weight: 3, arbitrary: drawn }, crowd, leftovers), compare), {
    numRuns: cases(240),
  })
  assert.ok(Math.min(...Object.values(met)) >= cases(5), JSON.stringify(met))
})
