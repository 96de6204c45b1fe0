// Sold and reserved: the judge, the acts, the public API and the metrics count as the second reading does, over random rows in a real database.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { byPlace } from '../../../src/db/payments/rows.ts'
import { countSales, readSold, readTierSales } from '../../../src/db/payments/supply.ts'
import { readLedgerFigures } from '../../../src/db/reads/metrics.ts'
import { readQuote, readTiers } from '../../../src/db/reads/public-api.ts'
import { readTierVersions } from '../../../src/db/sale/tiers.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { type History, histories } from '../histories.ts'
import { choose } from '../sale.ts'
import { type Ledger, type NodeRow, type PaymentRow, reservationsOf, reservedBefore, soldOf } from './places.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const tierNo = (tierId: string) => 1 + Number(tierId.slice(1))
const tierNames = ['t0', 't1', 't2']

const drawnPayment = fc.record({
  pick: fc.nat(999),
  state: fc.constantFrom(
    'seen',
    'seen',
    'seen',
    'seen',
    'accepted',
    'minting',
    'held',
    'held',
    'refunded',
    'dismissed',
  ),
  isRefunding: fc.boolean(),
  hasMint: fc.boolean(),
  txIndex: fc.nat(1),
  innerIndex: fc.nat(1),
  otherTier: fc.constantFrom(null, null, null, ...tierNames),
})
const drawnNode = fc.record({
  tierId: fc.constantFrom(...tierNames),
  isExpelled: fc.boolean(),
  payment: fc.constantFrom('none', 'kept', 'refunded'),
})
const drawn = fc.record({
  history: histories(),
  payments: fc.array(drawnPayment, { maxLength: 10 }),
  nodes: fc.array(drawnNode, { maxLength: 4 }),
  /** The head is this much later than one of the payments. */
  headPick: fc.nat(9),
  age: fc.constantFrom(0, 1, 3_599, 3_600, 3_601),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function paymentOf({ sale, payments }: History, one: Drawn['payments'][number]): PaymentRow | null {
  const bought = payments.filter(({ valueWei, block }) => choose(sale, valueWei, block).kind === 'sells')
  // One in five is of any amount, the others buy something.
  const among = one.pick % 5 === 0 || bought.length === 0 ? payments : bought
  const picked = among[one.pick % Math.max(1, among.length)]
  if (picked === undefined) return null
  const { valueWei, block } = picked
  const { otherTier, pick, ...rest } = one
  const choice = choose(sale, valueWei, block)
  const other = sale.versions.find(({ tierId }) => tierId === otherTier)
  const tierId = other?.tierId ?? (choice.kind === 'sells' ? choice.tierId : (sale.versions[0]?.tierId ?? null))
  const state = rest.state as PaymentRow['state']
  const isRefunding = state === 'held' && rest.isRefunding
  const hasMint = state === 'minting' || rest.hasMint
  return { ...rest, state, isRefunding, hasMint, tierId, valueWei, block: block.number, time: block.time }
}

function ledgerOf({ history, payments, nodes, headPick, age }: Drawn): Ledger {
  const known = payments.map((one) => paymentOf(history, one)).filter((one) => one !== null)
  const headTime = (known[headPick % Math.max(1, known.length)]?.time ?? 1_000) + age
  return {
    sale: history.sale,
    nodes: nodes as NodeRow[],
    payments: known.filter((one) => one.time <= headTime),
    headTime,
  }
}

const block = (number: number) => ({ block_number: number, block_hash: word(number) })

const latest = ({ versions }: Ledger['sale'], tierId: string) =>
  Math.max(0, ...versions.filter((v) => v.tierId === tierId).map((v) => v.version))

const paid = (n: number) => ({
  id: n,
  ref: word(n),
  tx_hash: word(n),
  wallet: account(1),
  from_address: account(2),
  succeeded: true,
})

const tierRows = ({ sale }: Ledger): Row[] =>
  sale.versions.map((one) => ({
    ...{
      tier_id: one.tierId,
      version: one.version,
      tier_no: tierNo(one.tierId),
      label: one.tierId,
      price_wei: one.priceWei,
    },
    ...{
      max_per_wallet: one.maxPerWallet,
      payout_bps: 10_000,
      on_sale: one.onSale,
      grace_sec: one.graceSec,
      supply: one.supply,
    },
    ...{ opens_at: one.opensAt, closes_at: one.closesAt, opens_after: one.opensAfter },
    ...{
      live: one.version === latest(sale, one.tierId),
      from_block: one.fromBlock,
      from_time: one.fromTime,
      entered_by: 'test',
    },
  }))

function nodeRows({ sale, nodes }: Ledger): Rows {
  return {
    tier_openings: sale.openings.map((one) => ({
      tier_id: one.tierId,
      opens_after: one.opensAfter,
      from_block: one.fromBlock,
    })),
    cohorts: tierNames.map((tierId) => ({
      ...{ cohort: tierNo(tierId), tier_no: tierNo(tierId), interval_sec: 60, next_due: 0, ...block(1) },
      size: nodes.filter((one) => one.tierId === tierId && !one.isExpelled).length,
    })),
    nodes: nodes.map((one, n) => ({
      ...{ node_id: 1 + n, owner: account(2), cohort: one.isExpelled ? null : tierNo(one.tierId), ref: word(500 + n) },
      ...{ payment_id: one.payment === 'none' ? null : 1 + n, per_node_at_mint_wei: 0n, turns_at_mint: 0 },
      ...{ mint_tx_hash: word(600 + n), minted_at: at(1_000), ...block(10) },
    })),
    expulsions: nodes.flatMap((one, n): Row[] => {
      if (!one.isExpelled) return []
      const terms = { credited_wei: 0n, turn_count: 0, expelled_at: at(1_000), tx_hash: word(700 + n) }
      return [{ node_id: 1 + n, cohort: tierNo(one.tierId), ...terms, ...block(11) }]
    }),
    refunds: nodes.flatMap((one, n): Row[] => {
      if (one.payment !== 'refunded') return []
      const transfer = { from_address: account(1), to_address: account(2), value_wei: 10n, recorded_by: 'test' }
      return [{ payment_ref: word(1 + n), tx_hash: word(800 + n), ...transfer, ...block(12) }]
    }),
  }
}

function paymentRows({ sale, nodes, payments }: Ledger): Row[] {
  const kept = nodes.flatMap((one, n): Row[] => {
    if (one.payment === 'none') return []
    return [{ ...paid(1 + n), value_wei: 10n, state: 'minted', node_id: 1 + n, block_time: at(1_000), ...block(10) }]
  })
  return [
    ...kept,
    ...payments.map((one, n) => ({
      ...{
        ...paid(100 + n),
        inner_index: one.innerIndex,
        tx_index: one.txIndex,
        value_wei: one.valueWei,
        state: one.state,
      },
      ...{ reason: one.state !== 'held' ? null : one.isRefunding ? 'refunding' : 'soldOut' },
      ...{ tier_id: one.state === 'seen' ? null : one.tierId, outbox_id: one.hasMint ? 1 : null, node_id: null },
      tier_version: one.state === 'seen' || one.tierId === null ? null : latest(sale, one.tierId),
      ...{ block_time: at(one.time), ...block(one.block) },
    })),
  ]
}

const rowsOf = (ledger: Ledger): Rows => ({
  cursors: [{ name: 'follow', block_time: ledger.headTime, ...block(1_000) }],
  tiers: tierRows(ledger),
  ...nodeRows(ledger),
  payments: paymentRows(ledger),
})

/** What every reader says of every tier, in the same words. */
async function readersOf(sql: Sql, tierIds: string[], headTime: number) {
  const numbers = new Map(tierIds.map((tierId) => [tierNo(tierId), 0]))
  const judged = await readTierSales(sql, numbers, await readTierVersions(sql), headTime - 3_600)
  const sold = await readSold(sql)
  const shown = JSON.parse(await readTiers(sql)).tiers as { id: string; sold: number; reserved: number }[]
  const figures = (await readLedgerFigures(sql)).tiers as { id: string; sold: number }[] | null
  const found = []
  for (const tierId of tierIds) {
    const tier = shown.find(({ id }) => id === tierId)
    const quoted = await readQuote(sql, tierId)
    const counted = await countSales(sql, tierNo(tierId))
    found.push({
      tierId,
      undecided: judged.get(tierNo(tierId))?.undecided ?? [],
      sold: {
        judge: judged.get(tierNo(tierId))?.sold,
        acts: counted.sold,
        operator: sold.get(tierNo(tierId)) ?? 0,
        tiers: tier?.sold,
        ...(quoted === null ? {} : { quote: quoted.sold }),
        ...(figures?.some(({ id }) => id === tierId) ? { metrics: figures.find(({ id }) => id === tierId)?.sold } : {}),
      },
      reserved: {
        acts: counted.reserved,
        tiers: tier?.reserved,
        ...(quoted === null ? {} : { quote: quoted.reserved }),
      },
    })
  }
  return found
}

/** Each reader with the same figure. */
const all = (readers: Record<string, unknown>, figure: number) =>
  Object.fromEntries(Object.keys(readers).map((reader) => [reader, figure]))

async function compare(given: Drawn): Promise<void> {
  const ledger = ledgerOf(given)
  const tierIds = [...new Set(ledger.sale.versions.map(({ tierId }) => tierId))]
  const found = await tables.within(rowsOf(ledger), (sql) => readersOf(sql, tierIds, ledger.headTime))
  for (const { tierId, undecided, sold, reserved } of found) {
    assert.deepEqual(sold, all(sold, soldOf(ledger, tierId)), `sold of ${tierId}`)
    assert.deepEqual(reserved, all(reserved, reservationsOf(ledger, tierId).length), `reserved of ${tierId}`)
    for (const one of ledger.payments) {
      const place = { blockNumber: one.block, txIndex: one.txIndex, innerIndex: one.innerIndex }
      const earlier = undecided.filter((other) => !other.isOld && byPlace(other, place as never) < 0)
      assert.equal(earlier.length, reservedBefore(ledger, tierId, one), `reserved of ${tierId} before a payment`)
    }
  }
}

test('the judge, the acts, the API and the metrics count sold and reserved as the rules say', async () => {
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(60) })
})
