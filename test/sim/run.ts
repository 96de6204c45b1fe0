// Plays a seed from its first block to rest, and many seeds one after the other. Every draw comes from the seed. Its
// log records what it did, and a failure shows it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { settleFacts } from '../../src/boot/preflight.ts'
import { clearHalt, readHalt } from '../../src/db/blocks/halts.ts'
import { isDatabaseDown } from '../../src/db/core/faults.ts'
import { CONTRACT_WALLET_MODES } from '../../src/domain/payers/payer.ts'
import { FAILPOINTS } from '../../src/lib/failpoint.ts'
import { LeftOutFault } from '../../src/mending/compare.ts'
import type { Rules } from '../../src/ports/contexts.ts'
import { proveTheRest } from '../support/faults/believed.ts'
import { DIFFERENCES } from '../support/faults/differences.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER } from '../support/world.ts'
import { ACTS, act, calm, HIGH_FEE_WEI, mendWallet, notePrice } from './acts.ts'
import { holdClock } from './clock.ts'
import { plantDifferences } from './differences.ts'
import { calmEdges, EDGE_ACTS, EDGE_INTERRUPTS, edgeActs, edgePlan, OTHER_SETTINGS } from './edges.ts'
import { buildLadder, climb } from './ladder.ts'
import { VOICES } from './liars/liar.ts'
import { LIES } from './liars/lies.ts'
import { endLie, liarActs, lyingOf, rescanAfterLies, tryLie } from './liars/lying.ts'
import { checkAllocations, listBuyers } from './lists.ts'
import { INTERRUPT_NAMES, planFor, reorganise, SIM_FAULTS, weatherOf } from './mishaps.ts'
import { SHAPES, type ShapeName } from './model/shapes.ts'
import { checkDecisions, checkReadings, checkRebuild, checkSales, checkSent, checkSigners } from './oracle.ts'
import { makeRoom, OWNER_ACTS, ownerActs, setWindow } from './owner-acts.ts'
import { calmPayers, KNOWN_PAID, PAYERS_ACTS, payersActs, providersFor } from './payers/acts.ts'
import { TRACE_FAULTS } from './payers/faults.ts'
import { checkInside, isAllTold } from './payers/oracle.ts'
import { armInstances, createPlay, mine, type PassName, type Play, runPass, startInstance } from './play.ts'
import { noteMined, unworn } from './real/forgets.ts'
import { type Backend, INTERVAL_SEC, openStage, type Stage } from './stage.ts'
import { checkSupply, limitSupply, scarceOf } from './supply.ts'
import { addTo, count, type Tally } from './tally.ts'

const KEPT = JSON.parse(readFileSync(new URL('seeds.json', import.meta.url), 'utf8')) as { seed: number }[]

const STEPS_MIN = 2
const STEPS_MAX = 5
/** Most blocks until everything must be at rest, a minute apart, because a sender that rests does so for fifteen. */
const REST_BLOCKS_MAX = 60
const REST_STEP_SEC = 60
/** Time between blocks in the second half if rounds wait for final blocks, which must come faster than turns. */
const REST_STEP_UNGUARDED_SEC = 5
/** Fee bumps come after twelve blocks. */
const LONG_WAIT_BLOCKS = 13
/** Share of seeds whose chain cannot use the fork guard. */
const UNGUARDED = 0.15
export interface SeedOutcome {
  seed: number
  steps: number
  tally: Tally
  log: string[]
  /** The failure; null for none. */
  failure: Error | null
}

export interface SeedOptions {
  /** Ends the business after so many steps, to look for a shorter way to the same failure. */
  stepsMax?: number
}

let tallyNow: Tally = new Map()
armInstances(() => tallyNow)

