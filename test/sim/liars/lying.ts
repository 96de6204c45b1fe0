// Liars in a seed: in half of them the only provider, the first of two, or both alike tell one lie now and then. They tell it once more at
// the end, without other faults: then the service must alert people, and the sale must continue. Drawn from separate dice.
import assert from 'node:assert/strict'
import { operatorDeps } from '../../../src/boot/app.ts'
import { settleFacts } from '../../../src/boot/preflight.ts'
import { isGuardUsable } from '../../../src/chain/factory/check-deployment.ts'
import { oldestBlockNumber } from '../../../src/db/blocks/blocks.ts'
import { isProven } from '../../../src/db/blocks/evidence.ts'
import type { Hash } from '../../../src/domain/units.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { rescan } from '../../../src/operator/acts/rescan.ts'
import { BUYERS, callOf, send } from '../acts.ts'
import { diceWhereBusy } from '../edges.ts'
import { mine, type Play, runPass, startInstance } from '../play.ts'
import { Provider } from '../provider.ts'
import { FIRST_BLOCK, INTERVAL_SEC } from '../stage.ts'
import { count } from '../tally.ts'
import { createLiar, type Lying, VOICES } from './liar.ts'
import { FORK, LIES, MADE_UP, NO_HASHES, PLUS, TELLING, UNTOLD } from './lies.ts'

const BUSY = 0.5
/** This offset leaves the seeds kept earlier (seeds.json) without liars, so they still play what we kept them for. */
const DICE_OFFSET = 4_001_229
/** Share of the steps in which a liar lies. */
const OFTEN = 0.4
const FORK_MAX = 3

const liarsDice = diceWhereBusy(DICE_OFFSET, BUSY)

/** Who lies in a seed, and what; null for no one. */
export function lyingOf(play: Play): Lying | null {
  const dice = liarsDice(play)
  if (!dice) return null
  const { backend, chain, fork, world, factory } = play.stage
  const { guardUsable } = play.facts
  const names = Object.keys(LIES).filter((name) => {
    // Without a guard nothing distinguishes two chains that are each valid.
    if (name === FORK) return fork !== null && guardUsable
    if (name === NO_HASHES) return guardUsable
    // Proofs refute it later, but anvil never proves the empty block whose state was changed by hand (real/by-hand.ts).
    return name !== MADE_UP || backend === 'model'
  })
  const name = dice.pick('lie', names)
  const liar = createLiar(LIES[name] ?? assert.fail(), {
    chain,
    fork,
    depth: dice.between('depth', 1, FORK_MAX),
    at: world.at,
    factory,
    lastNode: () => world.read<bigint>('lastId'),
  })
  return { name, voices: dice.pick('voices', VOICES), liar, dice, counted: 0 }
}

/** Makes a liar lie from the next block on, or tell the truth again. */
export async function liarActs(play: Play): Promise<void> {
  const { lying, stage } = play
  if (!lying) return
  countLies(play)
  const isLying = lying.dice.roll('lies') < OFTEN
  // Until the ledger has learned what this chain proves, it believes a lie.
  if (isLying && (await isProven(play.stage.observer))) await beginLie(play)
  else lying.liar.lieFrom(null)
  if (isLying) await stage.observer`DELETE FROM troubles WHERE name = 'trouble proof'`
}

async function beginLie(play: Play): Promise<void> {
  const { lying, stage } = play
  if (!lying) return
  const number = Number((await stage.chain.block()).number) + 1
  lying.liar.lieFrom(number)
  // If two call a block final, it is final; and two on their own fork have other final blocks.
  if (lying.voices === 'both alike' && [FORK, 'finalized too high'].includes(lying.name)) play.pastFinal = true
  play.log.push(`  ${lying.voices} of the providers tells from block ${number} on: ${lying.name}`)
  if (lying.name === NO_HASHES) await restart(play)
}

/** Starts the instances again, with the facts that a start finds. */
async function restart(play: Play): Promise<void> {
  const { chain, rpcOn, pool, factory } = play.stage
  const first = new Provider({
    chain,
    rules: play.sendRules,
    weather: null,
    onRequest: async () => {},
    onFault: () => {},
    answerInstead: async (call) => (await play.lying?.liar.answer(call)) ?? null,
  })
  const rpc = rpcOn([first])
  const found = { guardUsable: await isGuardUsable(rpc, factory, 0) }
  await rpc.close()
  play.facts = await settleFacts(pool, found, () => {})
  assert.ok(play.facts.guardUsable, 'no provider switches the fork guard off')
  for (const [place, instance] of play.instances.entries()) {
    play.closed.push(instance)
    play.instances[place] = startInstance(play, instance.name)
  }
}

