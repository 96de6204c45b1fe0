// A tier with a supply, in some seeds. After each step no more payments are accepted than there are places. At rest no
// one was refused who came before one that was served.
import assert from 'node:assert/strict'
import type { Sql } from '../../src/db/core/sql.ts'
import type { Hash } from '../../src/domain/units.ts'
import { FIRST, firstSupply, isLadder } from './ladder.ts'
import type { Play } from './play.ts'
import { count } from './tally.ts'

/** A payment, as the oracle reads it. */
interface Paid {
  ref: Hash
  /** 0: the transaction's own transfer. */
  inner: number
  time: number
  state: string
  reason: string | null
  tierId: string | null
}

/** The tier that has a supply, and how large that is. */
export interface Scarce {
  tier: string
  supply: number
}

const SUPPLY = 4
/** How long a payment that came too late may still get a place, seconds of block time. */
export const WAITS_SEC = 86_400

/** None of the kept seeds has one, so those do not change. */
export function scarceOf(play: Play): Scarce | null {
  if (isLadder(play)) return { tier: FIRST, supply: firstSupply(play) }
  return play.seed % 11 === 1 ? { tier: 'plus', supply: SUPPLY } : null
}

export async function limitSupply(play: Play): Promise<void> {
  const scarce = scarceOf(play)
  if (!scarce) return
  await play.stage.observer`UPDATE tiers SET supply = ${scarce.supply} WHERE tier_id = ${scarce.tier}`
  count(play.tally, 'a supply')
}

export async function checkSupply(play: Play): Promise<void> {
  const scarce = scarceOf(play)
  if (scarce) await checkSold(play.stage.observer, scarce)
}

/** Payments whose last verdict accepted them, and that are nodes or pending. A stolen key's mints are no one's sale. */
export async function checkSold(sql: Sql, { tier, supply }: Scarce): Promise<void> {
  const [row] = await sql<{ sold: number }[]>`
    SELECT count(*) AS sold FROM payments p WHERE tier_id = ${tier} AND state IN ('accepted', 'minting', 'minted')
      AND (SELECT verdict FROM standing_verdicts v WHERE v.payment_id = p.id ORDER BY id DESC LIMIT 1) = 'accepted'`
  assert.ok(Number(row?.sold) <= supply, `I14: ${row?.sold} of ${supply} are sold`)
}

/** The refs of payments that came too late and wait no longer: somebody decided on them, or their payer got the ether back. */
export async function readKept(sql: Sql): Promise<Set<string>> {
  const kept = await sql<{ ref: string }[]>`
    SELECT ref FROM payments p WHERE state = 'dismissed' OR (state = 'held' AND reason = 'soldOut' AND (
      EXISTS (SELECT FROM payment_verdicts v WHERE v.payment_id = p.id AND decided_by <> 'pass')
      OR EXISTS (SELECT FROM wallet_outflows o WHERE o.to_address = p.from_address AND o.value_wei > 0)))`
  return new Set(kept.map(({ ref }) => ref))
}

/** Whether the service was right to hold a payment as `soldOut`. */
export async function soldOutRightly(play: Play): Promise<(payment: Paid) => boolean> {
  const scarce = scarceOf(play)
  if (!scarce) return () => false
  const { tier, supply } = scarce
  const { observer, chain } = play.stage
  const [row] = await observer<{ taken: number; onSale: boolean }[]>`
    SELECT (SELECT on_sale FROM tiers WHERE live AND tier_id = ${tier}) AS "onSale", (SELECT coalesce(sum(size), 0) FROM cohorts WHERE tier_no = (SELECT max(tier_no) FROM tiers WHERE tier_id = ${tier}))
      + (SELECT count(*) FROM expulsions) + (SELECT count(*) FROM payments WHERE tier_id = ${tier} AND state IN ('accepted', 'minting')) AS taken`
  const kept = await readKept(observer)
  const isFull = Number(row?.taken) >= supply || !row?.onSale
  const now = Number((await chain.block()).timestamp)
  if (isFull) count(play.tally, 'sold out')
  return ({ ref, time, reason }) => reason === 'soldOut' && (isFull || now - time >= WAITS_SEC || kept.has(ref))
}

/** Counts once more from the blocks: if nothing was reorganised or decided, late payments came after all those that were served. */
export function checkOrder(play: Play, payments: readonly Paid[]): void {
  const scarce = scarceOf(play)
  if (!scarce || play.restored || play.decided.size > 0 || play.foreign.length > 0) return
  if ([...play.tally.keys()].some((what) => /reorganisation|expulsion|refund/.test(what))) return
  // A contract's payment may be judged once more, long after its block.
  const ofTier = payments.filter(({ tierId, inner }) => tierId === scarce.tier && inner === 0)
  const late = ofTier.findIndex(({ state, reason }) => state === 'held' && reason === 'soldOut')
  const after = late < 0 ? [] : ofTier.slice(late).filter(({ state }) => state === 'minted')
  assert.deepEqual(after, [], 'I14: places are taken in the order of the chain')
  if (late >= 0) count(play.tally, 'places in order')
}
