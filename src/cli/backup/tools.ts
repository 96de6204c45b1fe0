// Runs PostgreSQL's own dump programs, and reads the contents of a ledger for both backup and restore. The programs get a password through the
// environment, never as an argument, which other users of the machine could see.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { readCursor } from '../../db/blocks/blocks.ts'
import { compareMigrations } from '../../db/core/migrate.ts'
import type { Sql } from '../../db/core/sql.ts'
import { readIdentity } from '../../db/core/state.ts'
import { readDatabaseUrl } from '../../lib/database-url.ts'
import { RefusedError } from '../errors.ts'

export const DUMP = 'ledger.dump'
export const MANIFEST = 'manifest.json'
/** Tables whose rows we count: what owners hold, and what cannot be rebuilt from the chain. */
const COUNTED = [
  ...['payments', 'payment_verdicts', 'nodes', 'rounds', 'withdrawals', 'tiers', 'allowlists', 'allowlist_entries'],
  ...['referral_codes', 'refunds', 'audit'],
] as const
const ERROR_CHARS = 2_000

export interface Contents {
  readonly identity: unknown
  readonly block: { readonly number: number; readonly hash: string } | null
  readonly migrations: readonly string[]
  readonly rows: Readonly<Record<string, number>>
}

/** Summary of a dump. It holds no key and no URL. */
export interface Manifest extends Contents {
  readonly createdAt: string
  readonly sha256: string
}

/** Reads a ledger's contents, all as of one moment if `sql` is a snapshot. */
export async function readContents(sql: Sql): Promise<Contents> {
  const rows: Record<string, number> = {}
  for (const table of COUNTED) {
    const [row] = await sql<{ n: number }[]>`SELECT count(*) AS n FROM ${sql(table)}`
    rows[table] = Number(row?.n ?? 0)
  }
  const cursor = await readCursor(sql)
  const block = cursor && { number: cursor.number, hash: cursor.hash }
  const { applied: migrations } = await compareMigrations(sql)
  return { identity: await readIdentity(sql), block, migrations, rows }
}

function passwordIn(text: string): string {
  const url = readDatabaseUrl(text)
  return 'mistake' in url ? '' : (url.password ?? '')
}

/** Runs one of PostgreSQL's programs, on a database if one is given. Throws a RefusedError with the program's message. */
export async function runTool(
  program: string,
  args: readonly string[],
  { url, signal }: { url: string | null; signal: AbortSignal },
): Promise<void> {
  const password = url === null ? '' : passwordIn(url)
  // `new URL` does not support several hosts.
  const plainUrl = url?.replace(/^(\w+:\/\/[^@/?#:]*):[^@/?#]*@/, '$1@')
  // biome-ignore lint/style/noProcessEnv: PATH lists where the programs are; it is not a setting of ours.
  const env = { PATH: process.env.PATH ?? '', ...(password && { PGPASSWORD: password }) }
  const child = spawn(program, [...(plainUrl === undefined ? [] : [`--dbname=${plainUrl}`]), ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  })
  let errorText = ''
  child.stderr.on('data', (part) => {
    errorText = (errorText + part).slice(-ERROR_CHARS)
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve)
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new RefusedError(
              `${program} was not found. Install PostgreSQL's client programs, of the server's version or later.`,
            )
          : error,
      ),
    )
  })
  if (code !== 0)
    throw new RefusedError(`${program} failed:\n${password ? errorText.replaceAll(password, '***') : errorText}`)
}

/** The SHA-256 of a file, in hex digits. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
