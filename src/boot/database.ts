// The database for a start or a command: the operator's, or the embedded one of a service that runs on this machine. This file loads no code for the
// chain, because most commands do not need any.
import type { Config } from '../config/load.ts'
import { loadEmbedded } from './embedded.ts'

export interface DatabasePart {
  url: string
  directUrl: string
  readUrl: string
}

export function ownDatabase(config: Config): DatabasePart {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl, DATABASE_READ_URL: readUrl } = config
  if (!url || !directUrl || !readUrl) throw new Error('DATABASE_URL is neither set nor embedded')
  return { url, directUrl, readUrl }
}

/**
 * Finds the database without starting one: the operator's, or the one of a service that runs on the same data directory. Null if there is neither.
 */
export async function attachDatabase(config: Config): Promise<DatabasePart | null> {
  if (!config.embedded.database) return ownDatabase(config)
  const { findRunning } = await loadEmbedded()
  const url = findRunning(config.DATA_DIR)?.databaseUrl
  return url ? { url, directUrl: url, readUrl: url } : null
}
