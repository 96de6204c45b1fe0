// Runs the tests under test/ with node's own runner: one process per file, all on one throw-away PostgreSQL. Uses free
// ports only, so it works beside a running service; leaves nothing behind, however it ends.
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { run } from 'node:test'
import { spec, type TestEvent } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { onParentGone } from '../src/embed/parent.ts'
import { SERVER_VARIABLE, startTestPostgres } from '../test/support/postgres.ts'
import { removeStaleDirectories } from '../test/support/temporary.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLLOW_RUNNER = new URL('../test/support/follow-runner.ts', import.meta.url).href
/** A file that takes longer hangs. */
const FILE_TIMEOUT_MS = 300_000

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
export async function runNodeTests(filters: readonly string[]): Promise<TestOutcome> {
  const files = findTestFiles(filters)
  if (files.length === 0) {
    console.error(`No test file matches ${filters.join(' ') || 'test/**/*.test.ts'}.`)
    return { passed: false, closing: ['# tests 0'] }
  }
  removeStaleDirectories()
  const server = await startTestPostgres()
  process.env[SERVER_VARIABLE] = server.url
  const abort = new AbortController()
  const forget = stopWithStarter(abort)
  try {
    return await runFiles(files, abort.signal)
  } finally {
    forget()
    await server.stop()
    removeStaleDirectories()
  }
}

async function runFiles(files: readonly string[], signal: AbortSignal): Promise<TestOutcome> {
  const events = run({
    files: files.map((file) => resolve(ROOT, file)),
    cwd: ROOT,
    concurrency: availableParallelism(),
    timeout: FILE_TIMEOUT_MS,
    signal,
    // Not run's own forceExit, which would end this process too, before it has stopped its server.
    execArgv: ['--test-force-exit', '--import', FOLLOW_RUNNER],
  })
  const closing: string[] = []
  let passed = false
  let count = 0
  const shown = Readable.from(
    (async function* (): AsyncGenerator<TestEvent> {
      for await (const event of events as AsyncIterable<TestEvent>) {
        if (isSummary(event)) {
          passed = event.data.success
          count = event.data.counts.tests
        }
        if (isClosingCount(event)) closing.push(`# ${event.data.message}`)
        else yield event
      }
    })(),
  )
  for await (const text of shown.compose(new spec())) process.stdout.write(text as string)
  if (signal.aborted) return { passed: false, closing: ['# interrupted'] }
  if (count === 0) console.error('No test ran.')
  return { passed: passed && count > 0, closing }
}

/** The whole run's summary; those of single files name the file. */
function isSummary(event: TestEvent): event is Extract<TestEvent, { type: 'test:summary' }> {
  return event.type === 'test:summary' && event.data.file === undefined
}

function isClosingCount(event: TestEvent): event is Extract<TestEvent, { type: 'test:diagnostic' }> {
  return event.type === 'test:diagnostic' && event.data.nesting === 0 && event.data.file === undefined
}

/** Ends the run when it is asked to end, or when the npm that started it was killed. */
function stopWithStarter(abort: AbortController): () => void {
  const stop = () => abort.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  // Not once: npm and the launcher each pass a signal on, and the second would end this process half way.
  for (const signal of signals) process.on(signal, stop)
  const { NODE_LEDGER_LAUNCHER_PID: launcher } = process.env
  const unwatch = onParentGone(launcher === undefined ? null : Number(launcher), stop)
  return () => {
    for (const signal of signals) process.off(signal, stop)
    unwatch()
  }
}