/** Plays one seed on an open stage. Never throws for the service's failures. */
export async function playSeed(
  stage: Stage,
  seed: number,
  { stepsMax = Infinity }: SeedOptions = {},
): Promise<SeedOutcome> {
  const begun = createPlay(stage, seed)
  const { dice, log, tally } = begun
  tallyNow = tally
  const play: Play = {
    ...begun,
    ...circumstancesOf(dice),
    weather: weatherOf(dice),
    providers: dice.roll('providers') < 0.3 ? 2 : 1,
  }
  play.providers = providersFor(play)
  play.lying = lyingOf(play)
  if (play.lying) play.providers = play.lying.voices === 'the only one' ? 1 : 2
  const shape = shapeOf(play)
  if (!SHAPES[shape].seesOwnHashes) play.facts = { ...play.facts, guardUsable: false }
  // What one alone calls final counts a quarter of an hour late, so hardly anything would be minted.
  if (!play.lying && (!play.facts.guardUsable || play.rules.finality === 'finalized')) play.providers = 2
  let steps = 0
  let failure: Error | null = null
  const releaseClock = holdClock()
  try {
    if (!play.facts.guardUsable) count(tally, 'no fork guard')
    await stage.reset(dice.roll('begun') < 0.85)
    await stage.reshape?.(shape)
    log.push(`the chain's blocks are those of ${shape}`)
    count(tally, `shape: ${shape}`)
    // As each start does.
    play.facts = await settleFacts(stage.pool, play.facts, () => {})
    await limitSupply(play)
    await listBuyers(play)
    await buildLadder(play)
    const basic = { tierId: 'basic', priceWei: ETHER / 100n, onSale: true }
    play.terms.push({ ...basic, fromBlock: 0, fromTime: 0 })
    play.instances.push(startInstance(play, 'A'), startInstance(play, 'B'))
    const planned = dice.between('steps', STEPS_MIN, STEPS_MAX)
    for (; steps < Math.min(planned, stepsMax); steps++) await step(play, steps)
    await finish(play)
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error))
  }
  for (const instance of [...play.instances, ...play.closed]) {
    instance.dead = true
    await instance.close()
  }
  releaseClock()
  await noteMined(stage)
  return { seed, steps, tally, log, failure }
}

/** The chain whose blocks it has: Ethereum's on a real chain, for lies, whose proofs are those of Ethereum, and for kept seeds. */
function shapeOf({ dice, seed, stage, lying }: Play): ShapeName {
  const isPlain = stage.reshape === null || lying !== null || KEPT.some((kept) => kept.seed === seed)
  return isPlain ? 'ethereum' : dice.pick('shape', Object.keys(SHAPES) as ShapeName[])
}

function circumstancesOf(dice: Play['dice']): Pick<Play, 'rules' | 'facts'> {
  const finality = dice.pick('finality', ['guarded', 'guarded', 'guarded', 'guarded', 1, 2, 'finalized'] as const)
  const facts = { guardUsable: dice.roll('guard usable') >= UNGUARDED }
  const rules: Partial<Rules> = {
    distMode: dice.roll('mode') < 0.15 ? 'swaps' : 'treasury',
    // So few confirmations are the operator's risk if there is no guard.
    finality: !facts.guardUsable && typeof finality === 'number' ? 'guarded' : finality,
    reconcileEverySec: dice.roll('reconcile') < 0.3 ? 0 : 86_400,
  }
  return { rules, facts }
}

async function step(play: Play, number: number): Promise<void> {
  const { dice, log } = play
  log.push(`step ${number + 1}`)
  play.lately = null
  for (let n = dice.between('acts', 0, 4); n > 0; n--) await act(play)
  await ownerActs(play)
  await edgeActs(play)
  await payersActs(play)
  await liarActs(play)
  await climb(play)
  const seconds = dice.pick('time', [1, 1, 2, 12, INTERVAL_SEC / 2, INTERVAL_SEC, 2 * INTERVAL_SEC + 7])
  await mine(play, seconds)
  await notePrice(play)
  await mendWallet(play)
  if (seconds > INTERVAL_SEC) count(play.tally, 'clock jump')
  // As long as the service waits before it raises a stuck fee.
  const long = dice.roll('wait') < (play.baseFeeWei >= HIGH_FEE_WEI ? 0.4 : 0.04)
  if (long && play.baseFeeWei >= HIGH_FEE_WEI) play.lately = 'stuck'
  const more = long ? LONG_WAIT_BLOCKS : dice.between('more', 0, 1)
  for (let i = 0; i < more; i++) await mine(play, 1)
  log.push(`  a block ${seconds} s later${more > 0 ? `, and ${more} more` : ''}`)
  if (dice.roll('reorganise') < 0.18) log.push(`  ${await reorganise(play)}`)
  for (const name of dice.pick('passes', PASSES)) {
    const at = dice.between('instance', 0, 1)
    const plan = edgePlan(play) ?? planFor(play, at, name)
    if (plan.kind !== 'nothing') log.push(`    (${planned(plan)})`)
    await runPass(play, at, name, plan)
    await checkSupply(play)
    await checkAllocations(play)
  }
}
const PASSES: readonly (readonly PassName[])[] = [
  ['payments'],
  ['payments', 'credit'],
  ['payments', 'credit'],
  ['credit', 'payments'],
  ['payments', 'payments'],
  ['claim', 'credit'],
  ['claim', 'payments'],
]

