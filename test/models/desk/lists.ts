// The operator's switches and lists, as a second reading of docs/ADMIN.md: what each act leaves, what it answers, and the one row of the audit log that it
// writes if it changed something, with what was there before and after, who did it and why.

export interface Actor {
  name: string
  requestId: string | null
  confirmed?: { by: string; proposal: number }
}
export interface Told {
  actor: string
  action: string
  subject: string | null
  detail: Record<string, unknown>
  request_id: string | null
}
export interface Noted {
  label: string
  reason: string
  addedBy: string
}
export interface Referral {
  code: string
  payee: string
  commissionBps: number
  opensAt: number | null
  closesAt: number | null
  waitSec: number
}
export type ReferralVersion = Referral & { version: number; fromBlock: number; enteredBy: string }

export interface Desk {
  head: number
  /** The newest block that a provider tells; null if none answers. */
  provider: number | null
  denied: Map<string, Noted>
  allowed: Map<string, Noted>
  modes: { mode: string; fromBlock: number; by: string }[]
  paused: boolean
  aboveWei: string | null
  /** Nodes by id: whether each has a payment. */
  nodes: Map<number, { isPaid: boolean; ref: string }>
  grants: Map<string, { reason: string; grantedBy: string }>
  referrals: ReferralVersion[]
  audit: Told[]
}

interface Recorded {
  action: string
  subject?: string
  before?: unknown
  after?: unknown
  reason?: string | null
}

function record(desk: Desk, actor: Actor, { action, subject, reason = null, ...seen }: Recorded): void {
  const known = Object.fromEntries(Object.entries(seen).filter(([, value]) => value !== undefined))
  const by = actor.confirmed ? { confirmedBy: actor.confirmed.by, proposal: actor.confirmed.proposal } : {}
  const detail = { reason, ...known, ...by }
  desk.audit.push({ actor: actor.name, action, subject: subject ?? null, detail, request_id: actor.requestId })
}

const entry = (address: string, noted: Noted | undefined) => (noted === undefined ? null : { address, ...noted })

interface Noting {
  address: string
  label: string
  reason: string
}

/** Puts an address on a list, or changes its entry; either is on record with what was there before. */
export function put(desk: Desk, actor: Actor, list: 'denied' | 'allowed', { address, label, reason }: Noting) {
  const before = entry(address, desk[list].get(address))
  const after = { label, reason, addedBy: actor.name }
  desk[list].set(address, after)
  const action = list === 'denied' ? 'senderDenied' : 'contractAllowed'
  record(desk, actor, { action, subject: address, before, after: { label, reason }, reason })
  return { [list === 'denied' ? 'sender' : 'wallet']: entry(address, after) }
}

export function take(desk: Desk, actor: Actor, list: 'denied' | 'allowed', address: string, reason: string | null) {
  const before = entry(address, desk[list].get(address))
  if (before === null) return 'notFound'
  desk[list].delete(address)
  const action = list === 'denied' ? 'senderAllowed' : 'contractDisallowed'
  record(desk, actor, { action, subject: address, before, reason })
  return { address, [list === 'denied' ? 'removed' : 'disallowed']: true }
}

/** A mode applies from the block after the newest that anyone tells, and never before an entry that is there. */
export function setMode(desk: Desk, actor: Actor, mode: string, reason: string | null) {
  if (desk.provider === null) return 'unavailable'
  const latest = desk.modes.toSorted((a, b) => a.fromBlock - b.fromBlock).at(-1)
  const before = latest?.mode ?? 'hold'
  if (before === mode) return { mode, before, fromBlock: latest?.fromBlock ?? 0, changed: false }
  const fromBlock = Math.max(desk.head + 1, desk.provider + 1, latest?.fromBlock ?? 0)
  desk.modes = [...desk.modes.filter((one) => one.fromBlock !== fromBlock), { mode, fromBlock, by: actor.name }]
  record(desk, actor, { action: 'contractWalletsSet', before, after: { mode, fromBlock }, reason })
  return { mode, before, fromBlock, changed: true }
}

export const modeNow = ({ modes, head }: Desk) =>
  modes.filter(({ fromBlock }) => fromBlock <= head).toSorted((a, b) => b.fromBlock - a.fromBlock)[0]?.mode ?? 'hold'

export function pause(desk: Desk, actor: Actor, paused: boolean, reason: string | null) {
  const before = desk.paused
  if (before === paused) return { paused, changed: false }
  desk.paused = paused
  record(desk, actor, { action: paused ? 'paused' : 'unpaused', before, after: paused, reason })
  return { paused, changed: true }
}

/** Stricter at once; anything else only as a second person confirmed it. */
export function setRule(desk: Desk, actor: Actor, aboveWei: bigint | null, reason: string | null) {
  const before = desk.aboveWei === null ? null : BigInt(desk.aboveWei)
  if (before === aboveWei) return { aboveWei, changed: false }
  const isLooser = before !== null && (aboveWei === null || aboveWei > before)
  if (isLooser && actor.confirmed === undefined) return 'notYet'
  const text = (wei: bigint | null) => (wei === null ? null : String(wei))
  desk.aboveWei = text(aboveWei)
  record(desk, actor, { action: 'secondPersonSet', before: text(before), after: text(aboveWei), reason })
  return { aboveWei, changed: true }
}

export function grant(desk: Desk, actor: Actor, nodeId: number, reason: string) {
  const node = desk.nodes.get(nodeId)
  if (node === undefined) return 'notFound'
  if (node.isPaid) return 'conflict'
  const changed = !desk.grants.has(node.ref)
  if (changed) {
    desk.grants.set(node.ref, { reason, grantedBy: actor.name })
    record(desk, actor, { action: 'granted', subject: String(nodeId), after: { ref: node.ref }, reason })
  }
  return { nodeId: String(nodeId), granted: true, changed }
}

