// Files of the embedded chain: the state last saved while it ran, and the state that it wrote itself at its end.
// Chooses which of the two to load, and makes saves atomic. If an old chain cannot be read, it never begins a new
// chain.
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { PRIVATE_DIR_MODE, PRIVATE_FILE_MODE, syncDirectory, syncFile } from '../../src/lib/files.ts'
import { callRpc, callRpcBatch } from './rpc.ts'

/** How often we check for a block worth saving. */
const LOOK_MS = 2_000
/** How often we save if all new blocks are empty, so that a restarted chain's clock loses little. */
const EMPTY_SAVE_MS = 60_000
/**
 * A save may take at most this share of the time. The chain does not answer during a save, and the state only grows.
 */
const SAVE_SHARE_MAX = 0.05
/** The time limit of one save. It is long, because days of blocks are hundreds of megabytes. */
const DUMP_TIMEOUT_MS = 120_000
/** If more blocks than this were mined since the last look (by hand), we save without looking into them. */
const BLOCKS_ASKED_MAX = 200

/** File name suffix of a state that could not be read. */
const BROKEN = '.broken'

export interface StateFiles {
  /** Saved while the chain ran; always complete. */
  readonly saved: string
  /**
   * Written by the chain as it ends, not atomically. If it exists, it is newer than `saved`, but a kill may have
   * truncated it.
   */
  readonly final: string
}

/** The state files in `directory`, which is created if missing. */
export function stateFiles(directory: string): StateFiles {
  mkdirSync(directory, { recursive: true, mode: PRIVATE_DIR_MODE })
  return { saved: join(directory, 'state.json'), final: join(directory, 'state.final.json') }
}

/** The files to try to load, best first. */
export function loadable({ final, saved }: StateFiles): string[] {
  return [final, saved].filter((path) => existsSync(path))
}

/** True if there was a state that could not be read, and none is left to load. */
export function isLost(files: StateFiles): boolean {
  return loadable(files).length === 0 && [files.final, files.saved].some((path) => existsSync(path + BROKEN))
}

/** Makes `path` the saved state, because the chain has loaded it without complaint. */
export function adopt(files: StateFiles, path: string): void {
  if (path === files.final) renameSync(files.final, files.saved)
}

/** Renames `path`, because the chain could not read it. We keep it for a person to look at, and do not try it again. */
export function setAside(path: string): void {
  renameSync(path, path + BROKEN)
}

/** The last save of each path. */
const saves = new Map<string, Promise<void>>()

/**
 * Writes the state of the chain at `url` into `path`, completely or not at all. Only one save of a path runs at a time,
 * so an older state never replaces a newer one.
 */
export function saveState(url: string, path: string): Promise<void> {
  const before = saves.get(path) ?? Promise.resolve()
  const save = before.catch(() => {}).then(() => writeState(url, path))
  saves.set(path, save)
  return save
}

async function writeState(url: string, path: string): Promise<void> {
  const dump = await callRpc<string>(url, 'anvil_dumpState', [], DUMP_TIMEOUT_MS)
  const temporary = `${path}.${process.pid}.tmp`
  try {
    await pipeline(
      Readable.from([Buffer.from(dump.slice(2), 'hex')]),
      createGunzip(),
      createWriteStream(temporary, { mode: PRIVATE_FILE_MODE }),
    )
    await syncFile(temporary)
    renameSync(temporary, path)
    syncDirectory(dirname(path))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Saves repeatedly while the chain runs. */
export interface Saver {
  /** Stops saving; resolves once a running save is done. */
  stop(): Promise<void>
}

/**
 * Starts saving the chain at `url` into `path`: soon after each block with a transaction, and now and then without one.
 * Reports a failed save to `onError` and retries it.
 */
export function startSaver(url: string, path: string, headBlock: number, onError: (error: unknown) => void): Saver {
  let savedBlock = headBlock
  let savedAt = Date.now()
  let restUntil = 0
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let current = Promise.resolve()
  const look = async () => {
    if (Date.now() < restUntil) return
    const head = Number(await callRpc<string>(url, 'eth_blockNumber'))
    if (head === savedBlock) return
    if (Date.now() - savedAt < EMPTY_SAVE_MS && (await areEmpty(url, savedBlock + 1, head))) return
    const startedAt = Date.now()
    await saveState(url, path)
    savedBlock = head
    savedAt = Date.now()
    restUntil = savedAt + (savedAt - startedAt) / SAVE_SHARE_MAX
  }
  const next = () => {
    timer = setTimeout(() => {
      current = look()
        .catch((error) => {
          if (!stopped) onError(error)
        })
        .finally(() => {
          if (!stopped) next()
        })
    }, LOOK_MS).unref()
  }
  next()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await current
    },
  }
}

async function areEmpty(url: string, firstBlock: number, lastBlock: number): Promise<boolean> {
  const count = lastBlock - firstBlock + 1
  // If the head is below the last save, the chain was reverted to a snapshot.
  if (count < 0 || count > BLOCKS_ASKED_MAX) return false
  const blocks = Array.from({ length: count }, (_, offset) => [`0x${(firstBlock + offset).toString(16)}`])
  const counts = await callRpcBatch<string | null>(url, 'eth_getBlockTransactionCountByNumber', blocks)
  return counts.every((transactions) => Number(transactions) === 0)
}
