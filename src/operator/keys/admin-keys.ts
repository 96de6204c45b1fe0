// The operator's acts and readings on admin keys of the ledger: list, make, revoke. A key is shown once, to whoever made it; the ledger keeps
// its digest. A key of the ledger gives no other more than it has itself; keys of ADMIN_KEY and the command line may give everything.
import { inTransaction } from '../../db/core/sql.ts'
import * as keys from '../../db/operator/admin-keys.ts'
import { readOpenInvitations, revokeInvitations } from '../../db/operator/invitations.ts'
import { readPasskeys, revokeAllPasskeys } from '../../db/operator/passkeys.ts'
import type { LedgerDb } from '../../passes/context.ts'
import { recordAct, refuseAct } from '../act.ts'
import { defineAct } from '../define-act.ts'
import { readReason } from '../input.ts'
import { readGift, readRevoked, refuseAbove, refuseGift, refuseLabel } from './gifts.ts'
import { endKey, whileNobodyMakes } from './revoking.ts'
import { newAdminKey } from './secret.ts'

/** Far more than the people and machines of one operator; a longer list is a script gone wrong. */
const LIVE_MAX = 200
const LISTED_MAX = 500
const EXPIRES_DEFAULT = '90d'

/** The keys of ADMIN_KEY, which the ledger does not hold: their labels. */
export interface EnvironmentKeys {
  readonly environmentLabels: readonly string[]
}

/** GET keys: those of ADMIN_KEY; then keys and passkeys of the ledger, those that open before the others, newest first; and invitations that wait. */
export async function listKeys({ pool, environmentLabels }: LedgerDb & EnvironmentKeys): Promise<object> {
  const now = Date.now()
  const [rows, passkeys, invitations] = await Promise.all([
    keys.readAdminKeys(pool, LISTED_MAX),
    readPasskeys(pool, LISTED_MAX),
    readOpenInvitations(pool, LISTED_MAX),
  ])
  return {
    environment: environmentLabels,
    keys: rows.map(({ passkeyId: _none, ...row }) => ({ ...row, state: stateOf(row, now) })),
    passkeys: passkeys.map((row) => ({ ...row, state: stateOf(row, now) })),
    invitations: invitations.map(({ id, label, scopes, madeBy, madeAt, expiresAt, passkeyExpiresAt }) => ({
      ...{ id, label, scopes, madeBy, madeAt, expiresAt, passkeyExpiresAt },
    })),
  }
}

const stateOf = ({ revokedAt, expiresAt }: { revokedAt: Date | null; expiresAt: Date }, now: number) =>
  revokedAt !== null ? 'revoked' : expiresAt.getTime() <= now ? 'expired' : 'open'

/** POST keys `{label, scopes, expires?, reason?}`: makes a key. Its text is in the answer, and nowhere else. */
export const createKey = defineAct({
  read: (fields) => readGift(fields, EXPIRES_DEFAULT),
  run: ({ pool, environmentLabels }: LedgerDb & EnvironmentKeys, actor, gift) => {
    const { label, scopes, seconds, reason } = gift
    const { key, digest } = newAdminKey()
    return inTransaction(pool, async (sql) => {
      const refused = (await refuseGift(sql, actor, gift)) ?? (await refuseLabel(sql, actor, label, environmentLabels))
      if (refused) return refused
      if ((await keys.countLiveKeys(sql)) >= LIVE_MAX)
        return refuseAct('conflict', `The ledger has ${LIVE_MAX} keys that open: revoke those that are not used.`)
      const { id, expiresAt } = await keys.insertAdminKey(sql, { label, digest, scopes, madeBy: actor.name, seconds })
      const after = { label, scopes, expiresAt }
      await recordAct(sql, actor, { action: 'keyMade', subject: `key ${id}`, after, reason })
      return { id, label, scopes, expiresAt, key }
    })
  },
})

/**
 * POST keys/:id/revoke `{reason?}`: the key opens no more, within seconds, on every instance. Its invitations that wait go with it, and what its
 * person is making just then.
 */
export const revokeKey = defineAct({
  read: readRevoked,
  run: ({ pool }: LedgerDb, actor, { id, reason }) =>
    whileNobodyMakes(pool, actor.name, async (sql, endMeanwhile) => {
      const key = await keys.readAdminKey(sql, id)
      if (!key) return refuseAct('notFound', `There is no key ${id}: the list of keys has them.`)
      const refused = refuseAbove(actor, actor.held?.keyId === id, key.scopes)
      if (refused) return refused
      if (key.revokedAt !== null) return refuseAct('conflict', `Key ${id} was revoked before, by ${key.revokedBy}.`)
      const { label, scopes } = key
      await endKey(sql, id, actor.name)
      const after = await endMeanwhile(sql, label)
      const acted = { before: { label, scopes }, ...(after && { after: { madeMeanwhile: after } }), reason }
      await recordAct(sql, actor, { action: 'keyRevoked', subject: `key ${id}`, ...acted })
      return { id, label, revoked: true }
    }),
})

/** Revokes every key, passkey and invitation of the ledger, as after a theft or a restore. Keys of ADMIN_KEY stay. */
export const revokeAllKeys = defineAct({
  read: readReason,
  run: ({ pool }: LedgerDb, actor, { reason }) =>
    whileNobodyMakes(pool, actor.name, async (sql) => {
      // In this order: it waits for who accepts an invitation or signs in, and then ends the session too.
      const invitations = await revokeInvitations(sql, 'all', actor.name)
      const passkeys = await revokeAllPasskeys(sql, actor.name)
      const revoked = await keys.revokeAllAdminKeys(sql, actor.name)
      const after = { revoked, passkeys, invitations }
      if (revoked + passkeys + invitations > 0) await recordAct(sql, actor, { action: 'keysRevoked', after, reason })
      return after
    }),
})
