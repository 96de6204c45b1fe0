// Mishaps of the chain, the database and the instances: reorganisations, lost connections and locks, another instance
// that runs in between. Each can come between two blocks or in the middle of a pass.
import type { Hex } from 'viem'
import type { Address, Hash } from '../../src/domain/units.ts'
import { FAILPOINTS, type Failpoint } from '../../src/lib/failpoint.ts'
import { FAULTS, type Fault, isCallFault } from '../support/faults/names.ts'
import { FINAL_AFTER } from './model/rpc.ts'
import { TRACE_FAULTS } from './payers/faults.ts'
import { hex, mine, type PassName, type Plan, type Play, runPass } from './play.ts'
import { FIRST_BLOCK, INTERVAL_SEC } from './stage.ts'
import { count } from './tally.ts'

const DEPTH_MAX = 8
/** Share of reorganisations that reach below a final block. */
const PAST_FINAL = 0.04
/** The request of a pass before which something happens; a pass makes some ten to thirty. */
const REQUEST_MAX = 24

/** The faults of traces come with the paying contracts. */
export const SIM_FAULTS = FAULTS.filter((fault) => !(TRACE_FAULTS as readonly string[]).includes(fault))
/** Reading four megabytes takes as long as a whole pass. */
const DEAR: Fault = 'giant'

interface WireTransaction {
  hash: Hash
  from: Address
  /** The sender may also be a contract. */
  to: Address | null
  nonce: Hex
}

/** Fates of an account's transactions in the reorganised blocks. */
const FATES = ['kept', 'kept', 'moved', 'dropped', 'double'] as const
type Fate = (typeof FATES)[number]

type Entry = [Hex | object, number]

/** Reorganises the last blocks. Buyers' transactions in them are kept, moved, dropped or replaced. */
export async function reorganise(play: Play, depthMax = DEPTH_MAX): Promise<string> {
  const { chain } = play.stage
  const head = Number((await chain.block()).number)
  // Without a guard a mint outlives a reorganisation of the final blocks that it depends on, so nothing could hold then.
  const isPastFinal = play.dice.roll('past final') < PAST_FINAL && play.facts.guardUsable
  const wanted = isPastFinal ? FINAL_AFTER + play.dice.between('more', 1, 4) : null
  const depth = Math.min(wanted ?? play.dice.between('depth', 1, depthMax), head - FIRST_BLOCK + 1)
  if (depth < 1) return 'no blocks to take back'
  if (depth > FINAL_AFTER) play.pastFinal = true
  const fates = new Map<Address, Fate>()
  const entries: Entry[] = []
  for (let place = 0; place < depth; place++) {
    const number = hex(head - depth + 1 + place)
    const block = await chain.rpc<{ transactions: WireTransaction[] }>('eth_getBlockByNumber', [number, true])
    for (const transaction of block.transactions) {
      // The chain makes its own transactions anew.
      if ((await play.stage.world.raw(transaction.hash)) === null) continue
      const entry = await entryOf(play, fates, transaction, { place, last: depth - 1 })
      if (entry) entries.push(entry)
    }
  }
  await chain.reorg(depth, entries as never)
  count(play.tally, 'reorganisation')
  if (head - depth < FIRST_BLOCK) count(play.tally, 'first block taken back')
  play.lately = 'reorganisation'
  return `the last ${depth} blocks are replaced`
}

/** A transaction's position among the new blocks, or its replacement there; null for nothing. */
async function entryOf(
  play: Play,
  fates: Map<Address, Fate>,
  { hash, from, to, nonce }: WireTransaction,
  { place, last }: { place: number; last: number },
): Promise<Entry | null> {
  const { world } = play.stage
  const ours = from === world.at(1) || from === world.at(2)
  const fate = fates.get(from) ?? fateOf(play, ours)
  // After a double spend, the account's other transactions are in no block.
  fates.set(from, fate === 'double' ? 'dropped' : fate)
  count(play.tally, `fate ${fate}${ours ? ' of ours' : ''}`)
  if (fate === 'kept' || fate === 'moved') return [await world.raw(hash), fate === 'kept' ? place : last]
  play.dropped.add(from)
  if (to) play.dropped.add(to)
  if (fate === 'dropped') return null
  const fees = { maxFeePerGas: hex(2_000n * 10n ** 9n), maxPriorityFeePerGas: hex(1) }
  return [{ from, to: world.at(11), value: '0x1', nonce, gas: hex(21_000), ...fees }, place]
}

