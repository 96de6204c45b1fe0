// The identity of an inner transfer: the `ref` under which it is a payment, is minted and is refunded. Every path asks here, so that no
// transfer has two.
import type { Address, Hash } from '../../domain/units.ts'
import { jsonRows, type Sql } from '../core/sql.ts'

/** An inner transfer with the two refs that it may have: of its transaction, wallet and index, and the former one, which named no wallet. */
export interface InnerIdentity {
  txHash: Hash
  wallet: Address
  innerIndex: number
  from: Address
  ref: Hash
  formerRef: Hash
}

/**
 * Decides which ref each transfer has, in order. The former one is kept where the ledger knows the transfer by it: attributed, or minted to
 * who sent it, and not under the other one by now. A ref that is another transfer's already is not given twice.
 */
export async function decideRefs(sql: Sql, transfers: readonly InnerIdentity[]): Promise<Hash[]> {
  if (transfers.length === 0) return []
  const known = await sql<{ place: number }[]>`
    SELECT r.place FROM jsonb_to_recordset(${jsonRows(transfers.map((transfer, place) => ({ place, ...transfer })))}::text::jsonb)
      AS r(place int, "txHash" text, wallet text, "innerIndex" int, "from" text, ref text, "formerRef" text)
    WHERE (${attributedTo(sql)} OR ${mintedTo(sql)} OR ${paidTo(sql)})
      AND NOT EXISTS (SELECT FROM payments p WHERE p.ref = r.ref)
      AND NOT EXISTS (SELECT FROM payments p WHERE p.ref = r."formerRef" AND p.wallet <> r.wallet)
      AND NOT EXISTS (SELECT FROM nodes n WHERE n.ref = r.ref)
    ORDER BY r.place`
  const former = new Set(known.map(({ place }) => place))
  const given = new Set<Hash>()
  return transfers.map(({ ref, formerRef }, place) => {
    if (!former.has(place) || given.has(formerRef)) return ref
    given.add(formerRef)
    return formerRef
  })
}

/** An attribution from before wallets were noted has its payment's. */
const attributedTo = (sql: Sql) => sql`EXISTS (
  SELECT FROM attributions a WHERE a.ref = r."formerRef" AND coalesce(a.wallet,
    (SELECT p.wallet FROM payments p WHERE p.ref = a.ref), (SELECT p.wallet FROM payments p WHERE p.ref = a.residue_ref), r.wallet) = r.wallet)`

/** Also one that a reorganisation has taken out. */
const paidTo = (sql: Sql) => sql`EXISTS (
  SELECT FROM payments p WHERE p.ref = r."formerRef" AND p.tx_hash = r."txHash" AND p.wallet = r.wallet)`

const mintedTo = (sql: Sql) => sql`EXISTS (
  SELECT FROM nodes n WHERE n.ref = r."formerRef" AND r."from" = coalesce((SELECT t.to_address FROM node_transfers t
    WHERE t.node_id = n.node_id ORDER BY t.block_number, t.log_index LIMIT 1), n.owner))`