/** Ends the lie. Compares what depends on the providers' answers with proofs at once, instead of within ten minutes. */
export async function endLie(play: Play): Promise<void> {
  play.lying?.liar.lieFrom(null)
  countLies(play)
  await play.stage.observer`UPDATE residue_traces SET prove_at = now() WHERE prove_at IS NOT NULL`
}

function countLies({ lying, tally }: Play): void {
  if (!lying || lying.liar.spoken() === lying.counted) return
  lying.counted = lying.liar.spoken()
  count(tally, `lie ${lying.name}`)
  count(tally, `lies by ${lying.voices}`)
}

/**
 * What a lie may have left in the ledger at rest, because nothing but the block's list shows it: transfers that moved nothing, and the hash or sender of
 * an amount that is no tier's price, which is proven once a person releases it.
 */
const MOVED_NOTHING = /^zeroTransfers |^payment .* failed$/
const AMOUNT = /^payment .* (\d+)$/

/**
 * The operator's look at the blocks once somebody has lied: it may find what a lie can leave, and nothing else.
 * @returns true if the ledger went back for one.
 */
export async function rescanAfterLies({ lying, stage, log, tally }: Play): Promise<boolean> {
  if (!lying || lying.counted === 0) return false
  const { pool, world } = stage
  const oldest = (await oldestBlockNumber(pool)) ?? assert.fail('no block is followed')
  // Of later blocks the one before must be there.
  const fromBlock = oldest === FIRST_BLOCK ? oldest : oldest + 1
  const found = await rescan(operatorDeps(world.ctx, pool), { name: 'operator', requestId: null }, { fromBlock })
  if (isOperatorRefusal(found)) return assert.fail(found.message)
  const prices = (await stage.observer<{ wei: string }[]>`SELECT price_wei::text AS wei FROM tiers`).map(
    ({ wei }) => wei,
  )
  const isOfNoPrice = (key: string) => !prices.includes(AMOUNT.exec(key)?.[1] ?? String(PLUS))
  for (const { key } of [...found.missing, ...found.surplus])
    assert.ok(MOVED_NOTHING.test(key) || isOfNoPrice(key), `after a lie: ${key}`)
  if (found.wentBackTo === null) return false
  count(tally, 'rescan after a lie')
  log.push(`the operator has the blocks from ${found.wentBackTo + 1} on read again`)
  return true
}

export const HONEST = 12
const OTHER = 13
const [WALLET, STRANGER] = [3, 11]
/** Most runs after the lie until the service must report it, and must have minted the payment beside it. */
const TOLD_MAX = 2
const DECIDED_MAX = 5
const RUNS = 8

/** True business right before the lie. */
const BEFORE: Record<string, (play: Play) => Promise<void>> = {
  'a mint left out': mintNext,
  'the logs of a mint left out': mintNext,
  'a withdrawal left out': payTurns,
  'the log of a withdrawal left out': payTurns,
}
/** What happens in the block of the lie. */
const MEANWHILE: Record<string, (play: Play) => Promise<unknown>> = {
  // Without another transaction the list would be empty, which is no answer.
  'a payment left out': (play) => send(play, OTHER, play.stage.world.at(STRANGER), 1n),
  'another recipient': (play) => send(play, OTHER, play.stage.world.at(STRANGER), PLUS),
  'another value': (play) => send(play, OTHER, play.stage.world.at(WALLET), 1n),
  'a withdrawal left out': withdraw,
  'the log of a withdrawal left out': withdraw,
}

/** A mint of ours is in the next block. */
async function mintNext(play: Play): Promise<void> {
  await send(play, OTHER, play.stage.world.at(WALLET), PLUS)
  await mine(play, 2)
  await runPass(play, 0, 'payments', { kind: 'nothing' })
}

/** Nodes have something to withdraw. */
async function payTurns(play: Play): Promise<void> {
  await mine(play, INTERVAL_SEC)
  await runPass(play, 0, 'credit', { kind: 'nothing' })
  await mine(play, 2)
}

