// What the holder of a key may give to others: keys, and invitations to make a passkey. Parses the fields that both have in common.
import type { Sql } from '../../../db/core/sql.ts'
import { isOpen, makersOfLabel } from '../../../db/operator/admin-keys.ts'
import { passGate } from '../../../db/operator/key-gate.ts'
import { LABEL_FORM, missingScopes, OUR_NAMES, SCOPES, type Scope } from '../../../domain/keys/admin-key.ts'
import { type Actor, type OperatorRefusal, refuseAct } from '../../act.ts'
import * as field from '../../input.ts'

const DAY_SEC = 86_400
/** The longest validity of a key, in days. If a key is not renewed within a year, its people have forgotten it. */
const DAYS_MAX = 366
/** For how long after signing in a session may make keys: long enough for a few. A session that is stolen later can make none. */
const FRESH_MS = 600_000

/** The fields of a gift. `expires` is parsed to seconds; its default is this many days. */
export const giftOf = (expires: string, days: number) => ({
  label: field.text('who uses it', {
    pattern: LABEL_FORM,
    schema: 'KeyLabel',
    value: 'name',
    form: 'at most 32 letters, digits, dots, dashes or underscores',
  }),
  scopes: SCOPES_GIVEN,
  expires: field.orElse(
    field.ofForm<number>(expires, {
      value: 'time',
      otherwise: 0,
      form: `a time like 90d or 8h, at most ${DAYS_MAX}d`,
      parse: secondsOf,
      schema: { type: 'string', default: `${days}d`, examples: ['90d', '8h'] },
    }),
    days * DAY_SEC,
  ),
  reason: field.REASON,
})
type Gift = field.Read<ReturnType<typeof giftOf>>

export const checkGift: field.Check<ReturnType<typeof giftOf>> = ({ label }, { complain }) => {
  if (OUR_NAMES.includes(label)) complain('label', 'is reserved: the service uses this name itself')
}

/** Scopes as a list, or comma-separated as on the command line. */
const SCOPES_GIVEN = field.ofForm<readonly Scope[]>(`some of ${SCOPES.join(',')}`, {
  schema: 'Scopes',
  value: 'list',
  otherwise: [],
  form: `some of ${SCOPES.join(', ')}`,
  parse: (value) => {
    const parts = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value
    if (!Array.isArray(parts) || parts.length === 0) return undefined
    const scopes = SCOPES.filter((scope) => parts.includes(scope))
    return new Set(parts).size === scopes.length ? scopes : undefined
  },
})

/** What to revoke, by its number. */
export const REVOKED = { id: field.id('its number in the list'), reason: field.REASON }
export const REVOKED_SAYS = 'Revoked. Within three seconds no instance accepts it.'

function secondsOf(text: unknown): number | undefined {
  if (typeof text !== 'string' || !/^[1-9]\d{0,3}[dh]$/.test(text)) return undefined
  const seconds = Number.parseInt(text, 10) * (text.endsWith('d') ? DAY_SEC : 3600)
  return seconds > DAYS_MAX * DAY_SEC ? undefined : seconds
}

/**
 * Refuses a gift that exceeds the giver's own scopes. A stolen key must not gain scopes or outlive its own end, not even in the seconds during which
 * an instance still accepts it. A fresh session may give keys that last as long as its passkey. Run this first in the giving transaction, because it
 * passes the gate.
 */
export async function refuseGift(
  sql: Sql,
  { held }: Actor,
  { scopes, expires: seconds }: Gift,
): Promise<OperatorRefusal | null> {
  await passGate(sql)
  if (!held) return null
  const above = missingScopes(held.scopes, scopes)
  if (above.length > 0) return refuseAct('forbidden', `Your key cannot give scopes that it lacks: ${above.join(', ')}.`)
  if (held.keyId !== null && !(await isOpen(sql, held.keyId)))
    return refuseAct('forbidden', 'Your key is revoked or has expired.')
  if (held.passkey && held.passkey.signedInAt.getTime() < Date.now() - FRESH_MS)
    return refuseAct('forbidden', 'This needs a sign-in within the last ten minutes: sign out, and sign in again.')
  const end = held.passkey ? held.passkey.endsAt : held.expiresAt
  if (end && end.getTime() < Date.now() + seconds * 1000)
    return refuseAct(
      'forbidden',
      `Your access ends at ${end.toISOString()}, and what you create cannot be valid for longer.`,
    )
  return null
}

/** The label is the actor in the audit log, so a key of the ledger cannot make a key in another person's name. */
export async function refuseLabel(
  sql: Sql,
  { held, name }: Actor,
  label: string,
  others: readonly { label: string }[],
) {
  if (!held || label === name) return null
  const makers = await makersOfLabel(sql, label)
  const isFree = !others.some((key) => key.label === label) && makers.every((maker) => maker === name)
  return isFree ? null : refuseAct('forbidden', `The label ${label} is another person's: give the key its own label.`)
}

/** A key cannot revoke a key that has more scopes, except itself. */
export function refuseAbove({ held }: Actor, isOwn: boolean, scopes: readonly Scope[]): OperatorRefusal | null {
  const above = held && !isOwn ? missingScopes(held.scopes, scopes) : []
  return above.length > 0 ? refuseAct('forbidden', `That key has more scopes than yours: ${above.join(', ')}.`) : null
}
