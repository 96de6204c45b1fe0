// An era: two instances of the service on one database and one chain, with payments, claims, rounds, withdrawals and
// reorganisations, while providers lie and everything is killed, all drawn from one seed. Every few cycles the faults
// pause, the instances must bring everything to rest, and we check all invariants. If the second instance is
// misconfigured, in other ways at each start, we also check the ledger's terms, wallets and endpoints.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Postgres, startPostgres } from '../../packages/embed/postgres.ts'
import type { Hash } from '../../src/domain/units.ts'
import { FAILPOINTS, type Failpoint } from '../../src/lib/failpoint.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createDice, type Dice } from '../support/faults/dice.ts'
import { FAULTS, type Fault } from '../support/faults/names.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ensureTemplate, SERVER_VARIABLE } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { ETHER, enterTier, INTERVAL_SEC } from '../support/world.ts'
import { addTo, killsOf, rssMiB, type SoakCounts } from './counts.ts'
import {
  allowContracts,
  cancelByHand,
  checkScarce,
  decideOne,
  openMarket,
  payByContract,
  retraceSoon,
  SCARCE,
  sendJunk,
  tellLost,
} from './edges.ts'
import { FATES, reorganise as reorganiseOut } from './fates.ts'
import { endLie, lieSometimes, tellLie } from './liars.ts'
import {
  checkTold,
  checkUnmoved,
  drawRefused,
  drawTaken,
  isDelivered,
  type Misconfigured,
  noteEntered,
  prepareMisconfigured,
  type Way,
} from './misconfigured.ts'
import { type Outside, startOutside } from './outside.ts'
import { mineFollowed, patiently, readOpen, whatHinders } from './rest.ts'
import { openStage, type Stage } from './stage.ts'

const INSTANCES = 2
/** An almost unlimited tier, for most payments. */
const BULK = ETHER / 1_000n
const AMOUNTS = [BULK, BULK, BULK, BULK, ETHER / 100n, ETHER / 40n, SCARCE, SCARCE, BULK + 1n]
const PAYERS = Array.from({ length: 15 }, (_, i) => 5 + i)
const BLOCK_MS = 150
/** At rest, so a slow machine does not make a long chain. */
const REST_BLOCK_MS = 300
/** At rest, if instances restart, which takes seconds. */
const SLOW_REST_BLOCK_MS = 1_000
/** As long as a sender rests after three reverts. */
const SENDER_REST_SEC = 900
/** Share of blocks before which turns fall due. Not all, because a mint is valid for minutes of block time. */
const DUE = 0.25
/** Beyond that anvil forgets the states that the invariants read. */
const HEIGHT_MAX = 420
/** Start of a deep era's chain, so reorganisations of two hundred blocks are possible from the beginning. */
const DEEP_BASE = 204
/** Depth in blocks below which nothing is reorganised if no guard can be used. */
const UNGUARDED_FINALITY = 6
/** An instance with its own scheduler. */
const INSTANCE = { SCHEDULER: 'on', TICK_SEC: '1', LOG_LEVEL: 'error' }
const START_ATTEMPTS_MAX = 12
/** Looks at rest after which block time moves on. A sender whose calls failed rests for a while, and so does a payment whose payer could not be read. */
const LOOKS_TO_REST = 60
/** Looks after which it will never rest: ten times what a quiet machine needs. A slow machine takes longer for each, because we mine what is followed. */
const LOOKS_MAX = 600
/** Turns that fall due at rest, beside an instance that is misconfigured in other ways each time. */
const TURNS_PER_CHECK = 2
/** Too costly, or too grave, for every tenth request, so they come one at a time. */
const SINGLE: readonly Fault[] = ['wrongChainId', 'hang', 'giant', 'nullTransaction']

export interface EraOptions {
  seed: number
  counts: SoakCounts
  cyclesPerCheck: number
  /** Share of requests with a fault, in percent, drawn between these for each cycle. */
  ratePercent: readonly [number, number]
  /** Most blocks to reorganise; `deep`: mostly few, sometimes up to 64, and now and then 200. */
  depth: number | 'deep'
  /** True if the fork guard cannot be used: then payments and turns wait until they are `UNGUARDED_FINALITY` deep. */
  unguarded?: boolean
  /** True if the second instance is misconfigured, in another way at each start. */
  misconfigured?: boolean
  /** True if the service has two providers and the first one lies. */
  lying?: boolean
  say: (line: string) => void
  /** True if the era should end at its next check. */
  enough: () => boolean
}

