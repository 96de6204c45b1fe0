// Owns where forge and anvil are. It must never answer with npm's shims: the one for forge exits 0 when tests fail, and
// the one for anvil, killed, leaves the real process running.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'

const PLATFORM = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`

export const forgePath = (): string => findBinary('forge')
export const anvilPath = (): string => findBinary('anvil')

/** The platform package's binary, else the one on PATH. Throws an Error that says what to install. */
function findBinary(name: 'forge' | 'anvil'): string {
  const found = [packaged(name), ...onPath(name)].find((path) => path !== undefined && existsSync(path))
  if (found) return found
  throw new Error(`${name} is missing: run "npm ci" without --omit=optional, or put Foundry's ${name} on PATH.`)
}

function packaged(name: string): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(`@foundry-rs/${name}-${PLATFORM}/package.json`)
    return join(dirname(manifest), 'bin', name)
  } catch {
    // Not installed: another platform, or a production install.
    return undefined
  }
}

/** npm puts its shims on PATH too, in directories called .bin. */
function onPath(name: string): string[] {
  const { PATH = '' } = process.env
  const directories = PATH.split(delimiter)
  return directories
    .filter((directory) => directory && !directory.endsWith('.bin'))
    .map((directory) => join(directory, name))
}
