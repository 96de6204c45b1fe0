// Read-ahead: the follower reads each range of blocks while it stores the one before. The stored result equals reading
// them one by one, whatever fails and however many other instances follow.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { inTransaction } from '../../src/db/core/sql.ts'
import { type FollowResult, follow } from '../../src/follower/follow.ts'
import type { ChainReader } from '../../src/ports/chain.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'

/** Blocks per range here. */
const RANGE = 3
/** Much longer than it takes to store a range, or to fail to. */
const LONG_MS = 300

type Observe = ChainReader['observe']

let world: World
before(async () => {
  world = await startWorld()
  await world.settle()
})
after(() => world.close())

/** Mines three ranges with a payment in each. @returns the first of their blocks. */
async function threeRanges(): Promise<number> {
  const cursor = await readCursor(world.pool)
  for (let range = 0; range < 3; range++) {
    await world.pay(5, ETHER / 100n)
    await world.chain.mine(RANGE)
  }
  return (cursor?.number ?? 0) + 1
}

/** Follows by short ranges; `observing` may answer in place of the nth read, counted from 1. Notes where each begins. */
function followThen(observing: (nth: number, read: () => ReturnType<Observe>) => ReturnType<Observe>, began: number[]) {
  const { chain } = world.ctx
  const observe: Observe = (from, to, parent) => {
    began.push(from)
    return observing(began.length, () => chain.observe(from, Math.min(to, from + RANGE - 1), parent))
  }
  const outOfTime = { after: Number.POSITIVE_INFINITY }
  const run = { checkLock: () => {}, outOfTime: () => began.length >= outOfTime.after }
  const { ctx } = world.instance({ chain: { ...chain, observe } })
  return (ranges = Number.POSITIVE_INFINITY): Promise<FollowResult> => {
    outOfTime.after = ranges
    return follow(ctx, run)
  }
}

const reached = async () => (await readCursor(world.pool))?.number

test('the next range is read while one is being stored, and no further one', { timeout: 30_000 }, async () => {
  const first = await threeRanges()
  const began: number[] = []
  const running = await inTransaction(world.pool, async (sql) => {
    await readCursor(sql, { lock: true })
    const following = followThen((_, read) => read(), began)()
    while (began.length < 2) await sleep(5)
    await sleep(LONG_MS)
    assert.deepEqual(began, [first, first + RANGE])
    return { following }
  })
  const { fromBlock, toBlock, detected } = await running.following
  assert.deepEqual({ fromBlock, toBlock, detected }, { fromBlock: first, toBlock: first + 3 * RANGE - 1, detected: 3 })
  assert.deepEqual(began, [first, first + RANGE, first + 2 * RANGE])
})

test('a range that cannot be read stops the run once what comes before it is stored', async () => {
  const first = await threeRanges()
  const broken = followThen((nth, read) => (nth === 2 ? Promise.reject(new Error('broken')) : read()), [])
  await assert.rejects(broken(), /broken/)
  assert.equal(await reached(), first + RANGE - 1)
  assert.equal((await followThen((_, read) => read(), [])()).detected, 2)
})

test('nothing is being read any more when a run that could not store has ended', async () => {
  const first = await threeRanges()
  let over = false
  const ended = followThen(async (nth, read) => {
    const range = await read()
    if (nth === 1) return { ...range, transfers: range.transfers.map((transfer) => ({ ...transfer, txHash: '0x' })) }
    await sleep(LONG_MS)
    over = true
    throw new Error('no caller waits for this')
  }, [])
  await assert.rejects(ended(), /hash_check/)
  assert.equal(over, true)
  assert.equal(await reached(), first - 1)
  assert.equal((await followThen((_, read) => read(), [])()).detected, 3)
})

test('a range that was read ahead is dropped if another instance has followed on', async () => {
  const first = await threeRanges()
  const began: number[] = []
  const late = followThen(async (nth, read) => {
    const range = await read()
    if (nth === 1) await world.instance({ minter: null }).payments()
    return range
  }, began)
  const { toBlock, cursor, detected } = await late()
  assert.deepEqual({ toBlock, cursor: cursor?.number, detected }, { toBlock: null, cursor: first + 8, detected: 0 })
  assert.deepEqual(began, [first, first + RANGE])
})

test('a run whose time is up begins nothing new, and stores what it had begun', async () => {
  const first = await threeRanges()
  const began: number[] = []
  assert.equal((await followThen((_, read) => read(), began)(2)).toBlock, first + 2 * RANGE - 1)
  assert.equal(began.length, 2)
  assert.equal((await followThen((_, read) => read(), [])()).detected, 1)
  await world.settle()
  await checkInvariants(world)
})
