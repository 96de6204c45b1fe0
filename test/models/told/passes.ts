// The record of a run, as a second reading of docs/RUNBOOK.md (passes that fail): every run that begins is recorded, and counts as successful only if
// nothing went wrong in it. And what is told of the signer accounts' funds.
import { calm, halted, type Ledger, seen, tell, write } from './troubles.ts'

export interface PassRow {
  started: number
  finished: number | null
  succeeded: number | null
  outcome: object | null
  error: string | null
}
export type Recorded = Ledger & { passes: Map<string, PassRow> }

export function began(ledger: Recorded, name: string): PassRow {
  const known = ledger.passes.get(name)
  const row = known ?? { started: 0, finished: null, succeeded: null, outcome: null, error: null }
  row.started = ledger.now
  ledger.passes.set(name, row)
  return row
}

export function finished(ledger: Recorded, name: string, outcome: object | null, error: string | null): void {
  const row = ledger.passes.get(name)
  if (row === undefined) return
  row.finished = ledger.now
  row.error = error === null ? null : error.slice(0, 2_000)
  if (outcome !== null) row.outcome = outcome
  if (error === null) row.succeeded = ledger.now
}

export interface Run {
  name: 'payments' | 'credit'
  isLocked: boolean
  /** What goes wrong: nothing, faults that do not stop it, a fault, or a halt. */
  ends: 'well' | 'preflight' | 'throws' | 'halts' | 'haltedBefore'
  reports: string[]
  counts: number
}

/** @returns what the caller gets. */
export function run(ledger: Recorded, { name, isLocked, ends, reports, counts }: Run): object | string | null {
  if (isLocked) return null
  began(ledger, name)
  const reported = reports.at(-1) ?? null
  if (ends === 'well') {
    finished(ledger, name, { counts }, reported)
    return { counts }
  }
  if (ends === 'preflight' || ends === 'throws') {
    finished(ledger, name, null, ends)
    return ends
  }
  if (ends === 'halts') halted(ledger, { reason: 'tooDeep', detail: { counts }, confirmed: true })
  finished(ledger, name, null, 'halted')
  return { halted: true }
}

export interface Account {
  role: 'minter' | 'distributor'
  address: string
  /** Its balance is so much above what it needs; null if no provider says. */
  above: bigint | null
}

/** A look at the funds: every five minutes, unless it is switched off. */
export function funds(ledger: Recorded, accounts: Account[], warn: number, maxFeeWei: bigint): void {
  if (warn === 0) return
  const last = ledger.passes.get('funds')
  if (last !== undefined && ledger.now - last.started < 300) return
  began(ledger, 'funds')
  for (const { role, address, above } of accounts) {
    if (above === null) {
      finished(ledger, 'funds', null, 'no balance')
      return
    }
    const neededWei = 200_000n * maxFeeWei * BigInt(warn)
    const trouble = `funds ${role}`
    const isShort = above < 0n
    const begins = isShort && seen(ledger, trouble)
    const after = isShort ? null : calm(ledger, trouble)
    const low = isShort || after === 'lasting'
    const detail = { sender: role, address, balanceWei: String(neededWei + above), neededWei: String(neededWei), low }
    write(ledger, trouble, detail)
    if (begins || after === 'over') tell(ledger, begins ? 'fundsLow' : 'fundsRestored', { subject: address, detail })
  }
  finished(ledger, 'funds', {}, null)
}
