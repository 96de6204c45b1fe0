// Facts of a page: src/passes/steps/judge-facts.ts, with payments on both sides of every edge, steps that open meanwhile and decisions in between, knows about
// each payment what the second reading knows, and locks what it locks.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { lockPayments, type Payment } from '../../../src/db/payments/rows.ts'
import { readTierVersions } from '../../../src/db/sale/tiers.ts'
import { byPosition } from '../../../src/domain/sale/position.ts'
import { selectTier } from '../../../src/domain/tiers.ts'
import { type Candidate, mayBuy, type Outcome, PageFacts, readLedger } from '../../../src/passes/steps/judge-facts.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import type { Version } from '../sale.ts'
import * as model from './page-facts.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [NOW, HEIGHT] = [100_000, 50]
const [LIST, OTHER_LIST, SERVICE] = [word(0xaa), word(0xbb), account(90)]
const WALLETS = [account(1), account(2), account(3)]
const BUYERS = [account(5), account(6), account(7)]
const FORKED = 700
const CODES = { stored: { kind: 'delegation', to: account(77) }, read: { kind: 'none' } }
const OUTCOMES = [
  'accepted',
  'accepted',
  'held',
  'ignored',
  'unchanged',
  'undecided',
  'undecided',
  'early',
  'failed',
] as const

const buyer = fc.constantFrom(...BUYERS, account(5), account(5))
const most = fc.constantFrom(null, 1, 2, 2, 3)
const decision = fc.record({
  verdict: fc.constantFrom('accepted', 'held', 'dismissed'),
  isWithdrawn: fc.constantFrom(false, false, true),
  by: fc.constantFrom('ada', 'ada', 'pass'),
})
const drawnPayment = fc.record({
  ...{ from: buyer, wallet: fc.constantFrom(...WALLETS, account(1), account(1)) },
  valueWei: fc.constantFrom(10n, 10n, 10n, 20n, 20n, 20n, 30n, 11n),
  /** In which tier a payment of no tier's price was released. */
  otherTier: fc.constantFrom(2, 3),
  ...{ block: fc.constantFrom(10, 11, 12), txIndex: fc.nat(3), innerIndex: fc.constantFrom(0, 0, 1) },
  state: fc.constantFrom('seen' as const, 'seen' as const, 'seen' as const, 'held' as const, 'accepted' as const),
  succeeded: fc.constantFrom(true, true, true, true, false),
  proof: fc.constantFrom('proven' as const, 'agreed' as const, 'believed' as const, 'believed' as const, null),
  unsignedType: fc.constantFrom(null, null, null, null, null, 126),
  decided: fc.array(decision, { maxLength: 2 }),
  code: fc.record({ stored: fc.constantFrom('own' as const, 'forked' as const, null), isRead: fc.boolean() }),
  changed: fc.constantFrom(null, null, null, null, null, 'state' as const, 'reason' as const, 'block' as const),
  isInPage: fc.constantFrom(true, true, true, false),
  outcome: fc.constantFrom<Outcome>(...OUTCOMES),
})
const drawnLedger = fc.record({
  payments: fc.uniqueArray(drawnPayment, {
    selector: ({ block, txIndex, innerIndex }) => `${block} ${txIndex} ${innerIndex}`,
    minLength: 3,
    maxLength: 9,
  }),
  ages: fc.constantFrom<number[]>([300, 200, 100], [3_601, 3_600, 3_599], [3_600, 3_599, 100], [4_000, 3_700, 3_601]),
  supply: fc.tuple(most, most, fc.constantFrom(null, null, 1)),
  list: fc.constantFrom(null, null, LIST),
  /** The second version of the first tier, from the last block on. */
  later: fc.option(
    fc.record({ supply: most, list: fc.constantFrom(null, LIST, OTHER_LIST), graceSec: fc.constantFrom(0, 900) }),
  ),
  /** When the step opens by its time, and behind which place it opened while the run read. */
  opensIn: fc.constantFrom(null, null, 0, 1),
  opened: fc.constantFrom(
    null,
    { fromBlock: 11, txIndex: 1, innerIndex: 0 },
    { fromBlock: 9, txIndex: 0, innerIndex: 0 },
  ),
  isStale: fc.constantFrom(true, true, false),
  isLastOnSale: fc.boolean(),
  /** Whether the last tier is a step behind the step. */
  isLadder: fc.boolean(),
  caps: fc.tuple(
    fc.constantFrom(null, null, null, 1, 2),
    fc.constantFrom(null, null, 2),
    fc.constantFrom(null, null, 1),
  ),
  nodes: fc.array(fc.record({ owner: buyer, tierNo: fc.constantFrom(1, 1, 2, 3) }), { maxLength: 3 }),
  entries: fc.uniqueArray(fc.tuple(fc.constantFrom(LIST, OTHER_LIST), buyer, fc.constantFrom(1, 2)), {
    selector: ([list, owner]) => `${list} ${owner}`,
    maxLength: 4,
  }),
  replaced: fc.record({ graceSec: fc.constantFrom(0, 99, 100, 101), stolen: fc.constantFrom(false, false, true) }),
  modes: fc.uniqueArray(
    fc.record({
      fromBlock: fc.constantFrom(0, 11, HEIGHT, 51),
      mode: fc.constantFrom('hold' as const, 'proven' as const, 'all' as const),
    }),
    { selector: ({ fromBlock }) => fromBlock, maxLength: 3 },
  ),
  ...{ denied: fc.subarray(BUYERS), signedIn: fc.subarray(BUYERS), allowed: fc.subarray(BUYERS) },
  ...{ walletMax: fc.constantFrom(1, 5), recheckUpTo: fc.constantFrom(null, null, 10, 11) },
  ...{ canAgree: fc.boolean(), trustsProvider: fc.boolean(), followed: fc.constantFrom(HEIGHT, HEIGHT, HEIGHT + 1) },
})
type Drawn = typeof drawnLedger extends fc.Arbitrary<infer T> ? T : never
/** One in three has only payments for two steps, of which none is open. */
const drawn = fc.tuple(drawnLedger, fc.constantFrom(false, false, true)).map(([ledger, isClimb]): Drawn => {
  if (!isClimb) return ledger
  const payments = ledger.payments.map((one) => ({
    ...one,
    valueWei: one.valueWei > 10n ? (30n as const) : (20n as const),
  }))
  return { ...ledger, payments, isLadder: true, isLastOnSale: true, opened: null, opensIn: null }
})

