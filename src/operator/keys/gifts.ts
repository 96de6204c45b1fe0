// What the holder of a key may give to others: keys, and invitations to make a passkey. The fields that both have are read here.
import type { Sql } from '../../db/core/sql.ts'
import { isOpen, makersOfLabel } from '../../db/operator/admin-keys.ts'
import { passGate } from '../../db/operator/key-gate.ts'
import { LABEL_FORM, missingScopes, OUR_NAMES, SCOPES, type Scope } from '../../domain/keys/admin-key.ts'
import { type Actor, type OperatorRefusal, refuseAct } from '../act.ts'
import type { FieldReader } from '../input.ts'

const DAY_SEC = 86_400
/** A key that is not renewed within a year is forgotten somewhere. */
const DAYS_MAX = 366
const EXPIRES = { form: 'a time like 90d or 8h, at most 366d', pattern: /^[1-9]\d{0,3}[dh]$/ }
/** Long enough to make a few keys after signing in; a session that is stolen later makes none. */
const FRESH_MS = 600_000

/** What is to be given. */
export interface Gift {
  readonly label: string
  readonly scopes: readonly Scope[]
  /** Seconds for which it opens, or signs in. */
  readonly seconds: number
  readonly reason: string | null
}

/** Reads it; `otherwise` is the time if none is given. */
export function readGift(fields: FieldReader, otherwise: string): Gift {
  const label = fields.text('label', {
    pattern: LABEL_FORM,
    form: 'at most 32 letters, digits, dots, dashes or underscores',
  })
  const scopes = readScopes(fields)
  const seconds = readExpiry(fields, otherwise)
  if (OUR_NAMES.includes(label)) fields.complain('label must be another: the service calls itself so')
  return { label, scopes, seconds, reason: fields.textOrNull('reason') }
}

/** Scopes as a list, or with commas between as the command line has them. */
const readScopes = (fields: FieldReader): readonly Scope[] =>
  fields.value('scopes', `some of ${SCOPES.join(', ')}`, [], (value) => {
    const given = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value
    if (!Array.isArray(given) || given.length === 0) return undefined
    const scopes = SCOPES.filter((scope) => given.includes(scope))
    return new Set(given).size === scopes.length ? scopes : undefined
  })

/** Reads what is to be revoked, by its number. */
export const readRevoked = (fields: FieldReader) => ({
  id: fields.whole('id', 1, Number.MAX_SAFE_INTEGER),
  reason: fields.textOrNull('reason'),
})

function readExpiry(fields: FieldReader, otherwise: string): number {
  const text = fields.textOrNull('expires', EXPIRES) ?? otherwise
  const seconds = Number.parseInt(text, 10) * (text.endsWith('d') ? DAY_SEC : 3600)
  if (seconds > DAYS_MAX * DAY_SEC) fields.complain(`expires must be ${EXPIRES.form}`)
  return seconds
}

/**
 * A stolen key must not make itself stronger, nor outlive its own end: not even in the seconds for which an instance still takes it for open. A session
 * may give for as long as its passkey, while it is fresh. Run in the transaction that gives, before anything else: it passes the gate.
 */
export async function refuseGift(
  sql: Sql,
  { held }: Actor,
  { scopes, seconds }: Gift,
): Promise<OperatorRefusal | null> {
  await passGate(sql)
  if (!held) return null
  const above = missingScopes(held.scopes, scopes)
  if (above.length > 0) return refuseAct('forbidden', `Your key cannot give what it lacks: ${above.join(', ')}.`)
  if (held.keyId !== null && !(await isOpen(sql, held.keyId)))
    return refuseAct('forbidden', 'Your key opens no more: it was revoked, or has ended.')
  if (held.passkey && held.passkey.signedInAt.getTime() < Date.now() - FRESH_MS)
    return refuseAct('forbidden', 'That takes a sign-in within the last ten minutes: leave, and sign in again.')
  const end = held.passkey ? held.passkey.endsAt : held.expiresAt
  if (end && end.getTime() < Date.now() + seconds * 1000)
    return refuseAct('forbidden', `Your key cannot make one that outlives it: it ends at ${end.toISOString()}.`)
  return null
}

/** The label is the actor in the audit log: a key of the ledger makes none in another person's name. */
export async function refuseLabel(sql: Sql, { held, name }: Actor, label: string, taken: readonly string[]) {
  if (!held || label === name) return null
  const makers = await makersOfLabel(sql, label)
  const isFree = !taken.includes(label) && makers.every((maker) => maker === name)
  return isFree
    ? null
    : refuseAct('forbidden', `The label ${label} is another person's: give the key a label of its own.`)
}

/** A key revokes none that has more rights, but itself. */
export function refuseAbove({ held }: Actor, isOwn: boolean, scopes: readonly Scope[]): OperatorRefusal | null {
  const above = held && !isOwn ? missingScopes(held.scopes, scopes) : []
  return above.length > 0 ? refuseAct('forbidden', `That key has more rights than yours: ${above.join(', ')}.`) : null
}