/** An instance, the point at which it must die, and whether it is dead. */
interface Instance extends Outside {
  armed: Failpoint | null
  dead: boolean
  /** The ways in which it is misconfigured, and whether it has run a pass so: `asked` while the soak checks. */
  ways: readonly Way[]
  ran: boolean | 'asked'
}

interface Era {
  options: EraOptions
  stage: Stage
  dice: Dice
  counts: SoakCounts
  /** True if the next instance to start must die at a point. */
  arming: boolean
  /** Null while one is starting. */
  instances: (Instance | null)[]
  /** Starts under way, and the error of one. */
  starting: Promise<void>[]
  failure: unknown
  postgres: { server: Postgres; dataDir: string }
  /** No reorganisation goes below the block of the contract's deployment. */
  baseBlock: number
  tiers: number
  /** Disasters left in this round of the deck; each comes as often as it is in it. */
  deck: Disaster[]
  /** Transactions sent with our keys by hand. */
  foreign: Hash[]
  /** Additions to the soak of a misconfigured instance; null in any other. */
  misconfigured: Misconfigured | null
}

/** Runs one until it is enough, or its chain is long. Throws what broke, with the seed in its text. */
export async function runEra(options: EraOptions): Promise<void> {
  const { seed, counts, say } = options
  const dataDir = temporaryDirectory()
  const server = await startPostgres({ dataDir, log: silentLog })
  const outerServer = process.env[SERVER_VARIABLE]
  process.env[SERVER_VARIABLE] = server.url
  await ensureTemplate(server.url)
  const stage = await openStageOf(options)
  const era: Era = {
    ...{
      options,
      stage,
      dice: createDice(seed),
      counts,
      arming: false,
      instances: [],
      starting: [],
      failure: null,
      tiers: 9,
      baseBlock: 0,
      deck: [],
      misconfigured: null,
      foreign: [],
    },
    postgres: { server, dataDir },
  }
  const { world } = stage
  try {
    await openMarket(world, BULK)
    era.baseBlock = Number((await world.chain.block()).number)
    if (options.depth === 'deep') await world.chain.mine(DEEP_BASE)
    if (options.misconfigured) await beginMisconfigured(era)
    counts.eras++
    if (options.lying) counts.erasWithLiar++
    do {
      for (let at = 0; at < INSTANCES; at++) replace(era, at)
      await allStarted(era)
      for (let cycle = 0; cycle < options.cyclesPerCheck; cycle++) await runCycle(era)
      await comeToRest(era)
      if (options.lying) await lieAlone(era)
      await checkAll(era)
    } while (!options.enough() && Number((await world.chain.block()).number) < HEIGHT_MAX)
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  } finally {
    await allStarted(era).catch(() => {})
    for (const instance of era.instances) instance?.service.kill('SIGKILL')
    for (const proxy of stage.proxies) proxy.calm()
    noteFaults(era)
    await era.misconfigured?.receiver.close()
    await world.close().catch((error: unknown) => say(`closing: ${String(error)}`))
    await era.postgres.server.stop()
    if (outerServer === undefined) delete process.env[SERVER_VARIABLE]
    else process.env[SERVER_VARIABLE] = outerServer
  }
}

/** Nothing of an era becomes final, because a reorganisation of final blocks halts the passes, which has its own tests. */
async function openStageOf({ lying, unguarded }: EraOptions): Promise<Stage> {
  const stage = await openStage({
    ...{ maxPerWallet: 200n, slotsInEpoch: HEIGHT_MAX, providers: lying ? 2 : 1 },
    ...(unguarded && { facts: { guardUsable: false }, rules: { finality: UNGUARDED_FINALITY } }),
  })
  for (const proxy of stage.proxies) proxy.knowsBlocks = !unguarded
  return stage
}

