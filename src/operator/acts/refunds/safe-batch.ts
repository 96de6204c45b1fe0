// A batch of transfers as the file that Safe's Transaction Builder imports: its `BatchFile` (apps/tx-builder/src/typings/models.ts of
// safe-global/safe-react-apps), with the checksum from which that app detects a change (src/lib/checksum.ts there). It sends nothing.
import { checksum, textDigest } from '../../../chain/digest.ts'
import type { Sql } from '../../../db/core/sql.ts'
import { readIdentity } from '../../../db/core/state.ts'
import type { Address, Hash, Wei } from '../../../domain/units.ts'

export interface SafeBatch {
  version: '1.0'
  chainId: string
  /** Milliseconds since 1970. */
  createdAt: number
  meta: { name: string; description: string; checksum: Hash }
  transactions: { to: string; value: string; data: '0x' }[]
}

/** Builds the file. Amounts are strings: the app rejects numbers, because they would lose digits. */
function safeBatch(
  transfers: readonly { to: Address; valueWei: Wei }[],
  { chainId, createdAt, name, description }: { chainId: number; createdAt: number; name: string; description: string },
): SafeBatch {
  const file = {
    version: '1.0' as const,
    chainId: String(chainId),
    createdAt,
    meta: { name, description },
    transactions: transfers.map(({ to, valueWei }) => ({
      to: checksum(to),
      value: valueWei.toString(),
      data: '0x' as const,
    })),
  }
  return { ...file, meta: { ...file.meta, checksum: batchChecksum(file) } }
}

/**
 * How many transfers one file has at most. A transfer to an account costs up to 40,000 gas, or more if a contract receives it. A transaction may use
 * 16.7 million (EIP-7825).
 */
export const TRANSFERS_MAX = 200

/** As many files as the transfers need, for the ledger's own chain. */
export async function batchesOf(
  sql: Sql,
  transfers: readonly { to: Address; valueWei: Wei }[],
  name: string,
): Promise<SafeBatch[]> {
  const files: SafeBatch[] = []
  const count = Math.ceil(transfers.length / TRANSFERS_MAX)
  for (let at = 0; at < transfers.length; at += TRANSFERS_MAX) {
    const part = transfers.slice(at, at + TRANSFERS_MAX)
    const description = `File ${files.length + 1} of ${count}: ${part.length} payments, each paid back to its payer with the exact amount`
    const file = await batchOf(sql, part, { name, description })
    if (file) files.push(file)
  }
  return files
}

/** The file for the ledger's own chain; null if there is nothing to pay. */
export async function batchOf(
  sql: Sql,
  transfers: readonly { to: Address; valueWei: Wei }[],
  texts: { name: string; description: string },
): Promise<SafeBatch | null> {
  if (transfers.length === 0) return null
  const identity = await readIdentity(sql)
  if (!identity) throw new Error('a ledger with payments has an identity')
  return safeBatch(transfers, { chainId: identity.chainId, createdAt: Date.now(), ...texts })
}

/** The checksum of a file, without the name, because the app lets people rename a batch. */
export const batchChecksum = (file: { meta: object; [name: string]: unknown }): Hash =>
  textDigest(canonical({ ...file, meta: { ...file.meta, name: null } }))

/** The app's own order and punctuation: an object becomes its sorted names, then its values, each followed by a comma. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  const names = JSON.stringify(entries.map(([name]) => name))
  return `{${names}${entries.map(([, of]) => `${canonical(of)},`).join('')}}`
}
