// What an idle service costs at its provider per day, on mainnet and on Base: calls, units and dollars by published lists, and bytes on the wire. For
// comparison, Ponder and a loop written with viem watch the same chain for the same things. All run at the chain's own pace.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Hex, toFunctionSelector } from 'viem'
import { factoryAbi } from '../src/chain/factory/abi.ts'
import type { Address } from '../src/domain/units.ts'
import { createEmptyDatabase } from '../test/support/postgres.ts'
import { ETHER, startWorld, type World } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { followWithPonder, installPeers } from './lib/peers.ts'
import { PRICE_LISTS, unitsOf } from './lib/price-lists.ts'
import { type Served, serve } from './lib/process.ts'
import { asIs, atMost, notMeasured, type Row } from './lib/report.ts'
import { settingsOn, startService } from './lib/service.ts'

/** Chains by block time and load. Block times: ethereum.org "Blocks", docs.base.org. Transactions per block: an assumed order of magnitude. */
const SHAPES = [
  { name: 'mainnet', blockSec: 12, perBlock: 200 },
  { name: 'Base', blockSec: 2, perBlock: 200 },
]
type Shape = (typeof SHAPES)[number]

const LAUNCHER = fileURLToPath(new URL('../bin/node-ledger.mjs', import.meta.url))
/** The default of TICK_SEC. */
const TICK_SEC = 60
const TICKS = { quick: 1, real: 10 }
const DAY_SEC = 86_400
const TICK_CALLS_GOAL = 8
const BILL_GOAL = 0.5
const PRICE_WEI = ETHER / 100n
/** A stranger's contract. It logs forty topics a call, so the bloom filter of a block of such calls matches everything. */
const BUSY = '0x00000000000000000000000000000000000b0517'
/** Forty times LOG1 with the first word of the calldata, counted up. */
const BUSY_CODE = '0x60003560285b8160006000a19060010190600190038060055700'
const CALL_GAS = '0x186a0'
const CALLDATA_BYTES = 200
const STRANGERS = 10

/** The report of bench/servers/counting.ts. */
interface Bill {
  calls: Record<string, number>
  /** The same calls, by method and purpose. */
  purposes: Record<string, number>
  requests: number
  bytes: number
}

export const bill: Bench = {
  name: 'bill',
  about: `Calls, units and dollars by providers’ lists, and bytes that a day without sales costs at a provider, every call of a batch counted, ticks every ${TICK_SEC} s; measured over ten ticks, times as many as a day has.`,
  isTimed: false,
  run: async (options) => {
    const missing = await installPeers(options.progress)
    if (missing !== null) return [notMeasured('bill', missing)]
    // All at once, because they only count and time nothing.
    return (await Promise.all(SHAPES.map((shape) => measure(shape, options)))).flat()
  },
}

async function measure(shape: Shape, { quick, progress }: BenchOptions): Promise<Row[]> {
  // No turn falls due during the measurement.
  const world = await startWorld({}, { turns: { intervalSec: DAY_SEC, slotSec: 3_600 } })
  const open: { stop(): Promise<void> }[] = []
  const opened = async <T extends { stop(): Promise<void> }>(opening: Promise<T>): Promise<T> => {
    const one = await opening
    open.push(one)
    return one
  }
  const database = await createEmptyDatabase()
  try {
    // Before the sale, because anvil proves no state of a block whose code was set.
    await world.chain.rpc('anvil_setCode', [BUSY, BUSY_CODE])
    await world.chain.mine()
    await world.pay(5, PRICE_WEI)
    await world.settle()
    const provider = () => opened(serve('counting.ts', [world.chain.rpcUrl]))
    const providers = { ours: await provider(), ponder: await provider(), viem: await provider() }
    await opened(startOurs(world, providers.ours))
    const task = { databaseUrl: database.url, rpcOrigin: providers.ponder.origin, chainId: world.chain.chainId }
    await opened(followWithPonder({ ...task, factory: world.factory, paymentsWallet: world.at(3), endBlock: null }))
    const watched = [providers.viem.origin, world.factory, world.at(3), String(shape.blockSec)]
    await opened(serve('watching.ts', watched))
    progress(`${shape.name}: all follow`)
    // From the end of one of our ticks to the end of another. A window with part of a tick would miscount that tick's blocks.
    const ticks = quick ? TICKS.quick : TICKS.real
    await mineFor(world, shape, TICK_SEC / 2)
    await mineTicks(world, shape, providers.ours, 1)
    const [before, began] = [await billsOf(providers), performance.now()]
    const blocks = await mineTicks(world, shape, providers.ours, ticks)
    const after = await billsOf(providers)
    const sec = (performance.now() - began) / 1000
    const perTick = (countOf(before.ours, after.ours) - blocks) / ticks
    const day = (who: keyof typeof providers) => dayOf(before[who], after[who], DAY_SEC / sec)
    return rowsOf(shape, { ours: day('ours'), ponder: day('ponder'), viem: day('viem') }, { perTick, progress })
  } finally {
    for (const one of open.reverse()) await one.stop()
    await database.drop()
    await world.close()
  }
}

async function startOurs(world: World, provider: Served) {
  const settings = { ...settingsOn(world), RPC_URL: provider.origin, SCHEDULER: 'on', TICK_SEC: String(TICK_SEC) }
  return await startService([process.execPath, LAUNCHER, 'start'], settings)
}

