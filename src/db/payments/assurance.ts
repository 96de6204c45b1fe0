// What a payment rests on, as people are told. One that its block's hash proves is `linked` until the contract has carried out a transaction of ours
// that is bound to that block or a later one: then the chain itself has named the hash. What a trace or a person says is believed unless two
// providers traced it.
import type { Fragment, Sql } from '../core/sql.ts'

/** As the API shows it. */
export type Assurance = 'proven' | 'linked' | 'agreed' | 'believed'

/** Of a payment `p`; null while it is in no block. The highest block that the contract has named is looked up once for all rows. */
export function assuranceOf(sql: Sql): Fragment {
  return sql`CASE WHEN p.block_number IS NULL THEN NULL
    WHEN p.proof = 'proven' AND p.block_number > coalesce((SELECT max(guard_block) FROM outbox WHERE state = 'mined'), -1) THEN 'linked'
    ELSE coalesce(p.proof, 'believed') END`
}
