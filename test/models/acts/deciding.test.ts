// Single acts over random rows: windows with several acts in a block, residues with orphaned parts, commissions of former payees, and changes of a tier
// field by field are what the second reading says.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin } from '../../../src/db/core/sql.ts'
import { readWindows } from '../../../src/db/nodes/owner-acts.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { refuseSpent } from '../../../src/operator/acts/payments.ts'
import { recordCommission } from '../../../src/operator/acts/referrals/commissions.ts'
import { cancelRefund } from '../../../src/operator/acts/refunds/prepare.ts'
import { changeTier, setOnSale } from '../../../src/operator/acts/tiers.ts'
import { resultLine } from '../../../src/operator/define-act.ts'
import { account, at, openTables, type Row, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './deciding.ts'
import { givenUp, type Refunding } from './refunding.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const CURSORS = [{ name: 'follow', ...inBlock(100), block_time: 1_000 }]
const HEAD = { number: 100, hash: word(100), time: 1_000 }
const ACTOR = { name: 'ada', requestId: null }

test('of several acts on one window the last one counts, also in one block', async () => {
  const act = fc.record({
    window: fc.constantFrom(1, 1, 2),
    from: fc.constantFrom(100, 200),
    until: fc.constantFrom(200, 300, 2 ** 40 - 1),
    block: fc.constantFrom(5, 5, 6),
    log: fc.nat(9),
  })
  const compare = async (some: model.WindowAct[]) => {
    const acts = [...new Map(some.map((one) => [`${one.block} ${one.log}`, one])).values()]
    const rows = acts.map(({ window, from, until, block, log }) => ({
      ...{ log_index: log, name: 'NotOwedSet', detail: JSON.stringify({ window, from, until }), at: at(900) },
      ...{ tx_hash: word(9), ...inBlock(block) },
    }))
    const others = rows.slice(0, 1).map((row) => ({ ...row, name: 'Swept', log_index: 20 }))
    const found = await tables.within({ owner_acts: [...rows, ...others] }, (sql) => readWindows(sql))
    assert.deepEqual(
      found.map((one) => ({ ...one })),
      model.windowsOf(acts),
    )
  }
  await fc.assert(fc.asyncProperty(fc.array(act, { maxLength: 6 }), compare), { numRuns: cases(60) })
})

const payment = (id: number, row: Row): Row => ({
  ...{ id, ref: word(id), wallet: account(1), value_wei: 10n, succeeded: true, block_time: at(500), ...row },
})
const refund = (n: number): Row => ({
  ...{ payment_ref: word(n), tx_hash: word(800 + n), from_address: account(1), to_address: account(2) },
  ...{ value_wei: 10n, recorded_by: 'ada', ...inBlock(9) },
})

function mintRow({ mint }: model.Orphan, id: number): Row {
  const guard = { number: 90, hash: mint === 'forked' ? word(666) : word(90) }
  // Several payments are minted together.
  const call = { orders: [{ ref: word(700) }, { ref: word(id) }], guard }
  const done = mint === 'mined' ? { state: 'mined', tx_hash: word(900 + id), ...inBlock(95) } : { state: 'pending' }
  return {
    ...{ kind: 'mint', sender: account(8), nonce: id, call: JSON.stringify(call), gas_limit: 1, guard_block: 90 },
    ...{ valid_until: mint === 'expired' ? 999 : 1_000, block_number: null, block_hash: null, tx_hash: null, ...done },
  }
}

test('a residue is decided in one piece only if no part has a node, a refund or a pending mint', async () => {
  const orphan = fc.record({
    isOfResidue: fc.constantFrom(true, true, true, false),
    hasNode: fc.constantFrom(false, false, false, false, true),
    isRefunded: fc.constantFrom(false, false, false, false, true),
    mint: fc.constantFrom<model.Orphan['mint']>(null, null, 'pending', 'expired', 'forked', 'mined'),
  })
  const compare = async (orphans: model.Orphan[]) => {
    const residue = payment(1, {
      tx_hash: null,
      from_address: null,
      state: 'held',
      reason: 'unattributed',
      ...inBlock(9),
    })
    const gone = { state: 'orphaned', block_number: null, block_hash: null, from_address: account(2) }
    const numbered = orphans.map((one, n) => ({ one, id: 10 + n }))
    const minted = {
      mint_tx_hash: word(9),
      minted_at: at(500),
      per_node_at_mint_wei: 0n,
      turns_at_mint: 0,
      ...inBlock(9),
    }
    const rows = {
      cursors: CURSORS,
      blocks: [{ number: 90, hash: word(90), parent_hash: word(89), time: 900, prevrandao: word(1) }],
      payments: [
        { ...residue, inner_index: 0 },
        ...numbered.map(({ one, id }) => {
          const place = { tx_hash: word(50 + id), inner_index: 1, reason: null, ...gone }
          return payment(id, { ...place, ...(one.isOfResidue ? {} : { block_time: at(501) }) })
        }),
      ],
      nodes: numbered.flatMap(({ one, id }): Row[] =>
        one.hasNode ? [{ node_id: id, owner: account(2), cohort: null, ref: word(id), ...minted }] : [],
      ),
      refunds: numbered.flatMap(({ one, id }) => (one.isRefunded ? [refund(id)] : [])),
      outbox: numbered.flatMap(({ one, id }) => (one.mint === null ? [] : [mintRow(one, id)])),
    }
    const refusal = await tables.within(rows, (sql) => refuseSpent(sql, { id: 1 } as never))
    assert.equal(refusal?.because ?? null, model.refusalOf(orphans))
  }
  const orphans = fc.array(orphan, { maxLength: 3 })
  await fc.assert(fc.asyncProperty(orphans, compare), { numRuns: cases(80) })
})

const reason = fc.constantFrom('soldOut', 'notOpenYet', 'walletLimit')
const decided = fc.oneof(
  fc.record({ verdict: fc.constant('accepted' as const), reason: fc.constant(null) }),
  fc.record({ verdict: fc.constant('held' as const), reason: fc.constantFrom('recheck', 'soldOut') }),
  fc.record({ verdict: fc.constant('dismissed' as const), reason: fc.option(reason) }),
)
const anyRefunding: fc.Arbitrary<Refunding> = fc.record({
  stood: fc.oneof(
    fc.record({ state: fc.constant('held' as const), reason }),
    fc.record({
      state: fc.constantFrom('seen' as const, 'accepted' as const, 'minting' as const, 'minting' as const),
      reason: fc.constant(null),
    }),
    fc.record({ state: fc.constant('dismissed' as const), reason: fc.option(reason) }),
  ),
  isSameBlock: fc.constantFrom(true, true, false),
  hasPayer: fc.constantFrom(true, true, true, false),
  isMintPending: fc.boolean(),
  hasSupply: fc.boolean(),
  verdicts: fc.array(
    fc
      .tuple(decided, fc.boolean(), fc.constantFrom(false, false, true))
      .map(([one, byPass, isWithdrawn]) => ({ ...one, byPass, isWithdrawn })),
    { maxLength: 3 },
  ),
})
// No mint is signed for a payment of unknown payer, and no judge looks at it.
const refunding = anyRefunding.filter(({ hasPayer, stood }) => hasPayer || ['held', 'dismissed'].includes(stood.state))

const often = fc.constantFrom(true, true, true, true, false)

test('a cancelled refund restores the block’s state, a person’s decision, or the judge’s part', async () => {
  const compare = async (given: Refunding, isSecond: boolean, isNoted: boolean) => {
    const { stood, isSameBlock, hasPayer, isMintPending, verdicts } = given
    const evidence = { rule: 'refunding', stoodAs: stood.state, heldFor: stood.reason }
    const prepared = { verdict: 'held', reason: 'refunding', decided_by: 'ada' }
    const gone = (by: boolean) => (by ? { withdrawn_at: at(900), withdrawn_by: 'ada' } : {})
    // An earlier preparation was given up too, and says something else.
    const earlier = { rule: 'refunding', stoodAs: 'held', heldFor: 'oldWallet', blockHash: word(9) }
    const all = [
      ...verdicts.map(({ byPass, isWithdrawn, ...one }) => {
        return { ...one, decided_by: byPass ? 'pass' : 'eve', evidence: '{}', ...gone(isWithdrawn) }
      }),
      ...(isSecond ? [{ ...prepared, evidence: JSON.stringify(earlier), ...gone(true) }] : []),
      ...(isNoted
        ? [{ ...prepared, evidence: JSON.stringify({ ...evidence, blockHash: word(isSameBlock ? 9 : 666) }) }]
        : []),
    ]
    const mint = { isOfResidue: false, hasNode: false, isRefunded: false, mint: isMintPending ? 'pending' : 'mined' }
    const row = { state: 'held', reason: 'refunding', inner_index: 0, tier_id: 'basic', tier_version: 1, outbox_id: 7 }
    const payer = hasPayer ? { tx_hash: word(1), from_address: account(2) } : { tx_hash: null, from_address: null }
    const rows = {
      cursors: CURSORS,
      tiers: [versionRow({ ...FIRST, supply: given.hasSupply ? 5 : null }, 0, [FIRST])],
      payments: [payment(1, { ...row, ...payer, ...inBlock(9) })],
      payment_verdicts: all.map((one) => ({ payment_id: 1, ...one })),
      outbox: [{ id: 7, ...mintRow(mint as model.Orphan, 1) }],
    }
    await tables.within(rows, async (sql) => {
      const deps = { pool: poolWithin(sql) }
      const preview = await cancelRefund.operation.preview(deps as never, ACTOR, { payment: '1' })
      const found = await cancelRefund.unguarded(deps as never, ACTOR as never, { payment: '1' })
      assert.ok(!isOperatorRefusal(found), isOperatorRefusal(found) ? found.message : '')
      const [left] = await sql<{ state: string; reason: string | null; tier: string | null }[]>`
        SELECT state, reason, tier_id AS tier FROM payments`
      // Without a recorded preparation we do not know its earlier state.
      const { state, ...expected } = givenUp(isNoted ? given : { ...given, isSameBlock: false })
      const why = expected.reason === null ? '' : ` (${expected.reason})`
      const says = state === 'seen' ? 'The next pass judges it again.' : `It is ${state}${why}.`
      assert.equal(resultLine(cancelRefund.operation, found), says)
      assert.ok(!isOperatorRefusal(preview) && preview.text.endsWith(`: no refund. ${says}`))
      assert.deepEqual({ ...left }, { state, ...expected, tier: state === 'seen' ? null : 'basic' })
      assert.deepEqual([found.status, found.reason], [state, expected.reason])
      const standing = await sql`SELECT FROM payment_verdicts WHERE withdrawn_at IS NULL`
      assert.equal(standing.count, verdicts.filter(({ isWithdrawn }) => !isWithdrawn).length, 'verdicts that stand')
    })
  }
  await fc.assert(fc.asyncProperty(refunding, fc.boolean(), often, compare), { numRuns: cases(120) })
})

test('only a refund that is being prepared can be cancelled', async () => {
  const compare = async (state: string, reason: string | null) => {
    const row = payment(1, {
      state,
      reason,
      from_address: account(2),
      tx_hash: word(1),
      inner_index: 0,
      tier_id: 'basic',
      tier_version: 1,
      ...inBlock(9),
    })
    const verdict = { payment_id: 1, verdict: 'held', reason: 'refunding', evidence: '{}', decided_by: 'ada' }
    const rows = {
      cursors: CURSORS,
      tiers: [versionRow(FIRST, 0, [FIRST])],
      payments: [row],
      payment_verdicts: [verdict],
    }
    await tables.within(rows, async (sql) => {
      const found = await cancelRefund.unguarded({ pool: poolWithin(sql) } as never, ACTOR, { payment: '1' })
      assert.equal(isOperatorRefusal(found) ? found.because : null, 'conflict')
      const [left] = await sql`SELECT state, p.reason, withdrawn_at FROM payments p, payment_verdicts`
      assert.deepEqual({ ...left }, { state, reason, withdrawn_at: null })
    })
  }
  // A decided payment keeps the reason for which it was held.
  for (const state of ['refunded', 'dismissed']) await compare(state, 'refunding')
  await compare('held', 'soldOut')
  await compare('accepted', null)
})

test('a transaction proves a commission of any payee that the code ever had', async () => {
  const who = fc.constantFrom(account(31), account(31), account(32), account(33))
  const drawn = fc.record({
    payees: fc.array(who, { minLength: 1, maxLength: 3 }),
    others: fc.array(who, { maxLength: 1 }),
    isDirect: fc.boolean(),
    transfers: fc.array(fc.record({ to: who, valueWei: fc.constantFrom(0n, 10n, 10n, 11n) }), {
      minLength: 1,
      maxLength: 3,
    }),
    asked: fc.constantFrom(null, null, 10n, 11n),
  })
  const compare = async ({
    payees,
    others,
    isDirect,
    asked,
    ...given
  }: typeof drawn extends fc.Arbitrary<infer T> ? T : never) => {
    const transfers = isDirect ? given.transfers.slice(0, 1) : given.transfers
    const [first] = transfers as [model.Transfer]
    const version = (code: string) => (payee: string, n: number) => {
      return { code, version: 1 + n, payee, commission_bps: 100, from_block: n, entered_by: 'ada' }
    }
    const rows = { cursors: CURSORS, referral_codes: [...payees.map(version('ann')), ...others.map(version('bob'))] }
    const direct = isDirect ? { to: first.to, valueWei: first.valueWei } : { to: account(40), valueWei: 0n }
    const tx = { txHash: word(9), from: account(41), succeeded: true, blockNumber: 99, blockHash: word(99), ...direct }
    const inner = async (_: string, to: string) =>
      transfers.map((one, n) => ({ index: 1 + n, from: account(40), ...one })).filter((one) => one.to === to)
    const block = async (number: number) => ({ number, hash: word(number), time: 990 })
    const chain = { providers: ['one'], minedTransaction: async () => tx, block, innerTransfers: inner }
    await tables.within(rows, async (sql) => {
      const input = { code: 'ann', txHash: word(9), ...(asked === null ? {} : { valueWei: String(asked) }) }
      const found = await recordCommission({ pool: poolWithin(sql), chain } as never, ACTOR as never, input)
      const expected = model.commissionOf(payees, transfers, asked)
      const stored = await sql<{ code: string; to: string; wei: bigint; block: number }[]>`
        SELECT commission_of AS code, to_address AS "to", value_wei AS wei, block_number AS block FROM refunds`
      if (typeof expected !== 'bigint') {
        assert.ok(isOperatorRefusal(found), `it proves ${expected}`)
        return assert.equal(stored.length, 0)
      }
      assert.ok(!isOperatorRefusal(found), isOperatorRefusal(found) ? found.message : '')
      const [row] = stored
      assert.deepEqual([found.changed, found.code, found.valueWei, found.payee], [true, 'ann', expected, row?.to])
      assert.deepEqual([row?.code, row?.wei, row?.block], ['ann', expected, 99])
      assert.ok(payees.includes(String(row?.to)))
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(60) })
})

const FIRST: model.Version = {
  ...{ label: 'Basic', priceWei: 10n, maxPerWallet: 3, payoutBps: 10_000, holdingRetrySec: 600, supply: 5 },
  ...{ opensAt: 100, closesAt: 5_000, onSale: true, graceSec: 900 },
}
const asked = fc.record(
  {
    label: fc.constantFrom('Basic', 'Plus'),
    priceWei: fc.constantFrom(10n, 11n),
    maxPerWallet: fc.constantFrom(3, 4),
    payoutBps: fc.constantFrom(10_000, 9_000),
    holdingRetrySec: fc.constantFrom(600, 601),
    supply: fc.constantFrom(5, 6, 0),
    opensAt: fc.constantFrom(100, 101, 0),
    closesAt: fc.constantFrom(5_000, 5_001, 0),
    onSale: fc.constantFrom(true, false),
    graceSec: fc.constantFrom(900, 1_200),
    immediately: fc.boolean(),
  },
  { requiredKeys: [] },
)
/** Few of the fields, so that each is often alone. */
const change = fc
  .tuple(
    asked,
    fc.subarray(
      ['label', 'priceWei', 'maxPerWallet', 'payoutBps', 'holdingRetrySec', 'supply', 'opensAt', 'closesAt', 'onSale'],
      { maxLength: 2 },
    ),
  )
  .map(([all, some]) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => [...some, 'graceSec', 'immediately'].includes(name))),
  )

