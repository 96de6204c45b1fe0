// An era: two instances of the service on one database and one chain, with payments, rounds, withdrawals and reorganisations,
// while providers lie and everything is killed, all drawn from one seed. Every few cycles all is calm, the instances must
// have brought everything to rest by themselves, and all invariants are checked.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hash } from '../../src/domain/units.ts'
import { type Postgres, startPostgres } from '../../src/embed/postgres.ts'
import { FAILPOINTS } from '../../src/failpoint.ts'
import { silentLog } from '../../src/log.ts'
import { createDice, type Dice } from '../support/faults/dice.ts'
import { FAULTS, type Fault } from '../support/faults/names.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ensureTemplate, SERVER_VARIABLE } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { ETHER, enterTier, INTERVAL_SEC } from '../support/world.ts'
import { type Outside, startOutside } from './outside.ts'
import { openStage, type Stage } from './stage.ts'

const INSTANCES = 2
/** A tier without a limit to speak of, for most payments. */
const BULK = ETHER / 1_000n
const AMOUNTS = [BULK, BULK, BULK, BULK, ETHER / 100n, ETHER / 40n, BULK + 1n]
const PAYERS = Array.from({ length: 15 }, (_, i) => 5 + i)
const DEPTH_MAX = 12
const BLOCK_MS = 150
/** An instance that runs its passes by itself. */
const INSTANCE = { SCHEDULER: 'on', TICK_SEC: '1', LOG_LEVEL: 'error' }
const START_ATTEMPTS_MAX = 12
/** By itself, after the last fault: the longest time in which everything must be at rest. */
const REST_MS = 60_000
/** A provider of another chain is refused at start, which is no weather; a hang costs 15 s each; only claims ask for a transaction. */
const UNFIT: readonly Fault[] = ['wrongChainId', 'hang', 'nullTransaction']

export interface SoakCounts {
  eras: number
  cycles: number
  checks: number
  payments: number
  nodes: number
  turns: number
  withdrawals: number
  reorganisations: number
  blocksTakenBack: number
  serviceKills: number
  failpointKills: number
  postgresKills: number
  stops: number
  lockCuts: number
  failedStarts: number
  slowestRestMs: number
  losses: number
  duplicates: number
  faults: Map<Fault, number>
}

export function noCounts(): SoakCounts {
  const zero = { eras: 0, cycles: 0, checks: 0, payments: 0, nodes: 0, turns: 0, withdrawals: 0 }
  const chain = { reorganisations: 0, blocksTakenBack: 0 }
  const kills = { serviceKills: 0, failpointKills: 0, postgresKills: 0, stops: 0, lockCuts: 0, failedStarts: 0 }
  return { ...zero, ...chain, ...kills, slowestRestMs: 0, losses: 0, duplicates: 0, faults: new Map() }
}

export interface EraOptions {
  seed: number
  /** Checks in it, and cycles between two of them. */
  checks: number
  cyclesPerCheck: number
  counts: SoakCounts
  say: (line: string) => void
  /** True when the era should end at its next check. */
  enough?: () => boolean
}

interface Era {
  stage: Stage
  dice: Dice
  counts: SoakCounts
  say: (line: string) => void
  instances: Outside[]
  postgres: { server: Postgres; dataDir: string }
}

/** Runs one. Throws what broke, with the seed in its text. */
export async function runEra(options: EraOptions): Promise<void> {
  const { seed, counts, say } = options
  const dataDir = temporaryDirectory()
  const server = await startPostgres({ dataDir, log: silentLog })
  const outerServer = process.env[SERVER_VARIABLE]
  process.env[SERVER_VARIABLE] = server.url
  await ensureTemplate(server.url)
  const stage = await openStage({ maxPerWallet: 200n })
  const era: Era = { stage, dice: createDice(seed), counts, say, instances: [], postgres: { server, dataDir } }
  try {
    const tier = { tierId: 'bulk', tierNo: 9, priceWei: BULK as never, maxPerWallet: 1_000_000 }
    await enterTier(stage.world, tier)
    await stage.world.settle()
    counts.eras++
    for (let check = 0; check < options.checks; check++) {
      await startAll(era)
      for (let cycle = 0; cycle < options.cyclesPerCheck; cycle++) await runCycle(era)
      await comeToRest(era)
      await checkAll(era)
      if (options.enough?.()) break
    }
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  } finally {
    for (const { service } of era.instances) service.kill('SIGKILL')
    stage.proxy.calm()
    for (const [fault, count] of stage.proxy.fired) counts.faults.set(fault, (counts.faults.get(fault) ?? 0) + count)
    await stage.world.close().catch((error: unknown) => say(`closing: ${String(error)}`))
    await era.postgres.server.stop()
    if (outerServer === undefined) delete process.env[SERVER_VARIABLE]
    else process.env[SERVER_VARIABLE] = outerServer
  }
}

