// Plants bugs in copies of the project and runs the tests that must notice them. Never changes the project itself. A
// bench provides the copies and runs the tests.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyHunks, type PlantedBug } from './patch.ts'

/** Copies of the project, and how to run a test in one. */
export interface Bench {
  /** The directories of the copies. Each holds one planted bug at a time. */
  readonly copies: readonly string[]
  /** Runs a test in a copy. Returns the failure; null if all passed. `bug` is the bug planted in the copy, if any. */
  readonly run: (copy: string, test: string, bug: PlantedBug | null) => Promise<string | null>
}

export interface RunOptions {
  /** True if the caller knows that the tests pass without any bug. */
  readonly trusted: boolean
  /** Ends the run before the next bug. */
  readonly signal: AbortSignal
  readonly print: (line: string) => void
}

/**
 * Plants each bug and prints its outcome; returns how many were caught. Unless the tests are trusted, each must first
 * pass without any bug, because a test that fails anyway would catch every bug.
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

/** Runs each test once in a copy without a bug, when it is first needed. */
function rememberUsable({ run }: Bench, print: RunOptions['print']): IsUsable {
  const tried = new Map<string, Promise<boolean>>()
  const tryTest: IsUsable = async (copy, test) => {
    // Runs twice, because one run may fail if the machine is busy.
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

/** Runs the bug's tests until one notices it. Returns that test and its failure; null if the bug survives. */
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

/**
 * Plants the bug; returns the function that removes it. If a hunk does not match exactly one place, throws and changes
 * nothing.
 */
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

/** Works on the items in order, as many at once as there are copies, each in its own copy. */
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
