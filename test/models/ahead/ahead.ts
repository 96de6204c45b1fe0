// Changes of tiers that are entered ahead, as a second reading of docs/ADMIN.md (Tiers) and the fourth edition of the rules of the sale: what a planned
// change becomes, whether it fits, when it may be entered or cancelled, and what is in force in a block. Slow on purpose, and nothing of src.

// Choices in what the documents leave open:
// - Changes of several tiers at one time are read one after the other, in the order of their entry. So two tiers cannot swap prices at one time.
// - Which tier "still sells at" a price ignores opening and closing, as ADMIN.md does: a price belongs to a tier until its grace is over.
// - A change of a tier that is off sale has no price to check. The change that puts it on sale has.
// - A tier that needs no holding has no token, so a change that only removes the holding removes the token too.
// - An entry is rejected for a planned change that fitted before it. Or else of two that do not fit any more neither could be cancelled.
// - A revocation ends a planned change only while the change could be cancelled. Or else a follower that is behind, a reorganisation or a rebuild would
//   undo a change on which later ones rest.
// - A change that was entered at once has the time one second after the head of its entry, or of a later version if there is one: the last entry
//   counts. It holds from that time like any other.

export interface Terms {
  label: string
  priceWei: bigint
  maxPerWallet: number
  holdingWei: bigint
  holdingToken: string | null
  holdingSymbol: string | null
  holdingDecimals: number | null
  payoutBps: number
  onSale: boolean
  holdingRetrySec: number
  supply: number | null
  opensAt: number | null
  closesAt: number | null
  opensAfter: string | null
  allowlist: string | null
}
/** When a change takes effect, and its place among all entries. */
interface Moment {
  fromTime: number
  entry: number
}
export interface Version extends Moment {
  tierId: string
  /** Its number among the entries of the tier. */
  version: number
  graceSec: number
  /** The first block that is not before its time. Before that block, an estimate; of a planned change null. */
  fromBlock: number | null
  terms: Terms
}
export interface Plan extends Moment {
  tierId: string
  version: number
  graceSec: number
  key: string
  /** Only the terms that it changes. */
  changes: Partial<Terms>
}
export interface Step {
  tierId: string
  opensAfter: string
}
export interface Ledger {
  versions: readonly Version[]
  plans: readonly Plan[]
  /** The steps that have opened. */
  opened: readonly Step[]
}

export interface Block {
  number: number
  time: number
}

const isEarlier = (a: Moment, b: Moment): boolean =>
  a.fromTime < b.fromTime || (a.fromTime === b.fromTime && a.entry < b.entry)

export const inOrder = <T extends Moment>(all: readonly T[]): T[] => [...all].sort((a, b) => (isEarlier(a, b) ? -1 : 1))

/** The last version of a tier among some. */
function lastOf(versions: readonly Version[], tierId: string): Version | undefined {
  return inOrder(versions.filter((one) => one.tierId === tierId)).at(-1)
}

/** Until when each version of a tier before the last sells: each later version ends it by its own grace period, the earliest of them counts. */
function graceOf(versions: readonly Version[], tierId: string): { version: Version; until: number }[] {
  const ofTier = inOrder(versions.filter((one) => one.tierId === tierId))
  return ofTier.slice(0, -1).map((version) => {
    const later = ofTier.filter((one) => isEarlier(version, one))
    return { version, until: Math.min(...later.map((one) => one.fromTime + one.graceSec)) }
  })
}

/** Why a change does not fit, with the tier at fault and until when it is. */
export interface Unfit {
  kind: 'noTier' | 'closing' | 'holding' | 'ladder' | 'awaited' | 'raised' | 'priceTaken' | 'priceInGrace'
  otherId: string | null
  untilTime: number | null
}

/** A change that has its terms, among the versions that came before it. */
interface Asked {
  tierId: string
  time: number
  terms: Terms
  former: Version
  /** The other tiers, by their last versions. */
  others: Version[]
  before: Version[]
  opened: readonly Step[]
}
type Fault = { otherId: string | null; untilTime?: number }
/** Each fault that a rule finds. A reading may name any of them. */
type Rule = (asked: Asked) => Fault[]

const tiersOf = (versions: Version[]): Fault[] => versions.map((one) => ({ otherId: one.tierId }))
const faultIf = (isBroken: boolean, otherId: string | null = null): Fault[] => (isBroken ? [{ otherId }] : [])

const closing: Rule = ({ terms: { opensAt, closesAt } }) =>
  faultIf(opensAt !== null && closesAt !== null && closesAt <= opensAt)

