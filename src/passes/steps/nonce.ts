// Finds the nonce for an account's next transaction. The ledger knows the transactions in followed blocks. If a provider reports a lower nonce, it
// lags. We believe a higher nonce only if all providers report it for a long time, or if the operator confirms it. This file cannot send.

import { type Cursor, readCursor } from '../../db/blocks/blocks.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { writeAudit } from '../../db/core/state.ts'
import { releaseUnminted } from '../../db/payments/rows.ts'
import { clearNonceAhead, readNonceAhead, writeNonceAhead } from '../../db/sends/nonce-ahead.ts'
import { displaceBelow, type KnownNonces, readKnownNonces, writeBase } from '../../db/sends/outbox.ts'
import { voicesNeeded } from '../../domain/finality.ts'
import type { ChainRead, LedgerDb, Logging } from '../../ports/contexts.ts'
import { orNull } from '../../ports/faults.ts'
import type { SignerAccount } from '../../ports/sending.ts'

/** For how many blocks all providers must report a higher nonce than the ledger's before we believe them: longer than a fork of the chain lasts. */
export const AHEAD_BLOCKS = 64

/** An account whose key this instance holds, as of the followed block. */
interface Account {
  readonly sender: Pick<SignerAccount, 'address' | 'nonce' | 'nonces' | 'noncesAt'>
  readonly cursor: Cursor
}

/** `next`: the nonce for a new transaction, according to the ledger. `now`: the account's nonce at the latest block, never above `next`. */
export type NonceReading = { kind: 'known'; next: number; now: number } | { kind: 'unknown'; detail: string }

const unknown = (detail: string): NonceReading => ({ kind: 'unknown', detail })

/** Reads a signer account's nonce. `unknown` if providers report a higher nonce than the ledger, or disagree on the first nonce of a new key. */
export async function readNonce(ctx: LedgerDb & ChainRead & Logging, account: Account): Promise<NonceReading> {
  const { sender, cursor } = account
  const ledgerNonces = (await readKnownNonces(ctx.pool, sender.address)) ?? (await beginWatching(ctx, account))
  if (ledgerNonces === null) return unknown('the providers disagree on this key’s first nonce here')
  const providerNonce = await sender.nonce()
  // One provider that lags, or lies, stops nothing if another one has all our transactions and no more.
  const all = providerNonce === ledgerNonces.followed ? [providerNonce] : await sender.nonces()
  const now = all.includes(ledgerNonces.followed) ? ledgerNonces.followed : least(all)
  if (now === null)
    return unknown(
      `a provider reports nonce ${providerNonce}, the ledger is at ${ledgerNonces.next}, and no other provider answers`,
    )
  if (now > ledgerNonces.followed) {
    // The newer transactions are in blocks that we have not followed yet, or we missed them in blocks that we followed.
    const at = agreedNonce(await sender.noncesAt(cursor.hash))
    if (now > ledgerNonces.next || (at !== null && at > ledgerNonces.followed))
      return await ahead(ctx, account, { ledgerNonces, now, at })
  }
  await clearNonceAhead(ctx.pool, sender.address)
  return { kind: 'known', next: ledgerNonces.next, now }
}

/** Records the nonce at which a new key starts: the one at the followed block that the providers agree on, or prove. Null if there is none. */
async function beginWatching(
  ctx: LedgerDb & ChainRead & Logging,
  { sender, cursor }: Account,
): Promise<KnownNonces | null> {
  const nonce = agreedNonce(await sender.noncesAt(cursor.hash)) ?? (await provenNonce(ctx, { sender, cursor }))
  if (nonce === null) return null
  const isWatched = await inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return false
    await writeBase(sql, sender.address, { nonce, blockNumber: cursor.number })
    return true
  })
  if (isWatched)
    ctx.log.info({ sender: sender.address, nonce }, 'the ledger records this sender’s transactions from here on')
  return isWatched ? { next: nonce, followed: nonce } : null
}

