// What public routes add to the ledger's rows, by docs/API.md and api/openapi.yaml: a node's word about the contract is right field by field, a check
// before a purchase says what the quote says, and a claim is answered by all payments of its transaction.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { isRefusal } from '../../../src/http/refusals.ts'
import { deployQuote } from '../../../src/http/routes/deploy-quote.ts'
import { node } from '../../../src/http/routes/node.ts'
import { canBuy } from '../../../src/http/routes/payments/can-buy.ts'
import { claim } from '../../../src/http/routes/payments/claim.ts'
import { toJson } from '../../../src/lib/json.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { withoutChain } from '../../http/edge/no-chain.ts'
import { cases } from '../../support/property.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

type Route = { handle(asked: never): unknown }

/** A route on these rows. What is asked for before has the same cache. */
async function ask(
  rows: Rows,
  route: (tools: never) => Route,
  deps: object,
  { before: earlier = [], ...asked }: { before?: object[]; [name: string]: unknown },
): Promise<unknown> {
  return await tables.within(rows, async (sql) => {
    const kept = new Map<string, unknown>()
    const query = <T>(read: (sql: Sql) => Promise<T>) => read(sql)
    const settings = { chainId: 1, quoteTier: null }
    const tools = {
      deps: { settings, ...withoutChain(sql as never), checksum: (one: string) => one, ...deps },
      ...{ queryReplica: query, queryPrimary: query },
      cached: async (key: string, _sec: number, read: () => Promise<unknown>) => {
        if (!kept.has(key)) kept.set(key, await read())
        return kept.get(key)
      },
      chainLine: { run: (_name: string, _client: string, body: () => unknown) => body() },
    }
    const one = { params: {}, query: {}, body: {}, client: 'one' }
    for (const other of earlier) await route(tools as never).handle({ ...one, ...other } as never)
    const found = await route(tools as never).handle({ ...one, ...asked } as never)
    if (isRefusal(found)) return found.refused
    return JSON.parse((found as { json?: string }).json ?? toJson(found))
  })
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const CURSOR = [{ name: 'follow', ...inBlock(100), block_time: 1_000 }]
const cohort = (size: number, perNodeWei: bigint) => ({
  ...{ cohort: 1, tier_no: 3, interval_sec: 60, next_due: 2_000, size, per_node_wei: perNodeWei, ...inBlock(1) },
})

test('a node matches the contract if both report the same facts of it', async () => {
  const drawn = fc.record({
    creditedWei: fc.constantFrom(5n, 10n),
    withdrawnWei: fc.constantFrom(0n, 5n),
    // What the contract has more than the ledger.
    more: fc.record({ creditedWei: fc.constantFrom(0n, 0n, 5n), withdrawnWei: fc.constantFrom(0n, 0n, 5n) }),
    balanceMore: fc.constantFrom(0n, 0n, 0n, 1n),
    isOwned: fc.constantFrom(true, true, true, false),
  })
  const compare = async ({
    creditedWei,
    withdrawnWei,
    more,
    ...given
  }: typeof drawn extends fc.Arbitrary<infer T> ? T : never) => {
    const chain = {
      owner: given.isOwned ? account(2) : account(3),
      creditedWei: creditedWei + more.creditedWei,
      withdrawnWei: withdrawnWei + more.withdrawnWei,
      balanceWei: creditedWei + more.creditedWei - withdrawnWei - more.withdrawnWei + given.balanceMore,
      blockNumber: 100,
    }
    const minted = {
      mint_tx_hash: word(9),
      minted_at: at(900),
      per_node_at_mint_wei: 0n,
      turns_at_mint: 0,
      ...inBlock(9),
    }
    const rows = {
      cursors: CURSOR,
      cohorts: [cohort(1, creditedWei)],
      nodes: [{ node_id: 1, owner: account(2), cohort: 1, ref: word(1), withdrawn_wei: withdrawnWei, ...minted }],
    }
    const readings = { node: async (id: bigint, block: number) => (id === 1n && block === 100 ? chain : null) }
    const answer = (await ask(rows, node, { readings }, { params: { id: '1' } })) as Record<string, never>
    const isSame = given.isOwned && given.balanceMore === 0n && more.creditedWei === 0n && more.withdrawnWei === 0n
    const { blockNumber, owner, ...sums } = chain
    const inWords = Object.fromEntries(Object.entries(sums).map(([name, wei]) => [name, String(wei)]))
    assert.deepEqual(answer.chain, { owner, ...inWords, blockNumber, matchesLedger: isSame })
    assert.deepEqual(
      [answer.owner, answer.creditedWei, answer.withdrawnWei, answer.balanceWei],
      [account(2), creditedWei, withdrawnWei, creditedWei - withdrawnWei].map(String),
    )
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(40) })
})

