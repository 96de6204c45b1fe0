// When the built-in timer runs the passes, as a second reading of docs/ARCHITECTURE.md (What a pass does) and docs/SETTINGS.md (TICK_SEC): a tick apart, five times as
// often while payments wait, every second while more wait than one mint carries. Times are milliseconds.

export interface Timer {
  tickMs: number
  pending: number
  /** More payments waited than a mint carries, and not all of them are done. */
  backlog: boolean
  /** Own runs in a row after which no fewer waited. */
  inVain: number
  endsAt: number
}

const ONE_MINT = 200
const VAIN_MAX = 15
const SECOND = 1_000

export function pauseMs({ tickMs, pending, backlog, inVain }: Timer): number {
  if (pending === 0) return tickMs
  const hurried = Math.max(SECOND, tickMs / 5)
  return backlog && inVain <= VAIN_MAX ? SECOND : hurried
}

/** What a run found: how many wait, that another run was at it, or a fault. */
export type Found = number | 'notRun' | 'fault'

export function learn(timer: Timer, found: Found, { isOwn }: { isOwn: boolean }): void {
  const known = timer.pending
  // A fault says nothing of what waits: without a backlog there is time until the next tick.
  const pending = found === 'notRun' || (found === 'fault' && timer.backlog) ? known : found === 'fault' ? 0 : found
  if (isOwn) timer.inVain += 1
  if (pending < known) timer.inVain = 0
  if (pending > ONE_MINT && !timer.backlog) Object.assign(timer, { backlog: true, inVain: 0 })
  if (pending === 0) timer.backlog = false
  timer.pending = pending
}

/** A run from elsewhere makes the pause shorter, never longer. */
export function learnBeside(timer: Timer, found: number | 'notRun', now: number): void {
  learn(timer, found, { isOwn: false })
  timer.endsAt = Math.min(timer.endsAt, now + pauseMs(timer))
}
