// Storage for rows of a database: tables with the same columns in a separate schema, copied by functions of the
// database, whose statements are planned once. It must never change the schema's own objects.
import { connect, type Pool } from '../../src/db/core/sql.ts'

/** A copy of every row of the ledger at one moment. */
export interface Shelf {
  /** Copies every row, in place of the earlier copy. */
  keep(): Promise<void>
  /** Empties every table and fills it again. Row ids keep counting, so nothing may depend on them. */
  restore(): Promise<void>
}

interface Table {
  name: string
  /** The columns that are not computed from others. */
  columns: string
}

/** Creates shelves of these names in a migrated database, with a separate connection. */
export async function openShelves<Name extends string>(
  databaseUrl: string,
  names: readonly Name[],
): Promise<Record<Name, Shelf> & { close(): Promise<void> }> {
  // Without triggers and foreign keys, because their effects are in the rows. Set once for the connection, because setting it flushes plans.
  const url = `${databaseUrl}?session_replication_role=replica`
  const sql = connect(url, { max: 1, prepare: true, applicationName: 'sim shelves' })
  const tables = await readTables(sql)
  const shelves = {} as Record<Name, Shelf>
  for (const name of names) shelves[name] = await makeShelf(sql, name, tables)
  return {
    ...shelves,
    // The database returns to other tests, which have no use for them.
    async close() {
      for (const name of names) await sql.unsafe(`DROP SCHEMA ${schemaOf(name)} CASCADE`)
      await sql.end({ timeout: 1 })
    },
  }
}

function readTables(sql: Pool): Promise<Table[]> {
  return sql<Table[]>`
    SELECT table_name AS name, string_agg(column_name, ', ' ORDER BY ordinal_position) AS columns
    FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name IN (SELECT tablename FROM pg_tables WHERE schemaname = 'public')
      AND table_name <> 'migrations' AND is_generated = 'NEVER'
    GROUP BY 1 ORDER BY 1`
}

/** We leave other schemas of a test's database alone. */
const schemaOf = (shelf: string) => `shelf_${shelf}`

async function makeShelf(sql: Pool, name: string, tables: readonly Table[]): Promise<Shelf> {
  const schema = schemaOf(name)
  const each = (statement: (table: Table) => string) => tables.map(statement).join(';\n')
  await sql.unsafe(`
    CREATE SCHEMA ${schema};
    ${each(({ name, columns }) => `CREATE TABLE ${schema}.${name} AS SELECT ${columns} FROM public.${name} WITH NO DATA`)};
    CREATE FUNCTION ${schema}.keep() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
      ${each(
        ({ name, columns }) => `DELETE FROM ${schema}.${name};
      INSERT INTO ${schema}.${name} SELECT ${columns} FROM public.${name}`,
      )};
    END $$;
    CREATE FUNCTION ${schema}.restore() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
      ${each(({ name }) => `DELETE FROM public.${name}`)};
      ${each(
        ({ name, columns }) => `INSERT INTO public.${name} (${columns}) OVERRIDING SYSTEM VALUE
        SELECT ${columns} FROM ${schema}.${name}`,
      )};
    END $$;`)
  return {
    keep: async () => void (await sql`SELECT ${sql(schema)}.keep()`),
    restore: async () => void (await sql`SELECT ${sql(schema)}.restore()`),
  }
}
