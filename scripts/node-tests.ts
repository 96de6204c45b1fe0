// Runs the tests under test/ with node's own runner, one process per file. Uses free ports only, so it works beside a
// running service.
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { run } from 'node:test'
import { spec, type TestEvent } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/**
 * How each file's process is started. Forced to exit here and not by run's own forceExit, which would end the runner's
 * process too, before it has stopped its server.
 */
export const TEST_PROCESS = [
  '--test-force-exit',
  ...['--import', new URL('../test/support/test-process.ts', import.meta.url).href],
]
/** A test that takes longer hangs. */
const TEST_TIMEOUT_MS = 120_000

export interface TestOutcome {
  readonly passed: boolean
  /** The runner's closing counts, `# tests 12` and so on: to be printed last. */
  readonly closing: readonly string[]
}

/** The test files whose path, from the project's root, contains one of `filters`; all when there are none. */
export function findTestFiles(filters: readonly string[]): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
  const wanted = filters.map((filter) => filter.replace(/^\.\//, ''))
  return files.filter((file) => wanted.length === 0 || wanted.some((filter) => file.includes(filter)))
}

/** Runs them, printing each result as it comes. Not passed when a test fails, or when there was none. */
export async function runNodeTests(filters: readonly string[], signal: AbortSignal): Promise<TestOutcome> {
  const files = findTestFiles(filters)
  if (files.length === 0) {
    console.error(`No test file matches ${filters.join(' ') || 'test/**/*.test.ts'}.`)
    return { passed: false, closing: ['# tests 0'] }
  }
  const events = run({
    files: files.map((file) => resolve(ROOT, file)),
    cwd: ROOT,
    concurrency: availableParallelism(),
    timeout: TEST_TIMEOUT_MS,
    signal,
    execArgv: TEST_PROCESS,
  })
  const { shown, summary } = takeSummary(events)
  for await (const text of shown.compose(new spec())) process.stdout.write(text as string)
  if (signal.aborted) return { passed: false, closing: ['# interrupted'] }
  if (summary.count === 0) console.error('No test ran.')
  return { passed: summary.success && summary.count > 0, closing: summary.closing }
}

interface Summary {
  success: boolean
  count: number
  readonly closing: string[]
}

/** Holds back the closing counts, which the reporter would print before the failures; `summary` is whole at the end. */
function takeSummary(events: AsyncIterable<TestEvent>): { shown: Readable; summary: Summary } {
  const summary: Summary = { success: false, count: 0, closing: [] }
  async function* withoutCounts(): AsyncGenerator<TestEvent> {
    for await (const event of events) {
      // Those of a single file name it.
      if (event.type === 'test:summary' && event.data.file === undefined) {
        summary.success = event.data.success
        summary.count = event.data.counts.tests
      }
      if (event.type === 'test:diagnostic' && event.data.nesting === 0 && event.data.file === undefined) {
        summary.closing.push(`# ${event.data.message}`)
      } else {
        yield event
      }
    }
  }
  return { shown: Readable.from(withoutCounts()), summary }
}
