// A ladder, in some seeds: one tier opens once another is sold out. At rest its places are recounted from the blocks, and with them the
// place behind which the step opens.
import assert from 'node:assert/strict'
import type { Hash } from '../../src/domain/units.ts'
import { ETHER } from '../support/world.ts'
import { BUYERS, send } from './acts.ts'
import { diceWhereBusy } from './edges.ts'
import type { Play } from './play.ts'
import { count } from './tally.ts'

/** A payment, as the oracle reads it. */
interface Paid {
  ref: Hash
  inner: number
  /** Its transaction's index in the block. */
  index: number
  block: number
  state: string
  reason: string | null
  tierId: string | null
}

type At = Pick<Paid, 'block' | 'index' | 'inner'>
const isBehind = (a: At, b: At) =>
  a.block - b.block > 0 || (a.block === b.block && (a.index - b.index || a.inner - b.inner) > 0)

/** The tier that is sold first, and the one that waits for it. */
export const FIRST = 'basic'
const STEP = 'plus'
const STEP_PRICE = ETHER / 40n
/** Most seeds begin with two nodes of the first tier. */
const [SUPPLY_MIN, SUPPLY_MAX] = [3, 6]
const WALLET = 3

/** None of the kept seeds has one, so those do not change. */
export const isLadder = ({ seed }: Play): boolean => seed % 11 === 9

/** Separate dice, so the other parts of a seed stay as they are. */
const ladderDice = diceWhereBusy(6_000_311, 1)
const supplies = new WeakMap<Play, number>()

/** The supply of the first tier, drawn once. */
export function firstSupply(play: Play): number {
  const supply = supplies.get(play) ?? ladderDice(play)?.between('supply', SUPPLY_MIN, SUPPLY_MAX) ?? SUPPLY_MIN
  supplies.set(play, supply)
  return supply
}

export async function buildLadder(play: Play): Promise<void> {
  if (!isLadder(play)) return
  await play.stage.observer`UPDATE tiers SET opens_after = ${FIRST} WHERE tier_id = ${STEP}`
  count(play.tally, 'a ladder')
}

/** Buyers who want to be in time for the first tier, or for the step. */
export async function climb(play: Play): Promise<void> {
  const dice = isLadder(play) ? ladderDice(play) : null
  for (let left = dice?.between('payments', 0, 4) ?? 0; dice && left > 0; left--) {
    const from = dice.pick('buyer', BUYERS)
    const price = play.terms.at(-1)?.priceWei ?? 0n
    const value = dice.roll('step') < 0.4 ? STEP_PRICE : price
    play.sent.push(await send(play, from, play.stage.world.at(WALLET), value))
    play.log.push(`  account ${from} pays ${value} on the ladder`)
  }
}

/** The place behind which the step sells, by the ledger; null while it waits. */
async function openedAt({ stage: { observer } }: Play): Promise<At | null> {
  const [row] = await observer<At[]>`
    SELECT from_block AS block, tx_index AS index, inner_index AS inner FROM tier_openings WHERE tier_id = ${STEP} AND opens_after = ${FIRST}`
  return row ?? null
}

/** Whether the service was right to hold a payment as `notOpenYet`. */
export async function unopenedRightly(play: Play): Promise<(payment: Paid) => boolean> {
  if (!isLadder(play)) return () => false
  const opened = await openedAt(play)
  return (payment) => payment.reason === 'notOpenYet' && (opened === null || !isBehind(payment, opened))
}

/** The step opens behind the payment that took the last place before it, if nothing was reorganised or decided, and no one lied. */
export async function checkLadder(play: Play, payments: readonly Paid[]): Promise<void> {
  if (!isLadder(play)) return
  const opened = await openedAt(play)
  if (opened !== null) count(play.tally, 'a step opened')
  if (payments.some(({ reason }) => reason === 'notOpenYet')) count(play.tally, 'too early for a step')
  if (play.restored || play.decided.size > 0 || play.foreign.length > 0 || play.lying) return
  if ([...play.tally.keys()].some((what) => /reorganisation|expulsion|refund/.test(what))) return
  const taken = payments.filter(({ tierId, state }) => tierId === FIRST && state === 'minted')
  // A contract's payment may take its place long after its block.
  if (taken.some(({ inner }) => inner > 0)) return
  const last = taken[firstSupply(play) - 1]
  const opens = last ? { block: last.block, index: last.index, inner: last.inner } : null
  assert.deepEqual(opened && { ...opened }, opens, 'I16: a step opens with the last place before it')
  const ofStep = payments.filter(({ tierId }) => tierId === STEP)
  const early = ofStep.filter((payment) => opens === null || !isBehind(payment, opens))
  const wrong = [
    ...early.filter(({ state }) => state === 'minted'),
    ...ofStep.filter((payment) => payment.reason === 'notOpenYet' && opens !== null && isBehind(payment, opens)),
  ]
  assert.deepEqual(wrong, [], 'I16: a step sells behind that payment, and not before')
  count(play.tally, opens === null ? 'a step waits' : 'a step opened in order')
}
