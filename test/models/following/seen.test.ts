// Blocks that a survey has read: src/follower/survey/seen.ts, after reads in any order, has of each account and each list what the second reading has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createSeen } from '../../../src/follower/survey/seen.ts'
import { account, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './seen.ts'

const LISTS: model.List[] = ['transfers', 'outflows', 'sent', 'failedWithdrawals', 'events']
const ACCOUNTS = [1, 2, 3].map(account)
const entry = fc.record({
  list: fc.constantFrom(...LISTS),
  blockNumber: fc.integer({ min: 3, max: 7 }),
  txIndex: fc.nat(2),
  logIndex: fc.nat(3),
  account: fc.constantFrom(...ACCOUNTS),
  valueWei: fc.constantFrom(0n, 1n, 10n),
  feeWei: fc.constantFrom(100n, 1_000n),
  succeeded: fc.boolean(),
})
const drawn = fc.record({
  entries: fc.array(entry, { maxLength: 12 }),
  wallets: fc.subarray(ACCOUNTS),
  reads: fc.array(fc.array(fc.integer({ min: 3, max: 7 }), { maxLength: 3 }), { maxLength: 4 }),
  /** The read that is not available. */
  lacksAt: fc.constantFrom(9, 9, 9, 0, 1),
  last: fc.integer({ min: 3, max: 8 }),
})

const blockAt = (number: number) => ({
  number,
  hash: word(number),
  time: number,
  parentHash: word(0),
  prevrandao: word(0),
})

function shown({ list, account: who, valueWei, feeWei, succeeded, logIndex, ...place }: model.Entry): object {
  if (list === 'transfers') return { ...place, wallet: who, valueWei, succeeded }
  if (list === 'outflows') return { ...place, wallet: who, valueWei, feeWei, succeeded }
  return list === 'events' ? { ...place, logIndex } : { ...place, sender: who }
}

test('of blocks that a survey has read, each change of an account counts once, in chain order', async () => {
  const compare = async ({
    entries: some,
    wallets,
    reads,
    lacksAt,
    last,
  }: typeof drawn extends fc.Arbitrary<infer T> ? T : never) => {
    const entries = some.map((one, id) => ({ ...one, id }))
    const watching = { wallets: wallets.map((wallet) => ({ wallet })), signers: [] }
    const [logged, asked]: [object[], number[]] = [[{}], []]
    const observeBlocks = async (numbers: number[], ...others: unknown[]) => {
      assert.deepEqual(others, [logged, watching])
      assert.deepEqual(numbers, [...new Set(numbers)].toSorted())
      assert.ok(numbers.length > 0 && numbers.every((number) => !asked.includes(number)), 'a block is read once')
      if (calls === lacksAt) return null
      asked.push(...numbers)
      const own = (list: model.List) =>
        entries.filter((one) => one.list === list && numbers.includes(one.blockNumber)).map(shown)
      return {
        blocks: numbers.map(blockAt).toReversed(),
        ...Object.fromEntries(LISTS.map((list) => [list, own(list)])),
      }
    }
    const seen = createSeen({ observeBlocks } as never, logged as never, watching as never)
    let calls = 0
    const had = new Set<number>()
    for (const numbers of reads) {
      const isMissing = calls === lacksAt && numbers.some((number) => !had.has(number))
      assert.equal(await seen.read(numbers), !isMissing)
      if (!isMissing) for (const number of numbers) had.add(number)
      calls++
    }
    compareAll(seen, { entries, wallets, had, last })
    const { watching: whom, isSurveyed, fees } = seen.rangeTo(blockAt(last) as never)
    assert.deepEqual({ whom, isSurveyed, fees }, { whom: watching, isSurveyed: true, fees: [] })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(400) })
})

interface Expected {
  entries: model.Entry[]
  wallets: string[]
  had: Set<number>
  last: number
}

function compareAll(seen: ReturnType<typeof createSeen>, { entries, wallets, had, last }: Expected): void {
  for (let number = 2; number <= 8; number++) assert.equal(seen.hashOf(number), had.has(number) ? word(number) : null)
  const read = entries.filter(({ blockNumber }) => had.has(blockNumber))
  for (const who of ACCOUNTS)
    for (const [low, high] of [
      [2, 8],
      [3, 5],
      [4, 4],
      [4, 7],
    ] as const)
      assert.deepEqual(
        seen.effectOn(who as never, low, high),
        model.effect(read, wallets, who, low, high),
        `${low} to ${high}`,
      )
  const range = seen.rangeTo(blockAt(last) as never)
  const numbers = [...had].filter((number) => number < last).toSorted()
  assert.deepEqual(range.blocks, [...numbers, last].map(blockAt))
  for (const list of LISTS) {
    const ids = (range[list as 'sent'] as unknown as { id: number }[]).map(({ id }) => id)
    assert.deepEqual(ids, model.inOrder(read, list, last), list)
  }
}
