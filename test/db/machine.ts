// A machine for models of statements: random acts run one after the other on random rows. After each act its answer and all rows of its tables are
// compared with a second reading. Time passes only if an act moves it: all times in the tables are moved back.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Sql } from '../../src/db/core/sql.ts'

/** An act, by what draws its input. `expects` changes the state as the second reading says, and returns the answer. */
export interface Act<State, Input = never> {
  draw: fc.Arbitrary<Input>
  run(sql: Sql, input: Input): Promise<unknown>
  expects(state: State, input: Input): unknown
}

export interface Step<State> {
  says: string
  run(sql: Sql): Promise<unknown>
  expects(state: State): unknown
}

/** Only gives an act its types. */
export const act = <State, Input>(one: Act<State, Input>): Act<State> => one as Act<State>

/** Runs of acts. `weights` makes some acts more frequent. */
export function stepsOf<State>(
  acts: Record<string, Act<State>>,
  { most = 12, least = 2, weights = {} }: { most?: number; least?: number; weights?: Record<string, number> } = {},
): fc.Arbitrary<Step<State>[]> {
  const each = Object.entries(acts).map(([name, { draw, run, expects }]) => ({
    weight: weights[name] ?? 1,
    arbitrary: draw.map((input): Step<State> => {
      const text = JSON.stringify(input, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
      const step = {
        says: `${name} ${text}`,
        run: (sql: Sql) => run(sql, input),
        expects: (state: State) => expects(state, input),
      }
      return Object.assign(step, { toString: () => step.says })
    }),
  }))
  return fc.array(fc.oneof(...each), { minLength: least, maxLength: most })
}

/** A run of this length shows nothing if it fails; most take a tenth of it. */
const SLOW_MS = 500

/** Plays the steps, and compares each answer and, after each, what `read` finds with what `expected` makes of the state. */
export async function play<State, Found>(
  sql: Sql,
  { steps, state }: { steps: Step<State>[]; state: State },
  { read, expected }: { read: (sql: Sql) => Promise<Found>; expected: (state: State) => Found },
): Promise<void> {
  const said: string[] = []
  const started = performance.now()
  try {
    for (const step of steps) {
      said.push(step.says)
      const found = await step.run(sql)
      assert.deepEqual(plain(found), plain(step.expects(state)), `answer of ${said.join('; ')}`)
      assert.deepEqual(plain(await read(sql)), plain(expected(state)), `rows after ${said.join('; ')}`)
    }
  } catch (error) {
    // The database's clock went on meanwhile. On a busy machine that moves times past the edges, so another run is drawn.
    fc.pre(performance.now() - started < SLOW_MS)
    throw error
  }
}

/** Sets and maps as lists, rows as plain objects, undefined as null, one zero, so that both sides compare by value. */
export function plain(value: unknown): unknown {
  if (value === undefined) return null
  if (value === 0) return 0
  if (value instanceof Map) return plain([...value])
  if (value instanceof Set) return plain([...value].sort())
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Date || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]))
}

const selections = new Map<string, string>()

async function selectionOf(sql: Sql, table: string): Promise<string> {
  const known = selections.get(table)
  if (known !== undefined) return known
  const columns = await sql<{ name: string; type: string }[]>`
    SELECT column_name::text AS name, data_type::text AS type FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = ${table} ORDER BY ordinal_position`
  const parts = columns.map(({ name, type }) => {
    if (type.startsWith('timestamp')) return `round(extract(epoch FROM ${name} - now()))::int AS ${name}`
    if (type === 'bytea') return `encode(${name}, 'hex') AS ${name}`
    if (type === 'ARRAY') return `to_jsonb(${name}) AS ${name}`
    return name
  })
  selections.set(table, parts.join(', '))
  return parts.join(', ')
}

export type FoundRow = Record<string, unknown>

/** All rows of a table but for some columns. A time is in seconds from the transaction's now. */
export async function readTable(sql: Sql, table: string, without: readonly string[] = []): Promise<FoundRow[]> {
  const rows = await sql.unsafe<FoundRow[]>(`SELECT ${await selectionOf(sql, table)} FROM ${table}`)
  return inOrder(rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !without.includes(name)))))
}

/** A value as text, with the fields of each object in the order of their names. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`
  if (typeof value !== 'object' || value === null || value instanceof Date) return String(value)
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, one]) => `${name}: ${textOf(one)}`).join()}}`
}

/** Rows in an order that both sides have. */
export const inOrder = <T>(rows: readonly T[]): T[] => rows.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))

/** Lets time pass: moves all times in these columns back. */
export async function letPass(sql: Sql, seconds: number, columns: Record<string, readonly string[]>): Promise<void> {
  const updates = Object.entries(columns).map(([table, names]) => {
    const sets = names.map((name) => `${name} = ${name} - interval '${seconds} seconds'`)
    return `UPDATE ${table} SET ${sets.join(', ')};`
  })
  await sql.unsafe(`SET LOCAL session_replication_role = replica; ${updates.join(' ')}
    SET LOCAL session_replication_role = origin`)
}