async function withdraw(play: Play): Promise<void> {
  const { world, factory } = play.stage
  const last = Number(await world.read<bigint>('lastId'))
  for (let id = 1n; id <= last; id++) {
    const [owner, balance] = await world.read<[string, bigint]>('nodeInfo', [id])
    const account = BUYERS.find((one) => world.at(one) === owner.toLowerCase())
    if (account === undefined || balance === 0n) continue
    await send(play, account, factory, 0n, callOf('withdraw', [id, world.at(account), balance]))
    return
  }
}

/** Without other faults and with nothing else to do: the service reports the lie, and with an honest provider the sale continues. */
export async function tryLie(given: Play): Promise<void> {
  const { lying } = given
  if (!lying) return
  const weather = { rate: 0, faults: [] }
  const rules = { ...given.rules, finality: 'guarded' } as const
  const play: Play = { ...given, weather, rules, instances: [], closed: [] }
  play.instances.push(startInstance(play, 'A'))
  try {
    await runPass(play, 0, 'payments', { kind: 'nothing' })
    if (await isProven(play.stage.observer)) await tell(play, lying)
    else count(play.tally, 'lie on a chain that proves less')
  } finally {
    given.pastFinal ||= play.pastFinal
    await endLie(given)
    for (const instance of [...play.instances, ...play.closed]) await instance.close()
  }
}

async function tell(play: Play, lying: Lying): Promise<void> {
  const { liar, name, voices } = lying
  await play.stage.observer`DELETE FROM troubles WHERE name IN ('trouble proof', 'trouble halt')`
  const [last] = await play.stage.observer<{ id: number }[]>`SELECT coalesce(max(id), 0) AS id FROM audit`
  await BEFORE[name]?.(play)
  await beginLie(play)
  const honest = await send(play, HONEST, play.stage.world.at(WALLET), PLUS)
  await MEANWHILE[name]?.(play)
  await mine(play, 'header' in (LIES[name] ?? {}) ? INTERVAL_SEC : 2)
  const before = liar.spoken()
  let spokenAt: number | null = null
  let toldAt: number | null = null
  let decidedAt: number | null = null
  const isWaiting = (run: number) =>
    decidedAt === null || (spokenAt !== null && toldAt === null && run < spokenAt + TOLD_MAX)
  for (let run = 1; run <= RUNS && isWaiting(run); run++) {
    await runPass(play, 0, 'payments', { kind: 'nothing' })
    await runPass(play, 0, 'credit', { kind: 'nothing' })
    if (liar.spoken() > before) spokenAt ??= run
    if (await isTold(play, last?.id ?? 0)) toldAt ??= run
    if (await isDecided(play, honest)) decidedAt ??= run
    await mine(play, 2)
  }
  play.log.push(`    spoken in run ${spokenAt}, told in ${toldAt}, the payment beside it decided in ${decidedAt}`)
  if (spokenAt === null) return
  if (!UNTOLD.includes(name))
    assert.ok(toldAt !== null && toldAt < spokenAt + TOLD_MAX, `${name}, by ${voices}: not told within two runs`)
  if (voices !== 'the first of two' || name === FORK || !play.facts.guardUsable) return
  const isInTime = decidedAt !== null && decidedAt < spokenAt + DECIDED_MAX
  assert.ok(isInTime, `${name}: the payment beside it is not minted: ${await standingOf(play, honest)}`)
}

async function isTold({ stage: { observer } }: Play, since: number): Promise<boolean> {
  const rows = await observer`SELECT FROM audit WHERE id > ${since} AND action = ANY(${TELLING})`
  return rows.count > 0
}

/** Minted, or its tier is sold out or not open yet: whether rightly, we check at rest. */
async function isDecided(play: Play, txHash: Hash): Promise<boolean> {
  return ['minted', 'held soldOut', 'held notOpenYet'].includes(await standingOf(play, txHash))
}

async function standingOf({ stage: { observer } }: Play, txHash: Hash): Promise<string> {
  const [row] = await observer<{ standing: string }[]>`
    SELECT concat_ws(' ', state, reason) AS standing FROM payments WHERE tx_hash = ${txHash}`
  return row?.standing ?? 'not on record'
}
