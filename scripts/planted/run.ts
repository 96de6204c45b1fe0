// Plants bugs in copies of the project and runs the tests that must notice them. It never changes the project itself, and knows
// nothing of how tests are run: a bench does.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyHunks, type PlantedBug } from './patch.ts'

/** Copies of the project, and how a test is run in one. */
export interface Bench {
  /** The directories of the copies. In each, one bug is planted at a time. */
  readonly copies: readonly string[]
  /** Runs a test in a copy; returns the failure, null when all passed. `bug` is the one that is planted, if any. */
  readonly run: (copy: string, test: string, bug: PlantedBug | null) => Promise<string | null>
}

export interface RunOptions {
  /** The tests are known to pass without any bug. */
  readonly trusted: boolean
  /** Ends the run before the next bug. */
  readonly signal: AbortSignal
  readonly print: (line: string) => void
}

/**
 * Plants each bug and prints its fate; returns the number caught. Each test must first pass without any bug,
 * unless it is trusted to: a test that fails anyway would catch every bug.
 */
export async function runBugs(
  bugs: readonly PlantedBug[],
  bench: Bench,
  { trusted, signal, print }: RunOptions,
): Promise<number> {
  const isUsable = trusted ? async () => true : rememberUsable(bench, print)
  await inCopies(bench.copies, new Set(bugs.map(({ tests }) => tests[0] as string)), signal, isUsable)
  let caught = 0
  await inCopies(bench.copies, bugs, signal, async (copy, bug) => {
    try {
      const by = await findNoticing(copy, bug, bench, isUsable)
      print(by ? `caught    ${bug.name}\n          by ${by}` : `SURVIVED  ${bug.name}`)
      if (by) caught++
    } catch (error) {
      print(`STALE     ${bug.name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  })
  return caught
}

type IsUsable = (copy: string, test: string) => Promise<boolean>

/** Tries each test once in a copy that has no bug, when it is first asked for. */
function rememberUsable({ run }: Bench, print: RunOptions['print']): IsUsable {
  const tried = new Map<string, Promise<boolean>>()
  const tryTest: IsUsable = async (copy, test) => {
    // Twice, since a machine that is busy with other things can make one fail.
    const broken = (await run(copy, test, null)) && (await run(copy, test, null))
    print(broken ? `UNUSABLE  ${test} fails without any bug: ${broken}` : `usable    ${test}`)
    return !broken
  }
  return (copy, test) => {
    const usable = tried.get(test) ?? tryTest(copy, test)
    tried.set(test, usable)
    return usable
  }
}

/** Runs the bug's tests until one notices it; returns that test and its failure, null when the bug survives. */
async function findNoticing(copy: string, bug: PlantedBug, { run }: Bench, isUsable: IsUsable): Promise<string | null> {
  for (const test of bug.tests) {
    if (!(await isUsable(copy, test))) continue
    const takeOut = plant(copy, bug)
    try {
      const failed = await run(copy, test, bug)
      if (failed) return `${test}: ${failed}`
    } finally {
      takeOut()
    }
  }
  return null
}

/** Plants the bug; returns the function that takes it out again. Throws, having changed nothing, unless each hunk has one place. */
function plant(copy: string, bug: PlantedBug): () => void {
  const files = bug.edits.map(({ file, hunks }) => {
    const path = join(copy, file)
    const before = readFileSync(path, 'utf8')
    return { path, before, after: applyHunks(before, hunks) }
  })
  for (const { path, after } of files) writeFileSync(path, after)
  return () => {
    for (const { path, before } of files) writeFileSync(path, before)
  }
}

/** Works on the items in order, as many at once as there are copies, each in a copy of its own. */
async function inCopies<T>(
  copies: readonly string[],
  items: Iterable<T>,
  signal: AbortSignal,
  work: (copy: string, item: T) => Promise<unknown>,
): Promise<void> {
  const waiting = [...items]
  const workIn = async (copy: string) => {
    for (;;) {
      const item = signal.aborted ? undefined : waiting.shift()
      if (item === undefined) return
      await work(copy, item)
    }
  }
  await Promise.all(copies.map(workIn))
}
