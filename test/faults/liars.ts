// A lying provider in an era of the soak: the first of two, with the lies of the simulation. The second one is honest. While everything else fails,
// the liar lies now and then. At rest it tells one lie after the other, alone: the service must report each, and pays little gas for it.
import assert from 'node:assert/strict'
import { toHex } from 'viem'
import { isProven } from '../../src/db/blocks/evidence.ts'
import { createLiar, type Liar } from '../sim/liars/liar.ts'
import { LIES, type Lie, TELLING, UNTOLD } from '../sim/liars/lies.ts'
import type { Dice } from '../support/faults/dice.ts'
import type { World } from '../support/world.ts'
import { addTo, type SoakCounts } from './counts.ts'
import type { Stage } from './stage.ts'

/** Share of the cycles in which the liar lies. */
const OFTEN = 0.5
const FINALIZED = 'finalized too high'
/** Lies of which the ledger keeps nothing once a provider contradicts them. The simulation plays the others. */
const NAMES = [
  'a payment added',
  'another sender',
  'the logs of a mint left out',
  'another mixHash',
  FINALIZED,
  'balances of another block',
] as const
/** Each of our two senders may send one transaction on a lie, and no more until the lie is contradicted. */
const FAILED_MAX = 2
/** Blocks until a lie is told, at most: ten times what a quiet machine needs. */
const RUNS_MAX = 200

/** The lie of a cycle; null if the provider tells the truth. */
export interface Lying {
  name: (typeof NAMES)[number]
  liar: Liar
}

/** Has the first provider tell a lie from the next block on, in some cycles. */
export async function lieSometimes(era: { stage: Stage; dice: Dice }): Promise<Lying | null> {
  const name = era.dice.pick('lie', NAMES)
  // The database may be restarting.
  return era.dice.roll('lies') < OFTEN ? await beginLie(era.stage, name).catch(() => null) : null
}

/** Begins one; null while the ledger does not know what this chain proves, because until then it believes a lie. */
async function beginLie({ world, proxy }: Stage, name: Lying['name']): Promise<Lying | null> {
  const { chain, at, factory, pool } = world
  if (!(await isProven(pool))) return null
  const prices = (await pool<{ wei: string }[]>`SELECT price_wei::text AS wei FROM tiers`).map(({ wei }) => wei)
  const around = { chain, at, factory, fork: null, depth: 0, lastNode: () => world.read<bigint>('lastId') }
  const lie = LIES[name] ?? assert.fail(name)
  const liar = createLiar(name === 'another sender' ? ofPrices(lie, prices, at(3)) : lie, around)
  liar.lieFrom(Number((await chain.block()).number) + 1)
  // A block that was just taken back can be asked for, but not told otherwise.
  proxy.answerInstead = (call) => liar.answer(call).catch(() => null)
  return { name, liar }
}

/** The same lie, but about no block with an amount of no tier: of that the service proves the sender only when somebody releases it. */
function ofPrices(lie: Lie, prices: readonly string[], wallet: string): Lie {
  if (!('body' in lie)) return lie
  const isOfNoPrice = ({ to, value }: { to?: unknown; value?: unknown }) =>
    to === wallet && !prices.includes(String(BigInt(String(value))))
  return { body: (pairs, scene) => (pairs.some(({ tx }) => isOfNoPrice(tx)) ? null : lie.body(pairs, scene)) }
}

/** Ends a lie, and counts its false answers. */
export function endLie({ proxy }: Stage, lying: Lying | null, { lies }: SoakCounts): void {
  proxy.answerInstead = () => null
  if (lying && lying.liar.spoken() > 0) addTo(lies, lying.name, lying.liar.spoken())
}

/** At rest, without other faults: one lie, until the service has reported it. `live` lets business and blocks go on for a moment. */
export async function tellLie(
  { stage, dice, counts }: { stage: Stage; dice: Dice; counts: SoakCounts },
  live: () => Promise<void>,
): Promise<void> {
  const { world } = stage
  const told = (lie: (typeof NAMES)[number]) => counts.liesTold.get(lie) ?? 0
  const name = dice.pick('told', leastOften(NAMES, told))
  await world.pool`DELETE FROM troubles WHERE name = 'trouble proof'`
  const [last] = await world.pool<{ id: number }[]>`SELECT coalesce(max(id), 0) AS id FROM audit`
  const from = Number((await world.chain.block()).number) + 1
  const lying = await beginLie(stage, name)
  if (!lying) return
  const isTold = async () =>
    (await world.pool`SELECT FROM audit WHERE id > ${last?.id ?? 0} AND action = ANY(${TELLING})`).count > 0
  let runs = 0
  while (lying.liar.spoken() === 0 || !(UNTOLD.includes(name) || (await isTold()))) {
    assert.ok(runs++ < RUNS_MAX, `${name}: ${lying.liar.spoken()} false answers, and not told`)
    // Only the reconciler asks for the final block, every five minutes.
    if (name === FINALIZED)
      await world.pool`UPDATE passes SET started_at = started_at - interval '5 minutes' WHERE name = 'reconcile'`
    await live()
  }
  endLie(stage, lying, counts)
  const { failed, gasWei } = await failedSends(world, from)
  assert.ok(failed <= FAILED_MAX, `${name}: ${failed} of our transactions came to nothing`)
  addTo(counts.liesTold, name)
  counts.lieGasWei.push(gasWei)
}

/** Those that happened as rarely as any of them, so a long run meets all. */
function leastOften<T>(all: readonly T[], times: (one: T) => number): T[] {
  const least = Math.min(...all.map(times))
  return all.filter((one) => times(one) === least)
}

/**
 * Our transactions from a block on that the contract refused, and what they cost. Without those that came too late, because the soak moves block time
 * on while they wait.
 */
async function failedSends({ chain, at, pool }: World, from: number): Promise<{ failed: number; gasWei: bigint }> {
  const head = Number((await chain.block()).number)
  const ours = [at(1), at(2)] as readonly string[]
  let [failed, gasWei] = [0, 0n]
  for (let number = from; number <= head; number++) {
    const { timestamp } = await chain.block(number)
    for (const receipt of await chain.rpc<Record<string, string>[]>('eth_getBlockReceipts', [toHex(number)])) {
      if (receipt.status !== '0x0' || !ours.includes(receipt.from ?? '')) continue
      const late = await pool`SELECT FROM outbox o JOIN outbox_attempts a ON a.outbox_id = o.id
        WHERE a.tx_hash = ${receipt.transactionHash ?? ''} AND o.valid_until < ${Number(timestamp)}`
      if (late.count > 0) continue
      failed++
      gasWei += BigInt(receipt.gasUsed ?? 0) * BigInt(receipt.effectiveGasPrice ?? 0)
    }
  }
  return { failed, gasWei }
}