const PRICE = 10n
const drawnBounds = fc
  .tuple(fc.constantFrom(null, null, 990, 1_000, 1_001), fc.constantFrom(null, null, null, 999, 1_000, 1_001, 1_002))
  .filter(([opensAt, closesAt]) => opensAt === null || closesAt === null || closesAt > opensAt)
const drawnSale = fc.record({
  onSale: fc.constantFrom(true, true, true, true, false),
  supply: fc.constantFrom(null, null, 1, 2),
  sold: fc.constantFrom(0, 1, 2),
  bounds: drawnBounds,
  budget: fc.constantFrom<{ spent: string | null; nodes: number } | null>(
    ...[null, null, { spent: null, nodes: 5 }],
    ...[
      { spent: 'nodes', nodes: 0 },
      { spent: 'cohorts', nodes: 5 },
    ],
  ),
  hasWallet: fc.constantFrom(true, true, true, true, false),
  hasTerms: fc.constantFrom(true, true, true, true, false),
  asked: fc.constantFrom('basic', 'basic', null, 'plus', 'Not a tier'),
  /** False before the first block is followed. */
  isFollowed: fc.constantFrom(true, true, true, true, false),
})
type DrawnSale = typeof drawnSale extends fc.Arbitrary<infer T> ? T : never

const BASIC = {
  ...{ tier_id: 'basic', tier_no: 3, label: 'Basic', price_wei: PRICE, max_per_wallet: 9, payout_bps: 10_000 },
  ...{ from_block: 0, from_time: 0, grace_sec: 0, entered_by: 'test' },
}

function saleRows(given: Omit<DrawnSale, 'supply'> & { supply: number | null; holding?: Row }): Rows {
  const soldOut = given.budget !== null && (given.budget.spent !== null || given.budget.nodes === 0)
  return {
    cursors: given.isFollowed ? CURSOR : [],
    tiers: [
      // A tier before it, and its own former version.
      { ...BASIC, tier_id: 'aged', version: 1, tier_no: 2, price_wei: 7n, on_sale: false, live: true },
      { ...BASIC, version: 1, price_wei: 8n, on_sale: true, live: false },
      {
        ...{ ...BASIC, version: 2, on_sale: given.onSale, supply: given.supply, opens_at: given.bounds[0] },
        ...{ closes_at: given.bounds[1], live: true, ...given.holding },
      },
    ],
    cohorts: [cohort(given.sold, 0n)],
    nodes: Array.from({ length: given.sold }, (_, n) => ({
      ...{
        node_id: 1 + n,
        owner: account(20 + n),
        cohort: 1,
        ref: word(1 + n),
        mint_tx_hash: word(9),
        minted_at: at(900),
      },
      ...{ per_node_at_mint_wei: 0n, turns_at_mint: 0, ...inBlock(9) },
    })),
    payment_wallets: given.hasWallet
      ? [{ id: 1, wallet: account(1), from_block: 0, from_time: 0, watched_from: 0, entered_by: 'test' }]
      : [],
    credit_terms: given.hasTerms
      ? [{ from_time: 0, payouts: true, min_wei: 1n, max_wei: 2n, interval_sec: 60, slot_sec: 60, entered_by: 'test' }]
      : [],
    ledger_state:
      given.budget === null ? [] : [{ budget: JSON.stringify({ ...given.budget, cohorts: 5, low: [], soldOut }) }],
  }
}

test('a tier that is quoted can be bought, and one that is not cannot', async () => {
  const compare = async (given: DrawnSale) => {
    const [opensAt, closesAt] = given.bounds
    const now = given.isFollowed ? 1_000 : 0
    const isOpen = (opensAt ?? now) <= now && (closesAt ?? 2_000) > now
    const hasPlace = given.supply === null || given.sold < given.supply
    const hasBudget = given.budget === null || (given.budget.spent === null && given.budget.nodes > 0)
    const isSold = given.onSale && given.hasWallet && given.hasTerms && (given.asked ?? 'basic') === 'basic'
    const sells = isSold && isOpen && hasPlace && hasBudget
    const query = given.asked === null ? {} : { tier: given.asked }
    const quote = await ask(saleRows(given), deployQuote, {}, { query })
    assert.equal(typeof quote === 'object', sells, `quote: ${JSON.stringify(quote)}`)
    const buyer = {
      blockNumber: 100,
      balanceWei: 10n ** 20n,
      gasPriceWei: 1n,
      walletMax: 20,
      code: { kind: 'none' },
      heldWei: null,
    }
    const readings = { buyer: async () => buyer, tracesWork: async () => false }
    const params = { address: account(7) }
    const others = [
      { params, query: { tier: 'aged' } },
      { params: { address: account(8) }, query },
    ]
    const answer = await ask(saleRows(given), canBuy, { readings }, { params, query, before: others })
    // Without a name, a tier that is off sale is none.
    if (answer === 'unknownTier') return assert.ok(!sells && given.asked !== 'basic')
    assert.equal((answer as { address: string }).address, params.address)
    const {
      canBuy: may,
      checks,
      priceWei,
    } = answer as { canBuy: boolean; priceWei: string; checks: { check: string; passes: boolean }[] }
    assert.equal(checks.find(({ check }) => check === 'onSale')?.passes, sells, 'onSale')
    assert.equal(checks.find(({ check }) => check === 'review')?.passes, true, 'review')
    assert.deepEqual([may, priceWei], [sells, String(PRICE)])
  }
  await fc.assert(fc.asyncProperty(drawnSale, compare), { numRuns: cases(70) })
})

