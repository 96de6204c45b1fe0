// Plays a line: a purchase, a wrong amount, a stranger's failed call and a turn that falls due, while a provider tells
// what the line says. It returns what went wrong, in phrases. It never decides whether that was expected.

import { encodeFunctionData } from 'viem'
import { settleFacts } from '../../src/boot/preflight.ts'
import { isGuardUsable } from '../../src/chain/factory/check-deployment.ts'
import { createSyncer } from '../../src/claims/sync.ts'
import { KINDS } from '../../src/domain/webhooks/kinds.ts'
import type { Answer, Rule } from '../chain/false-provider.ts'
import { ownerAbi, type World } from '../support/world.ts'
import { type Line, MADE_UP_NODE, type Place, type Scene, WITHOUT_PROOFS } from './lines.ts'
import { BASIC, type Opened, type Stage } from './stage.ts'
import {
  BESIDE_A_FORK,
  type Business,
  findMissing,
  findWrong,
  IN_A_FORK,
  ON_ONE_WORD,
  readTruth,
  STAYS_ON_ONE_WORD,
} from './truth.ts'

/** Beside an honest provider a sale may take this many runs. */
const RUNS_MAX = 5
/** The acts whose events ask a person to look. */
const ASKING = Object.values(KINDS).flatMap(({ asks, acts = [] }) => (asks ? acts : []))
/** Here the service may never ask the liar, or may not use its answer. */
const MAY_BE_UNHEARD: readonly Place[] = ['second', 'later', 'agreedSecond']
/** Here nothing proves the ledger's side, so what a lie is about may wait. */
const MAY_WAIT: readonly Place[] = ['only', 'both', 'three', ...WITHOUT_PROOFS]
/** A ledger that requires no proofs. */
const isUnproven = (place: Place) => WITHOUT_PROOFS.includes(place)
/** Histories that differ for so many blocks are told. */
const PARTED_BLOCKS = 12
const honest: Rule = () => undefined

/** What a ledger has after a run. */
interface Standing {
  wrong: string[]
  missing: string[]
  /**
   * The acts whose events ask a person to look; `held` if any payment but the wrong amount is held, which is an event as well; `unproven` if a payment rests
   * on one provider's word, which doctor and an alert report.
   */
  woken: string[]
}

/** What went wrong when a liar stood there; empty if all held. */
export async function playLiar(stage: Stage, line: Line, place: Place): Promise<string[]> {
  const played = await playLine(stage, line, place)
  const { last, wrong, after, isSpoken } = played
  const waits = last.missing.length > 0
  const isParted = line.isFork && place !== 'only'
  const mayWait = isParted || MAY_WAIT.includes(place)
  const isHeard = isSpoken || MAY_BE_UNHEARD.includes(place)
  const mustHear = isParted || !MAY_BE_UNHEARD.includes(place)
  const maySeeNothing = (line.isUnseen || line.isFork) && place === 'only'
  // Where nothing proves a block, nothing shows who lies. What rests on one provider's word is reported only if it keeps a payment waiting.
  const isAnswer = line.isTold === false || isUnproven(place)
  const mustTell = isSpoken && mustHear && !maySeeNothing && (waits || !isAnswer)
  return [
    ...(isHeard ? [] : ['the service asks for nothing of it']),
    ...wrong,
    ...(mayWait ? [] : last.missing),
    ...(mustTell && last.woken.length === 0 ? ['nobody is told'] : []),
    ...(after?.missing ?? []).map((what) => `${what} beside honest providers afterwards`),
  ]
}

/** What went wrong with an honest provider that has a quirk; empty if all held. */
export async function playQuirk(stage: Stage, line: Line, place: Place): Promise<string[]> {
  const { last, wrong, after, isSpoken } = await playLine(stage, line, place)
  return [
    ...(isSpoken ? [] : ['the service asks for nothing of it']),
    ...wrong,
    ...last.missing,
    ...last.woken.map((act) => `somebody is woken: ${act}`),
    ...(after?.missing ?? []).map((what) => `${what} beside honest providers afterwards`),
  ]
}

async function playLine(stage: Stage, line: Line, place: Place) {
  const isAlone = place === 'only' || place === 'three'
  const urls = stage.providers.slice(0, isAlone ? 1 : 2).map(({ url }) => url)
  const opened = await stage.open(urls)
  let { world } = opened
  try {
    if (isUnproven(place)) await world.pool`UPDATE evidence_modes SET mode = 'agreed'`
    if (place === 'restart') await run(world)
    const from = Number((await stage.chain.block()).number) + 1
    const scene: Scene = { chain: stage.chain, fork: stage.fork, factory: stage.factory, at: world.at, from }
    let isSpoken = false
    const told = line.tells(scene)
    const note = () => {
      isSpoken = true
    }
    beginLie(stage, noting(place === 'later' ? onceLater(told) : told, note), place)
    if (place === 'restart') world = await restarted(world, opened.reopen)
    const business = await doBusiness(world)
    const wrong = new Set<string>()
    const isParted = line.isFork && place !== 'only'
    let excused = excusedWhile(line, place)
    const step = async (index: number) => {
      if (index === 1) await world.chain.setNextTime((await nextDue(world)) + 2)
      if (place === 'three' && index === 3) endLies(stage)
      if (isParted && index === 2) await world.chain.mine(PARTED_BLOCKS)
      await run(world)
      if (line.isAskedFor && index < RUNS_MAX) await askForNode(world)
      const standing = await standingOf(world, business)
      for (const phrase of standing.wrong) if (!excused.includes(phrase)) wrong.add(phrase)
      return standing
    }
    let last = await step(0)
    const mayEnd = () => last.missing.length === 0 && (last.woken.length > 0 || line.isTold === false)
    for (let index = 1; index < RUNS_MAX && !mayEnd(); index++) last = await step(index)
    endLies(stage)
    let after: Standing | null = null
    excused = isUnproven(place) ? ON_ONE_WORD : []
    for (let more = 0; more < RUNS_MAX && !isOver(after ?? last, place); more++) after = await step(RUNS_MAX + more)
    // Beside honest providers, what rested on one provider's word is read again.
    for (const phrase of staying(after ?? last, place)) wrong.add(phrase)
    return { last, wrong: [...wrong], after, isSpoken }
  } finally {
    endLies(stage)
    await opened.close()
  }
}

