// The command `node-ledger migrate`: brings the database to the current schema.
import { attachDatabase } from '../../boot/database.ts'
import { attachChain } from '../../boot/parts.ts'
import { checkBeforeMigrating, migrateWhenUp } from '../../boot/preflight.ts'
import { createRpc } from '../../chain/rpc/rpc.ts'
import { silentLog } from '../../lib/log.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { noService, readSettings } from '../database.ts'

/** Runs the command. */
export async function migrate({ io, out }: Call): Promise<ExitCode> {
  const config = readSettings(io)
  const database = await attachDatabase(config)
  if (!database) throw noService(config, 'DATABASE_URL')
  await using stack = new AsyncDisposableStack()
  // Checking a factory needs no key. If there is no chain, there is no factory to check.
  const chain = await attachChain(config, async () => ({ minter: null, distributor: null }))
  const before = async () => {
    if (!chain) return
    const rpc = createRpc({ urls: chain.rpcUrls, log: silentLog })
    stack.defer(() => rpc.close())
    await checkBeforeMigrating(database.directUrl, chain, rpc)
  }
  const migrations = await migrateWhenUp(database.directUrl, (step) => out.say(`  ${step}`), { before })
  await out.result(
    { applied: migrations },
    migrations.length > 0 ? `Applied ${migrations.join(', ')}.` : 'The schema is current.',
  )
  return EXIT.done
}