const holding: Rule = ({ terms }) => faultIf(terms.holdingWei > 0n && terms.holdingToken === null)

/** A step needs a tier with a supply before it, and a ladder has a first step. */
const ladder: Rule = ({ tierId, terms: { opensAfter }, others }) => {
  if (opensAfter === null) return []
  const tierOf = (id: string) => others.find((one) => one.tierId === id)
  const above: string[] = []
  for (let next: string | null = opensAfter; next !== null && !above.includes(next); ) {
    above.push(next)
    next = tierOf(next)?.terms.opensAfter ?? null
  }
  const hasSupply = (tierOf(opensAfter)?.terms.supply ?? null) !== null
  return faultIf(!hasSupply || above.includes(tierId), opensAfter)
}

const stepsOf = ({ tierId, others }: Asked): Version[] => others.filter((one) => one.terms.opensAfter === tierId)

const awaited: Rule = (asked) => (asked.terms.supply === null ? tiersOf(stepsOf(asked)) : [])

const raised: Rule = (asked) => {
  const [was, will] = [asked.former.terms.supply, asked.terms.supply]
  if (was === null || will === null || will <= was) return []
  const hasOpened = ({ tierId }: Version) =>
    asked.opened.some((one) => one.tierId === tierId && one.opensAfter === asked.tierId)
  return tiersOf(stepsOf(asked).filter((step) => step.terms.onSale && hasOpened(step)))
}

const priceTaken: Rule = ({ terms, others }) =>
  terms.onSale ? tiersOf(others.filter((one) => one.terms.onSale && one.terms.priceWei === terms.priceWei)) : []

const priceInGrace: Rule = ({ terms, others, before, time }) => {
  if (!terms.onSale) return []
  return others.flatMap(({ tierId }) => {
    const ofPrice = graceOf(before, tierId).filter(
      ({ version: { terms: their } }) => their.onSale && their.priceWei === terms.priceWei,
    )
    const untilTime = Math.max(0, ...ofPrice.map(({ until }) => until))
    return time < untilTime ? [{ otherId: tierId, untilTime }] : []
  })
}

/** The rules of a change, in the order in which they are told. */
const RULES: [Unfit['kind'], Rule][] = [
  ['closing', closing],
  ['holding', holding],
  ['ladder', ladder],
  ['awaited', awaited],
  ['raised', raised],
  ['priceTaken', priceTaken],
  ['priceInGrace', priceInGrace],
]

/** The faults by the first rule that a change breaks; none if it fits. */
function whyUnfit(asked: Asked): Unfit[] {
  for (const [kind, rule] of RULES) {
    const faults = rule(asked)
    if (faults.length > 0) return faults.map(({ otherId, untilTime = null }) => ({ kind, otherId, untilTime }))
  }
  return []
}

export interface Reading {
  versions: Version[]
  /** The planned changes that fit, by their entry, with the version that each follows. */
  follows: Map<number, Version>
  /** The planned changes that do not fit, each with every reason that a reading may give. */
  unfit: { plan: Plan; reasons: Unfit[] }[]
}

/** The terms after a change. A symbol and decimals are those of one token, and without a holding there is no token. */
function change(former: Terms, changes: Partial<Terms>): Terms {
  const kept = { ...former }
  if ('holdingToken' in changes && changes.holdingToken !== former.holdingToken)
    Object.assign(kept, { holdingSymbol: null, holdingDecimals: null })
  const terms: Terms = { ...kept, ...changes }
  if (terms.holdingWei === 0n) Object.assign(terms, { holdingToken: null, holdingSymbol: null, holdingDecimals: null })
  return terms
}

/** One planned change over what holds before it: a version, or why not. */
function take(versions: Version[], plan: Plan, opened: readonly Step[]): Version | Unfit[] {
  const before = versions.filter((one) => isEarlier(one, plan))
  const former = lastOf(before, plan.tierId)
  if (former === undefined) return [{ kind: 'noTier', otherId: null, untilTime: null }]
  const terms = change(former.terms, plan.changes)
  const otherIds = [...new Set(before.map((one) => one.tierId))].filter((one) => one !== plan.tierId)
  const others = otherIds.map((id) => lastOf(before, id) as Version)
  const { tierId, version, graceSec, fromTime, entry } = plan
  const reasons = whyUnfit({ tierId, time: fromTime, terms, former, others, before, opened })
  return reasons.length > 0 ? reasons : { tierId, version, graceSec, fromTime, entry, fromBlock: null, terms }
}

