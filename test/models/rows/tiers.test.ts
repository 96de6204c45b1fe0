// What `GET /api/tiers` and a quote say: the statements of src/db/reads and the route agree with the second reading, over random ledgers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Pool, Sql } from '../../../src/db/core/sql.ts'
import { readSoldOut, readSupplies, readTiersNow, readTiersWithRoom } from '../../../src/db/payments/supply.ts'
import { readTiers } from '../../../src/db/reads/public-api.ts'
import { readTierVersions } from '../../../src/db/sale/tiers.ts'
import { isRefusal } from '../../../src/http/refusals.ts'
import { deployQuote } from '../../../src/http/routes/deploy-quote.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { withoutChain } from '../../http/edge/no-chain.ts'
import { cases } from '../../support/property.ts'
import { drawn, ledgerOf, rowsOf, tierNo } from './ledgers.ts'
import type { Ledger } from './places.ts'
import { type Face, hasRoom, quoteOf, type Shop, supplyLeft, tierIdsOf, tierNow, tierOf } from './tiers.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const TIERS = ['t0', 't1', 't2']
const WALLET = account(9)
const CHAIN_ID = 31_337
const MALFORMED = 'Not a tier'

const face = fc.record({
  label: fc.constantFrom('Basic', 'Plus'),
  payoutBps: fc.constantFrom(0, 9_999, 10_000, 20_000),
  holdingSymbol: fc.constantFrom(null, 'DEMO'),
  holdingDecimals: fc.constantFrom(null, 0, 18),
})
const drawnShop = fc.record({
  ledger: drawn,
  faces: fc.array(face, { minLength: 6, maxLength: 6 }),
  /** The ledger's own time, or one just before, at or just after a time that a version names. */
  edge: fc.option(fc.tuple(fc.nat(17), fc.constantFrom(-1, 0, 0, 1)), { freq: 4 }),
  /** The head is the first block that the ledger's time allows, or the last. */
  isBehind: fc.boolean(),
  caps: fc.array(fc.uniqueArray(fc.constantFrom(0, 1, 2, 3, 5, 4_294_967_295), { maxLength: 2 }), {
    minLength: 3,
    maxLength: 3,
  }),
  budget: fc.constantFrom(null, null, 0, 1, 5, 5),
  hasWallet: fc.constantFrom(true, true, true, true, true, false),
  /** Terms from the beginning, which later ones replace just before, at or just after the head's time. */
  terms: fc.array(fc.record({ payouts: fc.constantFrom(true, true, false), minWei: fc.constantFrom(0n, 3n, 5_001n) }), {
    maxLength: 4,
  }),
  quoteTier: fc.constantFrom(null, null, null, null, 't1', 'gone'),
  named: fc.constantFrom(...TIERS, 'gone', MALFORMED),
  modes: fc.array(fc.record({ ahead: fc.constantFrom(-1, 0, 1, 2), mode: fc.constantFrom('hold', 'proven', 'all') }), {
    maxLength: 2,
  }),
})
type Drawn = typeof drawnShop extends fc.Arbitrary<infer T> ? T : never

/** The roots of the histories are short. */
const rootOf = (name: string | null) => (name === null ? null : word(Number(name)))

/** The ledger as it was at a time that one of its versions names, or about then. */
function atEdge(ledger: Ledger, edge: Drawn['edge']): Ledger {
  const named = ledger.sale.versions.flatMap(({ fromTime, opensAt, closesAt }) => [opensAt, closesAt, fromTime])
  const times = named.filter((one) => one !== null)
  if (edge === null || times.length === 0) return ledger
  const [pick, by] = edge
  const headTime = (times[pick % times.length] ?? 0) + by
  return { ...ledger, headTime, payments: ledger.payments.filter(({ time }) => time <= headTime) }
}

/** A block of the ledger's time: no lower than what it has seen, and before versions of a later time, but no others. */
function headOf({ sale, payments, headTime }: Ledger, isBehind: boolean) {
  const begun = sale.versions.filter(({ fromTime }) => fromTime <= headTime).map(({ fromBlock }) => fromBlock)
  const seen = Math.max(9, ...begun, ...payments.map(({ block }) => block))
  const later = sale.versions.filter(({ fromTime }) => fromTime > headTime).map(({ fromBlock }) => fromBlock - 1)
  return { number: isBehind ? seen : Math.max(seen, Math.min(1_000, ...later)), time: headTime }
}

