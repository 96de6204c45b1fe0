// Judges a day's payments of mixed outcomes with the service's own step, in pages. For comparison, the same payments in pages of one, each in its own
// transaction. The bench writes the payments into the ledger as the follower would, and reads holdings from a development chain.
import { readCursor } from '../src/db/blocks/blocks.ts'
import { insertIncomingTransfers } from '../src/db/payments/rows.ts'
import { type Address, address, hash, wei } from '../src/domain/units.ts'
import { judge, PAGE_MAX } from '../src/passes/steps/judge.ts'
import { ETHER, enterTier, startWorld, type World } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { perSecond } from './lib/numbers.ts'
import { asIs, type Row } from './lib/report.ts'

const PAYMENTS = 20_000
const FULL_PAYMENTS = 100_000
const GOAL_PER_SEC = 5_000
/** Most payments that we judge one by one, because each takes about twenty times as long. */
const SINGLE = 2_000
/** The share of payments whose tier requires a holding. */
const HOLDING_SHARE = 0.01

const BASIC = ETHER / 100n
const FOUNDER = ETHER / 20n
const FORMER = ETHER / 30n
const ROOM_OF_WALLET = 10

/** The outcomes of ten payments, repeated. */
const FATES: readonly (keyof typeof MADE)[] = [
  ...(['accepted', 'accepted', 'accepted', 'accepted'] as const),
  ...(['denied', 'denied', 'wrongPrice', 'wrongPrice', 'afterGrace', 'full'] as const),
]
/** The nth payment with an outcome: its payer and its value. */
const MADE = {
  accepted: (n: number) => ({ from: wallet(0xa0, n), valueWei: BASIC }),
  /** All sent by one exchange's wallet. */
  denied: () => ({ from: wallet(0xd0, 1), valueWei: BASIC }),
  wrongPrice: (n: number) => ({ from: wallet(0xe0, n), valueWei: BASIC + 1n }),
  /** A tier's former price, after its grace period. */
  afterGrace: (n: number) => ({ from: wallet(0xf0, n), valueWei: FORMER }),
  /** Wallets that buy beyond their allowance. */
  full: (n: number) => ({ from: wallet(0xb0, n % 10), valueWei: BASIC }),
  holding: (n: number) => ({ from: wallet(0xc0, n), valueWei: FOUNDER }),
}

export const judging: Bench = {
  name: 'judging',
  about: `Payments of mixed fates, judged in pages of ${PAGE_MAX}: four in ten are accepted, the others on the deny list, of no price, after a price's grace, or of a wallet that is full.`,
  isTimed: true,
  run: async (options) => {
    const world = await startWorld()
    try {
      return await measure(world, options)
    } finally {
      await world.close()
    }
  },
}

async function measure(world: World, { quick, full, progress }: BenchOptions): Promise<Row[]> {
  const count = quick ? 1_000 : full ? FULL_PAYMENTS : PAYMENTS
  await openSale(world)
  const mixed = (n: number) => FATES[n % FATES.length] ?? 'accepted'
  // So that the code is compiled and the database has its plans before we measure.
  await timed(world, await enter(world, 1_000, mixed), PAGE_MAX)
  const single = await timed(world, await enter(world, Math.min(count, SINGLE), mixed), 1)
  progress(`one by one: ${perSecond(single, 'payments')}`)
  const paged = await timed(world, await enter(world, count, mixed), PAGE_MAX)
  progress(`in pages: ${perSecond(paged, 'payments')}`)
  await world.pool`
    INSERT INTO webhook_endpoints (endpoint, url, secrets, added_by) VALUES ('bench', 'https://example.com/', '{a}', 'bench')`
  const told = await timed(world, await enter(world, count / 10, mixed), PAGE_MAX)
  await world.pool`UPDATE webhook_endpoints SET active = false`
  const holding = await timed(world, await enter(world, count * HOLDING_SHARE, () => 'holding'), PAGE_MAX)
  progress(`whose holdings are read: ${perSecond(holding, 'payments')}`)
  const oneByOne = `one by one: ${perSecond(single, 'payments')}`
  return [
    {
      ...asIs(`${count.toLocaleString('en')} payments`, perSecond(paged, 'payments'), oneByOne, paged / single),
      goal: `at least ${GOAL_PER_SEC.toLocaleString('en')}/s`,
      met: paged >= GOAL_PER_SEC,
    },
    asIs('the same, each that is held an event for one endpoint', perSecond(told, 'payments'), oneByOne, told / single),
    asIs('whose holdings are read from the chain', perSecond(holding, 'payments'), oneByOne, holding / single),
  ]
}

/** Puts an exchange on the deny list, and raises a price so long ago that the old price no longer buys anything. */
async function openSale(world: World): Promise<void> {
  await world.pool`
    INSERT INTO senders (address, label, reason, added_by) VALUES (${wallet(0xd0, 1)}, 'an exchange', 'bench', 'bench')`
  await enterTier(world, { tierId: 'raised', tierNo: 9, priceWei: wei(FORMER), maxPerWallet: ROOM_OF_WALLET })
  await world.chain.mine()
  await enterTier(world, { tierId: 'raised', tierNo: 9, priceWei: wei(FORMER + 1n), maxPerWallet: ROOM_OF_WALLET })
  await world.chain.increaseTime(86_400)
  await world.settle()
}

/** Writes payments into the last followed block. @returns how many. */
async function enter(world: World, count: number, fateOf: (n: number) => keyof typeof MADE): Promise<number> {
  const cursor = await readCursor(world.pool)
  if (!cursor) throw new Error('nothing was followed')
  const [{ first } = { first: 0 }] = await world.pool<{ first: number }[]>`SELECT count(*) AS first FROM payments`
  for (let done = 0; done < count; done += 1_000) {
    const transfers = Array.from({ length: Math.min(1_000, count - done) }, (_, n) => {
      const place = first + done + n
      const { from, valueWei } = MADE[fateOf(place)](place)
      const txHash = hash(`0x${place.toString(16).padStart(64, '0')}`)
      const at = { blockNumber: cursor.number, blockHash: cursor.hash, blockTime: cursor.time, txIndex: place }
      return { ...at, txHash, wallet: world.at(3), from, valueWei: wei(valueWei), succeeded: true }
    })
    await insertIncomingTransfers(world.pool, transfers)
  }
  await world.pool`VACUUM ANALYZE payments`
  return count
}

/** Judges the waiting payments, run after run. @returns payments per second. */
async function timed(world: World, count: number, page: number): Promise<number> {
  const cursor = await readCursor(world.pool)
  if (!cursor) throw new Error('nothing was followed')
  const run = { checkLock: () => {}, outOfTime: () => false, page }
  const waiting = async () => {
    const [row] = await world.pool<{ seen: number }[]>`SELECT count(*) AS seen FROM payments WHERE state = 'seen'`
    return row?.seen ?? 0
  }
  const began = performance.now()
  do await judge(world.ctx, cursor, cursor.number, run)
  while ((await waiting()) > 0)
  return (count / (performance.now() - began)) * 1_000
}

function wallet(kind: number, n: number): Address {
  return address(`0x${kind.toString(16)}${n.toString(16).padStart(38, '0')}`)
}
