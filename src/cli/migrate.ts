// The command `node-ledger migrate`: brings the database to the current schema, or says what that would take.
import { compareMigrations } from '../db/migrate.ts'
import { connect } from '../db/sql.ts'
import { attachDatabase } from '../parts.ts'
import { migrateWhenUp } from '../settle.ts'
import { type Call, EXIT, type ExitCode } from './command.ts'
import { noService, readSettings } from './ledger.ts'

/** Runs the command. With --status 1 when migrations are missing, and nothing is changed. */
export async function migrate({ io, out, flags }: Call): Promise<ExitCode> {
  const config = readSettings(io)
  const database = await attachDatabase(config)
  if (!database) throw noService(config, 'DATABASE_URL')
  if (flags.has('status')) {
    const pool = connect(database.directUrl, { max: 1, prepare: false, applicationName: 'node-ledger migrate' })
    try {
      const { applied, missing, unknown } = await compareMigrations(pool)
      await out.result({ applied, missing, unknown }, () =>
        [
          ...applied.map((name) => `applied  ${name}`),
          ...missing.map((name) => `missing  ${name}`),
          ...unknown.map((name) => `unknown  ${name} (of a newer version)`),
        ].join('\n'),
      )
      return missing.length === 0 ? EXIT.done : EXIT.not
    } finally {
      await pool.end({ timeout: 5 })
    }
  }
  const applied = await migrateWhenUp(database.directUrl, (step) => out.say(`  ${step}`))
  await out.result({ applied }, applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The schema is current.')
  return EXIT.done
}
