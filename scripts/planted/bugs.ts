// Reads the planted bugs (test/planted/*.patch), follows the renames that git sees in the worktree, finds the stale bugs, and refreshes
// them. Never changes a source.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  applyHunks,
  type FileEdit,
  FORGE,
  formatPatch,
  type Hunk,
  type PlantedBug,
  parsePatch,
  patchFileName,
  refreshHunk,
} from './patch.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PATCHES = `${ROOT}test/planted/`
/** Files in which a refresh looks for lines that have moved to another file. */
const SOURCES = ['src/**/*.ts', 'migrations/*.sql', 'contracts/src/*.sol']

/** Reads every planted bug, in the order of file names. Throws if a patch is malformed. */
export function readBugs(): PlantedBug[] {
  const moved = readRenames()
  return readdirSync(PATCHES)
    .filter((file) => file.endsWith('.patch'))
    .sort()
    .map((file) => {
      try {
        const bug = movePaths(parsePatch(readFileSync(PATCHES + file, 'utf8')), moved)
        if (patchFileName(bug.name) !== file) throw new Error(`its name asks for the file ${patchFileName(bug.name)}`)
        return bug
      } catch (error) {
        throw new Error(`test/planted/${file}: ${(error as Error).message}`)
      }
    })
}

/** Finds the bugs that do not apply to the current sources: one line for each, none if all apply. */
export function findProblems(bugs: readonly PlantedBug[]): string[] {
  const read = readSources()
  return bugs.flatMap((bug) => {
    const untested = bug.tests
      .filter((test) => test !== FORGE && !existsSync(ROOT + test))
      .map((test) => `there is no test ${test}`)
    // The copies for forge contain contracts of their own, and nothing else.
    const misplaced = bug.edits
      .filter(({ file }) => file.startsWith('contracts/src/') !== (bug.tests.join() === FORGE))
      .map(({ file }) => `${file}: bugs in contracts/src, and no others, are "Noticed by: ${FORGE}" alone`)
    const unplantable = bug.edits.flatMap(({ file, hunks }) => {
      if (!existsSync(ROOT + file)) return [`stale: there is no file ${file}`]
      try {
        applyHunks(read(file), hunks)
        return []
      } catch (error) {
        return [`${file}: ${(error as Error).message}`]
      }
    })
    return [...untested, ...misplaced, ...unplantable].map((problem) => `${bug.name}: ${problem}`)
  })
}

/**
 * Rewrites the bugs' patches for the current sources: moved paths, context, then line numbers. Returns one line for
 * each change and each failure.
 */
export function refreshBugs(bugs: readonly PlantedBug[]): string[] {
  const read = readSources()
  return bugs.flatMap((bug) => {
    const told: string[] = []
    const edits = bug.edits.flatMap((edit) => refreshEdit(edit, read, told))
    const path = PATCHES + patchFileName(bug.name)
    const text = formatPatch({ ...bug, edits }, (file) => (existsSync(ROOT + file) ? read(file) : ''))
    // We do not rewrite a patch for line numbers alone, because that would conflict with other branches.
    if (withoutLineNumbers(text) !== withoutLineNumbers(readFileSync(path, 'utf8'))) {
      writeFileSync(path, text)
      told.push('rewritten')
    }
    return told.map((line) => `${bug.name}: ${line}`)
  })
}

function withoutLineNumbers(patch: string): string {
  return patch.replaceAll(/^@@ .*$/gm, '@@')
}

function refreshEdit({ file, hunks }: FileEdit, read: (file: string) => string, told: string[]): FileEdit[] {
  const refreshed = hunks.map((hunk): { file: string; hunk: Hunk } => {
    const here = existsSync(ROOT + file) ? refreshHunk(read(file), hunk) : null
    if (here) return { file, hunk: here }
    const mayHaveMoved = isGone(hunk, existsSync(ROOT + file) ? read(file) : '')
    const elsewhere = (mayHaveMoved ? globSync(SOURCES, { cwd: ROOT }) : []).flatMap((other) => {
      const found = other === file ? null : refreshHunk(read(other), hunk)
      return found ? [{ file: other, hunk: found }] : []
    })
    const [only] = elsewhere
    if (only && elsewhere.length === 1) {
      told.push(`now in ${only.file}: see that it is the same bug there`)
      return only
    }
    const lines = hunk.filter(({ op }) => op !== '+').map(({ line }) => `    ${line}`)
    told.push(
      `cannot be refreshed: ${file} has no one place of these lines, change the patch by hand\n${lines.join('\n')}`,
    )
    return { file, hunk }
  })
  return [...Map.groupBy(refreshed, (each) => each.file)].map(([to, each]) => ({
    file: to,
    hunks: each.map(({ hunk }) => hunk),
  }))
}

/**
 * True if the hunk replaces lines that are not in the text. A hunk that only adds lines does not show which file it is
 * for.
 */
function isGone(hunk: Hunk, text: string): boolean {
  const replaced = hunk.filter(({ op }) => op === '-')
  return replaced.length > 0 && !replaced.every(({ line }) => `\n${text}`.includes(`\n${line}\n`))
}

/** Reads each file of the project once. */
function readSources(): (file: string) => string {
  const texts = new Map<string, string>()
  return (file) => {
    const text = texts.get(file) ?? readFileSync(ROOT + file, 'utf8')
    texts.set(file, text)
    return text
  }
}

/** New path by old path of each file that was renamed since the last commit. Without git there are none. */
function readRenames(): ReadonlyMap<string, string> {
  const args = ['diff', 'HEAD', '--find-renames', '--diff-filter=R', '--name-status']
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  const lines = status === 0 ? stdout.split('\n').filter((line) => line !== '') : []
  return new Map(lines.map((line) => line.split('\t').slice(1) as [string, string]))
}

function movePaths(bug: PlantedBug, moved: ReadonlyMap<string, string>): PlantedBug {
  const move = (path: string) => moved.get(path) ?? path
  return {
    ...bug,
    tests: bug.tests.map(move),
    edits: bug.edits.map(({ file, hunks }) => ({ file: move(file), hunks })),
  }
}
