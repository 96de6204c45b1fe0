// A tier with too few places: all buyers pay in one block, and the bench counts from that block who must get a node. For comparison, a sale with as
// many places as buyers, and public tiers without a supply.
import { connect } from '../src/db/core/sql.ts'
import { createDatabase, type TestDatabase } from '../test/support/postgres.ts'
import { payFrom } from '../test/support/wallets/payer.ts'
import { startWorld, type World } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { fillLedger } from './lib/fill.ts'
import { inTurn, missingTools, requestRate } from './lib/load.ts'
import { perSecond } from './lib/numbers.ts'
import { serveApi } from './lib/process.ts'
import { atLeast, atMost, notMeasured, type Row } from './lib/report.ts'
import { minted, type Service, settingsOn, startService } from './lib/service.ts'

const PLACES = 2_000
const BUYERS = 3_000
/** One buyer in this many pays an amount that is no price. */
const WRONG_EVERY = 50
const BLOCK_SEC = 2
const TICK_SEC = 2
/** Room for all transfers in one block, and some more. */
const BLOCK_GAS = 64_000_000
const PRICE_WEI = 10n ** 16n
/** A payment that gets no node costs only its verdict. */
const GOAL = 1.25
const RATE_GOAL = 0.9
const TIERS = '/api/tiers of a tier with a supply'

export const sale: Bench = {
  name: 'sale',
  about: `${BUYERS.toLocaleString('en')} payments for ${PLACES.toLocaleString('en')} places in one block, a block every ${BLOCK_SEC} s; /api/tiers with a supply.`,
  isTimed: true,
  run: async (options) => {
    const places = options.quick ? 60 : PLACES
    const buyers = options.quick ? 100 : BUYERS
    const enough = await sell(options, { places, buyers: places, wrongEvery: Infinity })
    const tooMany = await sell(options, { places, buyers, wrongEvery: WRONG_EVERY })
    const [p, b] = [places, buyers].map((count) => count.toLocaleString('en'))
    const sold = atMost(
      `${b} payments for ${p} places: to the last node`,
      `${tooMany.toFixed(1)} s; the nodes are those of an own count`,
      `${p} payments for ${p} places: ${enough.toFixed(1)} s`,
      tooMany / enough,
      GOAL,
    )
    return [sold, ...(await compareTiers(options))]
  },
}

interface Crowd {
  places: number
  buyers: number
  wrongEvery: number
}

/** Sells to a crowd, and compares the nodes with the count. @returns the seconds from the block of the payments to the last node. */
async function sell({ progress }: BenchOptions, { places, buyers, wrongEvery }: Crowd): Promise<number> {
  const world = await startWorld()
  let service: Service | undefined
  try {
    const { chain } = world
    const pay = (buyer: number, value: bigint) => payFrom(chain, buyer, { to: world.at(3), value })
    await chain.rpc('evm_setBlockGasLimit', [`0x${BLOCK_GAS.toString(16)}`])
    // The first sale opens the cohorts, once in a tier's life, and takes a place.
    await world.pool`UPDATE tiers SET supply = ${places + 1} WHERE tier_id = 'basic'`
    await chain.mine(3)
    service = await startService([process.execPath, 'src/main.ts', 'start'], {
      ...settingsOn(world),
      SCHEDULER: 'on',
      TICK_SEC: String(TICK_SEC),
    })
    await chain.rpc('evm_setIntervalMining', [BLOCK_SEC])
    await pay(0, PRICE_WEI)
    await minted(world, 1)
    // The buyers' transactions wait for one block.
    await chain.rpc('evm_setIntervalMining', [0])
    for (let buyer = 1; buyer <= buyers; buyer++) await pay(buyer, PRICE_WEI + (buyer % wrongEvery === 0 ? 1n : 0n))
    await chain.mine()
    const block = Number((await chain.block()).number)
    const began = performance.now()
    await chain.rpc('evm_setIntervalMining', [BLOCK_SEC])
    await minted(world, 1 + places)
    const tookSec = (performance.now() - began) / 1_000
    await compareNodes(world, block, { places, buyers })
    progress(`${buyers} payments for ${places} places: done`)
    return tookSec
  } finally {
    await service?.stop()
    await world.close()
  }
}

interface Transfer {
  hash: string
  to: string | null
  value: string
}

/** Counts the block's own list: the first transfers of the price must have the nodes, and no others. */
async function compareNodes(
  world: World,
  number: number,
  { places, buyers }: Omit<Crowd, 'wrongEvery'>,
): Promise<void> {
  const height = `0x${number.toString(16)}`
  const block = await world.chain.rpc<{ transactions: Transfer[] }>('eth_getBlockByNumber', [height, true])
  if (block.transactions.length !== buyers) throw new Error('the buyers did not pay in one block')
  const right = block.transactions.filter(({ to, value }) => to === world.at(3) && BigInt(value) === PRICE_WEI)
  const expected = right.slice(0, places).map(({ hash }) => hash)
  const rows = await world.pool<{ hash: string }[]>`
    SELECT p.tx_hash AS hash FROM nodes n JOIN payments p ON p.id = n.payment_id
    WHERE p.block_number = ${number} ORDER BY p.tx_index`
  const found = rows.map(({ hash }) => hash)
  const differing = expected.findIndex((hash, i) => hash !== found[i])
  if (found.length !== expected.length || differing >= 0)
    throw new Error(`${found.length} nodes, ${expected.length} counted; the first difference is at ${differing}`)
}

/** Two ledgers that differ only in the supply. */
async function compareTiers({ quick, progress }: BenchOptions): Promise<Row[]> {
  const missing = missingTools()
  // With --quick it only shows that the rest works, on any machine.
  if (missing !== null) return quick ? [] : [notMeasured(TIERS, missing)]
  await using closing = new AsyncDisposableStack()
  const rateOf = async (supply: number | null) => {
    const database = await filled(supply)
    closing.defer(() => database.drop())
    const api = await serveApi(database.url, 'memoised')
    closing.defer(() => api.stop())
    return (sec: number) => requestRate(api.origin, { template: '/api/tiers', maximum: 1 }, sec)
  }
  const loads = { limited: await rateOf(2 * PLACES), unlimited: await rateOf(null) }
  const { limited, unlimited } = await inTurn(loads, quick ? { runs: 1, sec: 1 } : { runs: 7, sec: 3 })
  progress('/api/tiers: done')
  const peer = `without: ${perSecond(unlimited, 'requests')}`
  return [atLeast(TIERS, perSecond(limited, 'requests'), peer, limited / unlimited, RATE_GOAL)]
}

async function filled(supply: number | null): Promise<TestDatabase> {
  const database = await createDatabase()
  const pool = connect(database.url, { max: 1, prepare: true, applicationName: 'bench' })
  await fillLedger(pool, { nodes: PLACES, rounds: 1, withdrawingEvery: 1, withdrawals: 1 })
  await pool`UPDATE tiers SET supply = ${supply}`
  await pool.end({ timeout: 1 })
  return database
}