export function revoke(desk: Desk, actor: Actor, nodeId: number, reason: string) {
  const ref = desk.nodes.get(nodeId)?.ref ?? ''
  const before = desk.grants.get(ref)
  if (before === undefined) return 'notFound'
  desk.grants.delete(ref)
  record(desk, actor, { action: 'grantRevoked', subject: String(nodeId), before, reason })
  return { nodeId: String(nodeId), granted: false, changed: true }
}

const latestOf = ({ referrals }: Desk, code: string) =>
  referrals.filter((one) => one.code === code).toSorted((a, b) => b.version - a.version)[0]

/** Terms that were given: null keeps the one before, and 0 is none. */
export type Asked = Omit<Referral, 'waitSec'> & { waitSec: number | null }

const kept = (given: number | null, before: number | null | undefined) =>
  given === null ? (before ?? null) : given || null

/** A version of its own for every change, from the block after the newest on. */
export function register(desk: Desk, actor: Actor, given: Asked, reason: string | null) {
  const former = latestOf(desk, given.code.toLowerCase())
  const asked = {
    ...{ ...given, code: given.code.toLowerCase() },
    ...{ opensAt: kept(given.opensAt, former?.opensAt), closesAt: kept(given.closesAt, former?.closesAt) },
    waitSec: kept(given.waitSec, former?.waitSec) ?? 0,
  }
  const { opensAt, closesAt, code, payee, commissionBps, waitSec } = asked
  if (opensAt !== null && closesAt !== null && closesAt <= opensAt) return 'invalid'
  const before = latestOf(desk, code)
  const isSame = before?.payee === payee && before.commissionBps === commissionBps && before.waitSec === waitSec
  if (before && isSame && before.opensAt === opensAt && before.closesAt === closesAt)
    return { referral: before, changed: false }
  const newest = Math.max(desk.head, desk.provider ?? 0)
  const next = { ...asked, version: (before?.version ?? 0) + 1, fromBlock: newest + 1, enteredBy: actor.name }
  desk.referrals.push(next)
  record(desk, actor, { action: 'referralRegistered', subject: code, before, after: asked, reason })
  return { referral: next, changed: true }
}

/** A time of an edge, which no test puts outside the first day. */
const dated = (time: number | null) =>
  time === null
    ? '-'
    : new Date(1_000 * time)
        .toISOString()
        .replace('T', ' ')
        .replace(/(:00)?\.\d+Z/, ' UTC')

/** What a list changes for a code. */
function wordsOf(now: Referral, before: Referral | undefined): string {
  const { code, commissionBps, payee, waitSec } = now
  if (!before) return `${code}: new, ${commissionBps / 100} % to ${payee}, due ${waitSec} s after the mint`
  const words: string[] = []
  for (const term of ['payee', 'commissionBps', 'opensAt', 'closesAt', 'waitSec'] as const) {
    const shown = (one: Referral) => (term.endsWith('sAt') ? dated(one[term] as number | null) : one[term])
    if (now[term] !== before[term]) words.push(`${term} ${shown(before)} -> ${shown(now)}`)
  }
  return `${now.code}: ${words.length > 0 ? words.join(', ') : 'no change'}`
}

/** A list of codes: all of them, or none if one of them is there twice. */
export function registerAll(desk: Desk, actor: Actor, all: Asked[], reason: string | null) {
  const names = new Set(all.map(({ code }) => code.toLowerCase()))
  if (names.size < all.length) return 'invalid'
  let changed = 0
  const first: string[] = []
  // All of them or none.
  const after = structuredClone(desk)
  for (const one of all) {
    const before = latestOf(after, one.code.toLowerCase())
    const done = register(after, actor, one, reason)
    if (done === 'invalid') return done
    if (done.changed) changed++
    first.push(wordsOf(done.referral, before))
  }
  Object.assign(desk, after)
  return { codes: all.length, changed, dryRun: false, first }
}

/** What the public sees of a code, at a block's time. */
export function publicReferral(desk: Desk, code: string, now: number) {
  const latest = latestOf(desk, code)
  if (latest === undefined) return null
  const { payee, commissionBps, opensAt, closesAt } = latest
  const open = (opensAt === null || opensAt <= now) && (closesAt === null || closesAt > now)
  return { code, payee, commissionBps, opensAt, closesAt, open }
}

/** What a wallet sees of each code that ever paid it: its own latest terms, open only while the code still pays it. */
export function referralsOf(desk: Desk, payee: string, now: number) {
  const codes = [...new Set(desk.referrals.map(({ code }) => code))].sort()
  return codes.flatMap((code) => {
    const own = desk.referrals.filter((one) => one.code === code && one.payee === payee)
    const terms = own.toSorted((a, b) => b.version - a.version)[0]
    if (terms === undefined) return []
    const { commissionBps, opensAt, closesAt, waitSec } = terms
    const open = latestOf(desk, code) === terms && publicReferral(desk, code, now)?.open === true
    return [{ code, payee, commissionBps, opensAt, closesAt, waitSec, open }]
  })
}

export const rowsOf = (desk: Desk) => ({
  senders: [...desk.denied].map(([address, noted]) => ({ address, ...noted })),
  allowed: [...desk.allowed].map(([address, noted]) => ({ address, ...noted })),
  modes: desk.modes,
  switches: [{ paused: desk.paused, aboveWei: desk.aboveWei }],
  grants: [...desk.grants].map(([ref, one]) => ({ ref, ...one })),
  referrals: desk.referrals,
})