function planned(plan: Parameters<typeof runPass>[3]): string {
  if (plan.kind === 'dieAt') return `dies at ${plan.point}, after ${plan.skip}`
  if (plan.kind === 'dieAtRequest') return `dies at request ${plan.request}`
  return plan.kind === 'interrupt' ? `at request ${plan.request}: ${plan.what}` : ''
}

/** Without faults everything comes to rest, and then everything must hold. */
async function finish(play: Play): Promise<void> {
  const { dice, log, stage } = play
  log.push('calm')
  await calm(play)
  calmEdges(play)
  await calmPayers(play)
  await endLie(play)
  await makeRoom(play)
  await comeToRest(play)
  if (play.lying) {
    await tryLie(play)
    await comeToRest(play)
    if (await rescanAfterLies(play)) await comeToRest(play)
  }
  if (await plantDifferences(play, oneRun)) await comeToRest(play)
  log.push('at rest')
  // It is at rest already, and coming to rest once more would only take time. One more run uses the rules of the last ones.
  const { payments, credit } = stage.world.instance({ rules: play.rules, facts: play.facts })
  await proveTheRest({ ctx: stage.world.ctx, payments })
  await checkInvariants({ ...stage.world, payments, credit, rest: async () => {} }, { foreign: play.foreign })
  await checkSupply(play)
  await checkAllocations(play)
  await checkSales(play)
  await checkInside(play)
  await checkSent(play)
  await checkDecisions(play)
  await checkSigners(play)
  await checkReadings(play)
  const isRebuilt = stage.backend === 'real' || dice.roll('rebuild') < 0.2
  // If a provider without states or traces made the service file something whole, or the operator decided so, a rebuild with both splits it.
  if (isRebuilt && (await isAllTold(play))) await checkRebuild(play)
}

async function comeToRest(play: Play): Promise<void> {
  const { observer } = play.stage
  // One that has not queried providers about this ledger yet.
  const pool = new Proxy(play.stage.pool, {})
  const world = play.stage.world.instance({ pool, rules: play.rules, facts: play.facts })
  let stands = ''
  // An undecided payment reserves its place for an hour.
  const most = scarceOf(play) ? 2 * REST_BLOCKS_MAX : REST_BLOCKS_MAX
  for (let i = 0; i < most; i++) {
    await setWindow(play)
    const isFast = !play.facts.guardUsable && i >= most / 2
    await mine(play, isFast ? REST_STEP_UNGUARDED_SEC : REST_STEP_SEC)
    const outcome = await oneRun(world)
    if (!outcome) continue
    const { pending, reason } = outcome
    await lookAtHalt(play)
    const [row] = await observer<{ sent: number }[]>`SELECT count(*) AS sent FROM outbox WHERE state = 'pending'`
    stands = `${pending} payments, ${row?.sent} transactions, rounds ${reason}`
    if (pending === 0 && row?.sent === 0 && (reason === 'nothingDue' || reason === 'unpaidNodes')) return
  }
  assert.fail(`not at rest after ${most} blocks of fair weather: ${stands}`)
}

/** Both passes; null if one did not run, the ledger rewound because of a lie, or a connection was one of the cut ones: the next run continues. */
async function oneRun(world: ReturnType<Stage['world']['instance']>) {
  try {
    const payments = await world.payments()
    const credit = await world.credit()
    return payments.ran && credit.ran ? { pending: payments.pending, reason: credit.reason } : null
  } catch (error) {
    if (isDatabaseDown(error) || error instanceof LeftOutFault) return null
    throw error
  }
}

/** The operator's answer to a halt, which only a reorganisation of final blocks may cause. */
async function lookAtHalt({ stage: { observer }, tally, log, pastFinal }: Play): Promise<void> {
  const halt = await readHalt(observer)
  if (!halt) return
  assert.ok(pastFinal && halt.reason === 'pastFinalized', `halted without a reason: ${JSON.stringify(halt)}`)
  await clearHalt(observer, 'operator')
  log.push('the operator clears the halt')
  count(tally, 'halt cleared')
}

export interface RunOptions {
  from: number
  count: number
  backend: Backend
  /** Called for every failure. */
  say: (line: string) => void
  /** Called after each seed. */
  onSeed?: (counts: RunCounts) => void
  signal?: AbortSignal
}

export interface RunCounts {
  seeds: number
  /** Seeds that broke. */
  failed: number[]
  /** Events that really happened, by class. */
  tally: Tally
}

