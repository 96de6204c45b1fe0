// Groups test files that share a process: of a file with a few quick tests the larger part of the processor time is spent on loading
// the same modules as the next one. Each file is a suite of its own there, called by its path, so that its hooks stay its own.
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Files in one process. More would leave cores idle at the end of a run, where one process works through its last files alone. */
const FILES_PER_BATCH = 6

/** Test files that the runner starts as one process. */
export interface Batch {
  /** Whole path of the file that the process begins with. */
  readonly entry: string
  /** Paths from the project's root. */
  readonly files: readonly string[]
}

/**
 * Batches of `files` (paths from `root`), in their order, behind those that `alone` picks to have a process of their own. Entries of
 * batches are written into `directory`.
 */
export function batchFiles(
  files: readonly string[],
  { root, directory, alone }: { root: string; directory: string; alone: (file: string) => boolean },
): Batch[] {
  const single = files.filter(alone).map((file) => ({ entry: resolve(root, file), files: [file] }))
  const others = files.filter((file) => !alone(file))
  const shared: Batch[] = []
  for (let first = 0; first < others.length; first += FILES_PER_BATCH) {
    const taken = others.slice(first, first + FILES_PER_BATCH)
    const entry = join(directory, `${shared.length}.test.mjs`)
    writeFileSync(entry, entryOf(taken, root))
    shared.push({ entry, files: taken })
  }
  return [...single, ...shared]
}

function entryOf(files: readonly string[], root: string): string {
  const suites = files.map((file) => {
    const url = pathToFileURL(resolve(root, file)).href
    return `suite(${JSON.stringify(file)}, async () => { await import(${JSON.stringify(url)}) })`
  })
  return `import { suite } from 'node:test'\n${suites.join('\n')}\n`
}
