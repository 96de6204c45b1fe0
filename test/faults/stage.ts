// A world whose service reaches the chain through a fault proxy, and the end of every test of faults: no more faults, everything
// at rest, all invariants hold, nothing was sent that was not stored, and every requested fault really happened.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import type { ChainFacts } from '../../src/ports/chain.ts'
import type { Rules } from '../../src/ports/contexts.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import type { Fault } from '../support/faults/names.ts'
import { checkInvariants, firstBalance, type OnPurpose } from '../support/invariants.ts'
import { until } from '../support/until.ts'
import { ETHER, paymentOf, startWorld, type World } from '../support/world.ts'

export const BASIC = ETHER / 100n

export interface Stage {
  world: World
  /** The only provider, or the first of them. */
  proxy: FaultProxy
  proxies: FaultProxy[]
}
export interface StageOptions {
  rules?: Partial<Rules>
  /** Providers before the same chain; one by default. */
  providers?: number
  rpcTimeoutMs?: number
  maxPerWallet?: bigint
  slotsInEpoch?: number
  /** The service's findings about the chain. */
  facts?: ChainFacts
  onPurpose?: OnPurpose
}

export async function openStage({
  rules,
  providers = 1,
  rpcTimeoutMs,
  maxPerWallet,
  slotsInEpoch,
  facts,
}: StageOptions = {}): Promise<Stage> {
  const proxies: FaultProxy[] = []
  const world = await startWorld(rules, {
    ...(rpcTimeoutMs === undefined ? {} : { rpcTimeoutMs }),
    ...(maxPerWallet === undefined ? {} : { maxPerWallet }),
    ...(slotsInEpoch === undefined ? {} : { slotsInEpoch }),
    ...(facts === undefined ? {} : { facts }),
    async between(target, databaseUrl) {
      for (let i = 0; i < providers; i++) proxies.push(await startFaultProxy({ target, databaseUrl, seed: i + 1 }))
      const close = async () => {
        for (const proxy of proxies) await proxy.close()
      }
      return { urls: proxies.map((proxy) => proxy.url), close }
    },
  })
  const [proxy] = proxies
  assert.ok(proxy)
  await firstBalance(world)
  return { world, proxy, proxies }
}

/** Checks the invariants at the end, whatever happened. */
export async function endWell({ world, proxies }: Stage, onPurpose?: OnPurpose): Promise<void> {
  for (const proxy of proxies) proxy.calm()
  await checkInvariants(world, onPurpose)
  for (const proxy of proxies) assert.deepEqual(await proxy.broken(), [])
}

export interface Play {
  /** A test on the stage; `faults` must have happened in it. */
  act(sentence: string, faults: readonly Fault[], body: (stage: Stage) => Promise<void>): void
}

/**
 * The tests of a file on one stage with open cohorts, one after the other. Each begins at rest without faults; after
 * the last of them everything must hold.
 */
export function play(options: StageOptions = {}): Play {
  let stage: Stage
  before(async () => {
    stage = await openStage(options)
    await stage.world.settle()
  })
  after(async () => {
    try {
      await endWell(stage, options.onPurpose)
    } finally {
      await stage.world.close()
    }
  })
  return {
    act: (sentence, faults, body) =>
      void test(sentence, async () => {
        await calmDown(stage)
        const counts = () => faults.map((fault) => sum(stage.proxies.map((proxy) => proxy.fired.get(fault) ?? 0)))
        const earlier = counts()
        await body(stage)
        for (const [i, count] of counts().entries()) assert.ok(count > (earlier[i] ?? 0), `${faults[i]} never happened`)
      }),
  }
}

async function calmDown({ world, proxies }: Stage): Promise<void> {
  for (const proxy of proxies) {
    proxy.calm()
    proxy.onCall = () => {}
    proxy.onAnswered = () => {}
    proxy.dialect = 'anvil'
  }
  await blocksHold(world, BLOCK_GAS)
  // If a test failed half way, it must not break the others.
  await world.settle().catch(() => {})
}

/** The default gas limit of the chain's blocks. */
export const BLOCK_GAS = 30_000_000

/** From the next block on, no transaction may have more gas than this, nor any provider estimate more. Undone after each act. */
export async function blocksHold({ chain }: World, gas: number): Promise<void> {
  await chain.rpc('evm_setBlockGasLimit', [`0x${gas.toString(16)}`])
  // A real chain's limit changes little from block to block, so what fits in the latest one fits in the next.
  await chain.mine()
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)

let payers = 0
/** Accounts 5 to 19 in turn, because a wallet may hold only ten basic nodes. */
export const nextPayer = () => 5 + (payers++ % 15)

/** Pays for a basic node, in a new block. */
export async function paid(world: World, account = nextPayer(), valueWei = BASIC): Promise<Hash> {
  const txHash = await world.pay(account, valueWei)
  await world.chain.mine()
  return txHash
}

export const stateOf = async (world: World, txHash: Hash) => (await paymentOf(world, txHash))?.state

export const cursorOf = async (world: World): Promise<number> => {
  const [row] = await world.pool<{ number: number }[]>`SELECT block_number AS number FROM cursors`
  return row?.number ?? -1
}

export interface AttemptRow {
  hash: Hash
  kind: string
  nonce: number
  outcome: string | null
  sends: number
  fee: bigint
}
/** Every transaction ever signed, in order. */
export const attemptsOf = (world: World) => world.pool<AttemptRow[]>`
  SELECT a.tx_hash AS hash, o.kind, o.nonce, a.last_outcome AS outcome, a.sends, a.max_fee_wei AS fee
  FROM outbox_attempts a JOIN outbox o ON o.id = a.outbox_id ORDER BY o.id, a.attempt`
export async function lastAttempt(world: World): Promise<AttemptRow> {
  return (await attemptsOf(world)).at(-1) ?? assert.fail('nothing was signed')
}

/** The tip that an attempt offers, wei per gas. */
export async function tipOf(world: World, txHash: Hash): Promise<bigint | undefined> {
  const [attempt] = await world.pool<{ tip: bigint }[]>`
    SELECT max_priority_fee_wei AS tip FROM outbox_attempts WHERE tx_hash = ${txHash}`
  return attempt?.tip
}

/** Checks that the payment is minted as exactly one node, also on the contract. */
export async function isOneNode(world: World, txHash: Hash): Promise<void> {
  assert.equal(await stateOf(world, txHash), 'minted')
  const nodes = await world.pool<{ id: number }[]>`SELECT node_id AS id FROM nodes WHERE ref = ${txHash}`
  assert.deepEqual(
    nodes.map((node) => BigInt(node.id)),
    [await world.read<bigint>('nodeOfRef', [txHash])],
  )
}

/** Less than the server waits for a silent holder, so that does not free the locks below. */
const NOTICED_MS = 10_000

/** Resolves once no session holds a pass's lock, because the server notices a killed process a moment later. */
export async function locksAreFree({ pool }: World): Promise<void> {
  const holders = () => pool`
    SELECT FROM pg_stat_activity WHERE application_name LIKE 'node-ledger lock %' AND datname = current_database()`
  await until('the locks to be free', async () => (await holders()).count === 0, NOTICED_MS)
}

/** Runs a pass that may stop on a fault; returns the fault's text, or null. */
export async function attempt(pass: () => Promise<unknown>): Promise<string | null> {
  return pass().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
}
