// Runs of the follower: src/follower/follow.ts and halt.ts, run after run over providers that go on, lag, fork, stray to another chain or fall silent, store what the second
// reading stores, and end as it says.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { follow } from '../../../src/follower/follow.ts'
import { HaltFault } from '../../../src/follower/halt.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { ChainFault, PartedFault, RpcFault } from '../../../src/ports/faults.ts'
import { account, openTables, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { blocksAfter, FACTORY, readerOf } from './chains.ts'
import * as model from './follow.ts'
import { drawnLedger, ledgerOf, often, QUIET, START } from './ledgers.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const FAILS = {
  silent: () => new RpcFault('unreachable', 'no answer'),
  parted: () => new PartedFault('another parent'),
}
const GENESIS = blocksAfter(null, 1, 0)

/** What the chain does before a run. `keeps`: how many blocks before its head, or before the ledger's, stay. */
const turn = fc.record({
  grows: fc.constantFrom(0, 1, 2, 3, 4, 5, 8, 12),
  drops: fc.constantFrom(0, 0, 0, 1, 2, 3, 4, 6, 9, 40, 40),
  main: fc.constantFrom('chain', 'chain', 'chain', 'chain', 'ledger', 'lags', 'own'),
  others: fc.array(fc.constantFrom('chain', 'chain', 'ledger', 'lags', 'own', 'silent', 'stray'), { maxLength: 3 }),
  isAlone: fc.boolean(),
  lag: fc.constantFrom(1, 2, 5, 9, 20),
  strayFrom: often<number | null>(null, 0, 1, 2),
  /** From which block on it returns any, from the ledger's last one; null: it returns all. */
  lacksFrom: often<number | null>(null, 0, 0, 99),
  final: fc.constantFrom(null, 0, 2, 5, 9, -9, 'fails' as const),
  options: fc.record(
    { upTo: fc.constantFrom(-2, 0, 1, 3, 9), goal: fc.constantFrom(0, 4, 9, 50), readMax: fc.constantFrom(1, 2, 7) },
    { requiredKeys: [] },
  ),
  hasFactory: fc.boolean(),
  ranges: often(99, 0, 1, 2),
  perRange: fc.constantFrom(40, 40, 1, 3),
  fault: often<model.Run['fault']>(
    null,
    { from: 0, kind: 'answered' },
    { from: 9, kind: 'answered' },
    { from: 0, kind: 'away' },
    { from: 0, kind: 'final' },
  ),
  headFails: often<model.Run['headFails']>(null, 'answered', 'away'),
})
type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never
const survey = fc.constantFrom(
  null,
  { behind: 2, blocksMin: 4 },
  { behind: 5, blocksMin: 4 },
  { behind: 0, blocksMin: 9 },
)

let salts = 0
/** What happens to the chain, and whom the run asks. */
function meet(chain: model.Block[], given: Turn, ledger: model.Ledger): Pick<model.Run, 'main' | 'providers'> {
  chain.splice(Math.max(1, chain.length - given.drops))
  chain.push(...blocksAfter(chain.at(-1) as model.Block, given.grows, ++salts))
  const [own] = ledger.headers.slice(0, 1)
  const followed = own === undefined ? chain : [...blocksAfter(null, own.number, 0), ...ledger.headers]
  const provider = (kind: string): model.Provider => {
    const fork = kind === 'own' ? Math.max(1, followed.length - given.lag) : 0
    const blocks =
      kind === 'ledger'
        ? followed
        : kind === 'lags'
          ? chain.slice(0, Math.max(1, chain.length - given.lag))
          : kind === 'own'
            ? [...followed.slice(0, fork), ...blocksAfter(followed[fork - 1] as model.Block, 3, ++salts)]
            : chain
    return { blocks: [...blocks], strayFrom: kind === 'stray' ? 0 : null, lacksBelow: 0, isSilent: kind === 'silent' }
  }
  const lacksBelow = given.lacksFrom === null ? 0 : given.lacksFrom + (ledger.headers.at(-1)?.number ?? START)
  const main = { ...provider(given.main), strayFrom: given.strayFrom, lacksBelow }
  return { main, providers: given.isAlone ? [] : [main, ...given.others.map(provider)] }
}

