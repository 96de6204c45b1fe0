// What people do with passkeys: make a passkey from an invitation, sign in with it, sign out. Each sign-in gives a session: an admin key for some
// hours, under the passkey's label and with its scopes. Verification comes first, so that nothing unproven reaches the database.
import { inTransaction, type Sql } from '../../../db/core/sql.ts'
import { insertAdminKey, revokeAdminKey } from '../../../db/operator/admin-keys.ts'
import { findInvitation, type InvitationRow, lockInvitation, useInvitation } from '../../../db/operator/invitations.ts'
import { closeGate } from '../../../db/operator/key-gate.ts'
import * as passkeys from '../../../db/operator/passkeys.ts'
import { spendNonce } from '../../../db/sends/nonces.ts'
import type { RelyingParty } from '../../../domain/keys/passkey.ts'
import type { LedgerDb, Logging } from '../../../ports/contexts.ts'
import { type Actor, type OperatorRefusal, recordAct, refuseAct } from '../../act.ts'
import { defineAct } from '../../define-act.ts'
import { digestOfKey, isCodeForm, newSecret } from './secret.ts'
import { credentialIdIn, readMadePasskey, verifySignIn } from './webauthn.ts'

/** How long a session lasts: a working day, so a person who forgot to sign out is signed out the next morning. */
const SESSION_SEC = 8 * 3600
/** How many sessions one person may have, for their browsers and tabs. One more sign-in ends the oldest. */
const SESSIONS_MAX = 10
/** How long we remember a used challenge. It is longer than a challenge is valid, so a clock that steps back does not revive it. */
const KEPT_SEC = 24 * 3600

/** A challenge of ours, taken from what the browser signed. `hash` is what we store once the challenge is used. */
export interface Challenge {
  readonly text: string
  readonly hash: string
}

/** A browser's answer to a challenge. */
export interface Attempt {
  readonly party: RelyingParty
  readonly credential: unknown
  readonly challenge: Challenge
  readonly requestId: string
}

/** Why a sign-in failed: `lapsed` if the challenge was used, `refused` if the signature is wrong or unknown. Strangers learn no more. */
export type NotLetIn = 'lapsed' | 'refused'

/** A session. Its key is only in this answer. */
export interface Session {
  readonly key: string
  readonly label: string
  readonly expiresAt: Date
}

/** The open invitation with this code. */
export async function readInvitation(sql: Sql, code: unknown): Promise<InvitationRow | OperatorRefusal> {
  const invitation = isCodeForm(code) ? await findInvitation(sql, digestOfKey(code)) : null
  if (invitation === null)
    return refuseAct('notFound', 'No such invitation: check that the link is complete, or ask for another one.')
  return refuseClosed(invitation) ?? invitation
}

function refuseClosed({ passkeyId, revokedAt, isExpired }: InvitationRow): OperatorRefusal | null {
  const became = passkeyId !== null ? 'was used' : revokedAt !== null ? 'was revoked' : isExpired ? 'has expired' : null
  return became && refuseAct('conflict', `This invitation ${became}: ask for another one.`)
}

/** Makes a passkey from an invitation, which uses the invitation up, and signs in with it. */
export async function makePasskey(
  { pool }: LedgerDb,
  guest: InvitationRow,
  { party, credential, challenge, requestId }: Attempt,
): Promise<Session | NotLetIn | OperatorRefusal> {
  const passkey = await readMadePasskey(party, credential, challenge.text)
  if (passkey === null) return 'refused'
  return inTransaction(pool, async (sql) => {
    const invitation = (await lockInvitation(sql, guest.id)) ?? guest
    const refusal = refuseClosed(invitation)
    if (refusal) return refusal
    if (!(await spendNonce(sql, challenge.hash, KEPT_SEC))) return 'lapsed'
    const { label, scopes, madeBy: invitedBy, passkeyExpiresAt: expiresAt } = invitation
    const id = await passkeys.insertPasskey(sql, { ...passkey, label, scopes, invitedBy, expiresAt })
    if (id === null) return 'refused'
    await useInvitation(sql, invitation.id, id)
    const actor = { name: label, requestId }
    const after = { label, scopes, invitedBy, invitation: invitation.id, expiresAt }
    await recordAct(sql, actor, { action: 'passkeyMade', subject: `passkey ${id}`, after })
    return await openSession(sql, actor, { id, label, scopes, invitedBy })
  })
}

/** Signs in with a passkey of the ledger. */
export async function signIn(
  { pool, log }: LedgerDb & Logging,
  { party, credential, challenge, requestId }: Attempt,
): Promise<Session | NotLetIn> {
  const credentialId = credentialIdIn(credential)
  const ownPasskey = credentialId === null ? null : await passkeys.findCredential(pool, credentialId)
  if (ownPasskey === null) return 'refused'
  const counter = await verifySignIn(party, credential, { ...ownPasskey, challenge: challenge.text })
  if (counter === null) return 'refused'
  return inTransaction(pool, async (sql) => {
    const passkey = await passkeys.lockPasskey(sql, ownPasskey.id)
    if (passkey === null || passkey.revokedAt !== null) return 'refused'
    if (!(await spendNonce(sql, challenge.hash, KEPT_SEC))) return 'lapsed'
    const actor = { name: passkey.label, requestId }
    if (isBehind(counter, passkey.counter)) {
      log.warn({ passkey: ownPasskey.id }, 'a passkey’s counter went down: the passkey may have been copied')
      const after = { counter, known: passkey.counter }
      await recordAct(sql, actor, { action: 'passkeyCopied', subject: `passkey ${ownPasskey.id}`, after })
      return 'refused'
    }
    await passkeys.notePasskeyUsed(sql, ownPasskey.id, counter)
    return await openSession(sql, actor, passkey)
  })
}

/** True if the counter did not rise. An authenticator that counts must have counted up; one that does not count stays at 0. */
const isBehind = (counter: number, ownPasskey: number) => (counter > 0 || ownPasskey > 0) && counter <= ownPasskey

/** Opens a session, and records the inviter as its maker. As with any key, the maker cannot be its user's second person. */
async function openSession(
  sql: Sql,
  actor: Actor,
  { id, label, scopes, invitedBy }: Pick<passkeys.PasskeyRow, 'id' | 'label' | 'scopes' | 'invitedBy'>,
): Promise<Session> {
  const { text: key, digest } = newSecret('nlk_')
  const passkey = { label, scopes, digest, madeBy: invitedBy, seconds: SESSION_SEC, passkeyId: id }
  const { id: session, expiresAt } = await insertAdminKey(sql, passkey)
  await passkeys.endOldSessions(sql, id, SESSIONS_MAX, label)
  await recordAct(sql, actor, { action: 'signedIn', subject: `passkey ${id}`, after: { session, expiresAt } })
  return { key, label, expiresAt }
}

/** Any session may sign out, because it ends only itself. */
export const signOut = defineAct({
  path: 'keys/self/sign-out',
  scope: null,
  summary: 'end your own session',
  fields: {},
  change: async ({ sql, actor, record }) => {
    const { passkey, keyId } = actor.held ?? {}
    if (!passkey || !keyId) return refuseAct('conflict', 'This key is not a passkey’s session: revoke it instead.')
    await closeGate(sql)
    await revokeAdminKey(sql, keyId, actor.name)
    record({ action: 'signedOut', subject: `passkey ${passkey.id}`, before: { session: keyId } })
    return { signedOut: true }
  },
  says: 'Signed out.',
})
