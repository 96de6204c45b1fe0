// The command `node-ledger reload`: asks every instance of the ledger to read its settings again. Each logs what it took and what needs a restart.
import { LOG_LEVELS } from '../../config/service.ts'
import { askToReload } from '../../db/core/changes.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { withDatabase } from '../database.ts'
import { UsageError } from '../errors.ts'

/** Runs the command. */
export async function reload({ io, out, values }: Call): Promise<ExitCode> {
  const logLevel = values['log-level'] ?? ''
  if (logLevel !== '' && !(LOG_LEVELS as readonly string[]).includes(logLevel))
    throw new UsageError(`--log-level: is one of ${LOG_LEVELS.join(', ')}`)
  await withDatabase(io, async ({ pool }) => askToReload(pool, logLevel))
  await out.result({ asked: true }, 'Requested. Each instance logs what it took, and what needs a restart.')
  return EXIT.done
}
