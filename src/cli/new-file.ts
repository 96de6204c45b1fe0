// Writes secrets that a command makes to files of their own.
import { open, rm } from 'node:fs/promises'
import { RefusedError } from './errors.ts'

/**
 * Creates a one-line file that only its owner can read. It makes the content once the file exists; if that fails, it deletes the file again. @returns
 * what it made.
 */
export async function writeNew<Made>(
  path: string,
  make: () => Promise<Made>,
  lineOf: (made: Made) => string,
): Promise<Made> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => refuseFile(path, error))
  try {
    const content = await make()
    await file.writeFile(`${lineOf(content)}\n`).catch((error: NodeJS.ErrnoException) => refuseFile(path, error))
    await file.sync()
    return content
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

function refuseFile(path: string, { code }: NodeJS.ErrnoException): never {
  if (code === 'EEXIST') throw new RefusedError(`${path} exists already, and was not changed: choose another file.`)
  throw new RefusedError(`${path} cannot be written (${code}).`)
}