const LIMITS = { checkLock: () => undefined, outOfTime: () => false }
const contextOf = (sql: Sql, chain: object) => ({
  ...{ pool: poolWithin(sql), chain, log: silentLog, minter: null, distributor: null },
  contract: { factory: FACTORY, isDeployed: async (_number: number) => true },
  rules: { startBlock: START, rewindsToShorterChain: false, mode: 'agreed', trustsProvider: false },
})

/** How a run ends, in the words of the model. */
const outcomeOf = (running: ReturnType<typeof follow>, run: model.Run): Promise<model.Outcome> =>
  running.then(
    ({ fromBlock, toBlock, head, cursor, detected, minted }) => {
      assert.deepEqual([detected, minted], [0, 0])
      return { kind: 'ends', from: fromBlock, to: toBlock, head: head.number, cursor: cursor?.number ?? null }
    },
    (error: unknown): model.Outcome => {
      if (!(error instanceof ChainFault)) throw error
      if (!(error instanceof HaltFault)) return { kind: 'fails' }
      const { reason, noted, confirmed } = error
      const { finalized, ...detail } = error.detail as { finalized?: { number: number } }
      return {
        ...{ kind: 'halts', reason, detail: finalized ? { ...detail, finalized: finalized.number } : detail },
        ...(noted && { isNoted: true }),
        ...(run.providers.length >= 2 && !noted && { isConfirmed: confirmed }),
      }
    },
  )

/** The run of both readings, and what the code asked. */
async function runBoth(sql: Sql, ledger: model.Ledger, run: model.Run, final: Turn['final']): Promise<void> {
  const asked: string[] = []
  const distrusted: number[] = []
  let [used, finals] = [0, 0]
  const reader = (provider: model.Provider) => {
    const one = readerOf(provider, FAILS, (question) => asked.push(question))
    const fault = (kind: string) =>
      kind === 'away'
        ? FAILS.silent()
        : new ChainFault('cannot be read', kind === 'answered' ? {} : { retryable: false })
    return {
      ...one,
      async head(options: { toFollow?: boolean }) {
        if (run.headFails) throw fault(run.headFails)
        return one.head(options)
      },
      async observe(from: number, to: number, parent: string | null, watching: unknown) {
        if (run.fault && from >= run.fault.from) throw fault(run.fault.kind)
        return await one.observe(from, Math.min(to, from + run.perRange - 1), parent, watching)
      },
      async finalized() {
        finals += 1
        if (final === 'fails') throw FAILS.silent()
        return run.final === null ? null : { number: run.final, hash: word(1), voices: 2 }
      },
    }
  }
  const readers = new Map([run.main, ...run.providers].map((one) => [one, reader(one)]))
  const providers = run.providers.map((one, n) => ({
    ...readers.get(one),
    host: `host ${n}`,
    distrust: () => distrusted.push(n),
  }))
  const isDeployed = async (number: number) => number === run.main.blocks.length - 1 && run.hasFactory
  const quiet = contextOf(sql, { ...readers.get(run.main), providers })
  const rules = { ...quiet.rules, rewindsToShorterChain: ledger.isEmbedded, ...(run.survey && { survey: run.survey }) }
  const ctx = { ...quiet, contract: { factory: FACTORY, isDeployed }, rules }
  const limits = { checkLock: () => undefined, outOfTime: () => used++ >= run.ranges }
  const expected = model.follow(ledger, run)
  const found = await outcomeOf(follow(ctx as never, limits, run.options), run)
  assert.deepEqual(found, expected.outcome)
  const kind = found.kind === 'halts' ? (found.isNoted ? 'noted' : found.reason) : found.kind
  met[kind] = (met[kind] ?? 0) + 1
  met.back = (met.back ?? 0) + ledger.audit.filter((said) => said.startsWith('reorganisation')).length
  assert.deepEqual([distrusted, finals], [expected.distrusted, expected.finals])
  await compare(sql, ledger)
}