const drawnBuyer = fc.record({
  wallet: fc.constantFrom(7, 7, 7, 1, 30),
  isDenied: fc.constantFrom(false, false, false, true),
  // The next block is 101.
  recheckUpTo: fc.constantFrom(null, null, 100, 101, 102),
  // The last block that the ledger had read before it began to read some again.
  mendingTo: fc.constantFrom(null, null, null, 100, 101),
  code: fc.constantFrom('none', 'none', 'contract', 'contract', null),
  // From the next block on, or from the one after it.
  mode: fc.record({ mode: fc.constantFrom('all', 'all', 'hold'), fromBlock: fc.constantFrom(101, 101, 102) }),
  doTracesWork: fc.boolean(),
  supply: fc.constantFrom(null, 2, 3, 4),
  sold: fc.constantFrom(0, 1, 2),
  seen: fc.constantFrom(0, 1, 2),
  underWay: fc.constantFrom(0, 1),
  balanceWei: fc.constantFrom(21_009n, 21_010n),
  // What the tier's token of six decimals needs, and what the wallet has of it.
  holding: fc.constantFrom(null, null, { needed: 5n, held: 5n }, { needed: 5n, held: 4n }, { needed: 5n, held: null }),
})
const TOKEN = account(90)
type DrawnBuyer = typeof drawnBuyer extends fc.Arbitrary<infer T> ? T : never

const buyerRows = ({ supply, sold, ...given }: DrawnBuyer): Rows => ({
  ...saleRows({
    ...{ onSale: true, bounds: [null, null], budget: null, hasWallet: true, hasTerms: true, asked: null },
    ...{ isFollowed: true },
    ...{ supply, sold },
    holding: given.holding
      ? { holding_wei: given.holding.needed, holding_token: TOKEN, holding_symbol: 'DEMO', holding_decimals: 6 }
      : {},
  }),
  ledger_state: [{ recheck_up_to: given.recheckUpTo, mending_to: given.mendingTo }],
  contract_wallet_modes: [{ from_block: given.mode.fromBlock, mode: given.mode.mode, entered_by: 'test' }],
  senders: given.isDenied ? [{ address: account(given.wallet), label: 'a', reason: 'b', added_by: 'test' }] : [],
  payments: Array.from({ length: given.seen + given.underWay }, (_, n) => ({
    ...{ id: 1 + n, ref: word(800 + n), tx_hash: word(800 + n), wallet: account(1), succeeded: true, tx_index: n },
    ...{ from_address: account(n < given.seen ? 40 : given.wallet), value_wei: PRICE, state: 'seen' },
    ...{ block_time: at(900), ...inBlock(99) },
  })),
})

const orUnknown = (isNo: boolean, isUnknown: boolean) => (isNo ? false : isUnknown ? null : true)

/** What each check says, by the documents: places, the deny list, restores, and the contract's cap of one node. */
function checksOf({ wallet, isDenied, recheckUpTo, code, supply, sold, ...given }: DrawnBuyer) {
  const isContractHeld = code === 'contract' && (given.mode.mode === 'hold' || given.mode.fromBlock > 101)
  const places = supply === null ? null : supply - sold
  const hasPlace = places === null || orUnknown(places <= 0, places <= given.seen + given.underWay)
  const isHeld = wallet !== 7 || isDenied || (recheckUpTo !== null && recheckUpTo >= 101)
  return {
    onSale: orUnknown(hasPlace === false, given.mendingTo === 101),
    ...(places !== null && { supply: hasPlace }),
    ...{
      allowance: true,
      cap: given.underWay < 1,
      holding: given.holding ? given.holding.held && given.holding.held >= given.holding.needed : true,
      ether: given.balanceWei >= PRICE + (code === 'contract' ? 0n : 21_000n),
    },
    review: orUnknown(isHeld || isContractHeld, code === null),
  }
}

