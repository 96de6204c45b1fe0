// Who may act and for how long, as a second reading of docs/ADMIN.md and docs/SECURITY.md over rows in memory: keys, passkeys with their sessions,
// invitations, and proposals that end with the key that made them. Times are seconds of the model's own clock.

interface Ending {
  id: number
  label: string
  madeBy: string
  ends: number
  revoked: { at: number; by: string } | null
}
export interface Key extends Ending {
  digest: string
  passkeyId: number | null
  usedAt: number | null
}
export interface Passkey extends Ending {
  /** The digest of its credential. */
  digest: string
}
export interface Invitation extends Ending {
  byKey: number | null
  byPasskey: number | null
  passkeyId: number | null
}
export interface Proposal {
  id: number
  act: string
  by: string
  madeWith: string | null
  ends: number
  outcome: string | null
  settled: { at: number; by: string } | null
}
export interface Told {
  action: string
  subject: string | null
  detail: object
}
export interface Office {
  now: number
  keys: Key[]
  passkeys: Passkey[]
  invitations: Invitation[]
  proposals: Proposal[]
  audit: Told[]
  nextKey: number
}

const isLive = ({ now }: Office, { revoked, ends }: Ending) => revoked === null && ends > now
const isOpen = (office: Office, one: Invitation) => one.passkeyId === null && isLive(office, one)
const newest = <T extends { id: number }>(all: T[]) => all.toSorted((a, b) => b.id - a.id)
const find = <T extends { id: number }>(all: T[], id: number) => all.find((one) => one.id === id)

/** Ends what is valid, or with `always` also what has expired. @returns what was ended. */
function end<T extends Ending>(office: Office, all: T[], by: string, { always = false } = {}): T[] {
  const ended = all.filter((one) => one.revoked === null && (always || isLive(office, one)))
  for (const one of ended) one.revoked = { at: office.now, by }
  return ended
}

export function live(office: Office, digest: string) {
  const key = office.keys.find((one) => one.digest === digest)
  if (key === undefined || !isLive(office, key)) return null
  const passkey = key.passkeyId === null ? undefined : find(office.passkeys, key.passkeyId)
  const isNoted = key.usedAt !== null && office.now - key.usedAt < 60
  return { id: key.id, label: key.label, digest: passkey?.digest ?? digest, passkeyId: key.passkeyId, isNoted }
}

export const counts = (office: Office) => ({
  hasLive: [...office.keys, ...office.passkeys].some((one) => isLive(office, one)),
  keys: office.keys.filter((one) => one.passkeyId === null && isLive(office, one)).length,
  passkeys: office.passkeys.filter((one) => isLive(office, one)).length,
  invitations: office.invitations.filter((one) => isOpen(office, one)).length,
})

export function used(office: Office, id: number): void {
  const key = find(office.keys, id)
  if (key && (key.usedAt === null || office.now - key.usedAt >= 60)) key.usedAt = office.now
}

const validFirst = <T extends Ending>(office: Office, all: T[]) =>
  newest(all).toSorted((a, b) => Number(isLive(office, b)) - Number(isLive(office, a)))

export const listed = (office: Office, limit: number) => ({
  keys: validFirst(
    office,
    office.keys.filter(({ passkeyId }) => passkeyId === null),
  )
    .slice(0, limit)
    .map(({ id }) => id),
  passkeys: validFirst(office, office.passkeys)
    .slice(0, limit)
    .map(({ id }) => ({
      id,
      sessions: office.keys.filter((one) => one.passkeyId === id && isLive(office, one)).length,
    })),
  invitations: newest(office.invitations.filter((one) => isOpen(office, one)))
    .slice(0, limit)
    .map(({ id }) => id),
})

/** A session ends no later than its passkey. */
export function addKey(
  office: Office,
  one: Pick<Key, 'label' | 'digest' | 'madeBy' | 'passkeyId'>,
  seconds: number,
): number {
  const ends = office.now + seconds
  const most = one.passkeyId === null ? null : (find(office.passkeys, one.passkeyId)?.ends ?? null)
  const id = office.nextKey++
  office.keys.push({ ...one, id, ends: most === null ? ends : Math.min(ends, most), usedAt: null, revoked: null })
  return id
}

