// Who is a second person and what becomes of a proposal, as a second reading of docs/ADMIN.md (A second person, Keys) and of the decision that a proposal
// keeps a digest of the key or passkey that made it: confirming it needs that digest among the live ones, and a new secret under an old label is another key.

// Choices in what the documents leave open:
// - Keys that were revoked or have expired still say who made whom: the person knew the secret.
// - A label that two people made keys for makes them no one person: neither made the other, and no third made both.
// - Labels that count as one person are one proposer, so each of them may withdraw what another has proposed.
// - The same act that the same person proposes again with another key is another proposal, or it could never be done once the first key has ended.

/** A key or an invitation: whose it is and who made it. `cli:…` made it on the command line, `null` if it is a key of the settings. */
export interface Gift {
  label: string
  madeBy: string | null
}

/** Everyone who made a person's keys or invitations, directly or through others, and the person. Those made on the command line have no maker. */
export function origins(gifts: Gift[], label: string): Set<string> {
  const found = new Set([label])
  for (let grew = true; grew; ) {
    grew = false
    for (const one of gifts) {
      if (!found.has(one.label) || one.madeBy === null || one.madeBy.startsWith('cli:')) continue
      if (!found.has(one.madeBy)) {
        found.add(one.madeBy)
        grew = true
      }
    }
  }
  return found
}

/** Whether two labels count as one person: one made the other's, or a third made both. */
export function isOnePerson(gifts: Gift[], one: string, other: string): boolean {
  const ofOther = origins(gifts, other)
  for (const maker of origins(gifts, one)) if (ofOther.has(maker)) return true
  return false
}

export interface Key extends Gift {
  scopes: string[]
  isLive: boolean
}
export interface Proposal {
  by: Key
  scope: string
  /** What is asked for; the same again is the same proposal. */
  asked: string
  state: 'open' | 'confirmed' | 'refused' | 'failed' | 'expired'
}
export type Answer = 'noKey' | 'noScope' | 'samePerson' | 'settled' | 'keyEnded' | 'failed' | 'done'

/** What a confirmation does. `isPossible`: whether the act still is. */
export function confirm(keys: Key[], one: Proposal, key: Key, isPossible: boolean): Answer {
  if (!key.isLive) return 'noKey'
  if (one.state !== 'open') return 'settled'
  if (!key.scopes.includes(one.scope)) return 'noScope'
  if (isOnePerson(keys, one.by.label, key.label)) return 'samePerson'
  if (!one.by.isLive) return 'keyEnded'
  one.state = isPossible ? 'confirmed' : 'failed'
  return isPossible ? 'done' : 'failed'
}

/** The person who proposed it, and everyone who could confirm it, may refuse it: so everyone with the act's scope. */
export function refuse(one: Proposal, key: Key): Answer {
  if (!key.isLive) return 'noKey'
  if (one.state !== 'open') return 'settled'
  if (!key.scopes.includes(one.scope)) return 'noScope'
  one.state = 'refused'
  return 'done'
}

/** The proposal that an act becomes: an open one of the same act by the same key, or a new one. */
export function propose(all: Proposal[], by: Key, act: { scope: string; asked: string }): Proposal {
  for (const one of all) {
    if (one.state === 'open' && one.asked === act.asked && one.by === by) return one
  }
  const made: Proposal = { by, ...act, state: 'open' }
  all.push(made)
  return made
}

export interface Waiting {
  id: number
  valueWei: bigint
  hasTier: boolean
}

/** What a release lets through: a payment without a tier counts as its value, or as the highest price of the named tier if that is more. */
export function sumReleased(payments: Waiting[], named: number[], tierPrices: bigint[] | null): bigint {
  let sum = 0n
  for (const one of payments) {
    if (!named.includes(one.id)) continue
    let worth = one.valueWei
    if (!one.hasTier) for (const price of tierPrices ?? []) if (price > worth) worth = price
    sum += worth
  }
  return sum
}
