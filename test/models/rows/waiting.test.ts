// Who takes a place that becomes free, what of an allocation is used, and what counts before a wallet buys: the statements in PostgreSQL and the second
// reading agree about random rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { waitsForOpening, waitsForPlace } from '../../../src/db/payments/waiting.ts'
import { readBuyerStanding } from '../../../src/db/reads/can-buy.ts'
import { readUsed } from '../../../src/db/sale/allowlists.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './waiting.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const NOW = 200_000
const DAY_SEC = 86_400
const TIERS = [1, 2]
const PAYERS = [5, 6]
const block = (number: number) => ({ block_number: number, block_hash: word(number) })

const SELLING: model.Selling = { onSale: true, opensAt: null, closesAt: null, ladder: 'none' }
const tierRows = ({ onSale, opensAt, closesAt, ladder }: model.Selling): Row[] =>
  TIERS.map((tierNo) => ({
    ...{
      tier_id: `t${tierNo}`,
      version: 1,
      tier_no: tierNo,
      label: 'a tier',
      price_wei: BigInt(tierNo),
      max_per_wallet: 9,
    },
    ...{ payout_bps: 10_000, on_sale: onSale, from_block: 0, from_time: 0, entered_by: 'test', live: true },
    ...{ opens_at: opensAt, closes_at: closesAt, opens_after: ladder === 'none' ? null : 't0' },
  }))
const paid = (n: number, { tierNo, from }: { tierNo: number; from: number }): Row => ({
  ...{ id: n, ref: word(n), tx_hash: word(n), wallet: account(1), from_address: account(from), succeeded: true },
  ...{ tier_id: `t${tierNo}`, tier_version: 1 },
})

const waiting = fc.record({
  tierNo: fc.constantFrom(...TIERS),
  from: fc.constantFrom(...PAYERS),
  valueWei: fc.constantFrom(10n, 11n),
  block: fc.integer({ min: 100, max: 102 }),
  txIndex: fc.nat(1),
  time: fc.constantFrom(NOW, NOW - DAY_SEC + 1, NOW - DAY_SEC, NOW - DAY_SEC - 1),
  decisions: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    fc.array(fc.record({ verdict: fc.constantFrom('accepted', 'dismissed', 'held'), isWithdrawn: fc.boolean() }), {
      maxLength: 3,
    }),
  ),
})
const outflow = fc.record({
  to: fc.constantFrom(...PAYERS),
  valueWei: fc.constantFrom(0n, 1n, 10n),
  block: fc.integer({ min: 99, max: 103 }),
  isCommission: fc.boolean(),
})
const selling: fc.Arbitrary<model.Selling> = fc
  .record({
    onSale: fc.constantFrom(true, true, true, false),
    opensAt: fc.constantFrom(null, null, NOW - 1, NOW, NOW + 1),
    closesAt: fc.constantFrom(null, null, NOW - 1, NOW, NOW + 1),
    ladder: fc.constantFrom('none' as const, 'shut' as const, 'open' as const, 'open' as const),
  })
  .filter(({ opensAt, closesAt }) => opensAt === null || closesAt === null || opensAt < closesAt)

