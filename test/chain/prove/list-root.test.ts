// The root of a list equals that of the trie from the reference library, whatever is in the list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMPT } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { toHex } from 'viem'
import { breath } from '../../../src/chain/prove/breath.ts'
import { listRoot } from '../../../src/chain/prove/list-root.ts'
import { randomBelow } from '../../support/property.ts'

/** Values of one byte up to some hundred, because a parent node contains small ones inline. */
function listOf(length: number, seed: number): Uint8Array[] {
  const below = randomBelow(seed)
  return Array.from({ length }, () =>
    Uint8Array.from({ length: 1 + below(below(2) === 0 ? 4 : 300) }, () => below(256)),
  )
}

test('lists of every length to 130 have the root of the whole trie', async () => {
  const values = listOf(130, 1)
  const trie = await createMPT()
  for (let length = 0; length <= values.length; length++) {
    assert.equal(await listRoot(values.slice(0, length)), toHex(trie.root()), `${length}`)
    if (length < values.length) await trie.put(RLP.encode(length), values[length] as Uint8Array)
  }
})

test('short lists of values of every length have the root of the whole trie', async () => {
  const below = randomBelow(2)
  for (let length = 0; length < 70; length++)
    for (const count of [1, 2, 3, 17]) {
      const values = Array.from({ length: count }, () => Uint8Array.from({ length: length + 1 }, () => below(256)))
      const trie = await createMPT()
      for (const [index, value] of values.entries()) await trie.put(RLP.encode(index), value)
      assert.equal(await listRoot(values), toHex(trie.root()), `${count} of ${length}`)
    }
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

test('work yields once it has run for five milliseconds, and then runs for as long again', async () => {
  /** Whether it yields, and the time at which it was certainly not due yet; null if this process was interrupted. */
  const stretch = (call: () => unknown, startedAt: number) => {
    const yields = call() !== null
    return performance.now() - startedAt < 5 ? yields : null
  }
  const seen: (boolean | null)[][] = []
  for (let left = 200; left > 0 && !seen.some((each) => !each.includes(null)); left--) {
    const startedAt = performance.now()
    const pause = breath()
    const atOnce = stretch(pause, startedAt)
    while (performance.now() - startedAt < 6);
    const restartedAt = performance.now()
    const yielded = pause()
    await yielded
    seen.push([atOnce, yielded !== null, stretch(pause, restartedAt)])
  }
  assert.deepEqual(seen.at(-1), [false, true, false])
})
