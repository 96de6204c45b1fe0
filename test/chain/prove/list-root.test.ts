// The root of a list equals that of the trie from the reference library, whatever is in the list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMPT } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import fc from 'fast-check'
import { toHex } from 'viem'
import { listRoot } from '../../../src/chain/prove/list-root.ts'
import { cases, randomBelow } from '../../support/property.ts'

async function rootOf(values: readonly Uint8Array[]): Promise<string> {
  const trie = await createMPT()
  for (const [index, value] of values.entries()) await trie.put(RLP.encode(index), value)
  return toHex(trie.root())
}

/** Values of one byte up to some hundred, because a parent node contains small ones inline. */
function listOf(length: number, seed: number): Uint8Array[] {
  const below = randomBelow(seed)
  return Array.from({ length }, () =>
    Uint8Array.from({ length: 1 + below(below(2) === 0 ? 4 : 300) }, () => below(256)),
  )
}

test('the root of any list is that of the whole trie', async () => {
  const lists = fc.tuple(fc.integer({ min: 0, max: 300 }), fc.integer())
  const isSame = async ([length, seed]: [number, number]) => {
    const values = listOf(length, seed)
    assert.equal(await listRoot(values), await rootOf(values))
  }
  await fc.assert(fc.asyncProperty(lists, isSame), { numRuns: cases(10) })
})

test('lists of every length to 300 have the root of the whole trie', async () => {
  const values = listOf(300, 1)
  const trie = await createMPT()
  for (let length = 0; length <= values.length; length++) {
    assert.equal(await listRoot(values.slice(0, length)), toHex(trie.root()), `${length}`)
    if (length < values.length) await trie.put(RLP.encode(length), values[length] as Uint8Array)
  }
})

test('no value can change, go, or trade places without another root', async () => {
  const values = listOf(130, 2)
  const root = await listRoot(values)
  const [first, second, ...others] = values as [Uint8Array, Uint8Array]
  const changed = [values.slice(0, -1), [second, first, ...others], [first, ...others], [...values, first]]
  for (const list of changed) assert.notEqual(await listRoot(list), root)
})

test('hashing a long list lets others have their turn', async () => {
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  const rooted = listRoot(listOf(4_000, 3)).then(() => {
    isDone = true
  })
  setImmediate(count)
  await rooted
  assert.ok(turns > 1, `${turns}`)
})
