// Accounts that have held a role, as far as the ledger knows: the senders in its outbox, and those that the contract's owner set.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** The accounts, in no particular order. */
export async function readSignersKnown(sql: Sql): Promise<Address[]> {
  const rows = await sql<{ account: Address }[]>`
    SELECT DISTINCT sender AS account FROM outbox
    UNION SELECT detail ->> 'minter' FROM owner_acts WHERE name = 'MinterSet'
    UNION SELECT detail ->> 'distributor' FROM owner_acts WHERE name = 'DistributorSet'`
  return rows.map(({ account }) => account)
}