function shopOf(given: Drawn): Shop {
  const made = atEdge(ledgerOf(given.ledger), given.edge)
  const head = headOf(made, given.isBehind)
  const versions = made.sale.versions.map((one) => ({ ...one, allowlist: rootOf(one.allowlist) }))
  // A step opens in a block that the ledger has followed.
  const openings = made.sale.openings.filter(({ fromBlock }) => fromBlock <= head.number)
  const faces = new Map<string, Face[]>()
  for (const [n, one] of versions.entries()) {
    const { holdingSymbol, holdingDecimals, ...shown } = given.faces[n] as Drawn['faces'][number]
    const token = { holdingToken: account(0xaa), holdingSymbol, holdingDecimals }
    const none = { holdingToken: null, holdingSymbol: null, holdingDecimals: null }
    const own = { ...shown, ...(one.holdingWei === 0n ? none : token), tierNo: tierNo(one.tierId) }
    faces.set(one.tierId, [...(faces.get(one.tierId) ?? []), own])
  }
  const { budget, hasWallet, quoteTier } = given
  const terms = given.terms.map(({ payouts, minWei }, n) => ({
    ...{ fromTime: n === 0 ? 0 : head.time + n - 2, payouts, minWei },
    ...{ maxWei: minWei * 2n + 1n, intervalSec: 60 + n },
  }))
  const caps = new Map(TIERS.map((tierId, n) => [tierId, (given.caps[n] ?? []).toSorted((a, b) => b - a)]))
  const modes = given.modes.map(({ ahead, mode }) => ({ fromBlock: head.number + ahead, mode }))
  const unique = modes.filter((one, n) => modes.findIndex(({ fromBlock }) => fromBlock === one.fromBlock) === n)
  const ledger = { ...made, sale: { versions, openings } }
  return { ledger, head, faces, caps, budget, hasWallet, terms, quoteTier, modes: unique }
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

function capRows({ caps }: Shop): Row[] {
  const acts = [...caps].flatMap(([tierId, most]) => most.map((one) => ({ tierId, most: one })))
  return acts.map(({ tierId, most }, n) => ({
    ...{ log_index: n, name: 'TierCapped', at: at(1_000), tx_hash: word(900 + n), ...inBlock(3) },
    detail: JSON.stringify({ tier: String(tierNo(tierId)), most: String(most), former: '9' }),
  }))
}

function shopRows(shop: Shop): Rows {
  const { ledger, head, faces, budget } = shop
  const rows = rowsOf(ledger)
  const shown = (rows.tiers ?? []).map((row, n): Row => {
    const one = ledger.sale.versions[n]
    const { label, payoutBps, ...token } = (faces.get(String(row.tier_id)) ?? [])[Number(row.version) - 1] as Face
    return {
      ...{
        ...row,
        label,
        payout_bps: payoutBps,
        holding_wei: one?.holdingWei ?? 0n,
        allowlist: one?.allowlist ?? null,
      },
      ...{ holding_token: token.holdingToken, holding_symbol: token.holdingSymbol },
      holding_decimals: token.holdingDecimals,
    }
  })
  const value = JSON.stringify({ soldOut: budget === 0, nodes: String(budget) })
  const wallet = { id: 1, wallet: WALLET, from_block: 0, from_time: 0, watched_from: 0 }
  return {
    ...{ ...rows, tiers: shown, owner_acts: capRows(shop) },
    cursors: [{ name: 'follow', block_time: head.time, ...inBlock(head.number) }],
    ledger_state: [{ budget: budget === null ? null : value }],
    credit_terms: shop.terms.map(({ fromTime, payouts, minWei, maxWei, intervalSec }) => ({
      ...{ from_time: fromTime, payouts, min_wei: minWei, max_wei: maxWei },
      ...{ interval_sec: intervalSec, slot_sec: 1, entered_by: 'test' },
    })),
    payment_wallets: shop.hasWallet ? [{ ...wallet, entered_by: 'test' }] : [],
    contract_wallet_modes: shop.modes.map(({ fromBlock, mode }) => ({
      ...{ from_block: fromBlock, mode, entered_by: 'test' },
    })),
  }
}

/** The route's answer, read from these rows and kept nowhere. */
async function quoteBy(sql: Sql, { quoteTier }: Shop, tier: string | null) {
  const tools = {
    deps: { settings: { chainId: CHAIN_ID, quoteTier }, ...withoutChain(sql as Pool) },
    queryReplica: (read: (pool: Pool) => unknown) => read(sql as Pool),
    cached: (_key: string, _sec: number, read: () => unknown) => read(),
  }
  const answer = await deployQuote(tools as never).handle({ query: tier === null ? {} : { tier } } as never)
  if (isRefusal(answer)) {
    const awaits = /once all nodes of tier (\S+) are sold/.exec(answer.words)?.[1]
    return { status: answer.status, ...(awaits && { awaits }) }
  }
  return { status: 200, ...(answer as object) }
}

/** What checks, metrics and the judge's queue see of the tiers. */
async function compareNow(sql: Sql, shop: Shop): Promise<void> {
  const ids = tierIdsOf(shop)
  assert.deepEqual(
    [...(await readTiersNow(sql))].map((row) => ({ ...row })),
    ids.map((id) => tierNow(shop, id)),
  )
  const soldOut = ids.filter((id) => tierOf(shop, id).remaining === 0)
  assert.deepEqual((await readSoldOut(sql)).toSorted(), soldOut.toSorted())
  const withRoom = await readTiersWithRoom(sql, await readTierVersions(sql))
  assert.deepEqual(
    withRoom.toSorted(),
    ids
      .filter((id) => hasRoom(shop, id))
      .map(tierNo)
      .toSorted(),
  )
  // Before the first block is followed.
  await sql`DELETE FROM cursors`
  const before = (await readTiersNow(sql)).map(({ tierId, sold }) => ({ tierId, sold }))
  assert.deepEqual(
    before,
    ids.map((id) => ({ tierId: id, sold: tierNow(shop, id).sold })),
  )
  await sql`INSERT INTO cursors ${sql({ name: 'follow', block_time: shop.head.time, ...inBlock(shop.head.number) })}`
}

test('each tier is shown in its present state, and quoted while it sells', async () => {
  const seen: Record<string, number> = {}
  const see = (...names: string[]) => {
    for (const name of names) seen[name] = 1 + (seen[name] ?? 0)
  }
  const compare = async (given: Drawn) => {
    const shop = shopOf(given)
    await tables.within(shopRows(shop), async (sql) => {
      const tiers = tierIdsOf(shop).map((tierId) => tierOf(shop, tierId))
      assert.deepEqual([...(await readTiers(sql)).tiers], tiers)
      const supplies = tierIdsOf(shop).flatMap((id) =>
        supplyLeft(shop, id) === null ? [] : [[tierNo(id), supplyLeft(shop, id)] as const],
      )
      assert.deepEqual(
        await readSupplies(sql, tierIdsOf(shop).map(tierNo)),
        new Map(supplies),
        'what the judge goes by',
      )
      await compareNow(sql, shop)
      for (const { state, enforcedBy, openTo, credit } of tiers)
        see(state, enforcedBy.supply, openTo, credit === null ? 'uncredited' : 'credited')
      for (const asked of [null, given.named]) {
        const bare = asked === MALFORMED ? { status: 400 } : quoteOf(shop, asked)
        const where = { paymentAddress: WALLET, chainId: CHAIN_ID }
        const expected = bare.status === 200 ? { ...bare, ...where } : bare
        assert.deepEqual(await quoteBy(sql, shop, asked), expected, `quote of ${asked}`)
        see(`${bare.status}`, ...Object.keys(bare))
      }
    })
  }
  await fc.assert(fc.asyncProperty(drawnShop, compare), { numRuns: cases(150) })
  for (const name of [
    'upcoming',
    'open',
    'soldOut',
    'closed',
    'contract',
    'operator',
    'none',
    'everyone',
    'list',
    'holders',
    'credited',
    'uncredited',
    '200',
    '400',
    '503',
    'awaits',
  ])
    assert.ok((seen[name] ?? 0) > 0, `${name}: ${seen[name]}`)
})

const SMALL = { supply: 2, from_block: 1, from_time: 1, live: false }
const tierRow = (version: number, more: Row): Row => ({
  ...{ tier_id: 'basic', version, tier_no: 1, label: 'Basic', price_wei: 10n, max_per_wallet: 1, payout_bps: 10_000 },
  ...{ on_sale: true, entered_by: 'test', ...more },
})

test('a raise of the supply is shown from its block on, and a reduction immediately', async () => {
  const shownAt = (block: number, supply: number | null) =>
    tables.within(
      {
        cursors: [{ name: 'follow', block_time: 1_000, ...inBlock(block) }],
        tiers: [tierRow(1, SMALL), tierRow(2, { supply, from_block: 5, from_time: 900 })],
      },
      async (sql) => (await readTiers(sql)).tiers[0]?.remaining,
    )
  assert.deepEqual([await shownAt(4, 9), await shownAt(5, 9)], [2, 9])
  assert.deepEqual([await shownAt(4, null), await shownAt(5, null)], [2, null])
  assert.deepEqual([await shownAt(4, 1), await shownAt(5, 1)], [1, 1])
})
