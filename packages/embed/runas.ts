// PostgreSQL refuses to run as root. Decides how root can start it without creating an OS user: in a user namespace,
// which gives root another id, or as the unprivileged user who owns its files.
import { chownSync, existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { succeeds } from './child.ts'
import { EmbedError } from './errors.ts'

/** The id of the unprivileged user "nobody" on Linux and macOS, or the id to which Linux maps it. */
const UNPRIVILEGED_ID = 65534
/** The user's id inside the user namespace; any number but 0 will do. */
const NAMESPACE_ID = 1000

/** The user that runs a program which must not run as root. */
export interface RunAs {
  readonly how: 'self' | 'namespace' | 'setpriv' | 'spawn'
  /** Placed before the command. */
  readonly prefix: readonly string[]
  /** The user id for `spawn`; null if the prefix sets the user. */
  readonly id: number | null
  /** The user who must own the program's files; null if that is the user who created them. */
  readonly owner: number | null
}

const SELF: RunAs = { how: 'self', prefix: [], id: null, owner: null }

/**
 * Chooses how to run the program for files at `path` (which need not exist yet), and makes the user it needs their
 * owner. `only` restricts the choice. Throws an EmbedError if this process is root and no way works.
 */
export function chooseRunAs(path: string, only?: RunAs['how']): RunAs {
  if (process.getuid?.() !== 0) return SELF
  const owner = existsSync(path) ? statSync(path).uid : 0
  const candidates =
    owner === 0 ? [namespace(), drop(UNPRIVILEGED_ID), plain(UNPRIVILEGED_ID)] : [drop(owner), plain(owner)]
  for (const candidate of candidates) {
    if (only !== undefined && candidate.how !== only) continue
    if (candidate.how === 'spawn' ? isReachable(path) : works(candidate)) {
      if (candidate.owner !== null && owner !== candidate.owner && existsSync(path)) chownTree(path, candidate.owner)
      // Directory permissions apply to this user, unlike the others.
      if (candidate.how === 'spawn') handOver(dirname(path), candidate)
      return candidate
    }
  }
  throw new EmbedError(
    'PostgreSQL does not run as root, and this system lets root neither make a user namespace nor use setpriv. Start the service as another user, set DATA_DIR to a directory that every user may enter, or set DATABASE_URL.',
  )
}

/** Changes the owner of one file or directory to the user of `runAs`. */
export function handOver(path: string, runAs: RunAs): void {
  if (runAs.owner !== null && runAs.owner !== 0) chownSync(path, runAs.owner, runAs.owner)
}

function namespace(): RunAs {
  const prefix = ['unshare', '--user', `--map-user=${NAMESPACE_ID}`, '--']
  return { how: 'namespace', prefix, id: null, owner: 0 }
}

/**
 * A user who, like root, may enter every directory. The data directory is often below a home directory that only root
 * can enter.
 */
function drop(id: number): RunAs {
  const ids = [`--reuid=${id}`, `--regid=${id}`, '--clear-groups']
  const capabilities = ['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=-all,+dac_override`)
  return { how: 'setpriv', prefix: ['setpriv', ...ids, ...capabilities, '--'], id: null, owner: id }
}

function plain(id: number): RunAs {
  return { how: 'spawn', prefix: [], id, owner: id }
}

function works({ prefix }: RunAs): boolean {
  const [command = '', ...args] = prefix
  return succeeds(command, [...args, 'true'])
}

/** True if every user may enter all directories above the directory of `path`. */
function isReachable(path: string): boolean {
  for (let directory = dirname(dirname(resolve(path))); ; directory = dirname(directory)) {
    if (existsSync(directory) && (statSync(directory).mode & 0o001) === 0) return false
    if (directory === dirname(directory)) return true
  }
}

function chownTree(path: string, id: number): void {
  const entry = lstatSync(path)
  if (entry.isSymbolicLink()) return
  if (entry.isDirectory()) for (const name of readdirSync(path)) chownTree(join(path, name), id)
  chownSync(path, id, id)
}
