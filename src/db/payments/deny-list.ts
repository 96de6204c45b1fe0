// The deny list: wallets whose payments are held for the operator, as `senderDenied`. An exchange's wallet, for example, pays for many people and
// must not own their nodes.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'
import { notedAddresses } from '../sale/noted-addresses.ts'

/** Payments that are held when their wallet is taken off the list stay held until they are released. */
export const { read: readDenyList, find: findDenied, put: denyWallet, remove: allowWallet } = notedAddresses('senders')

/** The wallets among these that are on the list. */
export async function readDenied(sql: Sql, wallets: readonly Address[]): Promise<Set<Address>> {
  const rows = await sql<{ address: Address }[]>`SELECT address FROM senders WHERE address = ANY(${[...wallets]})`
  return new Set(rows.map(({ address }) => address))
}
