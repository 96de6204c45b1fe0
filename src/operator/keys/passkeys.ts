// The operator's acts on passkeys: somebody is invited to make one, an invitation is taken back, a passkey revoked. What people do with their
// passkeys themselves is in sign-in.ts.
import { inTransaction } from '../../db/core/sql.ts'
import * as invitations from '../../db/operator/invitations.ts'
import { countLivePasskeys, lockPasskey } from '../../db/operator/passkeys.ts'
import { invitationLink, relyingPartyAt } from '../../domain/keys/passkey.ts'
import type { LedgerDb } from '../../passes/context.ts'
import { recordAct, refuseAct } from '../act.ts'
import { defineAct } from '../define-act.ts'
import type { EnvironmentKeys } from './admin-keys.ts'
import { readGift, readRevoked, refuseAbove, refuseGift, refuseLabel } from './gifts.ts'
import { endPasskey, whileNobodyMakes } from './revoking.ts'
import { newCode } from './secret.ts'

/** Far more than the people of one operator. */
const PEOPLE_MAX = 200
const EXPIRES_DEFAULT = '365d'

/** The origin that people reach the console at. */
export interface ReachedAt {
  readonly publicUrl: string
}

/** Why browsers make no passkey here. */
export const PASSKEYS_OFF =
  'Passkeys are off: browsers make none for this address. They need https and a name, or localhost.'

/** POST keys/invite `{label, scopes, expires?, reason?}`: invites somebody to make a passkey. The link is in the answer, and nowhere else. */
export const invite = defineAct({
  read: (fields) => readGift(fields, EXPIRES_DEFAULT),
  run: async ({ pool, environmentLabels, publicUrl }: LedgerDb & EnvironmentKeys & ReachedAt, actor, gift) => {
    const party = relyingPartyAt(publicUrl)
    if (party === null) return refuseAct('unavailable', PASSKEYS_OFF)
    const { label, scopes, seconds, reason } = gift
    const { code, digest } = newCode()
    const { keyId = null, passkey = null } = actor.held ?? {}
    return inTransaction(pool, async (sql) => {
      const refused = (await refuseGift(sql, actor, gift)) ?? (await refuseLabel(sql, actor, label, environmentLabels))
      if (refused) return refused
      if ((await countLivePasskeys(sql)) + (await invitations.countOpenInvitations(sql)) >= PEOPLE_MAX)
        return refuseAct(
          'conflict',
          `There are ${PEOPLE_MAX} passkeys and invitations: revoke those that are not used.`,
        )
      const { id, expiresAt, passkeyExpiresAt } = await invitations.insertInvitation(sql, {
        ...{ label, digest, scopes, seconds, madeBy: actor.name },
        ...{ byKey: passkey ? null : keyId, byPasskey: passkey?.id ?? null },
      })
      const after = { label, scopes, expiresAt, passkeyExpiresAt }
      await recordAct(sql, actor, { action: 'passkeyInvited', subject: `invitation ${id}`, after, reason })
      return { id, ...after, link: invitationLink(party, code) }
    })
  },
})

/** POST invitations/:id/revoke `{reason?}`: the invitation makes no passkey any more. */
export const revokeInvitation = defineAct({
  read: readRevoked,
  run: ({ pool }: LedgerDb, actor, { id, reason }) =>
    inTransaction(pool, async (sql) => {
      const invitation = await invitations.lockInvitation(sql, id)
      if (!invitation) return refuseAct('notFound', `There is no invitation ${id}: the list of keys has them.`)
      const { label, scopes, passkeyId } = invitation
      const refused = refuseAbove(actor, false, scopes)
      if (refused) return refused
      if (passkeyId !== null) return refuseAct('conflict', `It was used: revoke passkey ${passkeyId}.`)
      if ((await invitations.revokeInvitations(sql, { id }, actor.name)) === 0)
        return refuseAct('conflict', `Invitation ${id} waits no more.`)
      const subject = `invitation ${id}`
      await recordAct(sql, actor, { action: 'invitationRevoked', subject, before: { label, scopes }, reason })
      return { id, label, revoked: true }
    }),
})

/**
 * POST passkeys/:id/revoke `{reason?}`: it signs in no more, and its sessions open no more, within seconds, on every instance. Its invitations
 * that wait go with it, and what its person is making just then.
 */
export const revokePasskey = defineAct({
  read: readRevoked,
  run: ({ pool }: LedgerDb, actor, { id, reason }) =>
    whileNobodyMakes(pool, actor.name, async (sql, endMeanwhile) => {
      const passkey = await lockPasskey(sql, id)
      if (!passkey) return refuseAct('notFound', `There is no passkey ${id}: the list of keys has them.`)
      const { label, scopes, revokedAt, revokedBy } = passkey
      const refused = refuseAbove(actor, actor.held?.passkey?.id === id, scopes)
      if (refused) return refused
      if (revokedAt !== null) return refuseAct('conflict', `Passkey ${id} was revoked before, by ${revokedBy}.`)
      await endPasskey(sql, id, actor.name)
      const after = await endMeanwhile(sql, label)
      const acted = { before: { label, scopes }, ...(after && { after: { madeMeanwhile: after } }), reason }
      await recordAct(sql, actor, { action: 'passkeyRevoked', subject: `passkey ${id}`, ...acted })
      return { id, label, revoked: true }
    }),
})
