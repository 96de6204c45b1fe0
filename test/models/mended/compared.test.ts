// Comparing blocks again: src/mending/compare.ts, with entries that only the block or only the ledger has, under every proof and at the edges of what is kept,
// agrees with the second reading about what counts, what sends the ledger back, and what is reported.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import {
  compareBelieved,
  compareBlock,
  compareRange,
  findClaimedLeftOut,
  findSentLeftOut,
} from '../../../src/mending/compare.ts'
import { ChainFault, ProofFault } from '../../../src/ports/faults.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './compared.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [BLOCK, CURSOR, WALLET] = [100, 103, account(1)]
const [HASH, OTHER] = [word(BLOCK), word(9_100)]
const hashAt = (number: number) => (number === BLOCK ? HASH : word(number))
const inBlock = (number: number, hash = hashAt(number)) => ({ block_number: number, block_hash: hash })
const header = (number: number, hash = hashAt(number)) => ({
  ...{ number, hash, parent_hash: word(number - 1), time: 10 * number, prevrandao: word(0) },
})
const txOf = (place: number) => word(7_000 + place)
const WEI = 10n ** 19n

const proof = fc.constantFrom<model.Proof>('proven', 'agreed', 'believed')
const entry = fc.record({
  kind: fc.constantFrom<model.Entry['kind']>('payment', 'payment', 'payment', 'event'),
  at: fc.constantFrom<model.Entry['at']>('both', 'both', 'both', 'chain', 'ledger', 'differs'),
  proof,
  former: proof,
  sightings: fc.array(fc.constantFrom(true, false, false, null), { minLength: 3, maxLength: 3 }),
})
const drawn = fc.record({
  mode: fc.constantFrom<model.Given['mode']>('proven', 'agreed'),
  isFirst: fc.constantFrom(false, false, true),
  keepsBefore: fc.constantFrom(true, true, true, false),
  own: fc.constantFrom<model.Given['own']>('same', 'same', 'same', 'other', 'dropped'),
  isThere: fc.constantFrom(true, true, true, true, true, false),
  wentBackBefore: fc.constantFrom(false, false, false, false, true),
  cursorMoved: fc.constantFrom(false, false, false, false, true),
  entries: fc.array(entry, { maxLength: 3 }),
  providers: fc.constantFrom(0, 1, 2, 2, 3),
  mint: fc.record({ proof, former: proof }),
  isRejected: fc.constantFrom(false, false, false, true),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/** What is stored whichever the case: a node of the block before, one of the block, and their cohort. */
function rowsOf(given: Drawn): Rows {
  const hash = given.own === 'other' ? OTHER : HASH
  const ours = given.entries.map((one, place) => ({ ...one, place })).filter((one) => one.at !== 'chain')
  const of = (kind: model.Entry['kind']) => ours.filter((one) => one.kind === kind)
  const kept = [99, 100, 101, 102, 103].filter((number) => number !== 99 || given.keepsBefore)
  return {
    ...base(given.mode),
    cursors: [
      { name: 'follow', ...inBlock(CURSOR, given.cursorMoved ? OTHER : hashAt(CURSOR)), block_time: 10 * CURSOR },
    ],
    blocks: kept
      .filter((number) => number !== BLOCK || given.own !== 'dropped')
      .map((number) => header(number, number === BLOCK ? hash : hashAt(number))),
    audit: given.wentBackBefore ? [{ actor: 'pass', action: 'leftOut', subject: HASH }] : [],
    nodes: [node(7, BLOCK, given.mint.former, hash)],
    owners: [{ owner: account(7), nodes: 1 }],
    payments: of('payment').map((one) => ({
      ...{
        id: 1 + one.place,
        ref: txOf(one.place),
        tx_hash: txOf(one.place),
        wallet: WALLET,
        from_address: account(5),
      },
      ...{ value_wei: WEI, succeeded: true, proof: one.former, state: 'seen', block_time: at(1_000) },
      ...inBlock(BLOCK, hash),
    })),
    owner_acts: of('event').map((one) => ({
      ...{ log_index: one.place, name: 'Paused', detail: '{}', at: at(1_000), tx_hash: txOf(one.place) },
      ...inBlock(BLOCK, hash),
    })),
  }
}

const base = (mode: model.Given['mode'] | null): Rows => ({
  evidence_modes: mode === null ? [] : [{ from_block: 0, mode, set_by: 'test' }],
  payment_wallets: [{ id: 1, wallet: WALLET, from_block: 0, from_time: 0, watched_from: 0, entered_by: 'test' }],
  cohorts: [{ cohort: 1, tier_no: 1, interval_sec: 600, next_due: 9_000, size: 1, ...inBlock(50) }],
  cohort_states: [
    {
      ...{ cohort: 1, block_number: 50, interval_sec: 600, next_due: 9_000, size: 0, per_node_wei: 0, turn_count: 0 },
    },
  ],
})

const node = (id: number, block: number, backing: model.Proof = 'proven', hash = hashAt(block)) => ({
  ...{ node_id: id, owner: account(id), cohort: 1, ref: word(500 + id), per_node_at_mint_wei: 0, turns_at_mint: 0 },
  ...{ mint_tx_hash: word(600), minted_at: at(1_000), proof: backing, ...inBlock(block, hash) },
})

const place = (number: number) => ({
  ...{ blockNumber: number, blockHash: hashAt(number), blockTime: 10 * number, txHash: word(600), txIndex: 0 },
})
const minted = (id: number, block: number, backing: model.Proof = 'proven') => ({
  ...{ ...place(block), kind: 'nodeMinted', nodeId: BigInt(id), ref: word(500 + id), cohort: 1, proof: backing },
})

function chainOf(given: Drawn, asked: unknown[] = []) {
  const theirs = given.entries.map((one, n) => ({ ...one, n })).filter((one) => one.at !== 'ledger')
  const failed = [{ part: 'header', blockNumber: BLOCK, host: 'liar', says: 'false' }]
  return {
    providers: Array.from({ length: given.providers }, (_, p) => ({
      transaction: async (txHash: string) => {
        const seen = given.entries.find((_one, n) => txOf(n) === txHash)?.sightings[p]
        if (seen === null || seen === undefined) throw new ChainFault('away')
        return seen ? {} : null
      },
    })),
    observe: async (...args: unknown[]) => {
      asked.push(args)
      return {
        blocks: [{ ...header(BLOCK, given.isThere ? HASH : OTHER) }],
        transfers: theirs
          .filter(({ kind }) => kind === 'payment')
          .map(({ n, at, proof }) => ({
            ...{
              ...place(BLOCK),
              txHash: txOf(n),
              wallet: WALLET,
              from: account(5),
              succeeded: true,
              codes: null,
              proof,
            },
            valueWei: at === 'differs' ? WEI + 1n : WEI,
          })),
        outflows: [],
        events: [
          ...theirs
            .filter(({ kind }) => kind === 'event')
            .map(({ n, at }) => ({
              ...{ ...place(BLOCK), kind: 'ownerAct', logIndex: n },
              name: at === 'differs' ? 'Unpaused' : 'Paused',
            })),
          minted(7, BLOCK, given.mint.proof),
        ],
        ...(given.isRejected && { failedProofs: failed }),
      }
    },
  }
}

const contextOf = (sql: Sql, chain: unknown, startBlock = 50) =>
  ({ pool: poolWithin(sql), chain, log: silentLog, rules: { startBlock } }) as never
const cursor = { ...{ number: CURSOR, hash: hashAt(CURSOR), time: 10 * CURSOR } } as never

async function readLedger(sql: Sql) {
  const [row] = await sql`
    SELECT (SELECT block_number FROM cursors) AS cursor, read_whole_to AS whole, (SELECT proof FROM nodes WHERE node_id = 7) AS mint FROM ledger_state`
  const told =
    await sql`SELECT subject, detail ->> 'part' AS part, detail ->> 'host' AS host FROM audit WHERE action = 'proofFailed'`
  const wentBack =
    await sql`SELECT actor, subject, detail -> 'toBlock' AS to FROM audit WHERE action = 'leftOut' AND detail <> '{}'`
  const payments = await sql`SELECT id, state, proof FROM payments WHERE block_number IS NOT NULL ORDER BY id`
  return { ...row, told: [...told], wentBack: [...wentBack], payments: [...payments] }
}

function expectedLedger(given: Drawn, fate: model.Fate) {
  const sightings = { subject: String(BLOCK) }
  const reads = given.isRejected ? { part: 'header', host: 'liar' } : fate.told && { part: fate.told, host: null }
  const former = given.entries.flatMap(({ kind, at, former }, n) =>
    kind === 'payment' && at !== 'chain' ? [{ id: 1 + n, former }] : [],
  )
  const backing = (was: model.Proof, now: model.Proof) => (was === 'believed' ? now : was)
  return {
    cursor: fate.wentBack ? (given.isFirst ? null : BLOCK - 1) : CURSOR,
    whole: fate.readsWhole ? BLOCK : null,
    mint: fate.wentBack ? null : fate.takesMints ? backing(given.mint.former, given.mint.proof) : given.mint.former,
    told: reads ? [{ ...sightings, ...reads }] : [],
    wentBack: fate.wentBack ? [{ actor: 'pass', subject: HASH, to: BLOCK - 1 }] : [],
    payments: fate.wentBack
      ? []
      : former.map(({ id, former }) => ({
          ...{ id, state: 'seen' },
          proof: fate.counts.includes(id - 1) ? backing(former, given.mode) : former,
        })),
  }
}

test('a block that is compared again raises proofs, or sends the ledger back to before it', async () => {
  const compare = async (given: Drawn) => {
    const seen = given.entries.map((one) => ({ ...one, sightings: one.sightings.slice(0, given.providers) }))
    const fate = model.compared({ ...given, entries: seen })
    await tables.within(rowsOf(given), async (sql) => {
      await sql`UPDATE totals SET nodes = 1, owners = 1`
      const asked: unknown[] = []
      const context = contextOf(sql, chainOf(given, asked), given.isFirst ? BLOCK : 50)
      const answer = await compareBlock(context, cursor, { number: BLOCK, hash: HASH } as never).catch(
        (error: Error & { retryable?: boolean }) => [error.name, error.retryable, error.message.includes(` ${BLOCK} `)],
      )
      assert.deepEqual(answer, fate.wentBack ? ['LeftOutFault', true, true] : fate.counts.map(txOf))
      assert.deepEqual(await readLedger(sql), expectedLedger(given, fate))
      const wallets = [{ wallet: WALLET, watchedFrom: 0, closedBlock: null }]
      const watching = { wallets, leastWei: 1n, wholeTo: Number.MAX_SAFE_INTEGER }
      const [[first, last, parent, watched] = []] = asked as [number, number, null, object][]
      assert.deepEqual([asked.length, first, last, parent], [1, BLOCK, BLOCK, null])
      assert.deepEqual({ ...watched, ...watching }, watched)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(260) })
})

const PLAIN: Drawn = {
  ...{ mode: 'proven', isFirst: false, keepsBefore: true, own: 'same', isThere: true, wentBackBefore: false },
  ...{ cursorMoved: false, entries: [], providers: 1, mint: { proof: 'proven', former: 'proven' }, isRejected: false },
}
const rowsWith = (mode: model.Given['mode'] | null, more: Rows = {}): Rows => {
  return { ...rowsOf(PLAIN), ...base(mode), ...more }
}

test('a block that is not proven ends the run if the ledger could go back to before it', async () => {
  const faults = {
    away: new ChainFault('away'),
    parted: new ProofFault('transactions', BLOCK, 'it lacks one', { isFalse: false }),
    false: new ProofFault('receipts', BLOCK, 'another root'),
    broken: new Error('broken'),
  }
  for (const [name, fault] of Object.entries(faults))
    for (const canGoBack of [true, false])
      await tables.within(rowsOfKept(canGoBack), async (sql) => {
        const observe = () => Promise.reject(fault)
        const ask = compareBlock(contextOf(sql, { observe }), cursor, { number: BLOCK, hash: HASH } as never)
        if (name !== 'broken' && !canGoBack) assert.deepEqual(await ask, [])
        else await assert.rejects(ask, fault)
        const { told } = await readLedger(sql)
        const report = { subject: String(BLOCK), part: 'receipts', host: null }
        assert.deepEqual(told, name === 'false' ? [report] : [])
      })
})
const rowsOfKept = (canGoBack: boolean): Rows => rowsWith('proven', canGoBack ? {} : { blocks: [header(BLOCK)] })

test('a payment counts that is proven on a ledger that proves, else one that two agree on', async () => {
  const entries = [{ kind: 'payment' as const, at: 'both' as const, former: 'believed' as const, sightings: [] }]
  for (const mode of ['proven', 'agreed', null] as const) {
    const given = { ...PLAIN, entries: entries.map((one) => ({ ...one, proof: mode ?? 'agreed' })) }
    await tables.within({ ...rowsOf(given), ...base(mode) }, async (sql) => {
      const context = contextOf(sql, chainOf(given))
      const block = { number: BLOCK, hash: HASH } as never
      // A ledger without a mode proves nothing, so two providers are enough.
      assert.deepEqual(await compareBlock(context, cursor, block), [txOf(0)])
    })
  }
})

const EVENTS = {
  'node 8 502': minted(8, 101),
  'transfer 3 8': { ...place(102), kind: 'transfer', logIndex: 3, nodeId: 8n, from: account(8), to: account(9) },
  'transfer 2 7': { ...place(102), kind: 'transfer', logIndex: 2, nodeId: 7n, from: account(7), to: account(9) },
  'transfer 4 9': { ...place(101), kind: 'transfer', logIndex: 4, nodeId: 9n, from: account(9), to: account(8) },
  'ownerAct 5 Paused': { ...place(101), kind: 'ownerAct', logIndex: 5, name: 'Paused' },
}

test('an event of a node that neither the ledger has nor the blocks mint is not missing', async () => {
  const names = Object.keys(EVENTS) as (keyof typeof EVENTS)[]
  await tables.within(rowsWith('proven'), async (sql) => {
    const none = { blocks: [], transfers: [], outflows: [], events: [EVENTS['node 8 502']] }
    assert.deepEqual(await compareRange(sql, none as never), { missing: [], surplus: [] })
    for (let drawnBits = 0; drawnBits < 2 ** names.length; drawnBits++) {
      const some = names.filter((_, n) => (drawnBits >> n) & 1)
      const blocks = [102, 101, 103].map((number) => header(number)).toSorted((a, b) => a.number - b.number)
      const range = { blocks, transfers: [], outflows: [], events: some.map((name) => EVENTS[name]) }
      const { missing, surplus } = await compareRange(sql, range as never)
      const counted = some.filter(
        (name) => name !== 'transfer 4 9' && (name !== 'transfer 3 8' || some.includes('node 8 502')),
      )
      const keys = missing.map(({ key }) => key.split(' ').slice(0, 3).join(' '))
      assert.deepEqual(keys.map((key) => (key.startsWith('node') ? 'node 8 502' : key)).toSorted(), counted.toSorted())
      assert.deepEqual(surplus, [])
    }
  })
})

const OLDEST = 96
const nonce = fc.constantFrom(0, 3, 4, 5)
const hidden = fc.record({
  mode: fc.constantFrom('proven', 'proven', 'proven', 'agreed', null),
  accounts: fc.array(
    fc.record({
      followed: fc.constantFrom(0, 4, 4, 4, null),
      first: fc.integer({ min: OLDEST, max: CURSOR + 1 }),
      before: nonce,
      unproven: fc.constantFrom(null, null, null, null, OLDEST, 99, 101, CURSOR),
    }),
    { maxLength: 2 },
  ),
  replaced: fc.constantFrom(null, null, null, 99, 100, 101),
})

test('a transaction that providers hid is found by its account’s nonce', async () => {
  const compare = async (given: typeof hidden extends fc.Arbitrary<infer T> ? T : never) => {
    const numbers = Array.from({ length: CURSOR - OLDEST + 1 }, (_, n) => OLDEST + n)
    const accounts = given.accounts.map(({ followed, first, before, unproven }, n) => ({
      ...{ sender: account(20 + n), oldest: OLDEST, cursor: CURSOR, isProven: given.mode === 'proven', followed },
      nonces: new Map(
        numbers.map((number) => [number, number === unproven ? null : number >= first ? 5 : before]),
      ) as Map<number, number | null>,
      replaced: new Set(given.replaced === null ? [] : [given.replaced]),
    }))
    const accountsAt = async ([
      {
        number,
        accounts: [sender],
      } = { number: 0, accounts: [] },
    ]: {
      number: number
      accounts: string[]
    }[]) => {
      const one = accounts.find((each) => each.sender === sender)
      const nonce = one?.nonces.get(number) ?? null
      if (nonce === null && number === CURSOR) throw new ChainFault('away')
      if (nonce === null) return null
      const hash = number === given.replaced ? OTHER : hashAt(number)
      // An account that was never used is in no state.
      return [{ block: { number, hash }, accounts: new Map(nonce === 0 ? [] : [[sender, { nonce }]]) }]
    }
    const rows = rowsWith(given.mode as never, {
      blocks: numbers.map((number) => header(number)),
      troubles: accounts.map(({ sender }) => ({ name: `nonceAhead ${sender}`, value: '{}' })),
      sender_bases: accounts.flatMap(({ sender, followed }) =>
        followed === null ? [] : [{ sender, nonce: followed, block_number: 1 }],
      ),
    })
    await tables.within(rows, async (sql) => {
      await sql`UPDATE totals SET nodes = 1, owners = 1`
      const answer = await findSentLeftOut(contextOf(sql, { survey: { accountsAt } }), cursor).catch(
        (error: Error) => error.name,
      )
      const blocks = accounts.map(model.hiddenIn).filter((block) => block !== null)
      assert.equal(answer, blocks.length > 0 ? 'LeftOutFault' : undefined)
      const { told, ...now } = await readLedger(sql)
      assert.equal((now as { cursor?: number }).cursor, blocks[0] === undefined ? CURSOR : blocks[0] - 1)
      const report = { subject: String(blocks[0]), part: 'transactions', host: null }
      assert.deepEqual(told, blocks.length > 0 ? [report] : [])
    })
  }
  await fc.assert(fc.asyncProperty(hidden, compare), { numRuns: cases(150) })
})

const doubt = fc.record({
  mode: fc.constantFrom('proven', 'agreed', 'agreed', null),
  providers: fc.constantFrom(0, 1, 2, 2, 3),
  block: fc.constantFrom(null, 98, 99, CURSOR - 1, CURSOR, CURSOR + 1),
})

test('a block that a stranger names or one provider backs is compared only if it was followed', async () => {
  const compare = async ({ mode, providers, block }: typeof doubt extends fc.Arbitrary<infer T> ? T : never) => {
    const believed = block === null ? [] : [block]
    const numbers = [99, 100, 101, CURSOR - 1, CURSOR, CURSOR + 1]
    const rows = rowsWith(mode as never, {
      blocks: [...new Set(numbers)].map((number) => header(number)),
      ledger_state: block === null ? [] : [{ claimed_block: block }],
      payments: believed.map((number) => ({
        ...{ id: 9, ref: txOf(9), tx_hash: txOf(9), wallet: WALLET, from_address: account(5), value_wei: WEI },
        ...{ succeeded: true, proof: 'believed', state: 'seen', block_time: at(1_000), ...inBlock(number) },
      })),
    })
    await tables.within(rows, async (sql) => {
      const asked: number[] = []
      const observe = async (number: number) => {
        asked.push(number)
        return { blocks: [header(number, OTHER)] }
      }
      const context = contextOf(sql, { observe, providers: Array.from({ length: providers }) })
      const headers = new Set(numbers)
      await compareBelieved(context, cursor)
      const kept = block !== null && headers.has(block) ? block : null
      const first = model.doubted(kept, { mode: mode as never, providers, cursor: CURSOR })
      await findClaimedLeftOut(context, cursor)
      const second = model.claimed(block, headers, CURSOR)
      assert.deepEqual(
        asked,
        [first, second].filter((one) => one !== null),
      )
    })
  }
  await fc.assert(fc.asyncProperty(doubt, compare), { numRuns: cases(50) })
})