function versionsOf({ supply, list, later, opensIn, isLastOnSale, isLadder, ages }: Drawn): Version[] {
  const [times, common] = [
    ages.map((age) => NOW - age),
    { maxPerWallet: 9, holdingWei: 0n, onSale: true, graceSec: 0, opensAt: null, closesAt: null, opensAfter: null },
  ]
  const first = { ...common, version: 1, fromBlock: 0, fromTime: 0, allowlist: null }
  const [since, edge] = [times[2] ?? 0, (times[1] ?? 0) + (opensIn ?? 0)]
  const all: Version[] = [
    { ...first, tierId: 't0', priceWei: 10n, supply: supply[0], allowlist: list },
    {
      ...first,
      tierId: 't1',
      priceWei: 20n,
      supply: supply[1],
      opensAfter: 't0',
      opensAt: opensIn === null ? null : edge,
    },
    {
      ...{ ...first, tierId: 't2', priceWei: 30n, supply: supply[2], onSale: isLastOnSale },
      opensAfter: isLadder ? 't1' : null,
    },
  ]
  const { supply: next = null, list: allowlist = null, graceSec = 0 } = later ?? {}
  const second = { ...first, tierId: 't0', priceWei: 10n, supply: next, allowlist, graceSec }
  return later === null ? all : [...all, { ...second, version: 2, fromBlock: 12, fromTime: since }]
}

