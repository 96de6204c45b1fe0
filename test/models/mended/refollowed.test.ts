// Whole rebuilds: src/mending/rebuild/rebuild.ts, over random ledgers and chains, cut short and begun again, leaves what the second reading leaves.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { rebuild } from '../../../src/mending/rebuild/rebuild.ts'
import { account, openTables, type Row, type Rows, snapshotsIn, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { blocksAfter, FACTORY, readerOf } from '../following/chains.ts'
import type { Block } from '../following/follow.ts'
import { balancesOf, PRICE, surveyOf, transfersIn, txOf, valueFor, WALLETS } from './providers.ts'
import * as model from './refollowed.ts'

let olds: Tables
let news: Tables
before(async () => {
  ;[olds, news] = await Promise.all([openTables(), openTables()])
})
after(() => Promise.all([olds.close(), news.close()]))

const START = 5
const FAILS = { silent: () => new Error('silent'), parted: () => new Error('parted') }

const drawn = fc.record({
  old: fc.constantFrom(...Array.from({ length: 9 }, () => 40), null, START - 1, START, START + 1, 39),
  /** How far the provider is ahead. */
  ahead: fc.constantFrom(0, 0, 0, 1, 1, 1, 9, 9, -1, -9),
  recheck: fc.constantFrom(null, 3, 40, 41, 60),
  finality: fc.constantFrom(null, null, 0, 5),
  payments: fc.array(
    fc.record({
      block: fc.integer({ min: START, max: 40 }),
      kind: fc.constantFrom<model.Payment['kind']>('priced', 'priced', 'odd', 'failed'),
      decision: fc.constantFrom(null, null, 'dismissed' as const, 'refunded' as const),
    }),
    { maxLength: 4 },
  ),
  residues: fc.uniqueArray(fc.constantFrom(START - 1, START, 20, 21, 39, 40), { maxLength: 2 }),
  survey: fc.constantFrom(
    ...[
      { behind: 512, blocksMin: 512 },
      { behind: 10, blocksMin: 25 },
      { behind: 10, blocksMin: 26 },
    ],
    ...[
      { behind: 30, blocksMin: 4 },
      { behind: 36, blocksMin: 4 },
    ],
  ),
  keyless: fc.constantFrom(null, [], [], [WALLETS[0] as string], WALLETS),
  /** After how many ranges its provider fails once; null: never. */
  cutAfter: fc.constantFrom(null, null, 0, 1),
  /** The wallet whose balance is not shown once. */
  missed: fc.constantFrom(null, 0, 1),
  voices: fc.constantFrom(1, 2),
  cannotJudge: fc.boolean(),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const worldOf = ({ old, ahead, payments, residues, ...given }: Drawn): model.World => ({
  ...{ start: START, old, head: Math.max(0, (old ?? 40) + ahead), recheck: given.recheck, finality: given.finality },
  ...{ survey: given.survey, keyless: given.keyless },
  payments: payments.filter(({ block }) => block <= (old ?? 0)),
  residues: residues.filter((block) => block <= (old ?? 0)),
})

const TIER: Row = {
  ...{ tier_id: 'basic', version: 1, tier_no: 1, label: 'Basic', price_wei: PRICE, max_per_wallet: 9, payout_bps: 1 },
  ...{ on_sale: true, allowlist: word(1), from_block: 0, from_time: 0, entered_by: 'ada' },
}

/** What the old ledger has: its wallets and terms, decisions, and residues. */
function rowsOf(world: model.World, blocks: Block[]): Rows {
  const cursor = world.old === null ? undefined : blocks[world.old]
  const place = (block: number): Row => ({
    ...{
      block_number: block,
      block_hash: blocks[block]?.hash ?? word(9),
      tx_index: 0,
      block_time: '2026-01-01T00:00:00Z',
    },
    ...{ wallet: WALLETS[0] ?? null, succeeded: true },
  })
  const decided = world.payments.flatMap((one, n) =>
    one.decision === null ? [] : [{ ...one, n, decision: one.decision }],
  )
  return {
    cursors: cursor
      ? [{ name: 'follow', block_number: cursor.number, block_hash: cursor.hash, block_time: cursor.time }]
      : [],
    ledger_state: [{ recheck_up_to: world.recheck }],
    allowlists: [{ id: 1, root: word(1), label: 'Early', entries: 1, allocated: 1, entered_by: 'ada' }],
    tiers: [TIER],
    credit_terms: [
      { from_time: 0, payouts: true, min_wei: 1, max_wei: 2, interval_sec: 10, slot_sec: 10, entered_by: 'ada' },
    ],
    evidence_modes: [{ from_block: 0, mode: 'agreed', set_by: 'ada' }],
    payment_wallets: WALLETS.map((wallet, n) => ({
      ...{ id: 1 + n, wallet, from_block: 0, from_time: 0, watched_from: 0, entered_by: 'ada' },
    })),
    payments: [
      ...decided.map(({ block, kind, decision, n }) => ({
        ...{
          id: 1 + n,
          ref: txOf(n),
          tx_hash: txOf(n),
          from_address: account(5),
          value_wei: valueFor({ block, kind, decision }, n),
        },
        ...{ state: decision, ...place(block) },
      })),
      ...world.residues.map((block) => ({
        ...{ id: 100 + block, ref: word(block), tx_hash: null, from_address: null, value_wei: 1 },
        ...{ state: 'held', reason: 'unattributed', ...place(block) },
      })),
    ].map((row) => ({ reason: null, ...row })),
    payment_verdicts: decided.map(({ decision, n }) => ({
      ...{ id: 1 + n, payment_id: 1 + n, verdict: decision, reason: null, evidence: '{}', decided_by: 'ada' },
    })),
    webhook_endpoints: [{ endpoint: 'e', url: 'https://e.example', secrets: '{s}', added_by: 'ada' }],
  }
}

/** What a run sees and does. */
interface Met {
  /** How many tiers there are when it follows. */
  tiers: number
  said: string[]
  /** Of all runs, how far they had followed. */
  followed: string[]
  /** Each range that was read. */
  ranges: [from: number, to: number][]
  /** The blocks at which balances were asked for, after the first of each wallet. */
  balancesAt: number[]
}

const nothingMet = (tiers: number): Met => ({ tiers, said: [], followed: [], ranges: [], balancesAt: [] })

function contextOf(sql: Sql, world: model.World, given: Pick<Drawn, 'missed' | 'voices'>, blocks: Block[], met: Met) {
  const reader = readerOf({ blocks, strayFrom: null, lacksBelow: 0, isSilent: false }, FAILS, () => undefined)
  const balanceOf = balancesOf(world)
  const missed = new Set(given.missed === null ? [] : [WALLETS[given.missed]])
  const chain = {
    ...{ ...reader, blockTransfers: async () => null, transaction: async () => null },
    finalized: async () => ({ number: blocks.length - 1, hash: blocks.at(-1)?.hash, voices: 2 }),
    agreedFirstBlockAt: async (time: number) => ({ block: blocks.find((one) => one.time >= time), parent: null }),
    survey: surveyOf(world, given.voices, blocks),
    async balanceAt(wallet: string, { number }: { number: number }) {
      if (number < START) return { wei: 0n, proof: 'agreed' }
      if (missed.delete(wallet)) return null
      met.balancesAt.push(number)
      return { wei: balanceOf(wallet, number), proof: 'agreed' }
    },
    async observe(from: number, to: number, parent: string | null, watching: unknown) {
      // The terms of the sale are there before the first block.
      assert.equal((await sql`SELECT FROM tiers`).count, met.tiers)
      met.ranges.push([from, to])
      const range = await reader.observe(from, to, parent, watching)
      return { ...range, transfers: transfersIn(world, range.blocks) }
    },
  }
  const { survey } = world
  return {
    ...{ pool: poolWithin(sql), chain, log: silentLog, minter: null, distributor: null },
    contract: { factory: FACTORY, isDeployed: async () => true, maxPerWallet: async () => 9 },
    rules: {
      ...{ startBlock: START, rewindsToShorterChain: false, mode: 'agreed', trustsProvider: true, survey },
      finality: world.finality ?? 'guarded',
    },
    preflight: async () => ({ guardUsable: true }),
  }
}

/** A pool on which snapshots can be taken. */
function sourceOf(old: Sql) {
  const pool = poolWithin(old)
  return new Proxy(pool, {
    get: (target, name) => (name === 'begin' ? snapshotsIn(old).begin : Reflect.get(target, name)),
  })
}

const REFUSALS = {
  nothing: /nothing to follow/,
  lags: /The provider’s head is|The provider's head is \d+; the current/,
}

/** What a rebuild that came to its end has left, and said. */
async function compareEnd(
  own: Sql,
  world: model.World,
  given: Drawn,
  { met, result }: { met: Met; result: Awaited<ReturnType<typeof rebuild>> },
) {
  const goal = world.old as number
  const states = await own<
    { ref: string; state: string }[]
  >`SELECT tx_hash AS ref, state FROM payments WHERE tx_hash IS NOT NULL ORDER BY tx_index`
  const surveyed = result.surveyedTo ?? -1
  // A survey need not find what moved nothing.
  const isSure = ({ block, kind }: model.Payment) => kind !== 'failed' || block > surveyed
  assert.deepEqual(
    states
      .flatMap(({ ref, state }) => {
        const one = world.payments.find((_, n) => txOf(n) === ref)
        return one === undefined || isSure(one) ? [`${ref} ${state}`] : []
      })
      .toSorted(),
    world.payments.flatMap((one, n) => (isSure(one) ? [`${txOf(n)} ${model.stateOf(world, one)}`] : [])).toSorted(),
  )
  const [state] = await own`
    SELECT rebuilding, recheck_up_to AS recheck, (SELECT block_number FROM cursors) AS cursor,
      (SELECT count(*) FROM webhook_endpoints) AS endpoints, (SELECT count(*) FROM webhook_events) AS events,
      (SELECT min(audited_block) FROM wallet_books) AS audited,
      (SELECT jsonb_agg(jsonb_build_array(actor, action, detail -> 'block')) FROM audit WHERE actor = 'rebuild') AS audit
    FROM ledger_state`
  assert.deepEqual(
    { ...state },
    {
      ...{ rebuilding: false, recheck: model.heldUpTo(world), cursor: goal, endpoints: 1, events: 0, audited: goal },
      audit: [['rebuild', 'rebuilt', goal]],
    },
  )
  const waiting = states.filter((one) => one.state === 'seen' || one.state === 'held').length
  assert.deepEqual([result.block, result.waiting], [goal, waiting])
  assert.ok((result.comparison?.rows ?? 0) > 0)
  for (const [from, to] of met.ranges) assert.ok(world.residues.every((block) => block < from || block >= to))
  // Each step ends with a check.
  for (const block of model.checked(world, 200)) assert.ok(met.balancesAt.includes(block), `${block} unchecked`)
  assert.equal(met.said.filter((line) => line.startsWith('comparing ')).length > 30, true)
  const surveys = met.said.filter((line) => line.startsWith('blocks that we did not read'))
  const by = given.voices > 1 ? /two providers/ : /one provider/
  assert.deepEqual(
    surveys.map((line) => by.test(line)),
    surveyed < 0 ? [] : [true],
  )
  const followed = met.followed.at(-1)
  assert.equal(followed, `followed to block ${goal} of ${goal}${surveyed === goal ? ', surveyed' : ''}`)
}

type Run = (parts?: object) => ReturnType<typeof rebuild>

/** A provider that fails after some ranges. @returns false if the rebuild needed no more. */
async function isCut(run: Run, observe: (...range: never[]) => Promise<unknown>, cutAfter: number): Promise<boolean> {
  let left = cutAfter
  const cut = (...range: never[]) => (left-- > 0 ? observe(...range) : Promise.reject(new Error('cut')))
  return await run({ observe: cut }).then(
    () => false,
    (error: Error) => {
      assert.match(error.message, /cut/)
      return true
    },
  )
}

/** A database in which no payment is judged for now. */
async function assertUnjudged(own: Sql, run: Run): Promise<void> {
  await own.unsafe(`
    CREATE FUNCTION fail_to_judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cannot be judged'; END $$;
    CREATE TRIGGER fail_to_judge BEFORE UPDATE OF state ON payments
      FOR EACH ROW WHEN (OLD.state = 'seen' AND NEW.state IN ('held', 'ignored')) EXECUTE FUNCTION fail_to_judge()`)
  await assert.rejects(run(), /could not judge/)
  await own.unsafe('DROP TRIGGER fail_to_judge ON payments')
}

async function rebuildBoth(old: Sql, own: Sql, world: model.World, given: Drawn): Promise<void> {
  const seen = nothingMet(1)
  const ctx = contextOf(own, world, given, blocksAfter(null, world.head + 1, 0), seen)
  const run: Run = (parts = {}) => {
    seen.said.length = 0
    const chain = { ...ctx.chain, ...parts }
    return rebuild({ ...ctx, chain } as never, sourceOf(old) as never, (line) => {
      seen.said.push(line)
      if (line.startsWith('followed to')) seen.followed.push(line)
    })
  }
  const refusal = model.refused(world)
  if (refusal === null && given.cutAfter !== null) {
    if (!(await isCut(run, ctx.chain.observe as never, given.cutAfter))) return
  }
  const isJudged = world.payments.some((one) => one.decision === null && model.stateOf(world, one) === 'held')
  if (refusal === null && given.cannotJudge && isJudged) await assertUnjudged(own, run)
  if (refusal !== null) await assert.rejects(run(), REFUSALS[refusal])
  else await compareEnd(own, world, given, { met: seen, result: await run() })
  const warnings = seen.said.filter((line) => line.startsWith('all blocks are read while'))
  assert.deepEqual(
    warnings.map((line) => line.split(' ')[5]),
    model.warned(world),
  )
  if (refusal === null) await assert.rejects(run(), /already holds a ledger/)
}

const QUIET: Drawn = {
  ...{ old: 40, ahead: 1, recheck: null, finality: null, payments: [], residues: [], keyless: [], cutAfter: null },
  ...{ survey: { behind: 512, blocksMin: 512 }, missed: null, voices: 1, cannotJudge: false },
}
const SURVEY = { behind: 10, blocksMin: 25 }
const PAID: Drawn['payments'] = [
  { block: 12, kind: 'priced', decision: null },
  { block: 20, kind: 'odd', decision: 'refunded' },
  { block: 38, kind: 'priced', decision: null },
  { block: 39, kind: 'failed', decision: null },
]
/** Every way to end. */
const EXAMPLES: [Drawn][] = [
  [{ ...QUIET, payments: PAID, cannotJudge: true }],
  [{ ...QUIET, payments: PAID, finality: 5, recheck: 60, residues: [20] }],
  [{ ...QUIET, payments: PAID, survey: SURVEY, voices: 2, cutAfter: 0, missed: 1 }],
  [{ ...QUIET, survey: SURVEY, keyless: WALLETS }],
  [{ ...QUIET, survey: SURVEY, keyless: null, residues: [21, 39], cutAfter: 1 }],
  [{ ...QUIET, old: null }],
  [{ ...QUIET, old: START, ahead: 0 }],
  [{ ...QUIET, ahead: -1 }],
]

test('a rebuild leaves the chain’s facts and people’s decisions, wherever it was stopped', async () => {
  const blocks = blocksAfter(null, 60, 0)
  const compare = async (given: Drawn) => {
    const world = worldOf(given)
    await olds.within(rowsOf(world, blocks), (old) => news.within({}, (own) => rebuildBoth(old, own, world, given)))
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { examples: EXAMPLES, numRuns: cases(12) })
})

const PLAIN: model.World = {
  ...{ start: START, head: 40, old: 40, recheck: null, finality: null, payments: [], residues: [], keyless: [] },
  survey: { behind: 512, blocksMin: 512 },
}

test('a rebuild compares balances after 200 blocks that it read, or 131,072 that it surveyed', async () => {
  for (const [count, most, behind] of [
    [450, 200, 450],
    [131_120, 131_072, 50],
  ] as const) {
    const last = START + count - 1
    const world = { ...PLAIN, head: last, old: last, survey: { behind, blocksMin: 512 } }
    const blocks = blocksAfter(null, last + 1, 0)
    const seen = nothingMet(1)
    await olds.within(rowsOf(world, blocks), (old) =>
      news.within({}, async (own) => {
        const ctx = contextOf(own, world, { missed: null, voices: 1 }, blocks, seen)
        await rebuild(ctx as never, sourceOf(old) as never, () => undefined)
      }),
    )
    assert.deepEqual([...new Set(seen.balancesAt)], model.checked(world, most))
  }
})

test('a rebuild without a ledger follows to the head, and leaves nothing to mint', async () => {
  const world: model.World = {
    ...{ ...PLAIN, old: null, survey: { behind: 10, blocksMin: 25 }, keyless: [WALLETS[1] as string] },
    payments: [{ block: 20, kind: 'priced', decision: null }],
  }
  const blocks = blocksAfter(null, 41, 0)
  const { payment_wallets: wallets = [], credit_terms: terms = [] } = rowsOf(world, blocks)
  await news.within(
    { payment_wallets: wallets, wallet_books: WALLETS.map((wallet) => ({ wallet })), credit_terms: terms },
    async (own) => {
      const seen = nothingMet(0)
      const ctx = contextOf(own, world, { missed: null, voices: 1 }, blocks, seen)
      const result = await rebuild(ctx as never, null, (line) => void seen.said.push(line))
      assert.deepEqual(result, { block: 40, waiting: 1, surveyedTo: null, comparison: null })
      assert.deepEqual(
        seen.said.filter((line) => line.startsWith('all blocks are read')).map((line) => line.split(' ')[5]),
        model.warned(world),
      )
      assert.equal(seen.said.at(-1), 'followed to block 40 of 40')
      const [state] = await own`
      SELECT recheck_up_to AS recheck, rebuilding, (SELECT state FROM payments) AS payment FROM ledger_state`
      assert.deepEqual({ ...state }, { recheck: 40, rebuilding: false, payment: 'held' })
    },
  )
})

test('a rebuild that stops at its very end goes on, and has the webhook endpoints then', async () => {
  const blocks = blocksAfter(null, 41, 0)
  await olds.within(rowsOf(PLAIN, blocks), (old) =>
    news.within({}, async (own) => {
      const ctx = contextOf(own, PLAIN, { missed: null, voices: 1 }, blocks, nothingMet(1))
      const run = () => rebuild(ctx as never, sourceOf(old) as never, () => undefined)
      await own.unsafe(`
        CREATE FUNCTION stop_here() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stopped'; END $$;
        CREATE TRIGGER stop_here BEFORE INSERT ON webhook_endpoints EXECUTE FUNCTION stop_here()`)
      await assert.rejects(run(), /stopped/)
      await own.unsafe('DROP TRIGGER stop_here ON webhook_endpoints')
      await run()
      assert.equal((await own`SELECT FROM webhook_endpoints`).count, 1)
    }),
  )
})
