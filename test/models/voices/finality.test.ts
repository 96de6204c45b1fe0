// Finality and halts by what providers say: src/follower/followed-finality.ts and halt.ts, with blocks at the edges of age and depth, and providers that agree,
// contradict or are silent in every place, find what the second reading finds.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { readFinalized } from '../../../src/db/blocks/halts.ts'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { finalityInWords, isSettled, lookAtFinality, readFinality } from '../../../src/follower/followed-finality.ts'
import { askOthers, HaltFault, noteFinalized } from '../../../src/follower/halt.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { ChainFault, ProofFault } from '../../../src/ports/faults.ts'
import { openTables, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './finality.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [CURSOR, NOW] = [200, 100_000]
const providers = fc.array(fc.constantFrom<model.Said>('same', 'same', 'same', 'other', 'none', 'silent', 'false'), {
  minLength: 1,
  maxLength: 3,
})
const asked = fc.record({
  word: fc.option(
    fc.record({
      number: fc.constantFrom(99, 100, 135, 136, 137, 138, 190, 199, 200, 201),
      otherwise: fc.constantFrom(false, false, false, false, true),
      voices: fc.constantFrom(1, 1, 2),
    }),
    { freq: 6 },
  ),
  depth: fc.constantFrom(null, 0, 1, 10, 64, 65, 100, 101, 201),
  providers,
})
const drawn = fc.record({
  /** The seconds from each of the blocks 100, 135, 136, 137 and 138 to the followed one. */
  ages: fc.constantFrom<number[]>(
    [5_000, 901, 900, 899, 898],
    [5_000, 900, 899, 898, 890],
    [5_000, 903, 902, 901, 900],
    [5_000, 899, 898, 897, 896],
    [899, 898, 897, 896, 895],
    [900, 900, 900, 900, 899],
    [899, 898, 897, 896, 896],
  ),
  isEmbedded: fc.constantFrom(false, false, false, false, true),
  common: fc.constantFrom(null, null, null, 99, 136, 136, 199),
  /** Whether the difference on record stops. */
  stops: fc.constantFrom(true, true, false),
  runs: fc.array(asked, { minLength: 1, maxLength: 3 }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const blocksOf = (ages: number[]): model.Block[] =>
  [100, 135, 136, 137, 138, 190, 199, CURSOR].map((number, n) => ({
    ...{ number, hash: word(number), time: NOW - (ages[n] ?? CURSOR - number) },
  }))

function rowsOf(blocks: model.Block[]) {
  const headers = blocks.map(({ number, hash, time }) => ({
    ...{ number, hash, time, parent_hash: word(number - 1), prevrandao: word(0) },
  }))
  return {
    blocks: headers,
    cursors: [{ name: 'follow', block_number: CURSOR, block_hash: word(CURSOR), block_time: NOW }],
  }
}

async function storeDifference(sql: Sql, common: number, stops: boolean): Promise<void> {
  const parted = {
    ...{ number: common + 1, ours: word(common + 1), theirs: word(777), host: 'earlier', beside: [] },
    ...{ agreed: { number: common, hash: word(common) }, stops, since: '2026-01-01T00:00:00Z', lasts: false },
  }
  await sql`INSERT INTO troubles (name, value) VALUES ('parted', ${JSON.stringify(parted)}::text::jsonb)`
}

function readerOf(said: model.Said, n: number, blocks: model.Block[]) {
  const block = async (number: number) => {
    if (said === 'silent') throw new ChainFault('no answer')
    if (said === 'false') throw new ProofFault('header', number, 'another hash')
    if (said === 'none') return null
    const time = blocks.find((one) => one.number === number)?.time ?? 0
    return { number, hash: said === 'same' ? word(number) : word(600), time, parentHash: word(0), prevrandao: word(0) }
  }
  return { host: `host ${n}`, block }
}

const wordOf = (said: model.Asked['word']) =>
  said && { number: said.number, hash: word(said.otherwise ? 888 : said.number), voices: said.voices }

/** What the code found, as the second reading says it. */
function asModel(found: Awaited<ReturnType<typeof lookAtFinality>>, isOneAlone: boolean): unknown {
  if (found === null) return { kind: 'nothing' }
  const at = (host: string) => (isOneAlone ? 0 : Number(host.split(' ')[1]))
  if ('theirs' in found && 'agreed' in found) return { kind: 'parted', number: found.number }
  if ('theirs' in found)
    return { kind: 'contradiction', number: found.number, host: found.host === null ? null : at(found.host) }
  const { firm, hash, time, hosts, isNamed } = found
  const block = firm < 0 ? null : { number: firm, hash, time }
  return { kind: 'final', block, hosts: hosts.map(at), isNamed, isSettled: isSettled(found) }
}

/** The second reading leaves open what an unfollowed block's hash and time are: those that the first provider gives. */
function withUnfollowed(found: model.Found, providers: model.Said[]): model.Found {
  if (found.kind !== 'final' || found.block === null || found.block.hash !== '') return found
  const first = providers.find((said) => said === 'same' || said === 'other')
  const hash = first === 'same' ? word(found.block.number) : word(600)
  return { ...found, block: { ...found.block, hash } }
}

type Look = Awaited<ReturnType<typeof lookAtFinality>>

/** The words for what the second reading names. */
function inWords(found: Look, expected: model.Words | null): ReturnType<typeof finalityInWords> {
  const { host, theirs, ours, hash } = { host: null, theirs: null, ours: null, hash: null, ...found }
  if (expected === null) return null
  if (expected.kind === 'difference') {
    const says = `${host ?? 'a provider'} has ${theirs} as block ${expected.number}, and the ledger has ${ours}`
    return { says, todo: 'Compare both with an explorer, and remove the provider that is wrong from RPC_URL.' }
  }
  if (expected.kind === 'only one') {
    const todo = `Compare block ${expected.number}, hash ${hash}, with an explorer first.`
    return { says: 'Only one provider reports it', todo }
  }
  return {
    says: `only host ${expected.host} of ${expected.asked} providers answers`,
    todo: 'Wait until another one answers, or remove providers that are gone for good from RPC_URL.',
  }
}

const met: Record<string, number> = {}

function compareWords(found: Look, expected: model.Words | null): void {
  assert.deepEqual(finalityInWords(found), inWords(found, expected))
  if (expected !== null) met[expected.kind] = 1 + (met[expected.kind] ?? 0)
}

async function runBoth(sql: Sql, ledger: model.Ledger, run: model.Asked, noted: model.Noted | null) {
  const readers = run.providers.map((said, n) => readerOf(said, n, ledger.blocks))
  // A chain that knows no single providers is its only provider.
  const isOneAlone = readers.length === 1 && run.depth !== 0
  const chain = {
    providers: isOneAlone ? [] : readers,
    block: readers[0]?.block,
    finalized: async () => wordOf(run.word),
  }
  const rules = { rewindsToShorterChain: ledger.isEmbedded }
  const [ctx, cursor] = [
    { pool: poolWithin(sql), chain, rules, log: silentLog } as never,
    { number: CURSOR, hash: word(CURSOR), time: NOW } as never,
  ]
  const found = await lookAtFinality(ctx, cursor, run.depth)
  const expected = withUnfollowed(model.look(ledger, run), run.providers)
  assert.deepEqual(asModel(found, isOneAlone), expected)
  met[expected.kind] = 1 + (met[expected.kind] ?? 0)
  compareWords(found, model.words(expected, run))
  // The passes ask without a depth.
  const plain = model.look(ledger, { ...run, depth: null })
  const firm = plain.kind === 'final' ? (plain.block?.number ?? -1) : null
  assert.equal((await readFinality(ctx, cursor))?.firm ?? null, firm)
  await noteFinalized(ctx, cursor)
  const next = model.note(noted, plain, ledger)
  const record = await readFinalized(sql)
  assert.deepEqual(record, next && { ...next, hash: word(next.number) })
  return { next, isContradicted: !ledger.isEmbedded && (plain.kind === 'contradiction' || plain.kind === 'parted') }
}

test('the chain is final as far as no provider contradicts, and two speak for what is young', async () => {
  const compare = async ({ ages, isEmbedded, common, stops, runs }: Drawn) => {
    const blocks = blocksOf(ages)
    await tables.within(rowsOf(blocks), async (sql) => {
      if (common !== null) await storeDifference(sql, common, stops)
      const ledger = { blocks, isEmbedded, common: stops ? common : null }
      let noted: model.Noted | null = null
      let told = 0
      for (const run of runs) {
        const ran = await runBoth(sql, ledger, run, noted)
        noted = ran.next
        if (ran.isContradicted) told = 1
        const audit = await sql<{ action: string }[]>`SELECT action FROM audit`
        assert.deepEqual(
          audit.map(({ action }) => action),
          Array(told).fill('proofFailed'),
        )
      }
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(220) })
  for (const kind of ['nothing', 'contradiction', 'parted', 'final', 'only one', 'others silent'])
    assert.ok((met[kind] ?? 0) >= cases(2), kind)
})

test('a run halts if no provider has the ledger’s chain, and two confirm it or it is not sealed', async () => {
  const words = fc.array(fc.constantFrom<model.Word>('ours', 'elsewhere', 'elsewhere', 'silent', 'broken'), {
    maxLength: 4,
  })
  const compare = async (said: model.Word[], noted: boolean) => {
    const [asked, distrusted]: number[][] = [[], []]
    const readers = said.map((one, n) => ({ host: `host ${n}`, distrust: () => distrusted?.push(n), one, n }))
    const first = new HaltFault('tooDeep', { oldestHeader: 5 }, { noted })
    const ask = async ({ one, n }: (typeof readers)[number]) => {
      asked?.push(n)
      if (one === 'elsewhere') throw new HaltFault('otherChain', { chainId: n })
      if (one === 'silent') throw new ChainFault('no answer')
      if (one === 'broken') throw new TypeError('a mistake of ours')
      return n
    }
    const reading = askOthers({ chain: { providers: readers }, log: silentLog } as never, first, ask as never)
    const expected = model.ask(said, noted)
    const fault = await reading.then(
      (by) => {
        assert.deepEqual({ kind: 'goesOn', by, distrusts: distrusted }, expected)
        return null
      },
      (error: unknown) => error,
    )
    if (expected.kind !== 'goesOn') assert.deepEqual(distrusted, [])
    if (expected.kind === 'asBefore') assert.ok(fault === first && asked?.length === 0)
    if (expected.kind === 'breaks') assert.ok(fault instanceof TypeError)
    if (expected.kind !== 'halts') return
    assert.ok(fault instanceof HaltFault)
    const { reason, detail, confirmed } = fault
    const reportedBy = expected.reportedBy.map((n) => `host ${n}`)
    assert.deepEqual(
      { reason, detail, confirmed, noted: fault.noted },
      { reason: 'tooDeep', detail: { oldestHeader: 5, reportedBy }, confirmed: expected.isConfirmed, noted: false },
    )
  }
  await fc.assert(fc.asyncProperty(words, fc.constantFrom(false, false, false, true), compare), { numRuns: cases(300) })
})