/** Mines blocks of other people's transactions at the chain's pace. */
async function mineFor(world: World, { blockSec, perBlock }: Shape, sec: number): Promise<void> {
  const until = performance.now() + sec * 1000
  for (let next = performance.now(); next < until; next += blockSec * 1000) {
    await crowd(world, perBlock)
    await sleep(Math.max(0, next - performance.now()))
    await world.chain.mine()
  }
  await sleep(Math.max(0, until - performance.now()))
}

/** Sends strangers' calls, each with its own topics. An account sends one after the other, because the chain numbers them. */
async function crowd(world: World, count: number): Promise<void> {
  const callsOf = async (from: Address) => {
    for (let i = 0; i < count / STRANGERS; i++) {
      const data: Hex = `0x${randomBytes(CALLDATA_BYTES).toString('hex')}`
      await world.chain.send({ from, to: BUSY, gas: CALL_GAS, data })
    }
  }
  await Promise.all(Array.from({ length: STRANGERS }, (_, index) => callsOf(world.at(10 + index))))
}

/** Mines until our service has ended this many more ticks. @returns how many blocks. */
async function mineTicks(world: World, shape: Shape, ours: Served, ticks: number): Promise<number> {
  // Each tick checks the wallet's balance once, by its proof.
  const checks = async () => (await billsOf({ ours })).ours.purposes[`eth_getProof ${world.at(3)}`] ?? 0
  const goal = (await checks()) + ticks
  let blocks = 0
  for (; (await checks()) < goal; blocks++) await mineFor(world, shape, shape.blockSec)
  return blocks
}

async function billsOf<Name extends string>(providers: Record<Name, Served>): Promise<Record<Name, Bill>> {
  const bills = await Promise.all(
    Object.entries<Served>(providers).map(async ([name, { origin }]) => [name, await (await fetch(origin)).json()]),
  )
  return Object.fromEntries(bills) as Record<Name, Bill>
}

function dayOf(before: Bill, after: Bill, times: number): Bill {
  const counts = (kind: 'calls' | 'purposes') => {
    const grown = Object.entries(after[kind]).map(([name, count]) => [
      name,
      (count - (before[kind][name] ?? 0)) * times,
    ])
    return Object.fromEntries(grown.filter(([, count]) => Number(count) > 0))
  }
  return {
    calls: counts('calls'),
    purposes: counts('purposes'),
    requests: (after.requests - before.requests) * times,
    bytes: (after.bytes - before.bytes) * times,
  }
}

const sumOf = ({ calls }: Bill) => Object.values(calls).reduce((sum, count) => sum + count, 0)
const countOf = (before: Bill, after: Bill) => sumOf(after) - sumOf(before)
const shown = (count: number) => Math.round(count).toLocaleString('en')
const inUnit = (figure: number, unit: string) => (unit === '$' ? `$${figure.toFixed(2)}` : `${shown(figure)} ${unit}`)

type Bills = Record<'ours' | 'ponder' | 'viem', Bill>

function rowsOf(
  { name, blockSec }: Shape,
  bills: Bills,
  { perTick, progress }: { perTick: number; progress: BenchOptions['progress'] },
): Row[] {
  for (const [who, { calls }] of Object.entries(bills)) {
    const each = Object.entries(calls).map(([method, count]) => `${method} ${shown(count)}`)
    progress(`${name}, ${who}: ${each.join(', ')}`)
  }
  progress(`${name}, ours a tick: ${tickOf(bills.ours).join(', ')}`)
  const blocks = DAY_SEC / blockSec
  return [
    {
      what: `${name}: calls a tick beside one a block`,
      ours: perTick.toFixed(1),
      ratio: null,
      peer: `${shown(blocks)} blocks a day`,
      goal: `at most ${TICK_CALLS_GOAL}`,
      met: perTick <= TICK_CALLS_GOAL,
    },
    ...against(`${name}: calls`, 'calls', bills, sumOf),
    ...PRICE_LISTS.flatMap((list) =>
      against(`${name}: ${list.name}`, list.unit, bills, (one) => unitsOf(list, one.calls)),
    ),
    ...against(`${name}: on the wire`, 'MB', bills, ({ bytes }) => bytes / 1e6),
  ]
}

const VIEWS = new Map<string, string>(
  factoryAbi.flatMap((item) => (item.type === 'function' ? [[toFunctionSelector(item), item.name]] : [])),
)

/** The calls of a tick, by purpose. */
function tickOf({ purposes }: Bill): string[] {
  const named = (purpose: string) => purpose.replace(/0x[0-9a-f]{8}$/, (selector) => VIEWS.get(selector) ?? selector)
  const ticks = DAY_SEC / TICK_SEC
  return Object.entries(purposes).map(([purpose, count]) => `${named(purpose)} ${(count / ticks).toFixed(1)}`)
}

/** A row for each peer. The goal applies to Ponder; the loop is there for scale. */
function against(what: string, unit: string, bills: Bills, figure: (bill: Bill) => number | null): Row[] {
  const ours = figure(bills.ours)
  const rows = [['Ponder', figure(bills.ponder)] as const, ['viem', figure(bills.viem)] as const]
  return rows.flatMap(([peer, theirs]) => {
    if (ours === null || theirs === null) return []
    const [left, right] = [inUnit(ours, unit), `${peer}: ${inUnit(theirs, unit)}`]
    return [
      peer === 'viem' ? asIs(what, left, right, ours / theirs) : atMost(what, left, right, ours / theirs, BILL_GOAL),
    ]
  })
}
