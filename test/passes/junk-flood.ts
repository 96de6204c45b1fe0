// A buyer behind a flood of junk: the passes that they wait for, and the flood's cost to the ledger. junk.test.ts plays
// it small, junk.long.test.ts with a hundred thousand.
import assert from 'node:assert/strict'
import { costlyRows, flood, ledgerBytes } from '../support/flood.ts'
import { ETHER, paymentOf, startWorld } from '../support/world.ts'

/** Bytes that one junk transfer may take, with all indexes. */
const BYTES_MAX = 300
const PASSES_MAX = 2
/** The follower reads a receipt for each transfer, which takes as long as anvil needs. */
const FOLLOWING_MAX = 100

export interface Flooded {
  /** Passes that did not reach the head, then those until the buyer's mint was pending. */
  following: number
  passes: number
  bytesEach: number
}

/** Floods the wallet of a new world with dust of 1 to 9 wei, then someone buys, and asserts the limits on the cost of both. */
export async function playFlood(count: number, perBlock: number): Promise<Flooded> {
  const world = await startWorld()
  try {
    await world.rest()
    await world.pool`
      INSERT INTO webhook_endpoints (endpoint, url, secrets, added_by) VALUES ('test', 'https://example.com/', '{a}', 'test')`
    const [bytes, rows] = [await ledgerBytes(world.pool), await costlyRows(world.pool)]
    await flood(world, count, { perBlock, weiOf: (n) => BigInt((n % 9) + 1) })
    const bought = await world.pay(5, ETHER / 100n)
    await world.chain.mine()

    let following = 0
    const reachesHead = async () => {
      const { toBlock, headBlock } = await world.payments()
      return toBlock === headBlock
    }
    while (following < FOLLOWING_MAX && !(await reachesHead())) following++
    let passes = 1
    const waits = async () => !['minting', 'minted'].includes((await paymentOf(world, bought))?.state ?? '')
    for (; passes < PASSES_MAX && (await waits()); passes++) await world.payments()
    assert.equal(await waits(), false, `the buyer's mint is on its way within ${PASSES_MAX} passes`)

    const [stored] = await world.pool<
      { dust: number; wei: bigint }[]
    >`SELECT count(*) AS dust, sum(value_wei) AS wei FROM dust`
    assert.equal(stored?.dust, count, 'each transfer is on record')
    const [books] = await world.pool<
      { in_wei: bigint; dust_transfers: number }[]
    >`SELECT in_wei, dust_transfers FROM wallet_books`
    assert.deepEqual({ ...books }, { in_wei: (stored?.wei ?? 0n) + ETHER / 100n, dust_transfers: count })
    // The buyer's own rows: one payment, and its verdict.
    const own = { payments: 1, verdicts: 1, events: 0, audit: 0 }
    const entries = Object.entries(rows).map(([name, n]) => [name, Number(n) + own[name as keyof typeof own]])
    assert.deepEqual(await costlyRows(world.pool), Object.fromEntries(entries), 'junk has no such row')
    const bytesEach = ((await ledgerBytes(world.pool)) - bytes) / count
    assert.ok(bytesEach <= BYTES_MAX, `${bytesEach} bytes each`)

    await world.settle()
    assert.equal((await paymentOf(world, bought))?.state, 'minted')
    return { following, passes, bytesEach }
  } finally {
    await world.close()
  }
}
