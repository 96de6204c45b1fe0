// What is remembered is given again for its time, and does not stay in memory longer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createMemory } from '../../src/chain/remember.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('an answer too old for anybody is forgotten when another comes, however much room there is', async () => {
  let now = 0
  const ask = createMemory<object>({ ageMaxMs: 5_000, answersMax: 100, clock: () => now })
  const remember = async (key: string) => new WeakRef((await ask(key, async () => ({ answer: {} }))) ?? {})
  const [first, second] = [await remember('first'), await remember('second')]
  now = 4_999
  const third = await remember('third')
  const held = () => {
    collectGarbage()
    return [first, second, third].map((answer) => answer.deref() !== undefined)
  }
  // A WeakRef holds what it was made of until the turn of the event loop ends.
  await new Promise(setImmediate)
  assert.deepEqual(held(), [true, true, true])
  now = 5_000
  await remember('fourth')
  await new Promise(setImmediate)
  assert.deepEqual(held(), [false, false, true])
})