/** Adds the proxy's new faults to the counts. */
function noteFaults({ stage: { proxy }, counts }: Era): void {
  for (const [fault, count] of proxy.fired) {
    const noted = notedFaults.get(proxy)?.get(fault) ?? 0
    if (count > noted) addTo(counts.faults, fault, count - noted)
  }
  notedFaults.set(proxy, new Map(proxy.fired))
}
const notedFaults = new WeakMap<object, Map<Fault, number>>()

/** Starts another one in an instance's place, as its supervisor would, while business continues. */
function replace(era: Era, at: number): void {
  era.instances[at] = null
  const started = startOne(era, at).then(
    (instance) => {
      era.instances[at] = instance
    },
    (error: unknown) => {
      era.failure ??= error
    },
  )
  era.starting.push(started)
}

/** Throws the error that kept one from starting. */
async function allStarted(era: Era): Promise<void> {
  await Promise.all(era.starting.splice(0))
  if (era.failure) throw era.failure
}

const alive = ({ instances }: Era): Instance[] => instances.filter((one) => one !== null && !one.dead) as Instance[]

/** The correct instance starts first, alone, so it defines the ledger. */
async function beginMisconfigured(era: Era): Promise<void> {
  era.misconfigured = await prepareMisconfigured(era.stage, era.counts.waysDrawn)
  const { service } = await startOne(era, 0)
  await noteEntered(era.misconfigured, era.stage.world).finally(() => service.stop())
}

/** Starts an instance in a way that must be refused, beside those that run. If the chain does not answer just now, it serves. */
async function startRefused(era: Era, misconfigured: Misconfigured): Promise<void> {
  const way = drawRefused(misconfigured, era.dice)
  const { refused } = misconfigured.settings[way]
  try {
    const { service } = await startOutside(era.stage, envOf(era, [way]))
    service.kill('SIGKILL')
    assert.match(service.output(), /the chain does not answer yet/, `"${way}" is refused at start`)
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    if (refused?.test(String(error))) addTo(era.counts.ways, way)
    else era.counts.failedStarts++
  }
}

function envOf({ misconfigured, options }: Era, ways: readonly Way[]): Record<string, string> {
  const wrong = ways.map((way) => misconfigured?.settings[way].env)
  const finality = options.unguarded && { FINALITY: String(UNGUARDED_FINALITY) }
  return Object.assign({}, INSTANCE, finality, misconfigured?.env, ...wrong)
}

/** Starts an instance as a supervisor would: again, if it ended at once. */
async function startOne(era: Era, at: number): Promise<Instance> {
  for (let attempt = 1; ; attempt++) {
    const ways = era.misconfigured && at > 0 ? drawTaken(era.misconfigured, era.dice) : []
    const armed = era.arming ? leastMet(era, FAILPOINTS, era.counts.points) : null
    try {
      const env = { ...envOf(era, ways), ...(armed && { NODE_LEDGER_FAILPOINT: armed }) }
      const outside = await startOutside(era.stage, env)
      const instance: Instance = { ...outside, armed, dead: false, ways, ran: false }
      outside.service.exited.then(() => {
        instance.dead = true
      })
      return instance
    } catch (error) {
      if (armed && !/cannot start|refuses|did not answer/.test(String(error))) {
        // It passes some points in its very first tick, before it has reported that it is up.
        died(era, armed)
        continue
      }
      era.counts.failedStarts++
      if (attempt >= START_ATTEMPTS_MAX) throw error
    }
  }
}

/** The rarest event so far; if there are several, the dice choose one. */
function leastMet<T>({ dice }: Era, all: readonly T[], met: ReadonlyMap<T, number>): T {
  const least = Math.min(...all.map((one) => met.get(one) ?? 0))
  return dice.pick(
    'least met',
    all.filter((one) => (met.get(one) ?? 0) === least),
  )
}

function died({ counts }: Era, point: Failpoint): void {
  counts.failpointKills++
  addTo(counts.points, point)
}

/** Replaces instances that died at their armed point. No instance may end otherwise. */
async function tend(era: Era): Promise<void> {
  for (const [at, instance] of era.instances.entries()) {
    if (!instance?.dead) continue
    const { armed, service } = instance
    const exit = await service.exited
    assert.ok(armed && exit.signal === 'SIGKILL', `it ended by itself: ${JSON.stringify(exit)}\n${service.output()}`)
    died(era, armed)
    era.arming = true
    replace(era, at)
  }
}

