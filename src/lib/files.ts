// Small files that must be whole or absent after a crash. Owns how they are written; knows nothing of what they mean.
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from './errors.ts'

/** Readable by the owner alone: what lies in the data directory holds passwords and keys. */
export const PRIVATE_FILE_MODE = 0o600
/** The same for directories. */
export const PRIVATE_DIR_MODE = 0o700

/** Writes `text` so that a reader, or a crash at any instant, sees the old file or the new one, never a part. */
export function writeFileAtomic(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`
  const file = openSync(temporary, 'w', PRIVATE_FILE_MODE)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
  syncDirectory(dirname(path))
}

/** Makes a rename or a new file in `directory` survive a power cut. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Forces the content of `path` to the disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The file's text, or null when there is none. */
export function readIfExists(path: string): string | null {
  if (!existsSync(path)) return null
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
