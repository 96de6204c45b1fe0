// Places of released payments: src/passes/steps/judge-page.ts, with undecided ones before, at and behind them, of other tiers and wallets, in short supply and at the caps of
// wallets, gives them to whom the second reading gives them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { lockPayments } from '../../../src/db/payments/rows.ts'
import { readTierVersions } from '../../../src/db/sale/tiers.ts'
import { byPosition } from '../../../src/domain/sale/position.ts'
import { selectTier } from '../../../src/domain/tiers.ts'
import { silentLog } from '../../../src/lib/log.ts'
import type { Candidate } from '../../../src/passes/steps/judge-facts.ts'
import { judgePage } from '../../../src/passes/steps/judge-page.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
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
  kind: fc.constantFrom('seen', 'seen', 'doubtful', 'doubtful', 'released', 'released', 'held'),
  /** The decisions of people on one that is held, newest last. */
  decisions: fc.constantFrom(
    ...[['accepted'], ['accepted'], ['held', 'accepted'], ['accepted', 'held'], ['held']],
    ...[['accepted', 'held withdrawn'], ['held', 'accepted withdrawn'], ['accepted withdrawn']],
  ),
  reason: fc.constantFrom('walletLimit', 'soldOut'),
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
  supply: fc.tuple(fc.constantFrom(null, 1, 2, 2, 2, 3), fc.constantFrom(null, 1, 2)),
  walletMax: fc.constantFrom(1, 1, 2, 3, 9),
})
/** Several that come for the last places of one tier, some of them from wallets that are full. */
const crowd = drawn.map((one): typeof one => ({
  ...one,
  payments: one.payments.map((payment) => ({
    ...payment,
    ...{ tier: 0, isInPage: true, from: payment.txIndex === 3 ? account(6) : account(5) },
    kind: payment.kind === 'doubtful' ? ('seen' as const) : payment.kind,
  })),
  ...{ ages: [300, 200, 100], nodes: [], supply: [one.supply[0] === null ? 3 : 2, null] },
  walletMax: 1,
}))
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/** The last of some decisions that was not withdrawn. */
const lastOf = (decisions: readonly string[]) => decisions.findLast((one) => !one.includes(' ')) ?? null

function ledgerOf({ payments, ages, nodes, supply, walletMax }: Drawn): model.Ledger {
  const all = payments.map((one, n): model.Payment => {
    const isHeld = one.kind === 'released' || one.kind === 'held'
    return {
      ...{ id: 1 + n, from: one.from, tier: one.tier, block: one.block, txIndex: one.txIndex },
      ...{ age: ages[one.block - 10] ?? 0, state: isHeld ? 'held' : 'seen', reason: isHeld ? one.reason : null },
      isDoubtful: one.kind === 'doubtful',
      decision: one.kind === 'released' ? lastOf(one.decisions) : null,
      isInPage: one.isInPage,
    }
  })
  return { payments: all, nodes, supply, walletMax }
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

function rowsOf(given: Drawn, ledger: model.Ledger): Rows {
  const tiers = ledger.supply.map((supply, n) => ({
    ...{ tier_id: `t${n}`, version: 1, tier_no: 1 + n, label: `t${n}`, price_wei: 10 + n, max_per_wallet: 99, supply },
    ...{ payout_bps: 10_000, on_sale: true, live: true, holding_wei: 0, holding_retry_sec: 0, grace_sec: 0 },
    ...{ from_block: 0, from_time: 0, entered_by: 'test' },
  }))
  const payments = ledger.payments.map((one): Row => {
    const isHeld = one.state === 'held'
    return {
      ...{ id: one.id, ref: word(one.id), tx_hash: word(one.id), wallet: WALLET, from_address: one.from },
      ...{ value_wei: 10 + one.tier, succeeded: true, state: one.state, reason: one.reason, inner_index: 0 },
      ...{ tier_id: isHeld ? `t${one.tier}` : null, tier_version: isHeld ? 1 : null },
      ...{ proof: one.isDoubtful ? 'believed' : 'proven', tx_index: one.txIndex, block_time: at(NOW - one.age) },
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
    cursors: [{ name: 'follow', block_time: NOW, ...inBlock(HEIGHT) }],
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

async function judge(sql: Sql, ledger: model.Ledger): Promise<void> {
  const versions = await readTierVersions(sql)
  const inPage = ledger.payments.filter((one) => one.isInPage).map(({ id }) => id)
  const page = (await lockPayments(sql, inPage)).sort(byPosition).map((payment): Candidate => {
    const unread = { code: { kind: 'unread' }, holding: { kind: 'notNeeded' } } as const
    return { payment, selection: selectTier(versions, payment), ...unread }
  })
  const wallets = [
    { wallet: WALLET, watchedFrom: 0, closedBlock: null, fromBlock: 0, fromTime: 0, stolen: false, graceSec: 0 },
  ]
  const basis = {
    ...{ wallets, modes: [], walletMax: ledger.walletMax, serviceAccounts: [], now: NOW, height: HEIGHT },
    ...{ canAgree: true, trustsProvider: false, versions, recheckUpTo: null },
  }
  await judgePage({ pool: poolWithin(sql), log: silentLog } as never, basis as never, page)
}

test('a released payment takes a place that no earlier one reserves, if its wallet has room', async () => {
  const met = { released: 0, stays: 0, places: 0 }
  const compare = async (given: Drawn) => {
    const ledger = ledgerOf(given)
    const isReleased = ({ state, decision, isInPage }: model.Payment) =>
      state === 'held' && decision === 'accepted' && isInPage
    const released = ledger.payments.filter(isReleased)
    await tables.within(rowsOf(given, ledger), async (sql) => {
      await judge(sql, ledger)
      const places = model.judgePage(ledger)
      const rows = await sql`SELECT id, state, reason FROM payments ORDER BY id`
      assert.deepEqual(
        rows.map(({ id, state, reason }) => ({ id: Number(id), state, reason })),
        ledger.payments.map(({ id, state, reason }) => ({ id, state, reason })),
      )
      const found = await sql<{ id: number; evidence: Record<string, number> }[]>`
        SELECT payment_id AS id, evidence FROM payment_verdicts
        WHERE evidence ->> 'rule' = 'released' AND evidence ? 'supply' ORDER BY id`
      assert.deepEqual(
        found.map(({ id, evidence: { supply, sold, reserved, place } }) => ({
          id: Number(id),
          supply,
          sold,
          reserved,
          place,
        })),
        places.map((one) => ({ ...one, place: one.sold + 1 })).toSorted((a, b) => a.id - b.id),
      )
      for (const { state } of released) met[state === 'accepted' ? 'released' : 'stays'] += 1
      met.places += places.length
    })
  }
  await fc.assert(fc.asyncProperty(fc.oneof({ weight: 3, arbitrary: drawn }, crowd), compare), { numRuns: cases(240) })
  assert.ok(Math.min(...Object.values(met)) >= cases(10), JSON.stringify(met))
})
