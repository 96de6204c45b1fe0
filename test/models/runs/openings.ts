// Whether cohorts are opened, by docs/ARCHITECTURE.md (Cohorts), docs/CONTRACT.md (Why cohorts, Rounds) and docs/REWARDS.md (what is not owed): each tier
// on sale has a cohort of every phase, and buyers who wait get a place, at once or once a round has skipped what is not owed.
//
// Choices in what the documents leave open:
// - A round that skips turns is awaited for less than 300 seconds of block time after a payment's block. One payment that waited as long is enough.
// - If no payment of the tier is accepted, none waits, and only phases that are missing are opened.

export const [INTERVAL, SLOT, NOW, AWAITED_SEC] = [120, 60, 1_000_045, 300]

export interface Cohort {
  tierNo: number
  nextDue: number
  size: number
}
export interface Plan {
  cohorts: Cohort[]
  /** The tiers' numbers, with whether they are on sale. */
  tiers: { tierNo: number; onSale: boolean }[]
  waiting: { tierNo: number; time: number }[]
  /** When turns were not owed by the terms, and whether the contract's owner has set the window. */
  off: { from: number; until: number; isSet: boolean }
}

/** The next turn of a node that joins now, if the cohort takes one now. */
const takes = ({ nextDue, size }: Cohort): boolean => {
  if (size > 0 && nextDue <= NOW) return false
  let due = nextDue
  // An empty cohort's past turns are owed to no node.
  while (due <= NOW) due += INTERVAL
  return due > NOW + INTERVAL - SLOT && due <= NOW + INTERVAL
}

/** The cohort after a round has skipped its turns that are not owed. */
function skipped(one: Cohort, { off }: Plan): Cohort {
  let { nextDue } = one
  while (off.isSet && nextDue <= NOW && nextDue >= off.from && nextDue < off.until) nextDue += INTERVAL
  return { ...one, nextDue }
}

/** Whether a tier lacks a cohort. */
function lacks(plan: Plan, { tierNo, onSale }: { tierNo: number; onSale: boolean }): boolean {
  const own = plan.cohorts.filter((one) => one.tierNo === tierNo)
  const waiting = plan.waiting.filter((one) => one.tierNo === tierNo)
  if (!onSale && waiting.length === 0) return false
  for (let phase = 0; phase < INTERVAL; phase += SLOT)
    if (!own.some(({ nextDue }) => nextDue % INTERVAL === phase)) return true
  if (waiting.length === 0 || own.some(takes)) return false
  const isRoomMade = own.some((one) => takes(skipped(one, plan)))
  return !isRoomMade || waiting.some(({ time }) => NOW - time >= AWAITED_SEC)
}

/** What a pass would do if the minter's budget were not spent: mint, or else open cohorts. */
export function nextOf(plan: Plan): 'nodes' | 'cohorts' | null {
  for (const { tierNo } of plan.waiting)
    if (plan.cohorts.some((one) => one.tierNo === tierNo && takes(one))) return 'nodes'
  return plan.tiers.some((tier) => lacks(plan, tier)) ? 'cohorts' : null
}
