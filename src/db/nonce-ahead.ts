// What is on record of senders of which the providers say more than followed blocks show. Kept as settings, one a sender.
import type { Address } from '../domain/units.ts'
import { clearSetting, readSetting, writeSetting } from './settings.ts'
import type { Sql } from './sql.ts'

export interface NonceAhead {
  /** The nonce that the providers named, and the lowest that no followed block has used. */
  said: number
  known: number
  sinceBlock: number
  /** Set by the operator: it is so, and is taken over by the next run. */
  takeOver: boolean
}

const PREFIX = 'nonceAhead '

/** Reads what is on record of a sender; null where nothing is. */
export async function readNonceAhead(sql: Sql, sender: Address): Promise<NonceAhead | null> {
  return (await readSetting(sql, PREFIX + sender)) as NonceAhead | null
}

/** All senders of which something is on record. */
export async function listNoncesAhead(sql: Sql): Promise<({ sender: Address } & NonceAhead)[]> {
  const rows = await sql<{ name: string; value: NonceAhead }[]>`
    SELECT name, value FROM settings WHERE name LIKE ${`${PREFIX}%`} ORDER BY name`
  return rows.map(({ name, value }) => ({ sender: name.slice(PREFIX.length) as Address, ...value }))
}

export async function writeNonceAhead(sql: Sql, sender: Address, note: NonceAhead, by: string): Promise<void> {
  await writeSetting(sql, PREFIX + sender, note, by)
}

/** Forgets what is on record of a sender. Costs next to nothing where nothing is. */
export async function clearNonceAhead(sql: Sql, sender: Address): Promise<void> {
  await clearSetting(sql, PREFIX + sender)
}