async function compare(sql: Sql, ledger: model.Ledger): Promise<void> {
  const headers = await sql<{ hash: string }[]>`SELECT hash FROM blocks ORDER BY number`
  assert.deepEqual(
    headers.map(({ hash }) => hash),
    ledger.headers.map(({ hash }) => hash),
  )
  const [state] = await sql`
    SELECT mending_to AS mending, (SELECT block_hash FROM cursors WHERE name = 'follow') AS cursor,
      (SELECT value ->> 'sealed' FROM troubles WHERE name = 'halted') AS halt,
      (SELECT json_build_object('block', value -> 'block', 'rule', value -> 'rule', 'runs', value -> 'runs') FROM troubles WHERE name = 'stuck') AS stuck
    FROM ledger_state`
  const { stuck, halt } = ledger
  assert.deepEqual(
    { ...state },
    {
      mending: ledger.mendingTo,
      cursor: ledger.headers.at(-1)?.hash ?? null,
      halt: halt === 'none' ? null : String(halt === 'sealed'),
      stuck: stuck && { block: stuck.block, rule: stuck.rule ?? state?.stuck?.rule, runs: stuck.runs },
    },
  )
  const audit = await sql<{ said: string }[]>`
    SELECT concat_ws(' ', action, detail ->> 'fromBlock', detail ->> 'toBlock') AS said FROM audit ORDER BY id`
  assert.deepEqual(
    audit.map(({ said }) => said),
    ledger.audit,
  )
}

const met: Record<string, number> = {}

test('runs follow the provider’s chain, go back to what is shared, and halt on another', async () => {
  const compareRuns = async (given: Parameters<typeof ledgerOf>[0], rule: model.Run['survey'], turns: Turn[]) => {
    const chain = [...GENESIS, ...blocksAfter(GENESIS[0] as model.Block, 20, 0)]
    const { ledger, rows } = ledgerOf(given, chain)
    chain.splice((ledger.headers.at(-1)?.number ?? 12) + 2)
    await tables.within(rows, async (sql) => {
      for (const one of turns) {
        const { main, providers } = meet(chain, one, ledger)
        const head = main.blocks.length - 1
        const { upTo, goal, readMax } = one.options
        const options = {
          ...(upTo !== undefined && { upTo: head - upTo }),
          ...(goal !== undefined && { goal: head - 6 + goal }),
          ...(readMax !== undefined && { readMax }),
        }
        const { hasFactory, perRange, headFails } = one
        // Several providers share a run's time.
        const ranges = providers.length > 1 ? 99 : one.ranges
        const fault = one.fault && { ...one.fault, from: head - one.fault.from }
        const final = one.final === null || one.final === 'fails' ? null : head - one.final
        const asked = { main, providers, final, options, survey: rule, hasFactory, ranges, perRange, fault, headFails }
        await runBoth(sql, ledger, asked, one.final)
      }
    })
  }
  const turns = fc.array(turn, { minLength: 1, maxLength: 4 })
  await fc.assert(fc.asyncProperty(drawnLedger, survey, turns, compareRuns), { numRuns: cases(120) })
  for (const kind of ['tooDeep', 'otherChain', 'pastFinalized', 'fails', 'ends', 'back'])
    assert.ok((met[kind] ?? 0) >= cases(2), `${kind}: ${JSON.stringify(met)}`)
})

test('a ledger that shares only block 0 starts over where the factory is, if it loses nothing', async () => {
  const main = {
    blocks: [...GENESIS, ...blocksAfter(GENESIS[0] as model.Block, 12, 99)],
    strayFrom: null,
    lacksBelow: 0,
  }
  const run = {
    providers: [],
    final: null,
    options: {},
    survey: null,
    ranges: 99,
    perRange: 40,
    fault: null,
    headFails: null,
  }
  for (const oldest of [START, START + 1])
    for (const isOtherGenesis of [false, true])
      for (const hasFactory of [false, true]) {
        const { ledger, rows } = ledgerOf({ ...QUIET, oldest, isOtherGenesis, followed: 3 }, blocksAfter(null, 20, 0))
        const asked = { ...run, main: { ...main, isSilent: false }, hasFactory }
        await tables.within(rows, (sql) => runBoth(sql, ledger, asked, null))
      }
})

const drawnOthers = fc.record({
  stored: fc.constantFrom(1, 2, 3, 5, 8),
  heads: fc.array(fc.constantFrom(0, 1, 1, 2), { minLength: 6, maxLength: 6 }),
  upTo: fc.constantFrom(2, 6, 99),
})

