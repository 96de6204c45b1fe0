// Small stores as a second reading has them: what is set, by whom and when, and what that means. Times are seconds of the model's own clock.

interface Row {
  value: unknown
  by: string
  at: number
}
export interface Kept {
  now: number
  head: number
  hasGuarded: boolean
  dues: { size: number; due: number }[]
  settings: Map<string, Row>
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
  ...{ settings: new Map(), keys: new Map(), nonces: new Map() },
})

export const value = <T>(kept: Kept, name: string) => (kept.settings.get(name)?.value ?? null) as T | null

/** True if it has another value now. */
export function write(kept: Kept, name: string, given: unknown, by = 'pass'): boolean {
  const known = kept.settings.get(name)
  if (known !== undefined && JSON.stringify(known.value) === JSON.stringify(given)) return false
  kept.settings.set(name, { value: given, by, at: kept.now })
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
  return [mode, isProven, isProven ? mode.fromBlock - 1 : null, value(kept, 'read whole')]
}

/** One a minute, whoever asks; the row stays when its block is taken. */
export function claim(kept: Kept, block: number): boolean {
  const known = kept.settings.get('claimedBlock')
  if (known && kept.now - known.at < 60) return false
  kept.settings.set('claimedBlock', { value: { block }, by: known?.by ?? 'claim', at: kept.now })
  return true
}

export function takeClaim(kept: Kept): number | null {
  const known = kept.settings.get('claimedBlock')
  const { block } = (known?.value ?? {}) as { block?: number }
  if (!known || block === undefined) return null
  kept.settings.set('claimedBlock', { ...known, value: {} })
  return block
}

export const aheads = ({ settings }: Kept) =>
  [...settings]
    .filter(([name]) => name.startsWith('nonceAhead '))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, row]) => ({ sender: name.slice('nonceAhead '.length), ...(row.value as object) }))

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
  const settings = [...kept.settings].map(([name, { value, by, at }]) => {
    return { name, value, updated_at: at - kept.now, updated_by: by }
  })
  const keys = [...kept.keys].map(([name, { digest, startedAt, answer }]) => {
    const [actor, key] = name.split(' ')
    return { actor, key, digest, started_at: startedAt - kept.now, answer }
  })
  return {
    settings: inOrder(settings),
    audit: inOrder(kept.audit),
    modes: inOrder(kept.modes.map(({ fromBlock, mode, by }) => ({ from_block: fromBlock, mode, set_by: by }))),
    keys: inOrder(keys),
    nonces: inOrder([...kept.nonces].map(([nonce_hash, until]) => ({ nonce_hash, expires_at: until - kept.now }))),
    price: kept.price === null ? null : { usd: kept.price.usd },
    hourUsd: kept.hourUsd,
  }
}
