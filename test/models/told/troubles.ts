// What is told of troubles that come and go, as a second reading of docs/RUNBOOK.md and of the words at src/db: one incident from the first sighting on,
// over once it has not been seen for ten minutes in a row. Times are seconds of the model's own clock.

export interface Row {
  value: unknown
  /** When it was written. */
  at: number
}
export interface Told {
  actor: string
  action: string
  subject: string | null
  detail: unknown
  request_id: string | null
}
export interface Ledger {
  now: number
  troubles: Map<string, Row>
  /** The highest final block that is on record. */
  finalized: number | null
  audit: Told[]
}

export const emptyLedger = (): Ledger => ({ now: 0, troubles: new Map(), finalized: null, audit: [] })

export function tell(ledger: Ledger, action: string, told: Partial<Told> = {}): void {
  ledger.audit.push({ actor: 'pass', subject: null, detail: {}, request_id: null, ...told, action })
}

/** True if the row is another one now. */
export function write(ledger: Ledger, name: string, value: unknown): boolean {
  const known = ledger.troubles.get(name)
  if (known !== undefined && same(known.value, value)) return false
  ledger.troubles.set(name, { value, at: ledger.now })
  return true
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

const value = <T>({ troubles }: Ledger, name: string) => (troubles.get(name)?.value ?? null) as T | null

interface Sighting {
  address?: string
  calmSince?: number
}

/** True if the trouble begins. Seen again, it is not calm, however long it was. What was found first stays on record, until another account fails. */
export function seen(ledger: Ledger, trouble: string, found: object = {}): boolean {
  const name = `trouble ${trouble}`
  const before = value<Sighting>(ledger, name)
  const isSame = before?.calmSince === undefined && before?.address === (found as Sighting).address
  if (before === null || !isSame) ledger.troubles.set(name, { value: found, at: ledger.now })
  return before === null
}

export function calm(ledger: Ledger, trouble: string): 'over' | 'lasting' | null {
  const row = ledger.troubles.get(`trouble ${trouble}`)
  if (row === undefined) return null
  const { calmSince = ledger.now } = row.value as Sighting
  row.value = { ...(row.value as object), calmSince }
  if (ledger.now - calmSince < 600) return 'lasting'
  ended(ledger, trouble)
  return 'over'
}

export function ended(ledger: Ledger, trouble: string): void {
  ledger.troubles.delete(`trouble ${trouble}`)
}

export interface Stuck {
  block: number
  rule: string
  host: string | null
  runs: number
  since: number
  lasts: boolean
}

/** Told once it has stopped three runs over two minutes. For another block the count begins again. */
export function stuck(ledger: Ledger, one: Pick<Stuck, 'block' | 'rule' | 'host'>): Stuck | null {
  const known = value<Stuck>(ledger, 'stuck')
  const before = known?.block === one.block ? known : { runs: 0, since: ledger.now }
  const runs = before.runs + 1
  const lasts = runs >= 3 && ledger.now - before.since >= 120
  const now: Stuck = { ...one, rule: [...one.rule].slice(0, 300).join(''), runs, since: before.since, lasts }
  ledger.troubles.set('stuck', { value: now, at: ledger.now })
  return lasts && seen(ledger, 'stuck') ? now : null
}

export function moving(ledger: Ledger): void {
  ledger.troubles.delete('stuck')
  if (calm(ledger, 'stuck') === 'over') tell(ledger, 'unstuck')
}

export interface Unsent {
  pass: string
  why: string
  runs: number
  since: number
  lasts: boolean
}

/** Told once a pass has not sent something for three runs over two minutes, whatever the reason is by now. */
export function unsent(ledger: Ledger, pass: string, why: string): Unsent | null {
  const before = value<Unsent>(ledger, `unsent ${pass}`) ?? { runs: 0, since: ledger.now }
  const runs = before.runs + 1
  const lasts = runs >= 3 && ledger.now - before.since >= 120
  const now = { pass, why: [...why].slice(0, 300).join(''), runs, since: before.since, lasts }
  ledger.troubles.set(`unsent ${pass}`, { value: now, at: ledger.now })
  return lasts && seen(ledger, `unsent ${pass}`) ? now : null
}

export function sent(ledger: Ledger, pass: string): void {
  ledger.troubles.delete(`unsent ${pass}`)
  if (calm(ledger, `unsent ${pass}`) === 'over') tell(ledger, 'sentAgain', { subject: pass })
}

export type SendResult = { kind: 'sent' } | { kind: 'refused'; why: string; detail: string } | null

/** What a run did with what waits. A refusal is passed over if another event tells of it, and then nothing waits here. */
export function afterSending(ledger: Ledger, pass: string, result: SendResult): string | null {
  const elsewhere = ['insufficientFunds', 'roleLost', 'feeCapped', 'resting', 'notSigned', 'guardRefused']
  if (result === null || result.kind === 'sent' || elsewhere.includes(result.why)) {
    sent(ledger, pass)
    return null
  }
  const why = result.detail === '' ? result.why : `${result.why}: ${result.detail}`
  const now = unsent(ledger, pass, why)
  if (now !== null) tell(ledger, 'unsent', { subject: pass, detail: now })
  return why
}

export interface Halt {
  reason: string
  detail: object
  looks: number
  since: number
  sealed: boolean
}

/** Sealed by a confirmed sighting, the fifth or a later one, a minute after the first. */
export function halted(ledger: Ledger, seenAs: { reason: string; detail: object; confirmed: boolean }): Halt {
  const { reason, detail, confirmed } = seenAs
  const before = value<Halt>(ledger, 'halted')
  const looks = (before?.looks ?? 0) + 1
  const since = before?.since ?? ledger.now
  const seals = confirmed && looks >= 5 && ledger.now - since >= 60
  const halt = { reason, detail, looks, since, sealed: (before?.sealed ?? false) || seals }
  ledger.troubles.set('halted', { value: halt, at: ledger.now })
  const begins = seen(ledger, 'halt')
  if (before === null) tell(ledger, begins ? 'halted' : 'haltedAgain', { detail: { reason, ...detail } })
  return halt
}

export function haltWithdrawn(ledger: Ledger): boolean {
  const halt = value<Halt>(ledger, 'halted')
  if (halt === null || halt.sealed) return false
  ledger.troubles.delete('halted')
  tell(ledger, 'haltLifted')
  return true
}

export function noHalt(ledger: Ledger): void {
  if (calm(ledger, 'halt') === 'over') tell(ledger, 'haltWithdrawn')
}

export function haltCleared(ledger: Ledger, actor: string, request_id: string | null, note: string | null) {
  const halt = value<Halt>(ledger, 'halted')
  if (halt === null) return null
  ledger.troubles.delete('halted')
  ended(ledger, 'halt')
  if (halt.reason === 'pastFinalized') ledger.finalized = null
  tell(ledger, 'resumed', { actor, request_id, detail: { ...halt, note } })
  return halt
}

export interface Parting {
  number: number
  ours: string
  theirs: string
  host: string
  beside: string[]
  agreed: { number: number; hash: string }
  stops: boolean
}
export type Parted = Parting & { since: number; lasts: boolean }

/** It lasts once it is twelve blocks deep, or two minutes old. */
export function parted(ledger: Ledger, parting: Parting, followed: number): Parted | null {
  const since = value<Parted>(ledger, 'parted')?.since ?? ledger.now
  const lasts = followed - parting.agreed.number >= 12 || ledger.now - since >= 120
  const now = { ...parting, since, lasts }
  ledger.troubles.set('parted', { value: now, at: ledger.now })
  return lasts && seen(ledger, 'parted') ? now : null
}

export function united(ledger: Ledger): void {
  ledger.troubles.delete('parted')
  if (calm(ledger, 'parted') === 'over') tell(ledger, 'historiesAgree')
}

export function isSaleParted(ledger: Ledger): boolean {
  const now = value<Parted>(ledger, 'parted')
  return now?.lasts === true && now.stops
}

/** The troubles of a kind that the last check saw, by role, with their age. */
export const onRecord = (ledger: Ledger, kind: 'signer' | 'role') =>
  [...ledger.troubles]
    .filter(([name, row]) => name.startsWith(`trouble ${kind} `) && !('calmSince' in (row.value as object)))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, row]) => {
      const { address, detail = null } = row.value as { address: string; detail?: string }
      return { role: name.slice(`trouble ${kind} `.length), address, detail, age: ledger.now - row.at }
    })
