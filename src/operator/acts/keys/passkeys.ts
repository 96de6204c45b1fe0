// The operator's acts on passkeys: invite a person to make a passkey, withdraw an invitation, revoke a passkey. sign-in.ts has what people themselves
// do with their passkeys.
import * as invitations from '../../../db/operator/invitations.ts'
import { countLivePasskeys, lockPasskey } from '../../../db/operator/passkeys.ts'
import { invitationLink, relyingPartyAt } from '../../../domain/keys/passkey.ts'
import type { LedgerDb } from '../../../ports/contexts.ts'
import { type EnvironmentKeys, type ReachedAt, recordAct, refuseAct } from '../../act.ts'
import { defineAct } from '../../define-act.ts'
import { checkGift, giftOf, REVOKED, REVOKED_SAYS, refuseAbove, refuseGift, refuseLabel } from './gifts.ts'
import { endPasskey, whileNobodyMakes } from './revoking.ts'
import { newSecret } from './secret.ts'

/** Far more than the people who work for one operator. */
const PEOPLE_MAX = 200

/** Why browsers cannot make a passkey here. */
export const PASSKEYS_OFF =
  'Passkeys are off, because browsers create none for this address. They need https and a domain name, or localhost.'

/** The link is only in this answer. */
export const invite = defineAct({
  path: 'keys/invite',
  scope: 'operate',
  secret: 'link',
  command: 'admin-keys invite',
  summary: 'invite a person to create a passkey for signing in to the console',
  details: `Prints a link to the console at PUBLIC_URL, or writes it to a file that only you may read. Give it only to that person. It works once, within
24 hours. Each sign-in opens a session of eight hours with this label and these scopes. If two people check each other, invite both here.`,
  examples: ['admin-keys invite --label grace --scopes read,decide --out grace.link'],
  fields: giftOf('how long the passkey signs in; 365d by default, at most 366d', 365),
  check: checkGift,
  change: async ({ sql, actor, record }, gift, deps: LedgerDb & EnvironmentKeys & ReachedAt) => {
    const party = relyingPartyAt(deps.publicUrl)
    if (party === null) return refuseAct('unavailable', PASSKEYS_OFF)
    const { label, scopes, expires: seconds } = gift
    const { text: code, digest } = newSecret('nli_')
    const { keyId = null, passkey = null } = actor.held ?? {}
    const refusal = (await refuseGift(sql, actor, gift)) ?? (await refuseLabel(sql, actor, label, deps.environmentKeys))
    if (refusal) return refusal
    if ((await countLivePasskeys(sql)) + (await invitations.countOpenInvitations(sql)) >= PEOPLE_MAX)
      return refuseAct('conflict', `There are ${PEOPLE_MAX} passkeys and invitations: revoke those that are not used.`)
    const { id, expiresAt, passkeyExpiresAt } = await invitations.insertInvitation(sql, {
      label,
      digest,
      scopes,
      seconds,
      madeBy: actor.name,
      byKey: passkey ? null : keyId,
      byPasskey: passkey?.id ?? null,
    })
    const after = { label, scopes, expiresAt, passkeyExpiresAt }
    record({ action: 'passkeyInvited', subject: `invitation ${id}`, after })
    return { id, ...after, link: invitationLink(party, code) }
  },
  says: ({ id, label, expiresAt }) =>
    `Invitation ${id}: give ${label} the link. It works once, until ${expiresAt.toISOString()}, and is not shown again.`,
})

export const revokeInvitation = defineAct({
  path: 'invitations/:id/revoke',
  scope: 'operate',
  summary: 'revoke an invitation',
  fields: REVOKED,
  change: async ({ sql, actor, record }, { id }) => {
    const invitation = await invitations.lockInvitation(sql, id)
    if (!invitation) return refuseAct('notFound', `There is no invitation ${id}. See the list of keys.`)
    const { label, scopes, passkeyId } = invitation
    const refusal = refuseAbove(actor, false, scopes)
    if (refusal) return refusal
    if (passkeyId !== null) return refuseAct('conflict', `It was used: revoke passkey ${passkeyId}.`)
    if ((await invitations.revokeInvitations(sql, { id }, actor.name)) === 0)
      return refuseAct('conflict', `Invitation ${id} was revoked before.`)
    record({ action: 'invitationRevoked', subject: `invitation ${id}`, before: { label, scopes } })
    return { id, label, revoked: true }
  },
  preview: ({ id, label }) => `Invitation ${id} of ${label} can no longer create a passkey.`,
  says: 'Revoked. It can no longer create a passkey.',
})

/** Revoking a passkey also revokes the open invitations that were issued with it, and any key or passkey that they are making at that moment. */
export const revokePasskey = defineAct({
  path: 'passkeys/:id/revoke',
  scope: 'operate',
  summary: 'revoke a passkey and its sessions; takes effect on every instance within three seconds',
  fields: REVOKED,
  says: REVOKED_SAYS,
  run: ({ pool }: LedgerDb, actor, { id, reason }) =>
    whileNobodyMakes(pool, actor.name, async (sql, endMeanwhile) => {
      const passkey = await lockPasskey(sql, id)
      if (!passkey) return refuseAct('notFound', `There is no passkey ${id}. See the list of keys.`)
      const { label, scopes, revokedAt, revokedBy } = passkey
      const refusal = refuseAbove(actor, actor.held?.passkey?.id === id, scopes)
      if (refusal) return refusal
      if (revokedAt !== null) return refuseAct('conflict', `Passkey ${id} was revoked before, by ${revokedBy}.`)
      await endPasskey(sql, id, actor.name)
      const after = await endMeanwhile(sql, label)
      const detail = { before: { label, scopes }, ...(after && { after: { madeMeanwhile: after } }), reason }
      await recordAct(sql, actor, { action: 'passkeyRevoked', subject: `passkey ${id}`, ...detail })
      return { id, label, revoked: true }
    }),
  preview: ({ id, label }) => `Passkey ${id} of ${label} and its sessions stop working.`,
})