/** Requests a pass of misconfigured instances. Once one has run a pass so, its ways have happened, and it got its warnings. */
function lookAtWays(era: Era): void {
  const { misconfigured, counts, dice } = era
  for (const instance of alive(era)) {
    if (!misconfigured || instance.ways.length === 0 || instance.ran) continue
    instance.ran = 'asked'
    instance
      .pass(dice.pick('looked at', ['payments', 'credit'] as const))
      .then((answer) => {
        instance.ran = answer?.body.ran === true
        if (!instance.ran) return
        checkTold(misconfigured, instance.ways, instance.service.output())
        for (const way of instance.ways) addTo(counts.ways, way)
      })
      .catch((error: unknown) => {
        era.failure ??= error
      })
  }
}

/** Replaces the misconfigured instance with one misconfigured in other ways, and starts one that must be refused. */
async function redrawWays(era: Era): Promise<void> {
  for (const [at, instance] of era.instances.entries()) {
    if (!instance || instance.dead || instance.ways.length === 0) continue
    await kill(era, instance)
    replace(era, at)
  }
  if (!era.misconfigured) return
  const refused = startRefused(era, era.misconfigured).catch((error: unknown) => {
    era.failure ??= error
  })
  era.starting.push(refused)
}

/** A few seconds of business with faults and disasters. */
async function runCycle(era: Era): Promise<void> {
  const { stage, dice, counts, options } = era
  const { world, proxy } = stage
  await redrawWays(era)
  proxy.dialect = 'any'
  const faults = FAULTS.filter((fault) => !SINGLE.includes(fault))
  const rate = dice.between('rate', ...options.ratePercent) / 100
  proxy.storm({ seed: dice.between('storm', 1, 2 ** 30), rate, faults })
  noteFaults(era)
  proxy.inject(leastMet(era, FAULTS, counts.faults))
  const blocks = dice.between('blocks', 8, 14)
  await armAll(era)
  const lying = options.lying ? await lieSometimes(era) : null
  for (let block = 0; block < blocks; block++) {
    // Often, because a reorganisation rewinds the time with the blocks.
    if (dice.roll('due') < DUE) await world.chain.increaseTime(INTERVAL_SEC)
    for (let n = dice.between('payments', 1, 3); n > 0; n--) await buy(era, dice.pick('amount', AMOUNTS))
    if (dice.roll('owner') < 0.15) await ownerActs(era)
    await world.chain.mine()
    if (block % 3 === 1) await nextDisaster(era)(era)
    if (block % 4 === 2) await provoke(era)
    await sleep(BLOCK_MS)
    await tend(era)
    lookAtWays(era)
  }
  endLie(stage, lying, counts)
  counts.cycles++
  for (const { service } of alive(era)) counts.rssMiB = Math.max(counts.rssMiB, rssMiB(service.pid))
}

/** Someone pays; some claim at once, as a shop's page would. */
async function buy(era: Era, valueWei: bigint): Promise<void> {
  const {
    stage: { world },
    dice,
    counts,
    misconfigured,
  } = era
  // To the wallet that a misconfigured instance names.
  if (misconfigured && dice.roll('stray') < 0.1)
    await world.pay(dice.pick('payer', PAYERS), valueWei, dice.pick('stranger', misconfigured.strangers) as never)
  const payer = dice.pick('payer', PAYERS)
  // We count the places of the tier with a supply by plain transfers.
  const isInner = dice.roll('by contract') < 0.2 && valueWei !== SCARCE
  const txHash: Hash = await (isInner ? payByContract(world, dice, payer, valueWei) : world.pay(payer, valueWei))
  counts.payments++
  if (isInner) counts.byContracts++
  if (dice.roll('claim') > 0.15) return
  const there = alive(era)
  if (there.length === 0) return
  counts.claims++
  // The answer does not matter, because it may be dead in a moment, or stopped.
  dice
    .pick('claimed', there)
    .service.post('/api/payments/claim', { txHash })
    .catch(() => {})
}

