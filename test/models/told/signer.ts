// What a run records of its signer and of the role on the contract, as a second reading of docs/RUNBOOK.md (signer.down, role.lost): what failed is on
// record until the same works again, and a person hears of the beginning and of the end.
import { calm, type Ledger, onRecord, seen, tell } from './troubles.ts'

export interface Run {
  role: string
  address: string
  /** What the pass does, in order. */
  does: ('simulate' | 'sign')[]
  /** Whether each signature asked for in this run is given, in order; the last counts for all others. */
  signs: boolean[]
  inRole: boolean
}

export type Answer = 'signed' | 'notSigned' | 'roleLost' | null

export function run(ledger: Ledger, { role, address, does, signs, inRole }: Run): Answer {
  const isOn = (kind: 'signer' | 'role') => onRecord(ledger, kind).some((one) => one.role === role)
  const about = { subject: address, detail: { sender: role } }
  if (does.includes('simulate') || isOn('role')) {
    if (!inRole) {
      if (seen(ledger, `role ${role}`, { address })) tell(ledger, 'roleLost', about)
      return 'roleLost'
    }
    if (calm(ledger, `role ${role}`) === 'over') tell(ledger, 'roleRestored', about)
  }
  const asked = does.filter((one) => one === 'sign').length || (isOn('signer') ? 1 : 0)
  const given = Array.from({ length: asked }, (_, n) => signs[n] ?? signs.at(-1) ?? true)
  if (given.includes(false)) {
    const detail = `refused ${given.lastIndexOf(false)}`
    if (seen(ledger, `signer ${role}`, { address, detail }))
      tell(ledger, 'signerDown', { ...about, detail: { sender: role, detail } })
    return 'notSigned'
  }
  if (calm(ledger, `signer ${role}`) === 'over') tell(ledger, 'signerRestored', about)
  return given.length > 0 ? 'signed' : null
}
