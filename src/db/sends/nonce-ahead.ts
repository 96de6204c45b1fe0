// Signer accounts whose nonce, according to the providers, is ahead of the followed blocks. Each record is a row of `troubles`.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'
import { clearFinding, readFinding, writeFinding } from '../core/troubles.ts'

export interface NonceAhead {
  /** The nonce that the providers report, and the lowest that no followed block has used. */
  reported: number
  known: number
  sinceBlock: number
  /** Set by the operator: the providers' nonce is right, and the next run adopts it. */
  takeOver: boolean
}

const PREFIX = 'nonceAhead '

/** Reads the record of a signer account; null if there is none. */
export const readNonceAhead = (sql: Sql, sender: Address) => readFinding<NonceAhead>(sql, PREFIX + sender)

/** All signer accounts with a record. */
export async function listNoncesAhead(sql: Sql): Promise<({ sender: Address } & NonceAhead)[]> {
  const rows = await sql<{ name: string; value: NonceAhead }[]>`
    SELECT name, value FROM troubles WHERE name LIKE ${`${PREFIX}%`} ORDER BY name`
  return rows.map(({ name, value }) => ({ sender: name.slice(PREFIX.length) as Address, ...value }))
}

export async function writeNonceAhead(sql: Sql, sender: Address, note: NonceAhead): Promise<void> {
  await writeFinding(sql, PREFIX + sender, note)
}

/** Removes the record of a signer account. Costs almost nothing if there is none. */
export const clearNonceAhead = (sql: Sql, sender: Address) => clearFinding(sql, PREFIX + sender)
