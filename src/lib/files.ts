// Writes small files that must be complete or absent after a crash. What they contain is the caller's business.
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from './errors.ts'

/** The mode of files: only the owner may read them, because files in the data directory hold passwords and keys. */
export const PRIVATE_FILE_MODE = 0o600
/** The mode of directories: only the owner may enter them. */
export const PRIVATE_DIR_MODE = 0o700

/** Writes a file in one step. A reader, or a crash at any instant, finds the old file or the new one, never part of one. */
export function writeFileAtomic(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, text, { mode: PRIVATE_FILE_MODE, flush: true })
  renameSync(temporary, path)
  syncDirectory(dirname(path))
}

/** Ensures that a rename or a new file in `directory` survives a power cut. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Forces the content of the file to the disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The text of a file; null if there is no such file. */
export function readIfExists(path: string): string | null {
  if (!existsSync(path)) return null
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on its disk',
  EDQUOT: 'the quota of its disk is used up',
  EROFS: 'its disk is read-only',
  EACCES: 'this user has no right to',
  EPERM: 'this user has no right to',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'a file is in its place',
  EISDIR: 'it is a directory',
  ENOENT: 'a part of its path does not exist',
  EFBIG: 'it would be too large',
  EIO: 'its disk has an error',
  EMFILE: 'too many files are open',
}

/** The path and the cause, if an error comes from the file system; null for any other error. */
export function fileFault(error: unknown): { path: string; why: string } | null {
  const { path, syscall, code = '' } = error as NodeJS.ErrnoException
  const why = FILE_FAULTS[code]
  return why && syscall && syscall !== 'connect' ? { path: path ?? 'a file', why: `${why} (${code})` } : null
}
