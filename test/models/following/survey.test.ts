// Surveys of old blocks: src/follower/survey, over random blocks in which wallets, signer accounts and the factory change, with logs that providers left out and value that no
// transaction moved, finds all that the second reading names.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import type { ObservedRange } from '../../../src/domain/observed.ts'
import { surveyRange } from '../../../src/follower/survey/survey.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { blocksAfter, FACTORY, nothing } from './chains.ts'
import type { Block } from './follow.ts'
import * as model from './survey.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const BLOCKS = blocksAfter(null, 61, 0)
const hashOf = (number: number) => BLOCKS[number]?.hash ?? word(0)
const NAMES = ['w1', 'w2', 'minter', 'former', 'pending', 'role']
const addressOf = (name: string) => account(0x10 + NAMES.indexOf(name))
const txOf = ({ index }: model.Thing) => word(5_000 + index)

const thing = fc.oneof(
  fc.record({
    who: fc.constant('w1'),
    kind: fc.constantFrom<model.Kind>('pays', 'pays', 'fails', 'out', 'outFails', 'outToFactory', 'inner', 'hidden'),
  }),
  fc.record({ who: fc.constant('w2'), kind: fc.constantFrom<model.Kind>('pays', 'out', 'innerOut') }),
  fc.record({
    who: fc.constantFrom('minter', 'former', 'pending', 'role'),
    kind: fc.constantFrom<model.Kind>('sent', 'sentToFactory', 'hidden'),
  }),
  fc.record({
    who: fc.constant('factory'),
    kind: fc.constantFrom<model.Kind>(...model.LOGGED, 'hiddenRole', 'mint', 'hiddenMint', 'withdrawFails'),
  }),
)
const height = fc.oneof(fc.integer({ min: 5, max: 56 }), fc.constantFrom(9, 10, 11, 20, 21, 22, 49, 50, 51))
const often = <T>(usual: T, ...rare: T[]) =>
  fc.constantFrom<T>(...Array.from({ length: 4 + 5 * rare.length }, () => usual), ...rare)
