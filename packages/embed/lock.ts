// Allows only one service per data directory, because two would run two chains and two databases on the same files.
// Owns DATA_DIR/service.lock. The lock of a killed process never blocks.
import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../src/lib/errors.ts'
import { PRIVATE_DIR_MODE, PRIVATE_FILE_MODE, readIfExists } from '../../src/lib/files.ts'
import { EmbedError } from './errors.ts'
import { type ProcessRecord, parseRecord, recordOf, stillRuns } from './process.ts'

/** Two processes may find the same dead lock at once. The process whose lock is still there after this time wins. */
const TAKEOVER_WAIT_MS = 100

export interface DataDirLock {
  /** Releases the directory. Safe to call again. A killed process need not have called it. */
  release(): void
}

/**
 * Locks `dataDir` for this process. Creates the directory if it is missing. If another process holds the lock, throws
 * an EmbedError that names that process and the setting to change.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const directory = resolve(dataDir)
  mkdirSync(directory, { recursive: true, mode: PRIVATE_DIR_MODE })
  const path = join(directory, 'service.lock')
  const own = recordOf(process.pid)
  if (own === null) throw new Error('The system does not tell when this process started.')
  const written = `${path}.${process.pid}`
  writeFileSync(written, JSON.stringify(own), { mode: PRIVATE_FILE_MODE })
  try {
    if (!link(written, path)) {
      refuseIfHeld(path, directory)
      renameSync(written, path)
      await sleep(TAKEOVER_WAIT_MS)
      if (!isOwn(path, own)) refuseIfHeld(path, directory)
    }
  } finally {
    rmSync(written, { force: true })
  }
  return {
    release: () => {
      if (isOwn(path, own)) rmSync(path, { force: true })
    },
  }
}

function isOwn(path: string, own: ProcessRecord): boolean {
  const holder = parseRecord(readIfExists(path))
  return holder?.pid === own.pid && holder.identity === own.identity
}

function refuseIfHeld(path: string, directory: string): void {
  const holder = parseRecord(readIfExists(path))
  if (holder === null || !stillRuns(holder)) return
  throw new EmbedError(
    `The data directory ${directory} is in use by process ${holder.pid}, another Node Ledger. Stop that one, or set DATA_DIR to another directory.`,
  )
}

/** Like rename, but never replaces an existing file: returns false if there is one. */
function link(source: string, path: string): boolean {
  try {
    linkSync(source, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}