test('a place goes to those whose payment waits for it, and to no other', async () => {
  const compare = async (
    payments: model.Waiting[],
    outflows: model.Outflow[],
    sale: model.Selling,
    tierNos: number[],
    opened: model.Sale['opened'],
  ) => {
    const opening = (tierNo: number, opens_after: string, { block: from_block, txIndex }: typeof opened): Row => {
      return { tier_id: `t${tierNo}`, opens_after, from_block, tx_index: txIndex, inner_index: 0 }
    }
    const rows = {
      tiers: tierRows(sale),
      // A step that once waited for another tier is none of theirs.
      tier_openings: TIERS.flatMap((n) => [
        opening(n, 't9', { block: 1, txIndex: 0 }),
        ...(sale.ladder === 'open' ? [opening(n, 't0', opened)] : []),
      ]),
      cursors: [{ name: 'follow', block_number: 1_000, block_hash: word(1_000), block_time: NOW }],
      payments: payments.map((one, n) => ({
        ...{ ...paid(1 + n, one), value_wei: one.valueWei, state: 'held', reason: 'soldOut' },
        ...{ block_time: at(one.time), ...block(one.block), tx_index: one.txIndex },
      })),
      payment_verdicts: payments.flatMap(({ decisions }, n): Row[] => [
        { payment_id: 1 + n, verdict: 'held', reason: 'soldOut', evidence: '{}', decided_by: 'pass' },
        ...decisions.map(({ verdict, isWithdrawn }) => ({
          ...{ payment_id: 1 + n, verdict, reason: null, evidence: '{}', decided_by: 'ada' },
          ...{ withdrawn_at: isWithdrawn ? at(NOW) : null, withdrawn_by: isWithdrawn ? 'pass' : null },
        })),
      ]),
      wallet_outflows: outflows.map((one, n) => ({
        ...{ ref: word(900 + n), tx_hash: word(900 + n), wallet: account(1), to_address: account(one.to) },
        ...{ value_wei: one.valueWei, fee_wei: 0n, block_time: at(NOW), ...block(one.block) },
      })),
      refunds: outflows.flatMap((one, n) =>
        one.isCommission
          ? {
              ...{ tx_hash: word(900 + n), from_address: account(1), to_address: account(one.to) },
              ...{ commission_of: 'ada', value_wei: one.valueWei, recorded_by: 'test', ...block(one.block) },
            }
          : [],
      ),
    }
    const found = await tables.within(
      rows,
      (sql) => sql<{ id: number; place: boolean; opening: boolean }[]>`
        SELECT p.id, ${waitsForPlace(sql, tierNos)} AS place, ${waitsForOpening(sql)} AS opening
        FROM payments p JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version ORDER BY p.id`,
    )
    const given = { tierNos, now: NOW, selling: sale, outflows, opened }
    assert.deepEqual(
      found.map(({ id, place, opening: isOpen }) => [id, place === true, isOpen === true]),
      payments.map((one, n) => [1 + n, model.waitsForPlace(one, given), model.waitsForOpening(one, given)]),
    )
  }
  const numbers = fc.subarray(TIERS, { minLength: 1 })
  const property = fc.asyncProperty(
    fc.array(waiting as fc.Arbitrary<model.Waiting>, { maxLength: 6 }),
    fc.array(outflow, { maxLength: 2 }),
    selling,
    numbers,
    fc.record({ block: fc.integer({ min: 99, max: 102 }), txIndex: fc.nat(1) }),
    compare,
  )
  await fc.assert(property, { numRuns: cases(100) })
})

const bought = fc.record({
  tierNo: fc.constantFrom(...TIERS),
  from: fc.constantFrom(...PAYERS),
  state: fc.constantFrom('accepted', 'minting', 'minted', 'held', 'held', 'refunded', 'dismissed', 'ignored'),
  isRefunding: fc.boolean(),
  hasMint: fc.boolean(),
})

test('an allocation is used by what was accepted, and by what a signed mint may still mint', async () => {
  const compare = async (payments: model.Bought[], tierNos: number[], wallets: number[]) => {
    const rows = {
      tiers: tierRows(SELLING),
      payments: payments.map((one, n) => ({
        ...{ ...paid(1 + n, one), value_wei: 10n, state: one.state, block_time: at(NOW), ...block(100) },
        ...{
          reason:
            one.state === 'ignored'
              ? 'failed'
              : one.state !== 'held'
                ? null
                : one.isRefunding
                  ? 'refunding'
                  : 'soldOut',
          outbox_id: one.hasMint || one.state === 'minting' ? 1 : null,
          node_id: one.state === 'minted' ? 1 + n : null,
        },
      })),
    }
    const addresses = wallets.map((wallet) => account(wallet) as Address)
    const used = await tables.within(rows, (sql) => readUsed(sql, tierNos, addresses))
    for (const tierNo of TIERS)
      for (const from of PAYERS) {
        const isAsked = tierNos.includes(tierNo) && wallets.includes(from)
        const expected = isAsked ? model.usedOf(payments, tierNo, from) : 0
        assert.equal(used.get(`${tierNo} ${account(from)}`) ?? 0, expected, `${from} of tier ${tierNo}`)
      }
  }
  const property = fc.asyncProperty(
    fc.array(bought as fc.Arbitrary<model.Bought>, { maxLength: 8 }),
    fc.subarray(TIERS),
    fc.subarray(PAYERS),
    compare,
  )
  await fc.assert(property, { numRuns: cases(60) })
})

const paidBy = fc
  .record({
    ...{ tierNo: fc.constantFrom(...TIERS), from: fc.constantFrom(5, 5, 6) },
    state: fc.constantFrom(
      ...['seen', 'seen', 'seen', 'held', 'held', 'held', 'accepted', 'minting', 'minted'],
      ...['refunded', 'dismissed', 'ignored'],
    ),
    ...{ isRefunding: fc.constantFrom(false, false, true), hasMint: fc.boolean(), isFull: fc.boolean() },
    succeeded: fc.constantFrom(true, true, true, false),
    valueWei: fc.constantFrom(10n, 11n),
    ...{ block: fc.constantFrom(100, 101), txIndex: fc.nat(2), innerIndex: fc.nat(1), time: fc.constantFrom(NOW, 7) },
  })
  .map((one) => one as model.Paid)