/** Arms every instance to die at a point, unless it already is, because we do not know which of them runs the next pass. */
async function armAll(era: Era): Promise<void> {
  era.arming = true
  for (const [at, instance] of era.instances.entries()) {
    if (!instance || instance.armed || instance.dead) continue
    await kill(era, instance)
    replace(era, at)
  }
}

async function kill({ counts }: Era, instance: Instance): Promise<void> {
  instance.service.kill('SIGKILL')
  await instance.service.exited
  counts.serviceKills++
}

/** Causes the event that the armed instances wait for. */
async function provoke(era: Era): Promise<void> {
  const places = alive(era).flatMap(({ armed }) => armed?.split('.').slice(0, 1) ?? [])
  for (const place of new Set(places)) await provokeOne(era, place)
}

async function provokeOne(era: Era, place: string): Promise<void> {
  const { world, proxies } = era.stage
  if (place === 'credit') await world.chain.increaseTime(INTERVAL_SEC)
  if (place === 'rewind') await reorganise(era)
  if (place === 'openCohorts') {
    // A tier without open cohorts.
    const tierNo = ++era.tiers
    const priceWei = BULK * BigInt(100 + tierNo)
    await enterTier(world, { tierId: `tier${tierNo}`, tierNo, priceWei: priceWei as never })
    await world.chain.mine()
    await buy(era, priceWei)
    await world.chain.mine()
  }
  if (place === 'resend' || place === 'bump')
    for (const proxy of proxies) proxy.inject('swallowed', { times: place === 'bump' ? 8 : 2 })
  if (place === 'bump') {
    await buy(era, BULK)
    await world.chain.mine()
    await sleep(1_500)
    await world.chain.mine(12)
  }
}

/** An owner withdraws something, or gives a node away. */
async function ownerActs({ stage: { world }, dice, counts }: Era): Promise<void> {
  const nodes = await patiently(
    () => world.pool<{ id: number; owner: string; balance: bigint }[]>`
      SELECT n.node_id AS id, n.owner, c.per_node_wei - n.per_node_at_mint_wei - n.withdrawn_wei AS balance
      FROM nodes n JOIN cohorts c USING (cohort) ORDER BY n.node_id`,
  )
  if (nodes.length === 0) return
  const node = dice.pick('node', nodes)
  const owner = PAYERS.find((payer) => world.at(payer) === node.owner)
  if (owner === undefined) return
  const other = world.at(dice.pick('heir', PAYERS))
  if (dice.roll('gift') < 0.4) await world.act(owner, 'transferFrom', [node.owner, other, BigInt(node.id)])
  else if (node.balance > 0n) {
    await world.act(owner, 'withdraw', [BigInt(node.id), other, node.balance / 2n])
    counts.withdrawals++
  }
}

type Disaster = (era: Era) => Promise<void>

const killService: Disaster = async (era) => {
  const at = era.dice.between('victim', 0, era.instances.length - 1)
  const victim = era.instances[at]
  if (!victim || victim.dead) return
  era.arming = victim.armed !== null
  await kill(era, victim)
  replace(era, at)
}

const killPostgres: Disaster = async (era) => {
  const { postgres } = era
  process.kill(postgres.server.pid, 'SIGKILL')
  era.counts.postgresKills++
  await sleep(era.dice.between('outage', 0, 800))
  postgres.server = await startPostgres({ dataDir: postgres.dataDir, log: silentLog })
}

const stopForAWhile: Disaster = async (era) => {
  const there = alive(era)
  if (there.length === 0) return
  const victim = era.dice.pick('stopped', there).service
  victim.kill('SIGSTOP')
  era.counts.stops++
  for (let i = era.dice.between('pause', 2, 8); i > 0; i--) {
    await era.stage.world.chain.mine()
    await sleep(BLOCK_MS)
  }
  victim.kill('SIGCONT')
}

const cutLocks: Disaster = async ({ stage: { world }, counts }) => {
  await patiently(
    () => world.pool`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name LIKE 'node-ledger lock%' AND datname = current_database()`,
  )
  counts.lockCuts++
}

