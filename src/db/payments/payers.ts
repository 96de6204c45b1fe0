// What the ledger knows about the senders of inner transfers: their code at the payment's block, and which contracts have signed in here. We store
// each code that we read, so judging a payment again later needs no old state from a provider.
import { KNOWN_WALLETS_VERSION } from '../../domain/payers/known-wallets.ts'
import { CONTRACT_WALLET_MODES, type PayerCode } from '../../domain/payers/payer.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { column, type Fragment, jsonRows, type Sql } from '../core/sql.ts'

/**
 * How many proofs of wallets without code we keep. Anyone can invent such wallets for free. Without the stored proof, a wallet only has to sign in a
 * second time.
 */
const UNDEPLOYED_MAX = 10_000

/** What we know about the sender of a payment; the code is null if we have not read it yet. */
export interface PayerStanding {
  signedIn: boolean
  allowed: boolean
  code: PayerCode | null
}

/** Reads the standing of the payer of each of these payments. Stores the `code` that we have just read, unless a code is already stored. */
export async function readPayerStandings(
  sql: Sql,
  payments: readonly { id: number; from: Address; blockHash: Hash; code?: PayerCode | null }[],
): Promise<Map<number, PayerStanding>> {
  if (payments.length === 0) return new Map()
  const rows = await sql<(PayerStanding & { id: number })[]>`
    SELECT r.id, ${permissionColumns(sql, sql`r.wallet`)},
      (SELECT code FROM payer_codes WHERE payment_id = r.id AND block_hash = r.block_hash) AS code
    FROM unnest(${column(payments, 'id')}::bigint[], ${column(payments, 'from')}::text[], ${column(payments, 'blockHash')}::text[])
      AS r(id, wallet, block_hash)`
  const standings = new Map(rows.map(({ id, ...standing }) => [id, standing]))
  for (const { code = null, ...payment } of payments) {
    const standing = standings.get(payment.id)
    if (!standing || standing.code || !code) continue
    await storePayerCode(sql, payment, code)
    standing.code = code
  }
  return standings
}

/** Whether a wallet has signed in here, and whether the operator allows it, as columns. */
export const permissionColumns = (sql: Sql, wallet: Address | Fragment): Fragment =>
  sql`EXISTS (SELECT FROM proven_wallets WHERE address = ${wallet}) AS "signedIn",
    EXISTS (SELECT FROM allowed_wallets WHERE address = ${wallet}) AS allowed`

/** Stores the code of a payment's sender at a block. Replaces the code stored for another block. */
async function storePayerCode(
  sql: Sql,
  { id, blockHash }: { id: number; blockHash: Hash },
  code: PayerCode,
): Promise<void> {
  await sql`
    INSERT INTO payer_codes (payment_id, block_hash, code) VALUES (${id}, ${blockHash}, ${jsonRows([code])}::text::jsonb -> 0)
    ON CONFLICT (payment_id) DO UPDATE SET block_hash = excluded.block_hash, code = excluded.code`
}

/** Records that a contract has signed in. If it has no code yet, a limit applies to how many such records we keep. */
export async function proveWallet(
  sql: Sql,
  address: Address,
  { deployed: isDeployed }: { deployed: boolean },
): Promise<void> {
  await sql`
    INSERT INTO proven_wallets (address, deployed)
    SELECT ${address}, ${isDeployed} WHERE ${isDeployed}
      OR (SELECT count(*) FROM (SELECT FROM proven_wallets WHERE NOT deployed LIMIT ${UNDEPLOYED_MAX}) kept) < ${UNDEPLOYED_MAX}
    ON CONFLICT (address) DO UPDATE SET deployed = true, proven_at = now() WHERE excluded.deployed AND NOT proven_wallets.deployed`
}

/**
 * True if a payment `p` is held because its sender is a contract, and one of these facts has changed since it was judged: the mode, a sign-in, an
 * allowance, the list of known wallets, or the operator's trust in the only provider. These facts cannot free a payment whose sender had no code, or
 * that no key signed.
 */
export function payerChanged(sql: Sql, block: number, trustsProvider: boolean): Fragment {
  const rank = (mode: Fragment) => sql`array_position(${[...CONTRACT_WALLET_MODES]}::text[], coalesce(${mode}, 'hold'))`
  const modeIn = (at: Fragment) =>
    sql`(SELECT mode FROM contract_wallet_modes WHERE from_block <= ${at} ORDER BY from_block DESC LIMIT 1)`
  return sql`p.unsigned_type IS NULL AND EXISTS (
    SELECT FROM (VALUES (1)) one(n) LEFT JOIN LATERAL (SELECT evidence FROM payment_verdicts
      WHERE payment_id = p.id AND reason = 'contractWallet' AND decided_by = 'pass' ORDER BY id DESC LIMIT 1) v ON true
    WHERE NOT coalesce((v.evidence -> 'noCode')::boolean, false)
      AND (v.evidence ->> 'mode', (v.evidence -> 'signedIn')::boolean, (v.evidence -> 'allowed')::boolean, (v.evidence -> 'knownWallets')::int,
          coalesce((v.evidence -> 'oneProvider')::boolean, false))
        IS DISTINCT FROM ((${[...CONTRACT_WALLET_MODES]}::text[])[greatest(${rank(modeIn(sql`p.block_number`))}, ${rank(modeIn(sql`${block}`))})],
          EXISTS (SELECT FROM proven_wallets WHERE address = p.from_address),
          EXISTS (SELECT FROM allowed_wallets WHERE address = p.from_address), ${KNOWN_WALLETS_VERSION},
          p.proof IS DISTINCT FROM 'agreed' AND NOT ${trustsProvider}::boolean))`
}
