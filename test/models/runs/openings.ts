// What the minter sends in a run, by docs/ARCHITECTURE.md (Cohorts, Sending), docs/CONTRACT.md (Why cohorts, Rounds) and docs/REWARDS.md (what is not
// owed): each tier on sale has a cohort of every phase, and buyers who wait get a place, at once or once a round has skipped what is not owed.
//
// Choices in what the documents leave open:
// - A round that skips turns is awaited for less than 300 seconds of block time after a payment's block. One payment that waited as long is enough.
// - If no payment of the tier is accepted, none waits, and only phases that are missing are opened, the soonest first.
// - Cohorts are opened only if a payment lacks one, or if there is nothing to mint. Openings go first, in a transaction of their own.
// - While turns stay due for an unknown time, nodes of a tier share the cohort whose turn is farthest. Of several that take nodes, the first does.
// - A call that the chain would not take whole is halved. An opening that would fail leaves the mint, and a lost role leaves nothing.
// - A run asks the contract for its distributor only if turns may be skipped for a payment that waits, and before a call if turns are not delayed anyway.
// - A mint of which one payment has changed since is not stored, nor is its transaction.
// - If payments of tiers without a cohort fill a mint, as many of the other tiers are sought behind them.

export const [INTERVAL, SLOT, NOW, AWAITED_SEC, SETTLED] = [120, 60, 1_000_045, 300, 100]

export interface Cohort {
  tierNo: number
  nextDue: number
  size: number
  intervalSec: number
  openedBlock: number
}
export interface Plan {
  cohorts: Cohort[]
  /** The tiers' numbers, with whether they are on sale. */
  tiers: { tierNo: number; onSale: boolean }[]
  /** Accepted payments, in the order of the chain. */
  waiting: { tierNo: number; time: number; block: number; isBelieved: boolean }[]
  /** When turns were not owed by the terms, and whether the contract's owner has set the window. */
  off: { from: number; until: number; isSet: boolean }
  /** Without terms no turn has a time, and nothing is minted. */
  hasTerms: boolean
  hasDistributor: boolean
  /** Whether the contract can check the followed block, and whether the providers' histories differ since the block that they share. */
  guardUsable: boolean
  differ: boolean
  trustsOne: boolean
  budget: { nodes: number; cohorts: number }
  /** The payment that is held, or gone, when a mint has just been signed; null if none is. */
  changed: number | null
  /** What the chain answers to each call. */
  answer: { openCohorts: Answer; mint: Answer }
}
export type Answer = 'reverts' | 'roleLost' | 'overGasCap' | 'sent'
export type Call =
  | { kind: 'openCohorts'; openings: { tierNo: number; firstDue: number }[] }
  | { kind: 'mint'; orders: { payment: number; cohort: number }[]; guard: 'followed' | 'shared' | null }
export interface Outcome {
  calls: Call[]
  why: Answer | 'changed' | null
  budgetSpent: 'nodes' | 'cohorts' | null
  /** The payments that a stored transaction mints. */
  minting: number[]
  /** How often the run asked the contract for its distributor. */
  asked: number
}
/** The most cohorts in one transaction, and the most nodes. */
export const [OPENINGS_MOST, NODES_MOST] = [100, 200]

/** The next turn of a node that joins the cohort now; null if an earlier one is still to be paid. */
function turnOf({ nextDue, size, intervalSec }: Cohort): number | null {
  if (intervalSec !== INTERVAL || (size > 0 && nextDue <= NOW)) return null
  let due = nextDue
  // An empty cohort's past turns are owed to no node.
  while (due <= NOW) due += INTERVAL
  return due <= NOW + INTERVAL ? due : null
}
const takes = (one: Cohort): boolean => (turnOf(one) ?? 0) > NOW + INTERVAL - SLOT

/** The cohort after a round has skipped its turns that are not owed, if anybody makes rounds. */
function skipped(one: Cohort, { off, hasDistributor }: Plan): Cohort {
  let { nextDue } = one
  while (hasDistributor && off.isSet && nextDue <= NOW && nextDue >= off.from && nextDue < off.until)
    nextDue += INTERVAL
  return { ...one, nextDue }
}

/** The first turns of the cohorts that a tier lacks. */
function lacked(plan: Plan, accepted: Plan['waiting'], { tierNo, onSale }: Plan['tiers'][number]): number[] {
  const own = plan.cohorts.filter((one) => one.tierNo === tierNo && one.intervalSec === INTERVAL)
  const waiting = accepted.filter((one) => one.tierNo === tierNo)
  if (!onSale && waiting.length === 0) return []
  const isRoomMade = own.some((one) => takes(skipped(one, plan)))
  const mayNotWait = waiting.some(({ time }) => NOW - time >= AWAITED_SEC)
  const isStuck = waiting.length > 0 && !own.some(takes) && (!isRoomMade || mayNotWait)
  const firsts: number[] = []
  const joined = Math.floor((NOW + INTERVAL) / SLOT) * SLOT
  for (let due = joined; due < joined + INTERVAL; due += SLOT)
    if ((isStuck && due === joined) || !own.some(({ nextDue }) => nextDue % INTERVAL === due % INTERVAL))
      firsts.push(due)
  return firsts
}

