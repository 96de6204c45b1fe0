// Signer accounts whose nonce, according to the providers, is ahead of the followed blocks. Each record is a row of `settings`.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'
import { clearState, readState, writeState } from '../core/state.ts'

export interface NonceAhead {
  /** The nonce that the providers report, and the lowest that no followed block has used. */
  said: number
  known: number
  sinceBlock: number
  /** Set by the operator: the providers' nonce is right, and the next run adopts it. */
  takeOver: boolean
}

const PREFIX = 'nonceAhead '

/** Reads the record of a signer account; null if there is none. */
export async function readNonceAhead(sql: Sql, sender: Address): Promise<NonceAhead | null> {
  return (await readState(sql, PREFIX + sender)) as NonceAhead | null
}

/** All signer accounts with a record. */
export async function listNoncesAhead(sql: Sql): Promise<({ sender: Address } & NonceAhead)[]> {
  const rows = await sql<{ name: string; value: NonceAhead }[]>`
    SELECT name, value FROM settings WHERE name LIKE ${`${PREFIX}%`} ORDER BY name`
  return rows.map(({ name, value }) => ({ sender: name.slice(PREFIX.length) as Address, ...value }))
}

export async function writeNonceAhead(sql: Sql, sender: Address, note: NonceAhead, by: string): Promise<void> {
  await writeState(sql, PREFIX + sender, note, by)
}

/** Removes the record of a signer account. Costs almost nothing if there is none. */
export async function clearNonceAhead(sql: Sql, sender: Address): Promise<void> {
  await clearState(sql, PREFIX + sender)
}
