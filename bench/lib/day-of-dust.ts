// Follows blocks with and without something of ours. Measures the processor time of a day with 1 wei in each block, and the calls for a block with
// 1 wei and for one with a payment of a tier's price. The ledger requires all proofs, and reads block by block.
import { isProven } from '../../src/db/blocks/evidence.ts'
import type { Address } from '../../src/domain/units.ts'
import { follow } from '../../src/follower/follow.ts'
import type { RunLimits } from '../../src/ports/contexts.ts'
import { type FalseProvider, startFalseProvider } from '../../test/chain/false-provider.ts'
import { ETHER, startWorld, type World } from '../../test/support/world.ts'
import type { BenchOptions } from './bench.ts'
import { median, ms } from './numbers.ts'
import { asIs, type Row } from './report.ts'

/** A day of blocks, one every 12 s. */
const BLOCKS = 7_200
const BLOCKS_QUICK = 40
/** Blocks that we do not count at first, because code is slower until it is compiled. */
const WARM_UP = 300
/** For how many blocks of each kind we count the calls. */
const COUNTED = 9
/** A receipt tells whether the wei arrived. The books need to know it. */
const DUST_CALLS_MAX = 1
const MORE_CALLS_MAX = 2
const BASIC = ETHER / 100n
const STRANGER = `0x${'57'.repeat(20)}` as Address
const RUN: RunLimits = { checkLock: () => {}, outOfTime: () => false }
/** Makes no range old enough to be surveyed. */
const NEVER = { behind: Number.POSITIVE_INFINITY, blocksMin: 1 }

export async function besideNothing({ quick, progress }: BenchOptions): Promise<Row[]> {
  let provider: FalseProvider | undefined
  const between = async (target: string) => {
    const started = await startFalseProvider(target)
    provider = started
    return { urls: [started.url], close: () => started.close() }
  }
  const world = await startWorld({}, { between })
  try {
    await requireProofs(world)
    const calls = await callsOf(world, provider as FalseProvider)
    const blocks = quick ? BLOCKS_QUICK : BLOCKS
    await dayOf(world, WARM_UP, STRANGER)
    const dust = await dayOf(world, blocks, world.at(3))
    progress(`${blocks} blocks with 1 wei: ${ms(dust)} each`)
    const none = await dayOf(world, blocks, STRANGER)
    const more = (what: string, counted: number, most: number): Row => ({
      what,
      ours: `${counted} calls`,
      peer: `a block with nothing of ours: ${calls.none} calls`,
      ratio: counted / calls.none,
      goal: `at most ${most} more`,
      met: counted - calls.none <= most,
    })
    return [
      asIs(
        '1 wei in each block of a day: processor time a block',
        ms(dust),
        `1 wei to a stranger: ${ms(none)}`,
        dust / none,
      ),
      more('calls to follow a block with 1 wei: its receipt, and no proof', calls.dust, DUST_CALLS_MAX),
      more('calls to follow a block with a payment', calls.paid, MORE_CALLS_MAX),
    ]
  } finally {
    await world.close()
  }
}

const followed = ({ ctx }: World) => follow({ ...ctx, rules: { ...ctx.rules, survey: NEVER } }, RUN)

async function requireProofs(world: World): Promise<void> {
  await world.pay(5, 1n)
  await world.chain.mine(6)
  await world.settle()
  if (!(await isProven(world.pool))) throw new Error('this chain does not prove its blocks')
}

/** The median number of calls to follow one new block: with nothing of ours, with 1 wei, and with a payment. */
async function callsOf(world: World, provider: FalseProvider): Promise<{ none: number; dust: number; paid: number }> {
  const counted = async (to: Address, valueWei: bigint) => {
    const calls: number[] = []
    for (let i = 0; i < COUNTED; i++) {
      await world.pay(6, valueWei, to)
      await world.chain.mine()
      const before = provider.seen.length
      await followed(world)
      calls.push(provider.seen.length - before)
    }
    return median(calls)
  }
  const wallet = world.at(3)
  return { none: await counted(STRANGER, 1n), dust: await counted(wallet, 1n), paid: await counted(wallet, BASIC) }
}

/** Processor time to follow a block with 1 wei to an account, in milliseconds. */
async function dayOf(world: World, blocks: number, to: Address): Promise<number> {
  for (let i = 0; i < blocks; i++) {
    await world.pay(7, 1n, to)
    await world.chain.mine()
  }
  const began = process.cpuUsage()
  const { fromBlock, toBlock } = await followed(world)
  const { user, system } = process.cpuUsage(began)
  const read = (toBlock ?? 0) - (fromBlock ?? 0) + 1
  if (read !== blocks) throw new Error(`${read} of ${blocks} blocks were followed`)
  return (user + system) / 1000 / blocks
}