/** The number of the cohort that a node of the tier joins; null if there is none. */
function joins(plan: Plan, tierNo: number, isShared: boolean, mayUse: (one: Cohort) => boolean): number | null {
  const able = plan.cohorts.map((one, n) => ({ cohort: 1 + n, one, due: turnOf(one) }))
  const fitting = able.filter(({ one, due }) => {
    return one.tierNo === tierNo && mayUse(one) && due !== null && (isShared || takes(one))
  })
  return fitting.toSorted((a, b) => Number(b.due) - Number(a.due))[0]?.cohort ?? null
}

/** Tries a call on ever fewer items, as long as they are too many. */
function shrink<T>(items: T[], answer: Answer): T[][] {
  return answer === 'overGasCap' && items.length > 1
    ? [items, ...shrink(items.slice(0, Math.ceil(items.length / 2)), answer)]
    : [items]
}

/** What the minter would send in a run, if each call were refused as `answer` says. */
export function runOf(plan: Plan): Outcome {
  if (!plan.hasTerms) return { calls: [], why: null, budgetSpent: null, minting: [], asked: 0 }
  const accepted = plan.waiting
    .map((one, n) => ({ ...one, payment: 1 + n }))
    .filter((one) => one.block <= SETTLED && (plan.trustsOne || !one.isBelieved))
  const isGuarded = plan.guardUsable && !plan.differ
  const isSettled = (one: Cohort) => isGuarded || one.openedBlock <= SETTLED
  const ordersBy = (isShared: boolean) =>
    accepted.flatMap(({ payment, tierNo }) => {
      const cohort = joins(plan, tierNo, isShared, isSettled)
      return cohort === null ? [] : [{ payment, cohort }]
    })
  let orders = ordersBy(false)
  const isAnyLacking = orders.length === 0 || orders.length < accepted.length
  let openings = plan.tiers.flatMap((tier) =>
    isAnyLacking ? lacked(plan, accepted, tier).map((firstDue) => ({ tierNo: tier.tierNo, firstDue })) : [],
  )
  const isDue = plan.cohorts.some((one) => one.size > 0 && one.nextDue <= NOW)
  const maySkip = isAnyLacking && plan.off.isSet && accepted.length > 0 && isDue
  const isDelayed = NOW >= plan.off.from && NOW < plan.off.until && !plan.off.isSet
  const isAnything = openings.length > 0 || orders.length > 0
  const asked = (maySkip ? 1 : 0) + (isAnything && !isDelayed ? 1 : 0)
  if (isAnything && (isDelayed || !plan.hasDistributor)) {
    orders = ordersBy(true)
    const tiers = [...new Set(accepted.map(({ tierNo }) => tierNo))]
    const firstDue = Math.floor((NOW + INTERVAL) / SLOT) * SLOT
    openings = tiers
      .filter((tierNo) => joins(plan, tierNo, true, () => true) === null)
      .map((tierNo) => ({ tierNo, firstDue }))
  }
  if (plan.differ) openings = []
  return { ...sendOf(plan, orders.slice(0, NODES_MOST), openings.slice(0, OPENINGS_MOST)), asked }
}

function sendOf(
  plan: Plan,
  orders: { payment: number; cohort: number }[],
  openings: { tierNo: number; firstDue: number }[],
): Omit<Outcome, 'asked'> {
  const { budget, answer } = plan
  const calls: Call[] = []
  const nothing = { minting: [], budgetSpent: null }
  let why: Answer | null = null
  if (openings.length > 0 && budget.cohorts > 0) {
    for (const part of shrink(openings.slice(0, budget.cohorts), answer.openCohorts))
      calls.push({ kind: 'openCohorts', openings: part })
    why = answer.openCohorts
    if (why === 'roleLost' || why === 'sent' || orders.length === 0) return { ...nothing, calls, why }
  }
  const affordable = orders.slice(0, budget.nodes)
  const isUnopened = openings.length > 0 && budget.cohorts === 0
  const budgetSpent = affordable.length < orders.length ? 'nodes' : isUnopened ? 'cohorts' : null
  if (affordable.length === 0) {
    // Asks the contract, with a mint of nothing, whether that is this account's budget at all.
    if (budgetSpent !== null) calls.push({ kind: 'mint', orders: [], guard: null })
    return { ...nothing, calls, why: null, budgetSpent: answer.mint === 'roleLost' ? null : budgetSpent }
  }
  const minted = mintOf(plan, affordable)
  return { budgetSpent, ...minted, calls: [...calls, ...minted.calls] }
}

/** A mint of these orders, with what the payments became of which it is. */
function mintOf({ answer, guardUsable, differ, changed }: Plan, orders: { payment: number; cohort: number }[]) {
  const bound = differ ? 'shared' : 'followed'
  const calls = shrink(orders, answer.mint).map((part): Call => {
    return { kind: 'mint', orders: part.toSorted((a, b) => a.cohort - b.cohort), guard: guardUsable ? bound : null }
  })
  const payments = orders.map(({ payment }) => payment)
  if (answer.mint !== 'sent') return { calls, why: answer.mint, minting: [] }
  if (changed !== null && payments.includes(changed))
    return { calls, why: 'changed' as const, minting: [], budgetSpent: null }
  return { calls, why: answer.mint, minting: payments }
}