/** What holds, and what will, if the planned changes up to a time take effect one after the other. */
export function read({ versions, plans, opened }: Ledger, untilTime = Number.MAX_SAFE_INTEGER): Reading {
  const reading: Reading = { versions: [...versions], follows: new Map(), unfit: [] }
  for (const plan of inOrder(plans.filter((one) => one.fromTime <= untilTime))) {
    const taken = take(reading.versions, plan, opened)
    if (Array.isArray(taken)) reading.unfit.push({ plan, reasons: taken })
    else {
      const former = lastOf(
        reading.versions.filter((one) => isEarlier(one, plan)),
        plan.tierId,
      )
      reading.follows.set(plan.entry, former as Version)
      reading.versions.push(taken)
    }
  }
  return { ...reading, versions: inOrder(reading.versions) }
}

/** The versions of a tier that have begun in a block, the one in force last: the latest time, of equal times the last entry. */
function begun(versions: readonly Version[], tierId: string, { time }: Block): Version[] {
  return inOrder(versions.filter((one) => one.tierId === tierId && one.fromTime <= time))
}

/** The versions that have a price in a block: the one in force, then those in their grace period, the newest first. */
export function selling(
  versions: readonly Version[],
  tierId: string,
  block: { number: number; time: number },
): Version[] {
  const all = begun(versions, tierId, block)
  const graced = graceOf(all, tierId).filter(({ until }) => block.time < until)
  return [...all.slice(-1), ...graced.map(({ version }) => version).reverse()].filter((one) => one.terms.onSale)
}

const AHEAD_SEC = 120

/** Whether a change may still be entered or cancelled, by the provider's head and the clock. */
export const isInTime = (fromTime: number, now: { headTime: number; clock: number }): boolean =>
  fromTime - now.headTime >= AHEAD_SEC && fromTime - now.clock >= AHEAD_SEC

/** The planned changes that a different set of plans would make unfit, with why. */
export function spoilt(ledger: Ledger, plans: readonly Plan[]): Reading['unfit'] {
  const before = read(ledger).unfit.map(({ plan }) => plan.entry)
  return read({ ...ledger, plans }).unfit.filter(({ plan }) => !before.includes(plan.entry))
}

export interface Revocation {
  key: string
  /** The time of the head then. */
  headTime: number
}

/** The planned changes that may take effect: those whose key was not revoked while they could be cancelled. */
export const standing = (plans: readonly Plan[], revoked: readonly Revocation[]): Plan[] =>
  plans.filter(
    (plan) => !revoked.some(({ key, headTime }) => key === plan.key && headTime + AHEAD_SEC <= plan.fromTime),
  )

/** The first block of a version, once a block is followed that comes behind all that were. */
function beginIn({ fromBlock, fromTime }: Version, block: Block): number | null {
  if (fromBlock !== null && fromBlock < block.number) return fromBlock
  if (fromTime <= block.time) return block.number
  return fromBlock === null ? null : Math.max(fromBlock, block.number + 1)
}

/** Follows one block: what is due and fits becomes a version from it on; what does not fit takes no effect. */
export function follow(
  ledger: Ledger,
  revoked: readonly Revocation[],
  block: { number: number; time: number },
): Ledger {
  const due = ledger.plans.filter((one) => one.fromTime <= block.time)
  const { versions } = read({ ...ledger, plans: standing(due, revoked) })
  const followed = versions.map((one) => ({ ...one, fromBlock: beginIn(one, block) }))
  return { ...ledger, versions: followed, plans: ledger.plans.filter((one) => one.fromTime > block.time) }
}

/** What the audit log has of a planned change whose time came: what it changed, or why it did not fit. */
export type Told =
  | { action: 'tierChanged'; before: Version; after: Version }
  | { action: 'tierUnfit'; plan: Plan; reasons: Unfit[] }

/** What following some blocks adds to the audit log: first what took effect, then what did not fit. */
export function told(ledger: Ledger, blocks: readonly Block[]): Told[] {
  const { versions, follows, unfit } = read(ledger, blocks.at(-1)?.time ?? 0)
  const changed = versions.flatMap((one): Told[] => {
    const before = follows.get(one.entry)
    const fromBlock = blocks.find(({ time }) => time >= one.fromTime)?.number ?? null
    return before ? [{ action: 'tierChanged', before, after: { ...one, fromBlock } }] : []
  })
  return [...changed, ...unfit.map((one): Told => ({ action: 'tierUnfit', ...one }))]
}
