// What backs a payment, in the API's words. A payment proven by its block's hash is `linked` until the chain itself has confirmed that hash. That
// happens when the contract executes one of our transactions bound to that block or a later one, or when two providers call such a block final. What
// a single trace or a person says is `believed`.
import type { Fragment, Sql } from '../core/sql.ts'

/** What backs a payment, in the API's words. */
export type Assurance = 'proven' | 'linked' | 'agreed' | 'believed'

/**
 * SQL: the assurance of a payment `p`; null while it is in no block. The highest block that the contract or two providers have confirmed is looked up
 * once for all rows.
 */
export function assuranceOf(sql: Sql): Fragment {
  return sql`CASE WHEN p.block_number IS NULL THEN NULL
    WHEN p.proof = 'proven' AND p.block_number > greatest(-1, (SELECT max(guard_block) FROM outbox WHERE state = 'mined'),
      (SELECT (value ->> 'named')::bigint FROM settings WHERE name = 'finalized')) THEN 'linked'
    ELSE coalesce(p.proof, 'believed') END`
}
