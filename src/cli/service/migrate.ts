// The command `node-ledger migrate`: brings the database to the current schema, or reports what is missing.
import { attachDatabase } from '../../boot/database.ts'
import { attachChain } from '../../boot/parts.ts'
import { checkBeforeMigrating, migrateWhenUp } from '../../boot/preflight.ts'
import { createRpc } from '../../chain/rpc/rpc.ts'
import { compareMigrations } from '../../db/core/migrate.ts'
import { connect } from '../../db/core/sql.ts'
import { silentLog } from '../../lib/log.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { noService, readSettings } from '../database.ts'

/** Runs the command. With --status it changes nothing, and exits 1 if migrations are missing. */
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
      return missing.length === 0 ? EXIT.done : EXIT.negative
    } finally {
      await pool.end({ timeout: 5 })
    }
  }
  await using stack = new AsyncDisposableStack()
  // Checking a factory needs no key. If there is no chain, there is no factory to check.
  const chain = await attachChain(config, async () => ({ minter: null, distributor: null }))
  const before = async () => {
    if (!chain) return
    const rpc = createRpc({ urls: chain.rpcUrls, log: silentLog })
    stack.defer(() => rpc.close())
    await checkBeforeMigrating(database.directUrl, chain, rpc)
  }
  const applied = await migrateWhenUp(database.directUrl, (step) => out.say(`  ${step}`), { before })
  await out.result({ applied }, applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The schema is current.')
  return EXIT.done
}