test('a check before a purchase goes by the sale, the wallet and its payments in the ledger', async () => {
  const compare = async (given: DrawnBuyer) => {
    const { balanceWei, supply, sold, doTracesWork, holding } = given
    const codes = { none: { kind: 'none' }, contract: { kind: 'contract', codeHash: word(77), implementation: null } }
    const code = given.code && codes[given.code]
    const buyer = { blockNumber: 100, balanceWei, gasPriceWei: 1n, walletMax: 1, code }
    const { operator } = withoutChain(null as never)
    const deps = {
      readings: {
        buyer: async (address: string, token: string | null) => {
          assert.deepEqual([address, token], [account(given.wallet), holding && TOKEN])
          return { ...buyer, heldWei: holding?.held ?? null }
        },
        tracesWork: async () => doTracesWork,
      },
      operator: { ...operator, signers: { minter: account(30), distributor: null } },
    }
    const params = { address: account(given.wallet) }
    const answer = await ask(buyerRows(given), canBuy, deps, { params })
    type Answer = { checks: Record<string, unknown>[]; canBuy: boolean | null; inner: boolean | null }
    const { checks, canBuy: may, inner } = answer as Answer
    const expected = checksOf(given)
    assert.deepEqual(Object.fromEntries(checks.map(({ check, passes }) => [check, passes])), expected)
    // A contract pays by a call inside a transaction, which only traces show.
    if (given.code === 'contract') assert.equal(inner, expected.review && doTracesWork)
    const { passes: _, ...limit } = checks.find(({ check }) => check === 'supply') ?? {}
    const reserved = given.seen + given.underWay
    const { passes: __, ...shown } = checks.find(({ check }) => check === 'holding') ?? {}
    const token = holding
      ? { token: TOKEN, symbol: 'DEMO', decimals: 6 }
      : { token: null, symbol: null, decimals: null }
    const [requiredWei, heldWei] = [String(holding?.needed ?? 0), holding?.held == null ? null : String(holding.held)]
    assert.deepEqual(shown, { check: 'holding', ...token, requiredWei, heldWei })
    assert.deepEqual(limit, supply === null ? {} : { check: 'supply', limit: supply, sold, reserved })
    const all = Object.values(expected)
    assert.equal(may, orUnknown(all.includes(false), all.includes(null)))
  }
  await fc.assert(fc.asyncProperty(drawnBuyer, compare), { numRuns: cases(50) })
})

test('a claim is refused only if no payment of the transaction is what the caller claims', async () => {
  const payment = fc.constantFrom(
    ...[
      { state: 'held', reason: 'wrongAmount' },
      { state: 'held', reason: 'wrongAmount' },
    ],
    ...[
      { state: 'held', reason: 'soldOut' },
      { state: 'seen', reason: null },
      { state: 'accepted', reason: null },
    ],
    ...[
      { state: 'ignored', reason: 'operator' },
      { state: 'ignored', reason: 'zero' },
      { state: 'refunded', reason: 'wrongAmount' },
    ],
  )
  const compare = async (payments: { state: string; reason: string | null }[]) => {
    const rows = {
      cursors: CURSOR,
      payments: payments.map(({ state, reason }, n) => ({
        ...{
          id: 1 + n,
          ref: word(1 + n),
          tx_hash: word(7),
          inner_index: n,
          wallet: account(1),
          from_address: account(2),
        },
        ...{
          value_wei: 10n + BigInt(n),
          succeeded: true,
          state,
          reason,
          tier_id: state === 'accepted' ? 'basic' : null,
        },
        ...{ block_time: at(900), tx_index: 0, ...inBlock(9) },
      })),
    }
    const passes = { claim: async () => ({ kind: 'known' }) }
    const answer = await ask(rows, claim, { passes }, { body: { txHash: word(7) } })
    const sales = payments.filter(({ state }) => state !== 'ignored')
    const isWrong = sales.every(({ state, reason }) => state === 'held' && reason === 'wrongAmount')
    if (sales.length === 0) return assert.equal(answer, 'notASale')
    if (isWrong) return assert.equal(answer, 'wrongAmount')
    const shown = (answer as { payments: { status: string }[] }).payments.map(({ status }) => status)
    assert.deepEqual(
      shown,
      sales.map(({ state }) => state),
    )
  }
  const several = fc.array(payment, { minLength: 1, maxLength: 3 })
  await fc.assert(fc.asyncProperty(several, compare), { numRuns: cases(40) })
})
