// What becomes of an account's transactions when the ledger accepts the nonce that providers name, as a second reading of docs/RUNBOOK.md (NodeLedgerTransactionStuck) and
// docs/DATA-MODEL.md (outbox): those below it can never be mined, so their work is sent again.

export interface Intent {
  id: number
  kind: 'mint' | 'credit' | 'openCohorts'
  isOurs: boolean
  nonce: number
  state: 'pending' | 'mined' | 'displaced'
}
export interface Payment {
  id: number
  /** The last transaction that was to mint it, which stays on record; null: none was signed. */
  intent: number | null
  state: 'accepted' | 'minting' | 'held'
}
export interface Account {
  intents: Intent[]
  payments: Payment[]
  /** The nonce from which its transactions are known. */
  base: number
  /** Whether the higher nonce is on record, and since which block. */
  doubtSince: number | null
  /** Whether a person said that the higher nonce is right. */
  isTold: boolean
}
/** The lowest nonce that no followed block has used. */
export function knownOf({ intents, base }: Account): number {
  const ours = intents.filter(({ isOurs }) => isOurs)
  const pending = ours.filter(({ state }) => state === 'pending').map(({ nonce }) => nonce)
  return pending.length > 0 ? Math.min(...pending) : Math.max(base, ...ours.map(({ nonce }) => nonce + 1))
}

const WAIT_BLOCKS = 64

/**
 * A run in which all providers name a higher nonce; `said`: what each names of the followed block. It accepts theirs after 64 blocks, or if it is told
 * so. @returns how many transactions it gave up; null if it accepted nothing.
 */
export function takeOver(account: Account, said: number[], isCurrent: boolean, height: number): number | null {
  const { intents, payments, doubtSince, isTold } = account
  const known = knownOf(account)
  const nonce = said.every((one) => one === said[0]) ? (said[0] ?? null) : null
  // A record of a fork that is gone counts for nothing: the doubt begins again.
  if (doubtSince === null || doubtSince > height) {
    account.doubtSince = height
    return null
  }
  if (!isTold && height - doubtSince < WAIT_BLOCKS) return null
  if (nonce === null || nonce <= known || !isCurrent) return null
  account.base = nonce
  account.doubtSince = null
  let given = 0
  for (const intent of intents) {
    if (!intent.isOurs || intent.state !== 'pending' || intent.nonce >= nonce) continue
    intent.state = 'displaced'
    given += 1
    for (const one of payments) {
      if (one.intent === intent.id && one.state === 'minting') one.state = 'accepted'
    }
  }
  return given
}
