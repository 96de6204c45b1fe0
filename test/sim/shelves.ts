// Storage that rows of a database are put into and taken back from: tables of the same columns in a schema of their own, copied by functions
// of the database, whose statements are planned once. It must never touch the schema's own objects.
import { connect, type Pool } from '../../src/db/core/sql.ts'

/** A place for every row of the ledger as it was at one moment. */
export interface Shelf {
  /** Puts every row aside, in the place of what was put aside before. */
  keep(): Promise<void>
  /** Empties every table and fills it again. Row ids go on counting, which nothing may rest on. */
  restore(): Promise<void>
}

interface Table {
  name: string
  /** The columns that are not computed from others. */
  columns: string
}

/** Makes shelves of these names in a migrated database, with a connection of their own. */
export async function openShelves<Name extends string>(
  databaseUrl: string,
  names: readonly Name[],
): Promise<Record<Name, Shelf> & { close(): Promise<void> }> {
  // Without triggers and foreign keys: what they would do is in the rows. Said once for the connection, since saying it flushes plans.
  const url = `${databaseUrl}?session_replication_role=replica`
  const sql = connect(url, { max: 1, prepare: true, applicationName: 'sim shelves' })
  const tables = await readTables(sql)
  const shelves = {} as Record<Name, Shelf>
  for (const name of names) shelves[name] = await makeShelf(sql, name, tables)
  return {
    ...shelves,
    // The database is given back to other tests, which have no use for them.
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

/** Other schemas of a test's database are none of ours. */
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
