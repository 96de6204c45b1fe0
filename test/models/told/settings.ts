// The rows of `troubles` and of the audit log, as the second reading has them: times inside them as ages in whole seconds.
import type { Sql } from '../../../src/db/core/sql.ts'
import { inOrder } from '../../db/machine.ts'
import type { Ledger, Row, Told } from './troubles.ts'

const TIMES = ['since', 'calmSince']

/** Replaces each time of a value by its age. */
export function aged(value: unknown, ageOf: (time: never) => number): unknown {
  if (Array.isArray(value)) return value.map((one) => aged(one, ageOf))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, TIMES.includes(name) ? ageOf(one as never) : aged(one, ageOf)]),
  )
}

/** A function that gives the age of a time as PostgreSQL or the service writes it. */
export async function agesBy(sql: Sql): Promise<(time: string | Date) => number> {
  const [row] = await sql<{ now: Date }[]>`SELECT clock_timestamp() AS now`
  const now = Number(row?.now)
  return (time) => Math.floor((now - Number(new Date(time))) / 1_000)
}

interface Rows {
  troubles: [name: string, value: unknown, age: number][]
  finalized: number | null
  audit: Told[]
}

export async function readRows(sql: Sql): Promise<Rows> {
  const ageOf = await agesBy(sql)
  const rows = await sql<
    { name: string; value: unknown; at: Date }[]
  >`SELECT name, value, updated_at AS at FROM troubles`
  const [state] = await sql<{ finalized: number | null }[]>`SELECT finalized_block AS finalized FROM ledger_state`
  const audit = await sql<Told[]>`SELECT actor, action, subject, detail, request_id FROM audit ORDER BY id`
  return {
    troubles: inOrder(rows.map(({ name, value, at }) => [name, aged(value, ageOf), ageOf(at)])),
    finalized: state?.finalized ?? null,
    audit: audit.map((one) => ({ ...one, detail: aged(one.detail, ageOf) })),
  }
}

export function rowsOf(ledger: Ledger): Rows {
  const ageOf = (time: number) => ledger.now - time
  const troubles = [...ledger.troubles].map(([name, { value, at }]: [string, Row]): Rows['troubles'][number] => {
    return [name, aged(value, ageOf), ledger.now - at]
  })
  return {
    troubles: inOrder(troubles),
    finalized: ledger.finalized,
    audit: ledger.audit.map((one) => ({ ...one, detail: aged(one.detail, ageOf) })),
  }
}

/** Lets time pass for both. The times inside the rows move too, and those that the audit log tells. */
export async function pass(sql: Sql, seconds: number): Promise<void> {
  await sql.unsafe(`
    UPDATE troubles SET updated_at = updated_at - interval '${seconds} seconds', value = value
      || CASE WHEN jsonb_typeof(value) = 'object' AND value ? 'since'
        THEN jsonb_build_object('since', iso((value ->> 'since')::timestamptz - interval '${seconds} seconds')) ELSE '{}' END
      || CASE WHEN jsonb_typeof(value) = 'object' AND value ? 'calmSince'
        THEN jsonb_build_object('calmSince', (value ->> 'calmSince')::timestamptz - interval '${seconds} seconds') ELSE '{}' END
      WHERE jsonb_typeof(value) = 'object';
    UPDATE troubles SET updated_at = updated_at - interval '${seconds} seconds' WHERE jsonb_typeof(value) <> 'object';
    UPDATE audit SET at = at - interval '${seconds} seconds',
      detail = CASE WHEN detail ? 'since' THEN detail || jsonb_build_object('since', iso((detail ->> 'since')::timestamptz - interval '${seconds} seconds')) ELSE detail END`)
}
