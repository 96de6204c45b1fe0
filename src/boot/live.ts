// Settings that may change while the service runs: the keys of the operator and of the scheduler, the log level, and the providers' URLs. A reload
// reads all settings again, takes these, and reports which others need a restart. If any setting is invalid, nothing changes.

import { isDeepStrictEqual } from 'node:util'
import type { Rpc } from '../chain/rpc/rpc.ts'
import { type Config, ConfigError } from '../config/load.ts'
import { SETTINGS, type SettingName } from '../config/names.ts'
import type { Log } from '../lib/log.ts'

export interface Live {
  /** The settings as they are now. */
  settings(): Config
  /** Clients that switch to other URLs. */
  readonly clients: Rpc[]
  /** Reads the settings again. `logLevel`, if given, overrides theirs until the next reload. Throws nothing. */
  reload(logLevel?: string): void
}

/** Settings that a running service takes on a reload. */
const TAKEN: readonly SettingName[] = ['LOG_LEVEL', 'ADMIN_KEY', 'CRON_KEY', 'RPC_URL']

/** Holds the settings that may change; `config` is what the service started with. */
export function createLive(config: Config, { read, log }: { read: () => Config; log: Log }): Live {
  let now = config
  const clients: Rpc[] = []
  return {
    settings: () => now,
    clients,
    reload(logLevel = '') {
      const next = readAgain(read, log)
      if (next === null) return
      const { RPC_URL } = next
      const sameProviders = RPC_URL === null || clients.every((client) => client.use(RPC_URL))
      const changed = SETTINGS.filter((name) => !isDeepStrictEqual(next[name], now[name]))
      const isTaken = (name: SettingName) => TAKEN.includes(name) && (name !== 'RPC_URL' || sameProviders)
      const needRestart = changed.filter((name) => !isTaken(name))
      log.level = logLevel || next.LOG_LEVEL
      now = next
      log.info({ taken: changed.filter(isTaken), needRestart, logLevel: log.level }, 'the settings were read again')
    },
  }
}

function readAgain(read: () => Config, log: Log): Config | null {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    log.error({ problems: error.problems }, 'the settings are not right, and stay as they were')
    return null
  }
}