const versionRow = (one: model.Version, n: number, all: unknown[]): Row => ({
  ...{ tier_id: 'basic', version: 1 + n, tier_no: 1, label: one.label, price_wei: one.priceWei, supply: one.supply },
  ...{ max_per_wallet: one.maxPerWallet, payout_bps: one.payoutBps, holding_retry_sec: one.holdingRetrySec },
  ...{ opens_at: one.opensAt, closes_at: one.closesAt, on_sale: one.onSale, grace_sec: one.graceSec },
  ...{ live: n === all.length - 1, from_block: n, from_time: n, entered_by: 'ada' },
})

test('only a differing field or an end of its grace period changes a tier', async () => {
  const graces = fc.array(fc.constantFrom(900, 900, 1_200, 0), { minLength: 1, maxLength: 3 })
  const compare = async (given: Record<string, unknown>, some: number[]) => {
    const versions = some.map((graceSec) => ({ ...FIRST, graceSec }))
    const contract = {
      bounds: async () => ({ floorWei: 0n, ceilingWei: 10n ** 30n }),
      tierSupply: async () => ({ minted: 0 }),
    }
    const rules = { priceGraceSec: 900, holdingRetrySec: 600 }
    const chain = { head: async () => HEAD, providers: [] }
    await tables.within({ cursors: CURSORS, tiers: versions.map(versionRow) }, async (sql) => {
      const texts = Object.entries(given).map(([name, value]) => [
        name,
        typeof value === 'bigint' ? String(value) : value,
      ])
      const isSale =
        'onSale' in given && Object.keys(given).every((name) => ['onSale', 'graceSec', 'immediately'].includes(name))
      const act = isSale ? setOnSale : changeTier
      const deps = { pool: poolWithin(sql), contract, chain, rules }
      const found = await act(deps as never, ACTOR as never, { tierId: 'basic', ...Object.fromEntries(texts) })
      assert.ok(!isOperatorRefusal(found), isOperatorRefusal(found) ? found.message : '')
      const next = model.entered(versions, given as model.Asked)
      assert.equal(found.changed, next !== null, 'changed')
      const stored = await sql<model.Version[]>`
        SELECT label, price_wei AS "priceWei", max_per_wallet AS "maxPerWallet", payout_bps AS "payoutBps",
          holding_retry_sec AS "holdingRetrySec", supply, opens_at AS "opensAt", closes_at AS "closesAt", on_sale AS "onSale",
          grace_sec AS "graceSec" FROM tiers ORDER BY version`
      assert.deepEqual(
        stored.map((one) => ({ ...one })),
        next === null ? versions : [...versions, next],
      )
      const told = await sql`SELECT FROM audit WHERE action = 'tierChanged'`
      assert.equal(told.count, next === null ? 0 : 1, 'in the log')
    })
  }
  await fc.assert(fc.asyncProperty(change, graces, compare), { numRuns: cases(100) })
})