const ROOTS = [21, 22, 23]
const listing = fc.record({
  root: fc.constantFrom(21, 22),
  wallet: fc.constantFrom(...PAYERS),
  allocation: fc.integer({ min: 1, max: 3 }),
})
const buyers: fc.Arbitrary<model.Buyers> = fc.record({
  payments: fc.array(paidBy, { maxLength: 8 }),
  nodes: fc.array(fc.record({ owner: fc.constantFrom(...PAYERS), tierNo: fc.constantFrom(...TIERS, null) }), {
    maxLength: 4,
  }),
  lists: fc.uniqueArray(listing, { selector: ({ root, wallet }) => `${root} ${wallet}`, maxLength: 4 }),
  ...{ denied: fc.subarray(PAYERS), signedIn: fc.subarray(PAYERS), allowed: fc.subarray(PAYERS) },
})

function reasonOf({ state, isRefunding, isFull }: model.Paid): string | null {
  if (state === 'ignored') return 'failed'
  if (state !== 'held') return null
  return isRefunding ? 'refunding' : isFull ? 'walletLimit' : 'soldOut'
}

const paidRow = (one: model.Paid, n: number): Row => ({
  ...{
    ...paid(1 + n, one),
    succeeded: one.succeeded,
    value_wei: one.valueWei,
    state: one.state,
    reason: reasonOf(one),
  },
  ...{ tx_index: one.txIndex, inner_index: one.innerIndex, block_time: at(one.time), ...block(one.block) },
  ...(one.state === 'seen' && { tier_id: null, tier_version: null }),
  outbox_id: one.state === 'minting' || (one.hasMint && one.isRefunding) ? 1 : null,
  node_id: one.state === 'minted' ? 1 + n : null,
})

/** Payments in any fixed order. */
const inOrder = <T extends { valueWei: bigint }>(payments: readonly T[]): string[] =>
  payments
    .map((one) => JSON.stringify(Object.entries({ ...one, valueWei: String(one.valueWei) }).toSorted()))
    .toSorted()

const note = (wallet: number): Row => ({ address: account(wallet), label: 'a', reason: 'b', added_by: 'test' })
const buyerRows = ({ payments, nodes, lists, ...wallets }: model.Buyers): Rows => ({
  tiers: tierRows(SELLING),
  payments: payments.map(paidRow),
  cohorts: TIERS.map((tierNo) => ({
    ...{ cohort: tierNo, tier_no: tierNo, interval_sec: 60, next_due: 0, size: 0, ...block(1) },
  })),
  nodes: nodes.map(({ owner, tierNo }, n) => ({
    ...{ node_id: 101 + n, owner: account(owner), cohort: tierNo ?? 9, ref: word(500 + n), payment_id: null },
    ...{ per_node_at_mint_wei: 0, turns_at_mint: 0, mint_tx_hash: word(600 + n), minted_at: at(NOW), ...block(1) },
  })),
  allowlists: [21, 22].map((root) => {
    return { id: root, root: word(root), label: 'l', entries: 1, allocated: 1, entered_by: 'test' }
  }),
  allowlist_entries: lists.map(({ root, wallet, allocation }, leaf) => {
    return { list: root, address: account(wallet), allocation, leaf }
  }),
  senders: wallets.denied.map(note),
  allowed_wallets: wallets.allowed.map(note),
  proven_wallets: wallets.signedIn.map((wallet) => ({ address: account(wallet), deployed: true })),
})

test('what a wallet has, waits for and may buy counts before it buys, and nothing of others', async () => {
  const compare = async (all: model.Buyers, wallet: number, tierNo: number, root: number | null) => {
    const tier = { tierNo, allowlist: root === null ? null : (word(root) as Hash) }
    const code = await tables.within(buyerRows(all), (sql) => readBuyerStanding(sql, account(wallet) as Address, tier))
    const { waiting, listed, ...expected } = model.standingOf(all, wallet, { tierNo, root })
    const waitingPayments = waiting.map(({ block: blockNumber, time: blockTime, ...one }) => {
      return { blockNumber, blockTime, ...one }
    })
    assert.deepEqual(
      { ...code, waiting: inOrder(code.waiting) },
      { ...expected, listed: listed && { ...listed, root: word(listed.root) }, waiting: inOrder(waitingPayments) },
    )
  }
  const property = fc.asyncProperty(
    ...([
      buyers,
      fc.constantFrom(...PAYERS),
      fc.constantFrom(...TIERS),
      fc.constantFrom(null, 21, 21, ...ROOTS),
    ] as const),
    compare,
  )
  await fc.assert(property, { numRuns: cases(70) })
})