/** Who made the keys of a label, or invited a person under it. */
export const makersOf = ({ keys, invitations }: Office, label: string) =>
  [...new Set([...keys, ...invitations].filter((one) => one.label === label).map(({ madeBy }) => madeBy))].sort()

/** All but the newest sessions of a passkey end. */
export function endOldSessions(office: Office, passkeyId: number, kept: number, by: string): void {
  const sessions = office.keys.filter((one) => one.passkeyId === passkeyId && isLive(office, one))
  end(office, newest(sessions).slice(kept), by)
}

const tell = (office: Office, action: string, subject: string | null, detail: object) =>
  office.audit.push({ action, subject, detail: { reason: null, ...detail } })

export function revokeKey(office: Office, id: number, by: string) {
  const key = find(office.keys, id)
  if (key === undefined) return 'notFound'
  if (key.revoked !== null) return 'conflict'
  endInvitations(office, (one) => one.byKey === id, by)
  end(office, [key], by, { always: true })
  tell(office, 'keyRevoked', `key ${id}`, { before: { label: key.label, scopes: ['read'] } })
  return { id, label: key.label, revoked: true }
}

function endInvitations(office: Office, isMeant: (one: Invitation) => boolean, by: string): number {
  const open = office.invitations.filter((one) => isOpen(office, one) && isMeant(one))
  return end(office, open, by).length
}

export function revokePasskey(office: Office, id: number, by: string) {
  const passkey = find(office.passkeys, id)
  if (passkey === undefined) return 'notFound'
  if (passkey.revoked !== null) return 'conflict'
  endInvitations(office, (one) => one.byPasskey === id, by)
  end(office, [passkey], by, { always: true })
  const sessions = office.keys.filter(({ passkeyId }) => passkeyId === id)
  end(office, sessions, by, { always: true })
  tell(office, 'passkeyRevoked', `passkey ${id}`, { before: { label: passkey.label, scopes: ['read'] } })
  return { id, label: passkey.label, revoked: true }
}

export function revokeInvitation(office: Office, id: number, by: string) {
  const one = find(office.invitations, id)
  if (one === undefined) return 'notFound'
  if (endInvitations(office, (each) => each === one, by) === 0) return 'conflict'
  tell(office, 'invitationRevoked', `invitation ${id}`, { before: { label: one.label, scopes: ['read'] } })
  return { id, label: one.label, revoked: true }
}

export function revokeAll(office: Office, by: string) {
  const invitations = endInvitations(office, () => true, by)
  const passkeys = end(office, office.passkeys, by).length
  const revoked = end(office, office.keys, by).filter(({ passkeyId }) => passkeyId === null).length
  const after = { revoked, passkeys, invitations }
  if (revoked + passkeys + invitations > 0) tell(office, 'keysRevoked', null, { after })
  return after
}

/** A proposal stands as long as the key or passkey that made it; the command line and the settings' keys always stand. */
export function isMakerLive(office: Office, { madeWith }: Proposal, fromSettings: string[]): boolean {
  if (madeWith === null || fromSettings.includes(madeWith)) return true
  return [...office.keys, ...office.passkeys].some((one) => one.digest === madeWith && isLive(office, one))
}

export const proposalsOf = (office: Office, limit: number, fromSettings: string[]) => {
  const isOpenNow = ({ outcome, ends }: Proposal) => outcome === null && ends > office.now
  return newest(office.proposals)
    .toSorted((a, b) => Number(isOpenNow(b)) - Number(isOpenNow(a)))
    .slice(0, limit)
    .map((one) => ({
      ...{ id: one.id, outcome: one.outcome, isExpired: one.outcome === null && one.ends <= office.now },
      makerEnded: one.outcome === null && !isMakerLive(office, one, fromSettings),
    }))
}

export function refuse(office: Office, id: number, by: string) {
  const one = find(office.proposals, id)
  if (one === undefined) return 'notFound'
  if (one.outcome !== null || one.ends <= office.now) return 'conflict'
  Object.assign(one, { outcome: 'refused', settled: { at: office.now, by } })
  tell(office, 'proposalRefused', `proposal ${id}`, { before: { act: one.act, proposedBy: one.by } })
  return { id, state: 'refused' }
}
