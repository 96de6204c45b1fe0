// Session defaults that the code needs but cannot set, because a pooler passes on few settings and some are the operator's choice. The service does
// not start if a default would give wrong answers; `doctor` reports the others.
import type { Sql } from './sql.ts'

export interface SessionFinding {
  readonly says: string
  readonly todo: string
  /** True if the ledger cannot work correctly with this default. */
  readonly fatal: boolean
}

const alter = (name: string, value: string) =>
  `ALTER ROLE … SET ${name} = ${value}, or ALTER DATABASE, or postgresql.conf`

interface Need {
  fits: (value: string) => boolean
  todo: string
  fatal?: true
}

const off = (name: string): Need => ({
  fits: (value) => value === '0',
  todo: `It ends long statements and waits, and the next pass does them again: ${alter(name, '0')}.`,
})

/** By the setting's name. PostgreSQL before 17 has no transaction_timeout. */
const NEEDS: Readonly<Record<string, Need>> = {
  server_encoding: {
    fits: (value) => value === 'UTF8',
    todo: "Create the database with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0: labels and notes are in any script.",
    fatal: true,
  },
  bytea_output: { fits: (value) => value === 'hex', todo: `${alter('bytea_output', 'hex')}.`, fatal: true },
  session_replication_role: {
    fits: (value) => value === 'origin',
    todo: `Our triggers keep totals correct: ${alter('session_replication_role', 'origin')}.`,
    fatal: true,
  },
  default_transaction_read_only: {
    fits: (value) => value === 'off',
    todo: `Unless you block writes on purpose: ${alter('default_transaction_read_only', 'off')}.`,
  },
  default_transaction_isolation: {
    fits: (value) => value.startsWith('read'),
    todo: `${alter('default_transaction_isolation', "'read committed'")}.`,
  },
  synchronous_commit: {
    fits: (value) => value !== 'off',
    todo: `A crash of the server would forget what was sent: ${alter('synchronous_commit', 'on')}.`,
  },
  statement_timeout: off('statement_timeout'),
  lock_timeout: off('lock_timeout'),
  transaction_timeout: off('transaction_timeout'),
}

/** The defaults of this session that the code cannot use. */
export async function lookAtSession(sql: Sql): Promise<SessionFinding[]> {
  const rows = await sql<{ name: string; value: string }[]>`
    SELECT name, current_setting(name) AS value FROM pg_settings WHERE name IN ${sql(Object.keys(NEEDS))} ORDER BY name`
  return rows.flatMap(({ name, value }) => {
    const need = NEEDS[name]
    if (!need || need.fits(value)) return []
    return { says: `${name} is ${value}`, todo: need.todo, fatal: need.fatal === true }
  })
}
