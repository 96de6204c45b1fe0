// The deny list: wallets whose payments are held for the operator, as `senderDenied`. An exchange's wallet, for example, pays for many people and
// must not own their nodes.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'
import { notedAddresses } from '../sale/noted-addresses.ts'

/** Payments that are held when their wallet is taken off the list stay held until they are released. */
export const { read: readDenyList, put: denyWallet, remove: allowWallet } = notedAddresses('senders')

/** True if a wallet is on the list. */
export async function isDenied(sql: Sql, address: Address): Promise<boolean> {
  const [row] = await sql<{ denied: boolean }[]>`
    SELECT EXISTS (SELECT FROM senders WHERE address = ${address}) AS denied`
  return row?.denied ?? false
}

/** The wallets among these that are on the list. */
export async function readDenied(sql: Sql, wallets: readonly Address[]): Promise<Set<Address>> {
  const rows = await sql<{ address: Address }[]>`SELECT address FROM senders WHERE address = ANY(${[...wallets]})`
  return new Set(rows.map(({ address }) => address))
}
