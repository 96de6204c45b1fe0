// A tier that is sold to a list, in some seeds: after each step nobody was sold more than the list allows, and at rest each wallet's payments are
// recounted in the order of the blocks.
import assert from 'node:assert/strict'
import { insertAllowlist, insertAllowlistPart } from '../../src/db/sale/allowlists.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { build } from '../../src/operator/acts/allowlists/built.ts'
import { readList } from '../../src/operator/acts/allowlists/read.ts'
import { HONEST } from './liars/lying.ts'
import type { Play } from './play.ts'
import { count } from './tally.ts'

/** A payment, as the oracle reads it. */
interface Paid {
  ref: Hash
  inner: number
  from: Address
  state: string
  reason: string | null
  tierId: string | null
}

const TIER = 'plus'
/** What the list allows by account: some of the buyers, and the one who pays beside a lie. The others are not on it. */
const ALLOCATIONS: Readonly<Record<number, number>> = { 5: 1, 6: 2, 7: 3, [HONEST]: 9 }

/** Those seeds are none of the kept ones, which stay what they were. */
const isListed = ({ seed }: Play): boolean => seed % 11 === 4

const allocationOf = ({ stage: { world } }: Play, wallet: Address): number =>
  Object.entries(ALLOCATIONS).find(([account]) => world.at(Number(account)) === wallet)?.[1] ?? 0

export async function listBuyers(play: Play): Promise<void> {
  if (!isListed(play)) return
  const { observer, world } = play.stage
  const rows = Object.entries(ALLOCATIONS).map(([account, nodes]) => `${world.at(Number(account))},${nodes}\n`)
  const { preview, parts } = build(await readList([Buffer.from(rows.join(''))]))
  const { root, entries, allocated } = preview
  if (root === null) throw new Error('the list has a bad line')
  const id = await insertAllowlist(observer, { root, label: 'buyers', entries, allocated, enteredBy: 'sim' })
  if (id !== null) for (const part of parts) await insertAllowlistPart(observer, id, part)
  await observer`UPDATE tiers SET allowlist = ${root} WHERE tier_id = ${TIER}`
  count(play.tally, 'a list')
}

/** Payments that a pass accepted by the rules, and that are nodes or on their way. */
export async function checkAllocations(play: Play): Promise<void> {
  if (!isListed(play)) return
  const rows = await play.stage.observer<{ wallet: Address; bought: number }[]>`
    SELECT from_address AS wallet, count(*) AS bought FROM payments p WHERE tier_id = ${TIER} AND state IN ('accepted', 'minting', 'minted')
      AND (SELECT verdict FROM standing_verdicts v WHERE v.payment_id = p.id ORDER BY id DESC LIMIT 1) = 'accepted'
      AND NOT EXISTS (SELECT FROM payment_verdicts v WHERE v.payment_id = p.id AND decided_by <> 'pass') GROUP BY 1`
  for (const { wallet, bought } of rows)
    assert.ok(Number(bought) <= allocationOf(play, wallet), `I15: ${wallet} was sold ${bought} nodes`)
}

/** Says of a payment held `notListed` whether it is right that it was turned away: those of its wallet that count have used up its allocation. */
export function unlistedRightly(play: Play, payments: readonly Paid[]): (payment: Paid) => boolean {
  if (!isListed(play)) return () => false
  const counts = ({ state, reason, tierId }: Paid) =>
    tierId === TIER && (['accepted', 'minting', 'minted'].includes(state) || reason === 'refunding')
  return ({ from, reason }) => {
    if (reason !== 'notListed') return false
    const used = payments.filter((payment) => payment.from === from && counts(payment)).length
    count(play.tally, 'not listed')
    return used >= allocationOf(play, from) || play.decided.size > 0
  }
}

/** Counted once more from the blocks: of each wallet the first payments are sold, if nothing was taken back or decided. */
export function checkListOrder(play: Play, payments: readonly Paid[]): void {
  if (!isListed(play) || play.restored || play.decided.size > 0 || play.foreign.length > 0) return
  if ([...play.tally.keys()].some((what) => /reorganisation|expulsion|refund/.test(what))) return
  const ofTier = payments.filter(({ tierId, inner }) => tierId === TIER && inner === 0)
  for (const [wallet, paid] of Map.groupBy(ofTier, ({ from }) => from)) {
    const late = paid.findIndex(({ state, reason }) => state === 'held' && reason === 'notListed')
    const after = late < 0 ? [] : paid.slice(late).filter(({ state }) => state === 'minted')
    assert.deepEqual(after, [], `I15: ${wallet} uses its allocation in the order of the chain`)
    if (late >= 0) count(play.tally, 'allocations in order')
  }
}
