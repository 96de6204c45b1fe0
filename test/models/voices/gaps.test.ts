// Stretches of unread blocks: src/follower/survey/gaps.ts asks for the states, reads the blocks and concludes what the second reading does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { proveGaps } from '../../../src/follower/survey/gaps.ts'
import { cases } from '../../support/property.ts'
import * as model from './gaps.ts'

const ACCOUNTS: model.World['accounts'] = [
  { name: 'a', kind: 'wallet' },
  { name: 'b', kind: 'wallet' },
  { name: 's', kind: 'signer' },
  { name: 'f', kind: 'factory' },
]
/** Far from 0, so that a span is no height. */
const FIRST = 5_000
const LENGTHS = [1, 2, 3, 4, 5, 8, 9, 64, 512, 1_023, 1_040, 2_048]

const often = <T>(usual: T, ...others: T[]) => fc.constantFrom(usual, usual, usual, usual, ...others)
const change = (length: number) =>
  fc.record({
    block: fc.integer({ min: 1, max: length }).map((n) => FIRST + n),
    account: fc.constantFrom('a', 'a', 'b', 's', 'f'),
    nonces: fc.constantFrom(0, 0, 1, 2),
    balanceWei: fc.constantFrom(0n, 5n, -5n, -1n),
    storage: fc.constantFrom(0, 1),
    isShown: often(true, false),
  })
const world = fc.constantFrom(...LENGTHS).chain((length) =>
  fc
    .record({
      changes: fc.oneof(
        fc.array(change(length), { maxLength: 3 }),
        fc.array(change(length), { minLength: 6, maxLength: 18 }),
      ),
      cut: fc.option(fc.integer({ min: 0, max: length })),
      isUnread: often(false, true),
      isStateless: often(false, true),
      nth: fc.nat(),
    })
    .map(({ changes, cut, isUnread, isStateless, nth }): model.World => {
      const ends = cut === null ? [FIRST, FIRST + length] : [FIRST, FIRST + cut, FIRST + length]
      const stretches = ends.slice(1).map((high, n) => [ends[n] as number, high] as const)
      const plain = { accounts: ACCOUNTS, changes, stretches, unread: [], stateless: [] }
      const { read, asked } = model.prove(plain)
      const unread = isUnread && read.length > 0 ? [read[nth % read.length] as number] : []
      const stateless = isStateless && asked.length > 0 ? [Number.parseInt(asked[nth % asked.length] ?? '', 10)] : []
      return { ...plain, unread, stateless }
    }),
)

/** Plays a world to the code. */
async function play({ changes, stretches, unread, stateless }: model.World) {
  const done = { read: [] as number[], asked: [] as string[] }
  const at = (number: number, names: readonly string[]) => {
    const stateOf = (name: string) => {
      const own = changes.filter((one) => one.account === name && one.block <= number)
      const sum = (of: (one: model.Change) => number) => own.reduce((total, one) => total + of(one), 0)
      const balanceWei = own.reduce((total, one) => total + one.balanceWei, 100n)
      return { nonce: sum(({ nonces }) => nonces), balanceWei, storageRoot: `root ${sum(({ storage }) => storage)}` }
    }
    return { block: { number }, accounts: new Map(names.map((name) => [name, stateOf(name)])) }
  }
  const survey = {
    async accountsAt(questions: { number: number; accounts: string[] }[]) {
      assert.ok(questions.length > 0, 'asked for nothing')
      done.asked.push(...questions.map(({ number, accounts }) => `${number} ${accounts}`))
      if (questions.some(({ number }) => stateless.includes(number))) return null
      return questions.map(({ number, accounts }) => at(number, accounts))
    },
  }
  const knowledge = {
    async read(numbers: number[]) {
      done.read.push(...numbers)
      return !numbers.some((number) => unread.includes(number))
    },
    effectOn(account: string, low: number, high: number) {
      const shown = changes.filter(
        (one) => one.account === account && one.isShown && one.block > low && one.block <= high,
      )
      const read = shown.filter(({ block }) => done.read.includes(block))
      return {
        nonces: read.reduce((total, { nonces }) => total + nonces, 0),
        balanceWei: read.reduce((total, { balanceWei }) => total + balanceWei, 0n),
      }
    },
  }
  const names = ACCOUNTS.map(({ name }) => name)
  const ofKind = (kind: string) => ACCOUNTS.filter((one) => one.kind === kind).map(({ name }) => name)
  const roles = { wallets: ofKind('wallet'), signers: ofKind('signer'), factory: 'f' }
  const all = stretches.map(([low, high]) => ({ low: at(low, names), high: at(high, names), accounts: names }))
  return { ...done, proof: await proveGaps(survey as never, roles as never, knowledge as never, all as never) }
}

test('a stretch is halved if accounts changed by more than the ledger has, within its budget', async () => {
  const met: Record<string, number> = {}
  const compare = async (given: model.World) => {
    const expected = model.prove(given)
    const played = await play(given)
    assert.deepEqual(played.proof, expected.proof)
    met[played.proof.kind] = (met[played.proof.kind] ?? 0) + 1
    // What cannot be had may end the search before everything is read.
    if (played.proof.kind === 'notToBeHad') return
    assert.deepEqual(played.read.toSorted(), expected.read.toSorted())
    assert.deepEqual(played.asked.toSorted(), expected.asked.toSorted())
  }
  await fc.assert(fc.asyncProperty(world, compare), { numRuns: cases(600) })
  assert.equal(Object.keys(met).length, 3, JSON.stringify(met))
})

test('exactly as many states as the budget allows are read, and none more', async () => {
  // 64 blocks that changed, each in a stretch of eight blocks that takes one state.
  for (const count of [64, 65]) {
    const stretches = Array.from({ length: count }, (_, n) => [FIRST + 8 * n, FIRST + 8 * n + 8] as const)
    const changes = stretches.map(([low]) => ({
      ...{ block: low + 1, account: 'a', nonces: 0, balanceWei: 5n, storage: 0, isShown: true },
    }))
    const given = { accounts: ACCOUNTS, changes, stretches, unread: [], stateless: [] }
    const { proof } = await play(given)
    assert.deepEqual(proof, { kind: count === 64 ? 'proven' : 'notToBeHad' })
    assert.deepEqual(proof, model.prove(given).proof)
  }
})
