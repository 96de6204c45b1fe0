// Temporary directories of test runs. Each process removes its own at its end. The next run removes those of killed processes.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '../../packages/embed/process.ts'

const PREFIX = 'node-ledger-test-'

const made: string[] = []

/** A new empty directory, removed when this process ends. */
export function temporaryDirectory(): string {
  if (made.length === 0) process.once('exit', removeMade)
  const directory = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  made.push(directory)
  return directory
}

/** A new file in its own directory. @returns its path. */
export function temporaryFile(text: string): string {
  const path = join(temporaryDirectory(), 'file')
  writeFileSync(path, text)
  return path
}

function removeMade(): void {
  for (const directory of made) rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
}

/** Removes what killed runs have left behind. Reports what it cannot remove, because that must not fail this run. */
export function removeStaleDirectories(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN
    if (!(pid > 0) || isAlive(pid)) continue
    const path = join(tmpdir(), name)
    try {
      unmountBelow(path)
      rmSync(path, { recursive: true, force: true })
    } catch (error) {
      console.error(`An earlier run left ${path}: ${(error as Error).message}`)
    }
  }
}

/** Detaches disks that a test mounted for itself and could not detach any more. */
function unmountBelow(path: string): void {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : ''
  for (const line of mounts.split('\n')) {
    const [, place = ''] = line.split(' ')
    if (place.startsWith(`${path}/`)) spawnSync('umount', ['--lazy', place])
  }
}