function ledgerOf(given: Drawn): model.Ledger {
  const versions = versionsOf(given)
  const openings = given.opened === null ? [] : [{ tierId: 't1', opensAfter: 't0', ...given.opened }]
  const payments = given.payments.map(({ outcome: _, otherTier, ...one }, n): model.Payment => {
    const tierNo = one.state === 'seen' ? null : one.valueWei === 11n ? otherTier : Number(one.valueWei) / 10
    const isInPage = one.isInPage && one.state !== 'accepted'
    const changed = one.state === 'accepted' || (one.state === 'seen' && one.changed === 'reason') ? null : one.changed
    return { ...one, id: 1 + n, tierNo, time: NOW - (given.ages[one.block - 10] ?? 0), isInPage, changed }
  })
  const lists = new Map([LIST, OTHER_LIST].map((list) => [list, new Map<string, number>()]))
  for (const [list, owner, allocation] of given.entries) lists.get(list)?.set(owner, allocation)
  const { graceSec, stolen } = given.replaced
  const wallets = [
    { wallet: account(1), fromBlock: 0, fromTime: 0, stolen: false, graceSec: 0 },
    { wallet: account(2), fromBlock: 11, fromTime: NOW - (given.ages[1] ?? 0), stolen, graceSec },
  ]
  return {
    ...given,
    ...{ before: { versions, openings: given.isStale ? [] : openings }, sale: { versions, openings } },
    ...{ payments, lists, wallets, now: NOW, height: HEIGHT },
    caps: new Map(given.caps.flatMap((cap, n) => (cap === null ? [] : [[1 + n, cap] as const]))),
  }
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

function paymentRow(one: model.Payment): Row {
  const { changed } = one
  const state = changed === 'state' ? 'dismissed' : one.state
  const reason = one.state === 'held' && changed !== 'reason' ? 'soldOut' : changed === 'reason' ? 'holding' : null
  return {
    ...{ id: one.id, ref: word(one.id), tx_hash: word(one.id), wallet: one.wallet, from_address: one.from },
    ...{
      value_wei: one.valueWei,
      succeeded: one.succeeded,
      inner_index: one.innerIndex,
      proof: one.proof,
      state,
      reason,
    },
    ...{ tier_id: one.tierNo === null ? null : `t${one.tierNo - 1}`, tier_version: one.tierNo === null ? null : 1 },
    ...{ unsigned_type: one.unsignedType, tx_index: one.txIndex, block_time: at(one.time), block_number: one.block },
    block_hash: changed === 'block' ? word(FORKED) : word(one.block),
  }
}

const tierRow = (one: Version, isLive: boolean): Row => ({
  ...{
    tier_id: one.tierId,
    version: one.version,
    tier_no: model.numberOf(one.tierId),
    label: 'T',
    price_wei: one.priceWei,
  },
  ...{ max_per_wallet: 9, payout_bps: 10_000, on_sale: one.onSale, grace_sec: one.graceSec, supply: one.supply },
  ...{ opens_at: one.opensAt, opens_after: one.opensAfter, allowlist: one.allowlist, live: isLive },
  ...{ from_block: one.fromBlock, from_time: one.fromTime, entered_by: 'test' },
})

function rowsOf(ledger: model.Ledger): Rows {
  const { sale, payments, nodes } = ledger
  const note = (address: string) => ({ address, label: 'a', reason: 'b', added_by: 'test' })
  return {
    cursors: [{ name: 'follow', block_time: NOW, ...inBlock(ledger.followed) }],
    tiers: sale.versions.map((one) => {
      return tierRow(one, !sale.versions.some((other) => other.tierId === one.tierId && other.version > one.version))
    }),
    tier_openings: sale.openings.map((one) => ({
      ...{ tier_id: one.tierId, opens_after: one.opensAfter, from_block: one.fromBlock },
      ...{ tx_index: one.txIndex, inner_index: one.innerIndex },
    })),
    owner_acts: [...ledger.caps].flatMap(([tier, cap]) =>
      [cap + 5, cap].map((limit, k) => ({
        ...{ log_index: 10 * tier + k, name: 'TierCapped', at: at(400), tx_hash: word(9), ...inBlock(40) },
        detail: JSON.stringify({ tier, most: limit }),
      })),
    ),
    allowlists: [LIST, OTHER_LIST].map((root, n) => {
      return { id: 1 + n, root, label: 'l', entries: 1, allocated: 1, entered_by: 'test' }
    }),
    allowlist_entries: [LIST, OTHER_LIST].flatMap((root, n) =>
      [...(ledger.lists.get(root) ?? [])].map(([address, allocation], leaf) => ({
        list: 1 + n,
        address,
        allocation,
        leaf,
      })),
    ),
    senders: ledger.denied.map(note),
    allowed_wallets: ledger.allowed.map(note),
    proven_wallets: ledger.signedIn.map((address) => ({ address, deployed: true })),
    payments: payments.map(paymentRow),
    payment_verdicts: payments.flatMap(({ id, decided }) =>
      decided.map(({ verdict, isWithdrawn, by }) => ({
        ...{ payment_id: id, verdict, reason: verdict === 'held' ? 'recheck' : null, evidence: '{}', decided_by: by },
        ...{ withdrawn_at: isWithdrawn ? at(1_000) : null, withdrawn_by: isWithdrawn ? 'eve' : null },
      })),
    ),
    payer_codes: payments.flatMap(({ id, block, code }) => {
      const blockHash = word(code.stored === 'own' ? block : FORKED)
      return code.stored === null ? [] : [{ payment_id: id, block_hash: blockHash, code: JSON.stringify(CODES.stored) }]
    }),
    cohorts: [1, 2, 3].map((tierNo) => ({
      ...{ cohort: tierNo, tier_no: tierNo, interval_sec: 60, next_due: 0, ...inBlock(1) },
      size: nodes.filter((one) => one.tierNo === tierNo).length,
    })),
    nodes: nodes.map(({ owner, tierNo }, n) => ({
      ...{ node_id: 1 + n, owner, cohort: tierNo, ref: word(500 + n), payment_id: null, per_node_at_mint_wei: 0 },
      ...{ turns_at_mint: 0, mint_tx_hash: word(600 + n), minted_at: at(1_000), ...inBlock(1) },
    })),
  }
}

/** A payment as the run read it, beside the model's. */
type Asked = Candidate & { one: model.Payment }

/** The page as the run read it before what has changed since. */
async function readPage(sql: Sql, ledger: model.Ledger, versions: Awaited<ReturnType<typeof readTierVersions>>) {
  const ids = ledger.payments.filter(({ isInPage }) => isInPage).map(({ id }) => id)
  const rows = await lockPayments(sql, ids)
  return rows.toSorted(byPosition).map((row): Asked => {
    const one = ledger.payments.find(({ id }) => id === row.id) as model.Payment
    const reason = one.state === 'held' ? ('soldOut' as const) : null
    const payment = { ...row, state: one.state, reason, blockHash: word(one.block) } as Payment
    const code = one.code.isRead ? { kind: 'read', code: CODES.read } : { kind: 'unread' }
    const holding = { kind: 'read', amountWei: BigInt(one.id) } as const
    return { payment, selection: selectTier(versions, payment), code, holding, one } as never
  })
}

function basisOf(ledger: model.Ledger, versions: object) {
  const { wallets, modes, walletMax, canAgree, trustsProvider, recheckUpTo } = ledger
  return {
    ...{ wallets, modes: modes.toSorted((a, b) => a.fromBlock - b.fromBlock), walletMax, serviceAccounts: [SERVICE] },
    ...{ now: NOW, height: HEIGHT, canAgree, trustsProvider, versions, recheckUpTo },
  }
}

/** What the code knows of a payment, in the model's words. */
function inWords({ selection, holding, serviceAccounts, payer, ...facts }: ReturnType<PageFacts['of']>, id: number) {
  assert.deepEqual(holding, { kind: 'read', amountWei: BigInt(id) })
  assert.deepEqual(serviceAccounts, [SERVICE])
  const versions =
    selection.kind === 'none' ? [] : [selection.tier, ...(selection.kind === 'onSale' ? selection.others : [])]
  const isCode = (kind: 'stored' | 'read') =>
    payer.kind === 'inner' && payer.code.kind === 'read' && payer.code.code.kind === CODES[kind].kind
  const code = isCode('stored') ? 'stored' : isCode('read') ? 'read' : 'unread'
  return {
    ...facts,
    selection: [selection.kind, ...versions.map((one) => `${one.tierId} ${one.version}`)],
    payer: payer.kind === 'inner' ? { ...payer, code } : payer,
  }
}

async function compareLocks(sql: Sql, page: model.Page): Promise<void> {
  const rows = await sql<{ of: number; no: number }[]>`
    SELECT objsubid AS of, CASE WHEN objsubid = 2 THEN objid::bigint END AS no FROM pg_locks
    WHERE locktype = 'advisory' AND pid = pg_backend_pid() ORDER BY no`
  assert.deepEqual(
    rows.filter(({ of }) => of === 2).map(({ no }) => no),
    page.lockedTiers(),
  )
  assert.equal(rows.filter(({ of }) => of === 1).length, page.lockedWallets().length)
}

async function compareCodes(sql: Sql, ledger: model.Ledger, page: model.Page): Promise<void> {
  const rows = await sql<{ id: number; hash: string; kind: string }[]>`
    SELECT payment_id AS id, block_hash AS hash, code ->> 'kind' AS kind FROM payer_codes ORDER BY payment_id`
  assert.deepEqual(
    rows.map(({ id, hash, kind }) => {
      const isOwn = ledger.payments.some((one) => one.id === id && word(one.block) === hash)
      return { id, block: isOwn ? 'own' : 'forked', code: kind === CODES.stored.kind ? 'stored' : 'read' }
    }),
    page.codes(),
  )
}

/** Asks about one payment, then decides it. */
function askAndCount(facts: PageFacts, page: model.Page, { one, ...candidate }: Asked, outcome: Outcome): void {
  const { payment } = candidate
  assert.equal(mayBuy(candidate), page.mayBuy(one), 'mayBuy')
  assert.equal(facts.isUnchanged(payment), page.isUnchanged(one), 'isUnchanged')
  assert.equal(facts.isReleased(payment), page.isReleased(one), 'isReleased')
  for (const tierNo of [one.tierNo, null]) {
    assert.deepEqual(facts.roomFor(payment, tierNo), page.room(one, tierNo))
    assert.deepEqual(facts.useOf(payment, tierNo), page.use(one, tierNo))
  }
  if (page.isUnchanged(one)) assert.deepEqual(inWords(facts.of(candidate), one.id), page.facts(one))
  const tierNo = outcome === 'accepted' ? (one.tierNo ?? Math.floor(Number(one.valueWei) / 10)) : null
  facts.count(payment, outcome, tierNo === null ? undefined : { tierNo, nodes: 0, inFlight: 1 })
  page.count(one, outcome, tierNo)
}

test('the judge knows all facts about each payment of a page before it decides', async () => {
  const compare = async (given: Drawn) => {
    const ledger = ledgerOf(given)
    await tables.within(rowsOf(ledger), async (sql) => {
      const now = await readTierVersions(sql)
      const versions = given.isStale ? now.map((one) => ({ ...one, opened: null })) : now
      const candidates = await readPage(sql, ledger, versions)
      const basis = basisOf(ledger, versions) as never
      const facts = new PageFacts(basis, await readLedger(sql, basis, candidates))
      const page = new model.Page(ledger)
      assert.equal(facts.countedAtBlock, ledger.followed === HEIGHT ? HEIGHT : null)
      for (const candidate of candidates)
        askAndCount(facts, page, candidate, given.payments[candidate.one.id - 1]?.outcome ?? 'held')
      assert.deepEqual(
        facts.sales().toSorted((a, b) => a.tierNo - b.tierNo),
        page.sales(),
      )
      await compareCodes(sql, ledger, page)
      await compareLocks(sql, page)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(200) })
})
