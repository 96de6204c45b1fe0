// The operator's acts and readings on admin keys of the ledger: list, make, revoke. A key is shown once, to its maker; the ledger keeps its digest. A
// key of the ledger cannot give another key more scopes than it has. Keys of ADMIN_KEY and the command line may give everything.

import * as keys from '../../../db/operator/admin-keys.ts'
import { readOpenInvitations, revokeInvitations } from '../../../db/operator/invitations.ts'
import { readPasskeys, revokeAllPasskeys } from '../../../db/operator/passkeys.ts'
import { counted } from '../../../domain/units.ts'
import type { LedgerDb } from '../../../ports/contexts.ts'
import { type EnvironmentKeys, recordAct, refuseAct } from '../../act.ts'
import { defineAct, defineReading } from '../../define-act.ts'
import * as field from '../../input.ts'
import { checkGift, giftOf, REVOKED, REVOKED_SAYS, refuseAbove, refuseGift, refuseLabel } from './gifts.ts'
import { endKey, whileNobodyMakes } from './revoking.ts'
import { newSecret } from './secret.ts'

/** Far more than the people and machines of one operator need. A longer list means that a script is misbehaving. */
const LIVE_MAX = 200
const LISTED_MAX = 500

/** Lists the keys of ADMIN_KEY; then keys and passkeys of the ledger, valid ones first, newest first; and open invitations. */
export const listKeys = defineReading({
  path: 'keys',
  scope: 'operate',
  command: 'admin-keys list',
  summary: 'list the admin keys, passkeys and invitations: scopes, maker, last use, expiry',
  examples: ['admin-keys list'],
  fields: {},
  run: readKeys,
  columns: ['id', 'label', 'scopes', 'state', 'expiresAt', 'usedAt', 'madeBy', 'madeAt', 'revokedBy'],
})

async function readKeys({ pool, environmentKeys }: LedgerDb & EnvironmentKeys): Promise<object> {
  const now = Date.now()
  const [rows, passkeys, invitations] = await Promise.all([
    keys.readAdminKeys(pool, LISTED_MAX),
    readPasskeys(pool, LISTED_MAX),
    readOpenInvitations(pool, LISTED_MAX),
  ])
  return {
    environment: environmentKeys.map(({ label }) => label),
    keys: rows.map(({ passkeyId: _none, ...row }) => ({ ...row, state: stateOf(row, now) })),
    passkeys: passkeys.map((row) => ({ ...row, state: stateOf(row, now) })),
    invitations: invitations.map(({ passkeyId: _none, revokedAt: _never, isExpired: _no, ...row }) => row),
  }
}

const stateOf = ({ revokedAt, expiresAt }: { revokedAt: Date | null; expiresAt: Date }, now: number) =>
  revokedAt !== null ? 'revoked' : expiresAt.getTime() <= now ? 'expired' : 'open'

/** The key's text is only in this answer. */
export const createKey = defineAct({
  path: 'keys',
  scope: 'operate',
  secret: 'key',
  command: 'admin-keys create',
  summary: 'create an admin key for a person or a machine, with the scopes you choose',
  details: `Shows the key once, or writes it to a file that only you may read; the ledger keeps a digest. Every instance accepts it immediately. The
label is the actor in the audit log, so give each person and machine their own. Scopes: read;
decide (payments, nodes, deny list); prices (tiers); terms (credit terms, payments wallets, contract wallets); operate (pause, halts, webhooks,
keys).`,
  examples: [
    'admin-keys create --label grace --scopes read,decide --out grace.key',
    'admin-keys create --label shop-bot --scopes read --expires 30d --out bot.key',
  ],
  fields: giftOf('how long it is valid, such as 90d or 8h; 90d by default, at most 366d', 90),
  check: checkGift,
  change: async ({ sql, actor, record }, gift, { environmentKeys }: LedgerDb & EnvironmentKeys) => {
    const { label, scopes, expires: seconds } = gift
    const { text: key, digest } = newSecret('nlk_')
    const refusal = (await refuseGift(sql, actor, gift)) ?? (await refuseLabel(sql, actor, label, environmentKeys))
    if (refusal) return refusal
    if ((await keys.countLiveKeys(sql)) >= LIVE_MAX)
      return refuseAct('conflict', `The ledger has ${LIVE_MAX} valid keys: revoke those that are not used.`)
    const { id, expiresAt } = await keys.insertAdminKey(sql, { label, digest, scopes, madeBy: actor.name, seconds })
    record({ action: 'keyMade', subject: `key ${id}`, after: { label, scopes, expiresAt } })
    return { id, label, scopes, expiresAt, key }
  },
  says: ({ id, label, expiresAt }) => `Key ${id} of ${label}, until ${expiresAt.toISOString()}. It is not shown again.`,
})

/** Revoking a key also ends its holder's open invitations, and any key or passkey that they are making at that moment. */
export const revokeKey = defineAct({
  path: 'keys/:id/revoke',
  scope: 'operate',
  summary: 'revoke an admin key; it works on every instance within three seconds',
  fields: REVOKED,
  says: REVOKED_SAYS,
  run: ({ pool }: LedgerDb, actor, { id, reason }) =>
    whileNobodyMakes(pool, actor.name, async (sql, endMeanwhile) => {
      const key = await keys.readAdminKey(sql, id)
      if (!key) return refuseAct('notFound', `There is no key ${id}. See the list of keys.`)
      const refusal = refuseAbove(actor, actor.held?.keyId === id, key.scopes)
      if (refusal) return refusal
      if (key.revokedAt !== null) return refuseAct('conflict', `Key ${id} was revoked before, by ${key.revokedBy}.`)
      const { label, scopes } = key
      await endKey(sql, id, actor.name)
      const after = await endMeanwhile(sql, label)
      const detail = { before: { label, scopes }, ...(after && { after: { madeMeanwhile: after } }), reason }
      await recordAct(sql, actor, { action: 'keyRevoked', subject: `key ${id}`, ...detail })
      return { id, label, revoked: true }
    }),
  preview: ({ id, label }) => `Key ${id} of ${label} stops working.`,
})

/** For use after a theft or a restore. Keys of ADMIN_KEY remain valid. */
export const revokeAllKeys = defineAct({
  path: null,
  scope: null,
  summary: 'revoke every key, passkey and invitation of the ledger',
  fields: { reason: field.REASON },
  says: REVOKED_SAYS,
  run: ({ pool }: LedgerDb, actor, { reason }) =>
    whileNobodyMakes(pool, actor.name, async (sql) => {
      // Invitations first: this waits for people who are accepting one or signing in. What follows then ends their sessions too.
      const invitations = await revokeInvitations(sql, 'all', actor.name)
      const passkeys = await revokeAllPasskeys(sql, actor.name)
      const revocations = await keys.revokeAllAdminKeys(sql, actor.name)
      const after = { revoked: revocations, passkeys, invitations }
      if (revocations + passkeys + invitations > 0)
        await recordAct(sql, actor, { action: 'keysRevoked', after, reason })
      return after
    }),
  preview: ({ revoked, passkeys, invitations }) =>
    `${counted(revoked, 'key')}, ${counted(passkeys, 'passkey')} and ${counted(invitations, 'invitation')} stop working.`,
})
