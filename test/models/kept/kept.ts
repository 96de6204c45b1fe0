// Small stores as a second reading has them: what is set, by whom and when, and what that means. Times are seconds of the model's own clock.

/** The ledger's one row, by its columns; times are the model's. */
const STATE = {
  ...{ single: true, chain_id: null, genesis_hash: null, factory: null, start_block: null, started_at: null },
  ...{ paused: false, second_person_wei: null, guard: null, rebuilding: false, linked_header: null },
  ...{ finalized_block: null, finalized_hash: null, finalized_named: null, read_whole_to: null, surveyed_to: null },
  ...{ mending_to: null, recheck_up_to: null, claimed_block: null, claimed_at: null },
  ...{ seed_wait_due: null, seed_wait_says: null, drift: null, drift_at: null, drift_by: null },
  ...{ reconcile_next: 1, reconcile_nodes: 0, reconcile_cohorts: 0, cohorts_agreed: null, refused_cohorts: null },
  budget: null,
}
type Column = keyof typeof STATE

export interface Kept {
  now: number
  head: number
  hasGuarded: boolean
  dues: { size: number; due: number }[]
  state: Record<Column, unknown>
  /** Notes of signer accounts whose nonce is ahead, with the time of the last change. */
  ahead: Map<string, { note: object; at: number }>
  audit: Record<string, unknown>[]
  modes: { fromBlock: number; mode: string; by: string }[]
  keys: Map<string, { digest: string; startedAt: number; answer: string | null }>
  nonces: Map<string, number>
  price: { usd: number | null; attemptedAt: number } | null
  hourUsd: number | null
  fees: { number: number; baseFeeWei: bigint | null; tipWei: bigint | null }[]
}

export const empty = (head: number, hasGuarded: boolean, dues: Kept['dues']): Kept => ({
  ...{ now: 0, head, hasGuarded, dues, audit: [], modes: [], price: null, hourUsd: null, fees: [] },
  ...{ state: { ...STATE }, ahead: new Map(), keys: new Map(), nonces: new Map() },
})

export const value = <T>({ state }: Kept, name: Column) => state[name] as T | null

/** True if it has another value now. */
export function write({ state }: Kept, name: Column, given: unknown): boolean {
  if (JSON.stringify(state[name]) === JSON.stringify(given)) return false
  state[name] = given
  return true
}

const inForce = ({ modes }: Kept) => modes.toSorted((a, b) => b.fromBlock - a.fromBlock)[0] ?? null

/** From the block after the head on, unless that mode is in force. */
export function setMode(kept: Kept, mode: string, { by, reason }: { by: string; reason: string | null }): void {
  const before = inForce(kept)
  if (before?.mode === mode) return
  const fromBlock = kept.head + 1
  kept.modes = [...kept.modes.filter((one) => one.fromBlock !== fromBlock), { fromBlock, mode, by }]
  const detail = { before: before?.mode ?? null, after: mode, fromBlock, reason }
  kept.audit.push({ actor: by, action: 'evidenceSet', subject: null, detail, request_id: 'r' })
}

export function modeInForce(kept: Kept) {
  const mode = inForce(kept)
  const isProven = mode?.mode === 'proven'
  return [mode, isProven, isProven ? mode.fromBlock - 1 : null, value(kept, 'read_whole_to')]
}

/** One a minute, whoever asks; its time stays when its block is taken. */
export function claim(kept: Kept, block: number): boolean {
  const last = value<number>(kept, 'claimed_at')
  if (last !== null && kept.now - last < 60) return false
  kept.state = { ...kept.state, claimed_block: block, claimed_at: kept.now }
  return true
}

export function takeClaim(kept: Kept): number | null {
  const block = value<number>(kept, 'claimed_block')
  kept.state.claimed_block = null
  return block
}

export const aheads = ({ ahead }: Kept) =>
  [...ahead].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([sender, { note }]) => ({ sender, ...note }))

/** Kept for two days. An act that was cut off may run again after a minute. */
export function takeKey(kept: Kept, name: string, digest: string) {
  for (const [each, { startedAt }] of kept.keys) if (kept.now - startedAt > 48 * 3_600) kept.keys.delete(each)
  const known = kept.keys.get(name)
  if (known === undefined) {
    kept.keys.set(name, { digest, startedAt: kept.now, answer: null })
    return { kind: 'ours' }
  }
  if (known.digest !== digest) return { kind: 'otherRequest' }
  if (known.answer !== null) return { kind: 'answered', answer: known.answer }
  if (kept.now - known.startedAt <= 60) return { kind: 'underWay' }
  known.startedAt = kept.now
  return { kind: 'ours' }
}

export function spend(kept: Kept, nonce: string, keepSec: number): boolean {
  // A nonce that is deleted by the statement that would add it is still seen there, so it stays spent for this once.
  const isSpent = kept.nonces.has(nonce)
  for (const [each, until] of kept.nonces) if (until < kept.now) kept.nonces.delete(each)
  if (isSpent) return false
  kept.nonces.set(nonce, kept.now + keepSec)
  return true
}

/** Once a minute, also if the clock was set back. A price of two minutes ago is none. */
export function priceTurn(kept: Kept): object {
  const known = kept.price
  const age = known === null ? Number.POSITIVE_INFINITY : kept.now - known.attemptedAt
  if (known !== null && age < 60 && age >= -60) return { fetch: false, usd: known.usd }
  kept.price = { usd: known !== null && age < 120 ? known.usd : null, attemptedAt: kept.now }
  return { fetch: true }
}

type Order = <T>(rows: readonly T[]) => T[]

export function rowsOf(kept: Kept, inOrder: Order) {
  const aged = (name: 'started_at' | 'claimed_at') => ({
    [name]: kept.state[name] === null ? null : Number(kept.state[name]) - kept.now,
  })
  const troubles = [...kept.ahead].map(([sender, { note, at }]) => {
    return { name: `nonceAhead ${sender}`, value: note, updated_at: at - kept.now }
  })
  const keys = [...kept.keys].map(([name, { digest, startedAt, answer }]) => {
    const [actor, key] = name.split(' ')
    return { actor, key, digest, started_at: startedAt - kept.now, answer }
  })
  return {
    state: [{ ...kept.state, ...aged('started_at'), ...aged('claimed_at') }],
    troubles: inOrder(troubles),
    audit: inOrder(kept.audit),
    modes: inOrder(kept.modes.map(({ fromBlock, mode, by }) => ({ from_block: fromBlock, mode, set_by: by }))),
    keys: inOrder(keys),
    nonces: inOrder([...kept.nonces].map(([nonce_hash, until]) => ({ nonce_hash, expires_at: until - kept.now }))),
    price: kept.price === null ? null : { usd: kept.price.usd },
    hourUsd: kept.hourUsd,
  }
}
