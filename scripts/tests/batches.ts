// Groups test files into shared processes. A file with a few quick tests spends most of its processor time loading modules that the next file also
// needs. Each file becomes its own suite, named by its path, so that its hooks apply only to it.
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** How many files one process runs. With more, cores would idle at the end of a run while one process works through its last files. */
const FILES_PER_BATCH = 6

/** Test files that the runner starts as one process. */
export interface Batch {
  /** Full path of the process's entry file. */
  readonly entry: string
  /** The files' paths from the project's root. */
  readonly files: readonly string[]
}

/**
 * Makes batches of `files` (paths from `root`), in order. The files that `alone` selects come first, each in its own process. Writes the batches'
 * entry files into `directory`.
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
