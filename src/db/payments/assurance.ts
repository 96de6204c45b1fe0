// What backs a payment, in the API's words. A payment proven by its block's hash is `linked` until the chain itself has confirmed that hash. That
// happens when the contract executes one of our transactions bound to that block or a later one, or when two providers call such a block final.
// Without a usable guard the contract confirms no hash, so such a payment is `believed`, then `agreed`. What a single trace or a person states is
// `believed`.
import type { Proof } from '../../domain/observed.ts'
import type { Hash } from '../../domain/units.ts'
import { readFinalized } from '../blocks/halts.ts'
import type { Fragment, Sql } from '../core/sql.ts'
import { isGuarded, readGuard } from '../sends/guard.ts'

/** What backs a payment, in the API's words. */
export type Assurance = 'proven' | 'linked' | 'agreed' | 'believed'

/**
 * SQL: the assurance of a payment `p`, or of another row by its columns; null while it is in no block. The highest block that the contract or two
 * providers have confirmed is looked up once for all rows.
 */
export function assuranceOf(sql: Sql, columns = { proof: 'p.proof', block: 'p.block_number' }): Fragment {
  const [proof, block] = [sql.unsafe(columns.proof), sql.unsafe(columns.block)]
  return sql`CASE WHEN ${block} IS NULL THEN NULL
    WHEN ${proof} IS DISTINCT FROM 'proven' THEN coalesce(${proof}, 'believed')
    WHEN ${block} <= (SELECT max(guard_block) FROM outbox WHERE state = 'mined') THEN 'proven'
    WHEN ${block} <= (SELECT finalized_named FROM ledger_state)
      THEN CASE WHEN ${isGuarded(sql)} THEN 'proven' ELSE 'agreed' END
    ELSE CASE WHEN ${isGuarded(sql)} THEN 'linked' ELSE 'believed' END END`
}

/**
 * What backs a seed whose block passes its proof: `proven` if the guard is used, else `agreed` or `believed`, depending on whether two providers
 * reported the block as final.
 */
export async function readSeedBacking(sql: Sql): Promise<(seedBlock: number) => Proof> {
  if ((await readGuard(sql)) === 'used') return () => 'proven'
  const namedUpTo = (await readFinalized(sql))?.named ?? -1
  return (seedBlock) => (seedBlock <= namedUpTo ? 'agreed' : 'believed')
}

/** The most held payments among which `readBelievedBlock` chooses: the newest. */
const HELD_MAX = 100

/**
 * One block, by chance, with an undecided payment that rests on one provider's word, or with a residue that is held. Only blocks whose header the
 * ledger keeps; null if there is none.
 */
export async function readBelievedBlock(sql: Sql): Promise<{ number: number; hash: Hash } | null> {
  const [row] = await sql<{ number: number; hash: Hash }[]>`
    SELECT b.number, b.hash FROM (
      SELECT block_number FROM payments WHERE state IN ('seen', 'accepted', 'minting') AND proof = 'believed'
      UNION
      SELECT block_number FROM (SELECT * FROM payments WHERE state = 'held' ORDER BY block_number DESC LIMIT ${HELD_MAX}) held
      WHERE proof = 'believed' OR tx_hash IS NULL) p
    JOIN blocks b ON b.number = p.block_number ORDER BY random() LIMIT 1`
  return row ?? null
}
