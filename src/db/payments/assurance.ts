// What backs a payment, in the words that people see. A payment that its block's hash proves is `linked` until the contract has executed one of our
// transactions bound to that block or a later one, because then the chain itself has named the hash; or until two providers call such a block final. What a trace or a person says is `believed`
// unless two providers traced it.
import type { Fragment, Sql } from '../core/sql.ts'

/** The API's words for it. */
export type Assurance = 'proven' | 'linked' | 'agreed' | 'believed'

/** For a payment `p`; null while it is in no block. It looks up once for all rows the highest block that the contract or two providers have named. */
export function assuranceOf(sql: Sql): Fragment {
  return sql`CASE WHEN p.block_number IS NULL THEN NULL
    WHEN p.proof = 'proven' AND p.block_number > greatest(-1, (SELECT max(guard_block) FROM outbox WHERE state = 'mined'),
      (SELECT (value ->> 'named')::bigint FROM settings WHERE name = 'finalized')) THEN 'linked'
    ELSE coalesce(p.proof, 'believed') END`
}