/** What may be wrong during the lie, because the service does not act on it. */
function excusedWhile({ isFork }: Line, place: Place): readonly string[] {
  if (isFork) return place === 'only' ? IN_A_FORK : BESIDE_A_FORK
  return isUnproven(place) ? ON_ONE_WORD : []
}

/** What must not be wrong any more beside honest providers, although it rested on one provider's word. */
const staying = ({ wrong }: Standing, place: Place) =>
  isUnproven(place) ? wrong.filter((phrase) => !STAYS_ON_ONE_WORD.includes(phrase)) : []

const isOver = (standing: Standing, place: Place) =>
  standing.missing.length === 0 && staying(standing, place).length === 0

/** One block and both passes, a minute after the last ones. A pass that throws is tried again by the next run. */
async function run(world: World): Promise<void> {
  await world.pool`
    UPDATE troubles SET value = value || jsonb_build_object('since', iso((value ->> 'since')::timestamptz - interval '1 minute'))
    WHERE name = 'stuck' OR name LIKE 'unsent %'`
  await world.chain.mine()
  await world.payments().catch(() => undefined)
  await world.credit().catch(() => undefined)
}

/** A stranger asks for the node after the last one. A refusal and a fault are both as they should be. */
async function askForNode({ ctx, payments }: World): Promise<void> {
  await createSyncer(ctx, payments)
    .byNodeId(MADE_UP_NODE)
    .catch(() => undefined)
}

async function standingOf(world: World, txHashes: Business): Promise<Standing> {
  const truth = await readTruth(world)
  const rows = await world.pool<{ action: string }[]>`
    SELECT DISTINCT action FROM audit WHERE action = ANY(${ASKING})
    UNION ALL SELECT 'held' FROM payments WHERE tx_hash IS DISTINCT FROM ${txHashes.wrong} AND state = 'held'
    UNION ALL SELECT 'unproven' FROM payments WHERE state = 'seen' AND proof = 'believed' ORDER BY action`
  return {
    wrong: await findWrong(world, truth),
    missing: await findMissing(world, { txHashes, truth }),
    woken: rows.map(({ action }) => action),
  }
}

/**
 * A transfer between strangers comes first in the block, so that a list without our payments is not empty. The payments wallet pays once. Two calls
 * fail.
 */
async function doBusiness({ pay, at, chain, factory }: World): Promise<Business> {
  await pay(7, 1n, at(8))
  const exact = await pay(5, BASIC)
  const wrong = await pay(6, BASIC + 7n)
  await pay(3, 5n, at(9))
  const data = encodeFunctionData({ abi: ownerAbi, functionName: 'withdraw', args: [1n, at(9), 1n] })
  for (const caller of [9, 5]) await chain.send({ from: at(caller), to: factory, data, gas: '0x30000' })
  return { exact, wrong }
}

const nextDue = async ({ read }: World) => Number((await read<bigint[]>('cohort', [1n]))[2])

function beginLie({ providers: [first, second] }: Stage, rule: Rule, place: Place): void {
  if (place !== 'second' && place !== 'agreedSecond') first.rule = rule
  if (place === 'second' || place === 'agreedSecond' || place === 'both') second.rule = rule
}

function endLies({ providers }: Stage): void {
  for (const provider of providers) provider.rule = honest
}

const isSame = (one: Answer, another: Answer) =>
  JSON.stringify('result' in one ? one.result : one.error) ===
  JSON.stringify('result' in another ? another.result : another.error)

/** Notes the first answer that is not the chain's. */
function noting(rule: Rule, note: () => void): Rule {
  let isNoted = false
  return async (call, forward) => {
    // If the chain refuses the rule's own question, the truth is told.
    const told = await Promise.resolve(rule(call, forward)).catch((error: Error) => {
      if (error.name === 'RpcCallError') return undefined
      throw error
    })
    if (!told || isNoted || isSame(told, await forward())) return told
    isNoted = true
    note()
    return told
  }
}

/** The lie in the second answer that it changes, and in no other. */
function onceLater(rule: Rule): Rule {
  let changed = 0
  return async (call, forward) => {
    const told = await rule(call, forward)
    const truth = told && (await forward())
    return told && truth && !isSame(told, truth) && ++changed !== 2 ? truth : told
  }
}

/** The service as it starts again: it asks its providers again what they can do. */
async function restarted(world: World, reopen: Opened['reopen']): Promise<World> {
  const found = { guardUsable: await isGuardUsable(world.rpc, world.factory, 0).catch(() => false) }
  return await reopen(await settleFacts(world.pool, found, () => undefined))
}