/** Reorganises blocks with what buyers and owners did there; the dice decide each transaction's fate. */
const reorganise: Disaster = async ({ stage: { world }, dice, counts, options, baseBlock }) => {
  const head = Number((await world.chain.block()).number)
  const depth = Math.min(depthOf(options, dice), head - baseBlock)
  if (depth < 1) return
  const buyers = PAYERS.map((payer) => world.at(payer))
  // The service sends ours again.
  const outcome = await reorganiseOut(world, depth, (sender) =>
    buyers.includes(sender as never) ? dice.pick('fate', FATES) : null,
  )
  counts.reorganisations++
  counts.blocksReorganised += depth
  addTo(counts.depths, depth)
  for (const fate of outcome.values()) addTo(counts.fates, fate)
}

/** Deep ones are rare, because they leave little of the earlier business. */
function depthOf({ depth, unguarded, lying }: EraOptions, dice: Dice): number {
  if (unguarded) return dice.between('depth', 1, UNGUARDED_FINALITY - 1)
  if (depth !== 'deep') return dice.between('depth', 1, depth)
  const deep = dice.roll('deep')
  // One provider's word about final blocks counts from 64 below the head.
  if (deep < 0.03 && !lying) return 200
  return dice.between('depth', 1, deep < 0.2 ? 64 : 8)
}

const floodOfJunk: Disaster = async ({ stage: { world }, dice, counts }) => {
  counts.junk += await sendJunk(world, dice, PAYERS)
}

const cancel: Disaster = async ({ stage: { world }, dice, counts, foreign }) => {
  const txHash = await patiently(() => cancelByHand(world, dice))
  if (!txHash) return
  foreign.push(txHash)
  counts.cancelled++
}

/** Asserts that decisions stand, whatever happens to the blocks. */
const decide: Disaster = async (era) => {
  const { dice, counts, stage } = era
  if (await patiently(() => decideOne(stage.world, dice, BULK))) counts.decisions++
  if (dice.roll('on sand') < 0.5) await reorganise(era)
}

const DISASTERS: readonly Disaster[] = [
  killService,
  killService,
  killService,
  killPostgres,
  stopForAWhile,
  cutLocks,
  reorganise,
  reorganise,
  reorganise,
  floodOfJunk,
  cancel,
  decide,
]

function nextDisaster({ deck, dice }: Era): Disaster {
  if (deck.length === 0) deck.push(...DISASTERS)
  const [drawn] = deck.splice(dice.between('disaster', 0, deck.length - 1), 1)
  return drawn ?? assert.fail('an empty deck')
}

/** Without faults the instances finish everything. */
async function comeToRest(era: Era): Promise<void> {
  const { world, proxies } = era.stage
  for (const proxy of proxies) proxy.calm()
  era.arming = false
  await allStarted(era)
  for (const [at, instance] of era.instances.entries()) {
    if (!instance?.armed) continue
    if (instance.dead) died(era, instance.armed)
    else await kill(era, instance)
    replace(era, at)
  }
  await allStarted(era)
  await allAtRest(era)
  for (let turn = 0; era.misconfigured && turn < TURNS_PER_CHECK; turn++) {
    await redrawWays(era)
    await allStarted(era)
    await world.chain.increaseTime(INTERVAL_SEC)
    await allAtRest(era)
  }
}