async function startAll(era: Era): Promise<void> {
  era.stage.proxy.calm()
  for (let i = era.instances.length; i < INSTANCES; i++) era.instances.push(await startOne(era))
}

/** Starts an instance as a supervisor would: again, when it ended at once because nobody answered it. */
async function startOne(era: Era): Promise<Outside> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOutside(era.stage, INSTANCE)
    } catch (error) {
      era.counts.failedStarts++
      if (attempt === START_ATTEMPTS_MAX) throw error
      // In bad weather a start may find nobody to talk to for long; the weather is not what this is about.
      if (attempt > 3) era.stage.proxy.calm()
    }
  }
}

/** A few seconds of business in bad weather, with one disaster. */
async function runCycle(era: Era): Promise<void> {
  const { stage, dice, counts } = era
  const { world, proxy } = stage
  const faults = FAULTS.filter((fault) => !UNFIT.includes(fault) && (fault !== 'giant' || dice.roll('giant') < 0.1))
  proxy.dialect = 'any'
  proxy.storm({ seed: dice.between('storm', 1, 2 ** 30), rate: dice.between('rate', 5, 50) / 100, faults })
  const disaster = dice.pick('disaster', DISASTERS)
  const blocks = dice.between('blocks', 6, 14)
  const disasterAt = dice.between('when', 1, blocks - 2)
  if (dice.roll('due') < 0.7) await world.chain.increaseTime(INTERVAL_SEC)
  for (let block = 0; block < blocks; block++) {
    for (let n = dice.between('payments', 0, 3); n > 0; n--) {
      await world.pay(dice.pick('payer', PAYERS), dice.pick('amount', AMOUNTS))
      counts.payments++
    }
    if (dice.roll('owner') < 0.15) await ownerActs(era)
    await world.chain.mine()
    if (block === disasterAt) await disaster(era)
    await sleep(BLOCK_MS)
  }
  counts.cycles++
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

const anInstance = ({ dice, instances }: Era): number => dice.between('victim', 0, instances.length - 1)

const killService: Disaster = async (era) => {
  const at = anInstance(era)
  era.instances[at]?.service.kill('SIGKILL')
  await era.instances[at]?.service.exited
  era.counts.serviceKills++
  era.instances[at] = await startOne(era)
}

/** One instance starts with a point armed, dies of it when it comes by, and is replaced. */
const killAtFailpoint: Disaster = async (era) => {
  const at = anInstance(era)
  await era.instances[at]?.service.stop()
  const NODE_LEDGER_FAILPOINT = era.dice.pick('failpoint', FAILPOINTS)
  // Some points come by at its very first tick, before it has said that it is there.
  const armed = await startOutside(era.stage, { ...INSTANCE, NODE_LEDGER_FAILPOINT }).catch(() => null)
  let died = armed === null
  armed?.service.exited.then(() => {
    died = true
  })
  for (let i = 0; i < 20 && !died; i++) {
    await era.stage.world.chain.mine()
    await sleep(BLOCK_MS)
  }
  if (died) era.counts.failpointKills++
  armed?.service.kill('SIGKILL')
  await armed?.service.exited
  era.instances[at] = await startOne(era)
}

const killPostgres: Disaster = async (era) => {
  const { postgres } = era
  process.kill(postgres.server.pid, 'SIGKILL')
  era.counts.postgresKills++
  await sleep(era.dice.between('outage', 0, 800))
  postgres.server = await startPostgres({ dataDir: postgres.dataDir, log: silentLog })
}

const stopForAWhile: Disaster = async (era) => {
  const victim = era.instances[anInstance(era)]?.service
  victim?.kill('SIGSTOP')
  era.counts.stops++
  for (let i = era.dice.between('pause', 2, 12); i > 0; i--) {
    await era.stage.world.chain.mine()
    await sleep(BLOCK_MS)
  }
  victim?.kill('SIGCONT')
}

const cutLocks: Disaster = async ({ stage: { world }, counts }) => {
  await patiently(
    () => world.pool`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name LIKE 'node-ledger lock%' AND datname = current_database()`,
  )
  counts.lockCuts++
}

/** Takes blocks back; what each buyer paid in them is kept where it was, moved to the last of the new ones, or dropped. */
const reorganise: Disaster = async ({ stage: { world }, dice, counts }) => {
  const depth = dice.between('depth', 1, DEPTH_MAX)
  const head = Number((await world.chain.block()).number)
  const kept: [Hash, number][] = []
  const fates = new Map<string, 'kept' | 'moved' | 'dropped'>()
  for (let place = 0; place < depth; place++) {
    const number = `0x${(head - depth + 1 + place).toString(16)}`
    const block = await world.chain.rpc<{ transactions: { hash: Hash; from: string }[] }>('eth_getBlockByNumber', [
      number,
      true,
    ])
    for (const { hash, from } of block.transactions) {
      // Ours are for the service to send again.
      if (!PAYERS.some((payer) => world.at(payer) === from)) continue
      const fate = fates.get(from) ?? dice.pick('fate', ['kept', 'moved', 'dropped'] as const)
      fates.set(from, fate)
      if (fate !== 'dropped') kept.push([await world.raw(hash), fate === 'kept' ? place : depth - 1])
    }
  }
  await world.chain.reorg(depth, kept)
  counts.reorganisations++
  counts.blocksTakenBack += depth
}

const DISASTERS: readonly Disaster[] = [
  killService,
  killService,
  killAtFailpoint,
  killPostgres,
  stopForAWhile,
  cutLocks,
  reorganise,
  reorganise,
]

/** Good weather: the instances finish everything by themselves. */
async function comeToRest({ stage: { world, proxy }, counts }: Era): Promise<void> {
  proxy.calm()
  const began = performance.now()
  const head = Number((await world.chain.block()).number)
  const open = async () => {
    const [row] = await world.pool<{ open: number; behind: number }[]>`
      SELECT (SELECT count(*) FROM payments WHERE state IN ('seen', 'accepted', 'minting'))
        + (SELECT count(*) FROM outbox WHERE state = 'pending')
        + (SELECT count(*) FROM cohorts WHERE size > 0 AND next_due <= (SELECT block_time FROM cursors)) AS open,
        (SELECT ${head} - block_number FROM cursors) AS behind`
    return row ?? { open: 1, behind: 1 }
  }
  for (let state = await patiently(open); state.open > 0 || state.behind > 0; state = await patiently(open)) {
    assert.ok(performance.now() - began < REST_MS, `${state.open} things open ${REST_MS} ms after the last fault`)
    await world.chain.mine()
    await sleep(BLOCK_MS)
  }
  counts.slowestRestMs = Math.max(counts.slowestRestMs, Math.round(performance.now() - began))
}

/** Stops the instances, as an operator would, and checks everything. */
async function checkAll(era: Era): Promise<void> {
  const { stage, counts, say } = era
  const { world, proxy } = stage
  for (const { service } of era.instances.splice(0)) {
    const exit = await service.stop()
    assert.equal(exit.code, 0, `it did not stop well: ${JSON.stringify(exit)}\n${service.output().slice(-2_000)}`)
  }
  const [row] = await world.pool<{ doubles: number; lost: number; nodes: number; turns: number }[]>`
    SELECT (SELECT count(*) FROM nodes) - (SELECT count(DISTINCT ref) FROM nodes)
        + (SELECT count(*) FROM turns) - (SELECT count(DISTINCT (cohort, due)) FROM turns) AS doubles,
      (SELECT count(*) FROM payments WHERE value_wei = ${BULK.toString()} AND state NOT IN ('minted', 'orphaned')) AS lost,
      (SELECT count(*) FROM nodes) AS nodes, (SELECT count(*) FROM turns) AS turns`
  assert.ok(row)
  counts.losses += row.lost
  counts.duplicates += row.doubles
  assert.deepEqual([row.lost, row.doubles], [0, 0], `${row.lost} lost, ${row.doubles} doubled`)
  await checkInvariants(world)
  assert.deepEqual(await proxy.broken(), [])
  counts.checks++
  counts.nodes += row.nodes - (seenNodes.get(stage) ?? 0)
  counts.turns += row.turns - (seenTurns.get(stage) ?? 0)
  seenNodes.set(stage, row.nodes)
  seenTurns.set(stage, row.turns)
  say(`check ${counts.checks}: ${counts.payments} payments, ${counts.nodes} nodes, ${counts.turns} turns, all well`)
}
const seenNodes = new WeakMap<Stage, number>()
const seenTurns = new WeakMap<Stage, number>()

/** Asks a database that is just coming back until it answers. */
async function patiently<T>(ask: () => PromiseLike<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      if (attempt === 100) throw error
      await sleep(100)
    }
  }
}

/** The counts as lines to print. */
export function report(counts: SoakCounts): string[] {
  const { faults, ...numbers } = counts
  const happened = [...faults].sort(([a], [b]) => a.localeCompare(b))
  const classes = FAULTS.filter((fault) => !UNFIT.includes(fault))
  const missing = classes.filter((fault) => !faults.has(fault))
  return [
    ...Object.entries(numbers).map(([name, value]) => `${name.padEnd(18)} ${value}`),
    `faults that really happened, by class (${happened.length} of ${classes.length} classes):`,
    ...happened.map(([fault, count]) => `  ${fault.padEnd(18)} ${count}`),
    ...(missing.length > 0 ? [`  not met: ${missing.join(', ')}`] : []),
  ]
}