/** Plays seeds `from` to `from + count - 1`, one after the other, in this process. */
export async function runSeeds({ from, count: seeds, backend, say, onSeed, signal }: RunOptions): Promise<RunCounts> {
  const counts: RunCounts = { seeds: 0, failed: [], tally: new Map() }
  // A chain's process keeps no process alive; the seeds must.
  const alive = setInterval(() => {}, 60_000)
  let stage = await openStage(backend)
  try {
    for (let seed = from; seed < from + seeds && !signal?.aborted; seed++) {
      stage = await unworn(stage)
      const outcome = await playUnhindered(stage, seed)
      counts.seeds++
      addTo(counts.tally, outcome.tally)
      if (outcome.failure) {
        counts.failed.push(seed)
        say(tellFailure(outcome, backend, await shortest(backend, outcome)))
      }
      onSeed?.(counts)
    }
  } finally {
    await stage.close()
    clearInterval(alive)
  }
  return counts
}

/** Once more if a busy machine's database did not answer, because that is no finding. */
async function playUnhindered(stage: Stage, seed: number): Promise<SeedOutcome> {
  const outcome = await playSeed(stage, seed)
  return isDatabaseDown(outcome.failure) ? playSeed(stage, seed) : outcome
}

/** The fewest steps of the seed's business after which it breaks. */
async function shortest(backend: Backend, { seed, steps }: SeedOutcome): Promise<number> {
  let stage = await openStage(backend)
  let stepsMax = 0
  try {
    for (; stepsMax < steps; stepsMax++) {
      stage = await unworn(stage)
      if ((await playSeed(stage, seed, { stepsMax })).failure) break
    }
  } finally {
    await stage.close()
  }
  return stepsMax
}

/** Prints the failure, and how to reproduce it. */
export function tellFailure({ seed, failure }: SeedOutcome, backend: Backend, steps: number): string {
  const how = `npm run sim -- --seed ${seed} --steps ${steps}${backend === 'real' ? ' --real' : ''}`
  return `seed ${seed} broke: ${failure?.message ?? ''}\n  replay: ${how}`
}

/** Everything that a run claims to draw, and which of it never happened. */
export function neverMet(tally: Tally): { claimed: number; missing: string[] } {
  const claimed = [
    ...SIM_FAULTS.map((fault) => `fault ${fault}`),
    ...FAILPOINTS.map((point) => `point ${point}`),
    ...INTERRUPT_NAMES.map((what) => `interrupt ${what}`),
    ...Object.keys(EDGE_INTERRUPTS).map((what) => `meanwhile ${what}`),
    ...[ACTS, OWNER_ACTS, EDGE_ACTS, PAYERS_ACTS].flatMap((acts) => Object.keys(acts).map((name) => `act ${name}`)),
    ...[KNOWN_PAID, ...TRACE_FAULTS.map((fault) => `traces ${fault}`)],
    ...CONTRACT_WALLET_MODES.map((mode) => `mode ${mode}`),
    ...Object.keys(OTHER_SETTINGS).map((name) => `settings ${name}`),
    ...['minter', 'distributor'].map((role) => `not signed by the ${role}`),
    ...['kept', 'moved', 'dropped', 'double', 'kept of ours', 'dropped of ours'].map((fate) => `fate ${fate}`),
    ...['known', 'following', 'notFound', 'pending', 'notASale'].map((kind) => `claim ${kind}`),
    ...[
      'halt cleared',
      'reorganisation',
      'first block taken back',
      'crash',
      'crash at a request',
      'clock jump',
      'no fork guard',
    ],
    ...[...Object.keys(LIES).map((name) => `lie ${name}`), ...VOICES.map((by) => `lies by ${by}`)],
    ...Object.keys(DIFFERENCES).map((kind) => `difference: ${kind}`),
    ...['decision taken back', 'refund given up', 'refund recorded'],
  ]
  return { claimed: claimed.length, missing: claimed.filter((what) => !tally.has(what)) }
}

/** The counts as lines to print. */
export function report({ seeds, failed, tally }: RunCounts): string[] {
  const { claimed, missing } = neverMet(tally)
  const lines = [...tally]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([what, times]) => `  ${what.padEnd(48)} ${times}`)
  return [
    `${seeds} seeds, ${failed.length} broke${failed.length > 0 ? `: ${failed.join(', ')}` : ''}`,
    `what really happened, ${claimed - missing.length} of ${claimed} classes:`,
    ...lines,
    ...(missing.length > 0 ? [`  never: ${missing.join(', ')}`] : []),
  ]
}
