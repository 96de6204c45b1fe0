// Code of earlier commits as its users had it: a tree of its own beside this one, taken from git's history. Where there is no
// history, as in an unpacked release, or too little of it, as in a shallow clone, tests are skipped and say so.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryDirectory } from '../support/temporary.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** An install from a registry, on a busy machine. */
const RUN_MS = 300_000

/** The commit before a migration was added; or, for `skip` of a test, why it is not at hand. */
type CommitBefore = { commit: string; skip: false } | { commit: null; skip: string }

const without = (skip: string): CommitBefore => ({ commit: null, skip })

/** Finds the commit before the one that added a migration; the last commit for one that is not committed yet. */
export function findCommitBefore(migration: string): CommitBefore {
  // Empty at the top of a repository; an unpacked release may lie somewhere inside another one.
  if (git('rev-parse', '--show-prefix') !== '') return without('needs the history of git, and this tree has none')
  const path = `migrations/${migration}`
  // One that was given another number before anything ran it was added where its text was.
  const additions = git('log', '--follow', '-M100%', '--diff-filter=A', '--format=%H', '--', path)
  const added = additions?.split('\n').at(-1)
  const before = git('rev-parse', '--verify', '--quiet', added ? `${added}^` : 'HEAD')
  return before ? { commit: before, skip: false } : without(`needs the commit before ${path}: this clone is shallow`)
}

/** Puts a commit's files, and the packages that its service needs, into a directory of their own. @returns the path of its main file. */
export function checkOut(commit: string, say: (line: string) => void): string {
  const tree = temporaryDirectory()
  const archive = join(temporaryDirectory(), 'tree.tar')
  run('git', ['archive', '--output', archive, commit], ROOT)
  run('tar', ['-xf', archive, '-C', tree], ROOT)
  if (needsSamePackages(tree)) symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  else {
    say(`the service of ${commit} needs other packages than this one: npm ci installs them`)
    mkdirSync(join(tree, 'node_modules'))
    run('npm', ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'], tree)
  }
  return join(tree, 'src/main.ts')
}

interface Locked {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** True if the service of a tree runs on the same packages as this one, whatever the tools of development and the pages need. */
function needsSamePackages(tree: string): boolean {
  return packagesOf(tree).join() === packagesOf(ROOT).join()
}

/** Lists the packages of a production install of the root package, each with its version, in the order of its place. */
function packagesOf(root: string): string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> }
  const found = new Map<string, string>()
  const visit = (place: string) => {
    for (const name of Object.keys(lock.packages[place]?.dependencies ?? {})) {
      const at = placesOf(name, place).find((candidate) => candidate in lock.packages)
      if (at === undefined || found.has(at)) continue
      found.set(at, `${at} ${lock.packages[at]?.version}`)
      visit(at)
    }
  }
  visit('')
  return [...found.values()].sort()
}

/** Places where Node looks for a package from within another one, nearest first. */
function placesOf(name: string, from: string): string[] {
  const own = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`
  return from === '' ? [own] : [own, ...placesOf(name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))))]
}

/** Asks git. Null: there is no git, no repository, or no such thing in it. */
function git(...words: string[]): string | null {
  const { status, stdout } = spawnSync('git', words, { cwd: ROOT, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}

function run(program: string, words: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(program, words, { cwd, encoding: 'utf8', timeout: RUN_MS })
  if (error) throw error
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} failed: ${stderr}`)
}