const drawn = fc.record({
  things: fc.array(fc.record({ block: height, of: thing }), { maxLength: 7 }),
  wallet: fc.record({
    watchedFrom: often(0, 10, 11, 30, 52),
    closed: often<number | null>(null, 9, 10, 11, 40, 50, 51),
  }),
  hasSecond: fc.constantFrom(true, true, false),
  nonce: often(3, 0),
  /** Its first transaction, if it had sent nothing; null: it has no such. */
  sendsFirst: fc.constantFrom(null, 11, 20, 21, 40),
  codeFrom: often<number | null>(null, 5, 9, 10, 40),
  final: fc.constantFrom(56, 56, 40, 20, 5, null, 'fails' as const),
  lacks: often<model.World['lacks']>('nothing', 'logs', 'states', 'laterStates', 'blocks', 'parent', 'end'),
  from: fc.constantFrom(10, 10, 11),
  to: fc.constantFrom(10, 12, 15, 50, 50, 50, 50),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const QUIET = {
  ...{
    wallet: { watchedFrom: 0, closed: null },
    hasSecond: false,
    nonce: 3,
    sendsFirst: null,
    codeFrom: null,
    final: 56,
  },
  ...({ lacks: 'nothing', from: 10, to: 50 } as const),
}

function worldOf(given: Drawn): model.World {
  const signer = (name: string): model.Account => ({ name, kind: 'signer', nonce: 1, codeFrom: null })
  const {
    nonce,
    sendsFirst,
    codeFrom,
    wallet: { watchedFrom, closed },
  } = given
  return {
    accounts: [
      { name: 'w1', kind: 'wallet', nonce, codeFrom },
      { name: 'w2', kind: 'wallet', nonce: 2, codeFrom: null },
      ...NAMES.slice(2).map(signer),
    ],
    wallets: [
      { name: 'w1', watchedFrom, closed: closed !== null && closed < watchedFrom ? null : closed },
      ...(given.hasSecond ? [{ name: 'w2', watchedFrom: 0, closed: null }] : []),
    ],
    things: [
      ...given.things,
      ...(nonce > 0 || sendsFirst === null
        ? []
        : [{ block: sendsFirst, of: { who: 'w1', kind: 'out' as model.Kind } }]),
    ]
      .toSorted((a, b) => a.block - b.block)
      // No sum of some values is that of others.
      .map(({ block, of }, index) => ({ ...of, block, index, valueWei: 1_000n << BigInt(index) }))
      // Without a second wallet no log can give it a role.
      .map((one) => (one.kind === 'roleOfWallet' && !given.hasSecond ? { ...one, kind: 'roleOfNone' } : one)),
    ...{ final: given.final === 'fails' ? null : given.final, lacks: given.lacks },
  }
}

function rowsOf({ wallets }: model.World): Rows {
  const row = (id: number, name: string, state: string) => ({
    ...{ id, sender: addressOf(name), nonce: id, kind: 'foreign', state, call: '{}', gas_limit: 1 },
    ...(state === 'mined' ? { block_number: 1, block_hash: word(1), tx_hash: word(id) } : {}),
  })
  return {
    payment_wallets: wallets.map(({ name, watchedFrom, closed }, n) => ({
      ...{
        id: 1 + n,
        wallet: addressOf(name),
        from_block: watchedFrom,
        from_time: 0,
        watched_from: watchedFrom,
        entered_by: 'test',
      },
      ...{
        closed_block: closed,
        closed_at: closed === null ? null : at(2_000),
        closed_by: closed === null ? null : 'test',
      },
    })),
    outbox: [row(1, 'former', 'mined'), row(2, 'pending', 'pending')],
  }
}

/** The account to which an event gives a role. */
const namedBy = (kind: model.Kind): string =>
  kind === 'roleOfNone' ? account(0) : addressOf(kind === 'roleOfWallet' ? 'w2' : 'role')

/** What a block shows of a thing, each with its list. */
function shownOf(
  world: model.World,
  { block, kind, who, valueWei, index }: model.Thing,
  signers: readonly string[],
): [list: string, of: object][] {
  const isWallet = model.watchedAt(world, block).includes(who)
  const wallet = { wallet: addressOf(who), valueWei }
  const sent: [string, object] = [
    'sent',
    { sender: addressOf(who), to: kind.endsWith('ToFactory') ? FACTORY : account(9) },
  ]
  const role = { kind: 'ownerAct', name: 'MinterSet', detail: { minter: namedBy(kind) } }
  if (kind === 'pays' || kind === 'fails')
    return isWallet ? [['transfers', { ...wallet, succeeded: kind === 'pays' }]] : []
  if (kind.startsWith('out')) {
    const out = { ...wallet, feeWei: model.FEE, succeeded: kind !== 'outFails' }
    return [...(isWallet ? [['outflows', out] as [string, object]] : []), ...(kind === 'outToFactory' ? [sent] : [])]
  }
  if (kind === 'sentToFactory' || (kind === 'sent' && signers.includes(addressOf(who)))) return [sent]
  if (kind === 'withdrawFails') return [['failedWithdrawals', {}]]
  const place = { txIndex: 0, logIndex: index }
  if (kind === 'hiddenRole' || kind.startsWith('role')) return [['events', { ...role, ...place }]]
  return kind === 'mint' || kind === 'hiddenMint' ? [['events', { kind: 'nodeMinted', ...place }]] : []
}

/** What blocks show of some accounts, the last first. */
function observed(
  world: model.World,
  numbers: readonly number[],
  watching: { signers: readonly string[] },
): ObservedRange {
  const lists: Record<string, object[]> = Object.fromEntries(Object.keys(nothing).map((list) => [list, []]))
  for (const one of world.things.filter(({ block }) => numbers.includes(block)).toReversed())
    for (const [list, of] of shownOf(world, one, watching.signers))
      lists[list]?.push({
        blockNumber: one.block,
        blockHash: hashOf(one.block),
        txHash: txOf(one),
        txIndex: one.index,
        ...of,
      })
  return { watching, blocks: numbers.map((number) => BLOCKS[number] as Block).toReversed(), ...lists } as never
}

interface Question {
  number: number
  accounts: string[]
}

/** Providers that have this world, and what they were asked: for blocks, and for states. */
function readerOf(world: model.World, asked: number[], states: Question[][] = []) {
  const { lacks } = world
  const state = (name: string, number: number) => {
    const { changes, ...account } = model.stateAt(world, name, number)
    return { ...account, codeHash: word(1), storageRoot: word(changes) }
  }
  const nameOf = (address: string) => NAMES.find((name) => addressOf(name) === address) ?? 'factory'
  const accountsAt = async (questions: Question[]) => {
    const each = questions.flatMap(({ number, accounts }) => accounts.map((one) => `${number} ${one}`))
    assert.deepEqual(each, [...new Set(each)], 'a state asked for twice')
    assert.ok(questions.every(({ accounts }) => !accounts.includes(account(0))))
    states.push(questions)
    if (lacks === 'states' || (lacks === 'laterStates' && states.length > 1)) return null
    return questions.map(({ number, accounts }) => ({
      block: { ...BLOCKS[number], ...(lacks === 'parent' && { hash: word(8) }) },
      accounts: new Map(accounts.map((one) => [one, state(nameOf(one), number)])),
    }))
  }
  const loggedBlocks = async (from: number, to: number) => {
    if (lacks === 'logs') return null
    const logged = world.things.filter(({ kind, block }) => model.LOGGED.includes(kind) && block >= from && block <= to)
    return [...Map.groupBy(logged, ({ block }) => block)].map(([number, some]) => ({
      ...{
        number,
        accounts: some.flatMap(({ kind }) => (kind === 'mint' ? [] : [namedBy(kind)])),
        logs: [],
      },
      // A mint names the payment before it.
      refs: some.flatMap(({ kind, index }) => (kind === 'mint' ? [word(5_000 + index - 1)] : [])),
    }))
  }
  return {
    finalized: async () =>
      world.final === null ? null : { number: world.final, hash: hashOf(world.final), voices: 2 },
    block: async (number: number) => (lacks === 'end' ? { ...BLOCKS[number], hash: word(8) } : BLOCKS[number]),
    survey: {
      ...{ voices: 1, accountsAt, loggedBlocks },
      blocksOf: async (hashes: string[]) =>
        hashes.map((one) => world.things.find((of) => txOf(of) === one)?.block ?? null),
      async observeBlocks(numbers: number[], _: unknown, watching: { signers: string[] }) {
        assert.deepEqual(
          numbers,
          [...new Set(numbers)].toSorted((a, b) => a - b),
        )
        assert.ok(numbers.every((number) => !asked.includes(number)))
        asked.push(...numbers)
        return lacks === 'blocks' ? null : observed(world, numbers, watching)
      },
    },
  }
}

/** Every list of a range, each thing by its transaction. */
const listsOf = ({ transfers, outflows, sent, failedWithdrawals, events }: ObservedRange) =>
  [transfers, outflows, sent, failedWithdrawals, events].map((some) => some.map(({ txHash }) => txHash))

async function surveyBy(sql: Sql, world: model.World, given: Drawn, asked: number[]) {
  const states: Question[][] = []
  const chain = readerOf(world, asked, states)
  const finalized = given.final === 'fails' ? () => Promise.reject(new ChainFault('no answer')) : chain.finalized
  const ctx = { pool: poolWithin(sql), chain: { ...chain, finalized }, contract: { factory: FACTORY } }
  const accounts = { minter: { address: addressOf('minter') }, distributor: null }
  const request = { from: given.from, to: Math.max(given.from, given.to), parent: hashOf(given.from - 1) }
  const range = await surveyRange({ ...ctx, ...accounts } as never, request as never)
  const end = model.lastOf(world, request.from, request.to)
  const compared = states.slice(1).find((one) => one.at(-1)?.number === end && one.at(-1)?.accounts.includes(FACTORY))
  if (compared)
    assert.deepEqual(
      compared.map(({ number }) => number),
      model.ends(world, request.from, end),
    )
  return range
}

const met: Record<string, number> = {}
const note = (kind: string) => {
  met[kind] = (met[kind] ?? 0) + 1
}

/** A range that was surveyed, as far as a wallet's changes are explained. */
function compareRange(
  world: model.World,
  range: ObservedRange,
  asked: number[],
  { from, end, odd, signers }: Expected,
): void {
  const last = range.blocks.at(-1)?.number ?? 0
  const least = odd === null ? end : odd - 4
  assert.ok(last <= (odd === null ? end : odd - 1) && last >= least, `${last} of ${end}, odd: ${odd}`)
  note(odd === null ? 'whole' : 'part')
  const read = asked.filter((number) => number <= last).toSorted((a, b) => a - b)
  const numbers = [...new Set([...read, last])]
  assert.deepEqual(
    range.blocks,
    numbers.map((number) => BLOCKS[number]),
  )
  const unread = model.effects(world, from, last, signers).filter(({ block }) => !read.includes(block))
  assert.deepEqual(unread, [], 'a change that it did not read')
  const ours = ['minter', 'pending'].map(addressOf)
  const all = observed(world, read, { signers: signers.map(addressOf) })
  const sent = all.sent.filter(({ sender, to }) => to === FACTORY || ours.includes(sender))
  const inOrder = listsOf({ ...all, sent }).map((some) => some.toReversed())
  assert.deepEqual(listsOf(range), inOrder)
  assert.ok(range.isSurveyed && range.fees.length === 0)
  if (world.lacks === 'end') assert.ok(read.includes(last), 'another provider has another block')
}

interface Expected {
  from: number
  end: number
  /** The first unexplained block. */
  odd: number | null
  signers: string[]
}

test('a survey has all that moved value, used a nonce or changed the factory, or is none', async () => {
  const compare = async (given: Drawn) => {
    const world = worldOf(given)
    const { from } = given
    const end = model.lastOf(world, from, Math.max(from, given.to))
    const asked: number[] = []
    const range = await tables.within(rowsOf(world), (sql) => surveyBy(sql, world, given, asked))
    if (model.isUseless(world, from)) {
      note('useless')
      return assert.equal(range, null)
    }
    const isIn = ({ block }: model.Thing) => block >= from && block <= end
    const isNamed = world.things.some((one) => one.kind === 'role' && isIn(one))
    const signers = ['minter', 'former', 'pending', ...(isNamed ? ['role'] : [])]
    const odd = model.unexplained(world, from, end)
    if (range !== null) return compareRange(world, range, asked, { from, end, odd, signers })
    note('none')
    const isRoleHidden = !isNamed && world.things.some((one) => one.kind === 'hiddenRole' && isIn(one))
    const isShort = odd !== null && odd - 4 < from
    const isLost = world.lacks === 'end' || (world.lacks === 'blocks' && asked.length > 0)
    assert.ok(isRoleHidden || isShort || isLost, 'a survey that nothing hinders')
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(200) })
  for (const kind of ['useless', 'none', 'whole', 'part']) assert.ok((met[kind] ?? 0) > 0, JSON.stringify(met))
})

test('a range has at most 1,024 candidates, but the first block with logs in any case', async () => {
  const world = worldOf({ ...QUIET, things: [] })
  for (const [refs, last] of [
    [[1_022, 0], 50],
    [[1_023, 0], 29],
    [[1_500, 0], 29],
    [[0, 1_021, 0], 50],
    [[0, 1_022, 0], 39],
  ] as const) {
    const range = await tables.within(rowsOf(world), async (sql) => {
      const one = readerOf(world, [])
      const logged = refs.map((count, n) => ({
        number: 20 + 10 * n,
        refs: Array.from({ length: count }, () => word(1)),
        accounts: [],
        logs: [],
      }))
      const survey = { ...one.survey, loggedBlocks: async () => logged }
      const ctx = { pool: poolWithin(sql), chain: { ...one, survey }, contract: { factory: FACTORY } }
      return await surveyRange(
        { ...ctx, minter: null, distributor: null } as never,
        { from: 10, to: 50, parent: hashOf(9) } as never,
      )
    })
    assert.equal(range?.blocks.at(-1)?.number, last, refs.join())
    assert.deepEqual(range?.blocks.map(({ number }) => number).includes(20), true)
  }
})