/** The operator lets all contracts buy, the instances finish everything, and every way of the second one has happened. */
async function allAtRest(era: Era): Promise<void> {
  const { world } = era.stage
  await patiently(async () => assert.ok(await allowContracts(world), 'no provider answers'))
  const began = performance.now()
  // Transactions that still wait in the pool are in this block.
  const head = Number((await world.chain.mine()).number)
  const look = async () => {
    lookAtWays(era)
    // Before the check for open work, because it may become some.
    const isWaiting = await retraceSoon(world, BULK, head)
    const now = await readOpen(world)
    if (!now || now.payments || now.outbox || now.cohorts || now.number < head) return now
    if (isWaiting) return { ...now, contracts: 'held, or not yet told apart' }
    if (era.misconfigured && !(await isDelivered(world))) return { ...now, webhooks: 'not delivered' }
    if (alive(era).some(({ ways, ran }) => ways.length > 0 && ran !== true)) return { ...now, ways: 'no pass was run' }
    // These blocks may have replaced the ones it followed.
    return (await world.chain.block(now.number)).hash === now.hash ? 'at rest' : now
  }
  let state = await patiently(look)
  for (let looks = 1; state !== 'at rest'; looks++) {
    if (era.failure) throw era.failure
    if (looks > LOOKS_MAX)
      assert.fail(
        `not at rest ${LOOKS_MAX} blocks after the last fault: ${await whatHinders(world, { head, state }, outputs(era))}`,
      )
    if (looks % LOOKS_TO_REST === LOOKS_TO_REST / 2) await world.chain.increaseTime(SENDER_REST_SEC)
    await mineFollowed(world)
    await sleep(era.misconfigured ? SLOW_REST_BLOCK_MS : REST_BLOCK_MS)
    state = await patiently(look)
  }
  era.counts.recoveriesMs.push(Math.round(performance.now() - began))
}

const outputs = ({ instances }: Era) => instances.map((one) => one?.service.output().slice(-3_000) ?? 'no instance')

/** Restarts the instances, which ask a contradicted provider last, and has the liar lie alone. Then everything comes to rest again. */
async function lieAlone(era: Era): Promise<void> {
  const { world } = era.stage
  for (const [at, instance] of era.instances.entries()) {
    if (instance && !instance.dead) await kill(era, instance)
    replace(era, at)
  }
  await allStarted(era)
  await tellLie(era, async () => {
    await buy(era, BULK)
    if (era.dice.roll('due') < DUE) await world.chain.increaseTime(INTERVAL_SEC)
    await mineFollowed(world)
    await sleep(REST_BLOCK_MS)
  })
  await allAtRest(era)
}

/** Stops the instances, as an operator would, and checks everything. */
async function checkAll(era: Era): Promise<void> {
  const { stage, counts, options } = era
  const { world, proxies } = stage
  for (const instance of era.instances.splice(0)) {
    if (!instance) continue
    const { service } = instance
    const exit = await service.stop()
    assert.equal(exit.code, 0, `it did not stop well: ${JSON.stringify(exit)}\n${service.output().slice(-2_000)}`)
  }
  const [row] = await world.pool<{ doubles: number; lost: number; nodes: number; turns: number }[]>`
    SELECT (SELECT count(*) FROM nodes) - (SELECT count(DISTINCT ref) FROM nodes)
        + (SELECT count(*) FROM turns) - (SELECT count(DISTINCT (cohort, due)) FROM turns) AS doubles,
      (SELECT count(*) FROM payments WHERE value_wei = ${BULK.toString()} AND state NOT IN ('minted', 'orphaned')
        AND tx_hash IS NOT NULL) AS lost,
      (SELECT count(*) FROM nodes) AS nodes, (SELECT count(*) FROM turns) AS turns`
  assert.ok(row)
  counts.losses += row.lost
  counts.duplicates += row.doubles
  const lost = row.lost === 0 ? '' : JSON.stringify(await tellLost(world, BULK))
  assert.deepEqual([row.lost, row.doubles], [0, 0], `${row.lost} lost, ${row.doubles} doubled ${lost}`)
  await checkInvariants(world, { foreign: era.foreign })
  await checkScarce(world, counts)
  if (era.misconfigured) await checkUnmoved(era.misconfigured, world)
  if (era.failure) throw era.failure
  for (const proxy of proxies) assert.deepEqual(await proxy.broken(), [])
  counts.checks++
  counts.nodes += row.nodes - (seenNodes.get(stage) ?? 0)
  counts.turns += row.turns - (seenTurns.get(stage) ?? 0)
  seenNodes.set(stage, row.nodes)
  seenTurns.set(stage, row.turns)
  noteFaults(era)
  const { checks, payments, nodes, turns, reorganisations } = counts
  options.say(
    `check ${checks}: ${payments} payments, ${nodes} nodes, ${turns} turns, ${killsOf(counts)} kills, ${reorganisations} reorganisations, all well`,
  )
}
const seenNodes = new WeakMap<Stage, number>()
const seenTurns = new WeakMap<Stage, number>()