test('a run goes on three times behind an instance that has stored more than it saw', async () => {
  const blocks = blocksAfter(null, 40, 0)
  const compare = async (given: typeof drawnOthers extends fc.Arbitrary<infer T> ? T : never) => {
    const { ledger, rows } = ledgerOf({ ...QUIET, followed: 3 }, blocks)
    const cursor = ledger.headers.at(-1) as model.Block
    const stored = cursor.number + given.stored
    const heads = given.heads.map(
      (_, n) => cursor.number + 1 + given.heads.slice(1, n + 1).reduce<number>((a, b) => a + b, 0),
    )
    const upTo = cursor.number + given.upTo
    const expected = model.overtaken({ cursor: cursor.number, stored, heads, upTo })
    await tables.within(rows, async (sql) => {
      let [asks, reads] = [0, 0]
      const one = readerOf({ blocks, strayFrom: null, lacksBelow: 0, isSilent: false }, FAILS, () => undefined)
      const chain = {
        ...one,
        head: async () => blocks[heads[asks++] as number],
        async observe(from: number, to: number, parent: string | null, watching: unknown) {
          const range = await one.observe(from, to, parent, watching)
          if (reads++ > 0) return range
          for (const { number, hash, parentHash, time, prevrandao } of blocks.slice(from, stored + 1))
            await sql`INSERT INTO blocks VALUES (${number}, ${hash}, ${parentHash}, ${time}, ${prevrandao})`
          await sql`UPDATE cursors SET block_number = ${stored}, block_hash = ${blocks[stored]?.hash ?? ''}`
          return range
        },
      }
      const {
        head,
        cursor: last,
        fromBlock: from,
        toBlock: to,
      } = await follow(contextOf(sql, chain) as never, LIMITS, { upTo })
      assert.deepEqual({ asks, head: head.number, cursor: last?.number, from, to }, expected)
    })
  }
  await fc.assert(fc.asyncProperty(drawnOthers, compare), { numRuns: cases(30) })
})

test('a wallet that is entered while a range is read is watched from its first block', async () => {
  const blocks = blocksAfter(null, 40, 0)
  const { rows } = ledgerOf({ ...QUIET, followed: null }, blocks)
  await tables.within(rows, async (sql) => {
    const watched: string[][] = []
    const one = readerOf({ blocks, strayFrom: null, lacksBelow: 0, isSilent: false }, FAILS, () => undefined)
    const chain = {
      ...one,
      async observe(from: number, to: number, parent: string | null, watching: { wallets: { wallet: string }[] }) {
        watched.push(watching.wallets.map(({ wallet }) => wallet))
        if (watched.length === 1)
          await sql`INSERT INTO payment_wallets (wallet, from_block, from_time, watched_from, entered_by) VALUES (${account(1)}, 0, 0, 0, 'test')`
        return await one.observe(from, to, parent, watching)
      },
    }
    const { fromBlock, toBlock } = await follow(contextOf(sql, chain) as never, LIMITS)
    assert.deepEqual([fromBlock, toBlock, watched], [START, 39, [[], [account(1)]]])
  })
})

test('a run near its place asks only for what is new', async () => {
  for (const [ahead, isNear] of [
    [1, true],
    [2, true],
    [63, true],
    [64, false],
    [65, false],
  ] as const) {
    const blocks = blocksAfter(null, 100, 0)
    const { ledger, rows } = ledgerOf({ ...QUIET, followed: 3 }, blocks)
    const cursor = ledger.headers.at(-1)?.number ?? 0
    await tables.within(rows, async (sql) => {
      const asked: string[] = []
      const provider = {
        blocks: blocks.slice(0, cursor + ahead + 1),
        strayFrom: null,
        lacksBelow: 0,
        isSilent: false,
      }
      await follow(
        contextOf(
          sql,
          readerOf(provider, FAILS, (question) => asked.push(question)),
        ) as never,
        LIMITS,
      )
      const found = ['chainId', `block ${cursor}`]
      const ranges =
        ahead > 64
          ? [`observe ${cursor + 1}`, 'chainId', `observe ${cursor + 65}`, 'chainId']
          : [`observe ${cursor + 1}`, 'chainId']
      assert.deepEqual(asked, ['head true', ...(isNear ? [] : found), ...ranges], String(ahead))
    })
  }
})