/** Ours are never replaced, because no other account has the keys. */
function fateOf(play: Play, ours: boolean): Fate {
  return play.dice.pick(ours ? 'our fate' : 'fate', ours ? (['kept', 'dropped'] as const) : FATES)
}

async function cutConnections({ stage: { observer } }: Play): Promise<void> {
  await observer`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'sim' AND datname = current_database()`
}

/** Events that may come in the middle of a pass of instance `at`. */
const INTERRUPTS: Record<string, (play: Play, at: number) => Promise<void>> = {
  'a block': (play) => mine(play, 2),
  'a reorganisation': async (play) => void (await reorganise(play, 3)),
  'a turn falls due': (play) => mine(play, INTERVAL_SEC),
  'the other instance follows': (play, at) => runPass(play, 1 - at, 'credit', { kind: 'nothing' }),
  'the other instance is told a claim': (play, at) => runPass(play, 1 - at, 'claim', { kind: 'nothing' }),
  'the other instance runs': (play, at) => runPass(play, 1 - at, 'payments', { kind: 'nothing' }),
  async 'the lock is lost, and taken'(play, at) {
    await play.stage.locks.lose(play.dice.roll('told') < 0.5)
    await runPass(play, 1 - at, play.dice.pick('taken', ['payments', 'credit'] as const), { kind: 'nothing' })
  },
  async 'a block, and the other instance under a lost lock'(play, at) {
    await mine(play, 2)
    await play.stage.locks.lose(false)
    await runPass(play, 1 - at, 'payments', { kind: 'nothing' })
  },
  'database connections are cut': cutConnections,
}
export const INTERRUPT_NAMES = Object.keys(INTERRUPTS)
/** Reconnecting takes real time. */
const RARE = 'database connections are cut'

/** Failpoints that few runs pass, and when they do. */
const LATELY: Record<NonNullable<Play['lately']>, readonly Failpoint[]> = {
  reorganisation: ['rewind.storing', 'rewind.stored'],
  stuck: ['bump.stored'],
}

/** Draws what happens to a run of a pass. */
export function planFor(play: Play, at: number, name: PassName): Plan {
  const { dice } = play
  const kind = dice.roll('plan')
  if (kind < 0.22) {
    const waiting = play.lately && dice.roll('lately') < 0.5 ? LATELY[play.lately] : null
    const points =
      waiting ?? FAILPOINTS.filter((point) => name !== 'credit' || !/^(mint|openCohorts|judge)\./.test(point))
    return { kind: 'dieAt', point: dice.pick('point', points), skip: waiting || dice.roll('skip') < 0.8 ? 0 : 1 }
  }
  if (kind < 0.27) return { kind: 'dieAtRequest', request: dice.between('request', 0, REQUEST_MAX) }
  if (kind > 0.5) return { kind: 'nothing' }
  const often = INTERRUPT_NAMES.filter((what) => what !== RARE)
  const what = dice.roll('rare') < 0.02 ? RARE : dice.pick('interrupt', often)
  const act = async () => void (await INTERRUPTS[what]?.(play, at))
  return { kind: 'interrupt', request: dice.between('request', 0, REQUEST_MAX), what, act }
}

/** Mostly a few frequent classes, so the rare ones, which hit few requests, get a chance; else all, rarely. */
export function weatherOf(dice: Play['dice']): Play['weather'] {
  if (dice.roll('all faults') < 0.4)
    return { rate: dice.pick('seldom', [0, 0.02, 0.05, 0.1]), faults: SIM_FAULTS.filter((fault) => fault !== DEAR) }
  const calls = SIM_FAULTS.filter(isCallFault)
  const replies = SIM_FAULTS.filter((fault) => !isCallFault(fault) && (fault !== DEAR || dice.roll('dear') < 0.1))
  const faults = [dice.pick('call fault', calls), dice.pick('call fault', calls), dice.pick('reply fault', replies)]
  return { rate: dice.pick('often', [0.1, 0.2, 0.3]), faults }
}