/** The account's nonce in the followed block's state, if a provider proves it and another one has that block. */
async function provenNonce({ chain }: ChainRead, { sender, cursor }: Account): Promise<number | null> {
  const [at] = (await orNull(chain.survey.accountsAt([{ number: cursor.number, accounts: [sender.address] }]))) ?? []
  return at?.block.hash === cursor.hash ? (at.accounts.get(sender.address)?.nonce ?? null) : null
}

interface Ahead {
  ledgerNonces: KnownNonces
  /** The lowest nonce that any provider reports at the latest block. */
  now: number
  /** The providers' nonce at the followed block; null if they do not agree on it. */
  at: number | null
}

/** Reports a higher nonce once, and checks again in each run. Accepts the nonce after AHEAD_BLOCKS, or when the operator confirms it. */
async function ahead(ctx: LedgerDb & Logging, { sender, cursor }: Account, finding: Ahead): Promise<NonceReading> {
  const { ledgerNonces, now, at } = finding
  const ahead = await readNonceAhead(ctx.pool, sender.address)
  // If we recorded it on a fork that is gone, we count from the start again.
  const since = ahead && ahead.sinceBlock <= cursor.number ? ahead : null
  if (!since) await note(ctx, { sender, cursor }, finding)
  const isDue = since !== null && (since.takeOver || cursor.number >= since.sinceBlock + AHEAD_BLOCKS)
  if (isDue && at !== null && at > ledgerNonces.followed)
    await takeOver(ctx, { sender, cursor }, { nonce: at, ledgerNonces })
  const detail = `the providers report nonce ${now}, followed blocks show ${ledgerNonces.followed}`
  ctx.log.error(
    { sender: sender.address, ...ledgerNonces, now },
    `${detail}: the key was used elsewhere, or a provider is wrong`,
  )
  return unknown(detail)
}

async function note(ctx: LedgerDb, { sender, cursor }: Account, { ledgerNonces, now }: Ahead): Promise<void> {
  const detail = { reported: now, known: ledgerNonces.followed, sinceBlock: cursor.number, takeOver: false }
  await inTransaction(ctx.pool, async (sql) => {
    await writeNonceAhead(sql, sender.address, detail)
    await writeAudit(sql, { actor: 'pass', action: 'nonceAhead', subject: sender.address, detail })
  })
}

/** Accepts the providers' nonce. Our stored transactions with a lower nonce can never be mined, so new ones must replace them. */
async function takeOver(
  ctx: LedgerDb & Logging,
  { sender, cursor }: Account,
  { nonce, ledgerNonces }: { nonce: number; ledgerNonces: KnownNonces },
): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return
    await writeBase(sql, sender.address, { nonce, blockNumber: cursor.number })
    const displacedIds = await displaceBelow(sql, { sender: sender.address, nonce, at: cursor })
    await releaseUnminted(sql, displacedIds)
    await clearNonceAhead(sql, sender.address)
    const detail = { nonce, known: ledgerNonces.followed, displaced: displacedIds.length }
    await writeAudit(sql, { actor: 'pass', action: 'nonceTakenOver', subject: sender.address, detail })
    ctx.log.warn({ sender: sender.address, ...detail }, 'adopted the providers’ nonce')
  })
}

/** The nonce on which all answers agree. Null if two answers differ, or if there are several providers and only one of them answered. */
export function agreedNonce(nonces: readonly (number | null)[]): number | null {
  const answers = nonces.filter((nonce) => nonce !== null)
  const [first = null, ...others] = answers
  return answers.length >= voicesNeeded(nonces.length) && others.every((other) => other === first) ? first : null
}

/** The lowest nonce; null if no provider answered. */
function least(nonces: readonly (number | null)[]): number | null {
  const answers = nonces.filter((nonce) => nonce !== null)
  return answers.length > 0 ? Math.min(...answers) : null
}
