// The operator's acts and readings on admin keys of the ledger: list, make, revoke. A key is shown once, to whoever made it; the ledger keeps
// its digest. A key of the ledger gives no other more than it has itself; keys of ADMIN_KEY and the command line may give everything.
import { inTransaction, type Sql } from '../../db/core/sql.ts'
import * as keys from '../../db/operator/admin-keys.ts'
import { LABEL_FORM, missingScopes, OUR_NAMES, SCOPES, type Scope } from '../../domain/keys/admin-key.ts'
import type { LedgerDb } from '../../passes/context.ts'
import { type Actor, type Fields, type OperatorRefusal, recordAct, refuseAct } from '../act.ts'
import { type FieldReader, readFields } from '../input.ts'
import { newAdminKey } from './secret.ts'

/** Far more than the people and machines of one operator; a longer list is a script gone wrong. */
const LIVE_MAX = 200
const LISTED_MAX = 500
const DAY_SEC = 86_400
/** A key that is not renewed within a year is forgotten somewhere. */
const DAYS_MAX = 366
const EXPIRES = { form: 'a time like 90d or 8h, at most 366d', pattern: /^[1-9]\d{0,3}[dh]$/ }
const EXPIRES_DEFAULT = '90d'

/** The keys of ADMIN_KEY, which the ledger does not hold: their labels. */
export interface EnvironmentKeys {
  readonly environmentLabels: readonly string[]
}

/** GET keys: those of ADMIN_KEY, then those of the ledger that open, then the others, newest first. */
export async function listKeys({ pool, environmentLabels }: LedgerDb & EnvironmentKeys): Promise<object> {
  const now = Date.now()
  const rows = await keys.readAdminKeys(pool, LISTED_MAX)
  return {
    environment: environmentLabels,
    keys: rows.map((row) => ({ ...row, state: stateOf(row, now) })),
  }
}

const stateOf = ({ revokedAt, expiresAt }: keys.AdminKeyRow, now: number) =>
  revokedAt !== null ? 'revoked' : expiresAt.getTime() <= now ? 'expired' : 'open'

/** POST keys `{label, scopes, expires?, reason?}`: makes a key. Its text is in the answer, and nowhere else. */
export async function createKey(
  deps: LedgerDb & EnvironmentKeys,
  actor: Actor,
  input: Fields,
): Promise<object | OperatorRefusal> {
  const fields = readFields(input)
  const label = fields.text('label', {
    pattern: LABEL_FORM,
    form: 'at most 32 letters, digits, dots, dashes or underscores',
  })
  const scopes = readScopes(fields, input.scopes)
  const seconds = readExpiry(fields)
  const reason = fields.textOrNull('reason')
  if (OUR_NAMES.includes(label)) fields.complain('label must be another: the service calls itself so')
  if (fields.refusal) return fields.refusal
  const { key, digest } = newAdminKey()
  return inTransaction(deps.pool, async (sql) => {
    const refused = refuseGift(actor, scopes, seconds) ?? (await refuseLabel(sql, actor, label, deps.environmentLabels))
    if (refused) return refused
    if ((await keys.countLiveKeys(sql)) >= LIVE_MAX)
      return refuseAct('conflict', `The ledger has ${LIVE_MAX} keys that open: revoke those that are not used.`)
    const { id, expiresAt } = await keys.insertAdminKey(sql, { label, digest, scopes, madeBy: actor.name, seconds })
    await recordAct(sql, actor, {
      action: 'keyMade',
      subject: `key ${id}`,
      after: { label, scopes, expiresAt },
      reason,
    })
    return { id, label, scopes, expiresAt, key }
  })
}

/** POST keys/:id/revoke `{reason?}`: the key opens no more, within seconds, on every instance. */
export async function revokeKey(deps: LedgerDb, actor: Actor, input: Fields): Promise<object | OperatorRefusal> {
  const fields = readFields(input)
  const id = fields.whole('id', 1, Number.MAX_SAFE_INTEGER)
  const reason = fields.textOrNull('reason')
  if (fields.refusal) return fields.refusal
  return inTransaction(deps.pool, async (sql) => {
    const key = await keys.lockAdminKey(sql, id)
    if (!key) return refuseAct('notFound', `There is no key ${id}: the list of keys has them.`)
    const isOwn = actor.held?.keyId === id
    const above = actor.held && !isOwn ? missingScopes(actor.held.scopes, key.scopes) : []
    if (above.length > 0) return refuseAct('forbidden', `That key has more rights than yours: ${above.join(', ')}.`)
    if (key.revokedAt !== null) return refuseAct('conflict', `Key ${id} was revoked before, by ${key.revokedBy}.`)
    await keys.revokeAdminKey(sql, id, actor.name)
    const { label, scopes } = key
    await recordAct(sql, actor, { action: 'keyRevoked', subject: `key ${id}`, before: { label, scopes }, reason })
    return { id, label, revoked: true }
  })
}

/** Revokes every key of the ledger, as after a theft or a restore. Those of ADMIN_KEY stay. */
export async function revokeAllKeys(deps: LedgerDb, actor: Actor, input: Fields): Promise<object | OperatorRefusal> {
  const fields = readFields(input)
  const reason = fields.textOrNull('reason')
  if (fields.refusal) return fields.refusal
  return inTransaction(deps.pool, async (sql) => {
    const revoked = await keys.revokeAllAdminKeys(sql, actor.name)
    if (revoked > 0) await recordAct(sql, actor, { action: 'keysRevoked', after: { revoked }, reason })
    return { revoked }
  })
}

/** Scopes as a list, or with commas between as the command line has them. */
function readScopes(fields: FieldReader, value: unknown): Scope[] {
  const given = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value
  const scopes = SCOPES.filter((scope) => Array.isArray(given) && given.includes(scope))
  if (!Array.isArray(given) || given.length === 0 || new Set(given).size !== scopes.length)
    fields.complain(`scopes must be some of ${SCOPES.join(', ')}`)
  return scopes
}

/** Seconds for which the key opens. */
function readExpiry(fields: FieldReader): number {
  const text = fields.textOrNull('expires', EXPIRES) ?? EXPIRES_DEFAULT
  const seconds = Number.parseInt(text, 10) * (text.endsWith('d') ? DAY_SEC : 3600)
  if (seconds > DAYS_MAX * DAY_SEC) fields.complain(`expires must be ${EXPIRES.form}`)
  return seconds
}

/** A stolen key must not make itself stronger, nor outlive its own end. */
function refuseGift({ held }: Actor, scopes: readonly Scope[], seconds: number): OperatorRefusal | null {
  if (!held) return null
  const above = missingScopes(held.scopes, scopes)
  if (above.length > 0) return refuseAct('forbidden', `Your key cannot give what it lacks: ${above.join(', ')}.`)
  if (held.expiresAt && held.expiresAt.getTime() < Date.now() + seconds * 1000)
    return refuseAct(
      'forbidden',
      `Your key cannot make one that outlives it: it ends at ${held.expiresAt.toISOString()}.`,
    )
  return null
}

/** The label is the actor in the audit log: a key of the ledger makes none in another person's name. */
async function refuseLabel(sql: Sql, { held, name }: Actor, label: string, taken: readonly string[]) {
  if (!held || label === name) return null
  const makers = await keys.makersOfLabel(sql, label)
  const isFree = !taken.includes(label) && makers.every((maker) => maker === name)
  return isFree
    ? null
    : refuseAct('forbidden', `The label ${label} is another person's: give the key a label of its own.`)
}
