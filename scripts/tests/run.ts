// Runs test files with Node's own runner, a few files per process. Tests use only free ports, so they can run beside a running service.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { run } from 'node:test'
import { spec, type TestEvent } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { type Batch, batchFiles } from './batches.ts'
import { isLong } from './files.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/**
 * Options of each file's process. They make it exit by itself, because run's own forceExit would also end the runner's
 * process, before it has stopped its server.
 */
export const TEST_PROCESS = [
  '--test-force-exit',
  ...['--import', new URL('../../test/support/test-process.ts', import.meta.url).href],
]
/** Every test process loads the same modules. A compile cache saves each a third of a second. */
const COMPILED = resolve(ROOT, 'node_modules/.cache/compiled')
/**
 * The time limit of a test. A test that takes longer is hanging. This is twice the longest wait inside a test (test/support/until.ts), so that the
 * wait's error comes first and names the cause.
 */
const TEST_TIMEOUT_MS = 1_200_000
/** How many processes run per core. Most wait for blocks, rounds and browsers half of their time. With two, a fifth of the machine was idle. */
const PROCESSES_PER_CORE = 3
/** How many of the slowest files to print, so contributors see where the time goes. */
const SLOWEST_SHOWN = 10
/**
 * Files that wait longest, each in its own process. They start first, because otherwise a run would end waiting for them. Files with a browser are
 * spread out, because each fills a core at its start. The printed list of slowest files shows what belongs here.
 */
const SLOW_FIRST = [
  'test/documents/tutorial.test.ts',
  'test/web/console.test.ts',
  'test/e2e/main-job.test.ts',
  'test/web/wallets.test.ts',
  'test/web/smart-wallets.test.ts',
  'test/webhooks/killed.test.ts',
  'test/cli/commands.test.ts',
  'test/cli/start.test.ts',
  'test/db/down/lost-connection.test.ts',
  'test/web/pages.test.ts',
  'test/client/examples.test.ts',
  'test/web/payments.test.ts',
  'test/web/safe-app.test.ts',
  'test/client/smart-account.test.ts',
  'test/web/console-sale.test.ts',
  'test/follower/reorganisation.test.ts',
  'test/faults/reads.test.ts',
  'test/faults/sends.test.ts',
  'test/mending/reconcile.test.ts',
  'test/passes/catch-up.test.ts',
  'test/chain/keys-service.test.ts',
  'test/operator/exports/',
  'test/follower/wallet.test.ts',
  'test/embed/postgres.test.ts',
  'test/embed/anvil.test.ts',
  'test/sim/',
  'test/threats/',
]

/** Names the directory into which each test process writes its processor time when it exits (test/support/test-process.ts). */
const TIMES_VARIABLE = 'NODE_LEDGER_TEST_TIMES'

/** The outcome of one file. */
export interface FileOutcome {
  readonly passed: boolean
  readonly seconds: number
}

export interface RunOptions {
  /** True runs each file in a process of its own, so that `processorSeconds` is the file's own. */
  readonly alone?: boolean
}

export interface TestOutcome {
  readonly passed: boolean
  /** The outcomes by path from the project's root. */
  readonly files: ReadonlyMap<string, FileOutcome>
  /** Processor seconds by a path of each process: of its file, or of the first file of its batch. Empty if the system does not tell. */
  readonly processorSeconds: ReadonlyMap<string, number>
  /** The runner's closing counts, `# tests 12` and so on, to print last. */
  readonly closing: readonly string[]
}

/** Runs these files, and prints each result as it comes. Counts as failed if a test fails, or if there was none. */
export async function runNodeTests(
  paths: readonly string[],
  signal: AbortSignal,
  { alone = false }: RunOptions = {},
): Promise<TestOutcome> {
  const files = slowFirst([...new Set(paths)])
  if (files.length === 0) {
    console.error('No test file matches.')
    return { passed: false, files: new Map(), processorSeconds: new Map(), closing: ['# tests 0'] }
  }
  process.env.NODE_COMPILE_CACHE ??= COMPILED
  const directory = mkdtempSync(join(tmpdir(), 'node-ledger-tests-'))
  process.env[TIMES_VARIABLE] = directory
  try {
    const batches = batchFiles(files, {
      root: ROOT,
      directory,
      alone: (file) => alone || isLong(file) || placeOfSlow(file) !== -1,
    })
    const outcome = await runBatches(batches, signal)
    return { ...outcome, processorSeconds: readTimes(directory, batches) }
  } finally {
    delete process.env[TIMES_VARIABLE]
    rmSync(directory, { recursive: true, force: true })
  }
}

function readTimes(directory: string, batches: readonly Batch[]): Map<string, number> {
  const times = readdirSync(directory)
    .filter((name) => name.endsWith('.time'))
    .map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as { entry: string; seconds: number })
  return new Map(
    batches.flatMap(({ entry, files: [first = entry] }) => {
      const own = times.filter((time) => time.entry === entry)
      return own.length === 0 ? [] : [[first, own.reduce((sum, { seconds }) => sum + seconds, 0)] as const]
    }),
  )
}

async function runBatches(
  batches: readonly Batch[],
  signal: AbortSignal,
): Promise<Omit<TestOutcome, 'processorSeconds'>> {
  const events = run({
    files: batches.map(({ entry }) => entry),
    cwd: ROOT,
    concurrency: availableParallelism() * PROCESSES_PER_CORE,
    timeout: TEST_TIMEOUT_MS,
    signal,
    execArgv: TEST_PROCESS,
  })
  const { shown, summary } = takeSummary(events, batches)
  for await (const text of shown.compose(new spec())) process.stdout.write(text as string)
  const done = outcomes(summary, batches)
  if (signal.aborted) return { passed: false, files: done, closing: ['# interrupted'] }
  if (summary.count === 0) console.error('No test ran.')
  const passed = summary.success && summary.count > 0
  return { passed, files: done, closing: [...failures(summary), ...slowest(done), ...summary.closing] }
}

const placeOfSlow = (file: string) => SLOW_FIRST.findIndex((slow) => file.startsWith(slow))

function slowFirst(files: readonly string[]): string[] {
  const rank = (file: string) => (placeOfSlow(file) === -1 ? SLOW_FIRST.length : placeOfSlow(file))
  return [...files].sort((a, b) => rank(a) - rank(b))
}

function slowest(files: ReadonlyMap<string, FileOutcome>): string[] {
  const rows = [...files].sort(([, a], [, b]) => b.seconds - a.seconds).slice(0, SLOWEST_SHOWN)
  if (rows.length < 2) return []
  return ['Slowest files, seconds:', ...rows.map(([file, { seconds }]) => `${seconds.toFixed(1).padStart(7)}  ${file}`)]
}

/** Each failed test with its file, its suites and its name. The suites are needed, because a test's name continues the sentence of its suite. */
function failures({ failed }: Summary): string[] {
  return failed.length === 0 ? [] : ['Failed:', ...failed.map((path) => `  ${path}`)]
}

interface Summary {
  success: boolean
  count: number
  readonly failed: string[]
  /** The outcome by entry file of a batch, or by name of a top-level suite, which is a file of a batch. */
  readonly parts: Map<string, FileOutcome>
  /** Entry files whose process failed as a whole, in a hook or at its exit. Their own counts do not show that. */
  readonly broken: Set<string>
  readonly closing: string[]
}

/** Holds back the closing counts, which the reporter would print before the failures. `summary` is complete at the end. */
function takeSummary(
  events: AsyncIterable<TestEvent>,
  batches: readonly Batch[],
): { shown: Readable; summary: Summary } {
  const summary: Summary = { success: false, count: 0, failed: [], parts: new Map(), broken: new Set(), closing: [] }
  const entries = new Set(batches.map(({ entry }) => entry))
  const path: string[] = []
  async function* withoutCounts(): AsyncGenerator<TestEvent> {
    for await (const event of events) {
      if (event.type === 'test:summary') takeCounts(summary, event.data)
      if (event.type === 'test:start') path.splice(event.data.nesting, Infinity, event.data.name)
      if (event.type === 'test:fail' && event.data.details.type !== 'suite')
        summary.failed.push([...path.slice(0, event.data.nesting), event.data.name].join(' > '))
      if (isOfTop(event)) takePart(summary, event, entries)
      if (event.type === 'test:diagnostic' && event.data.nesting === 0 && event.data.file === undefined) {
        summary.closing.push(`# ${event.data.message}`)
      } else {
        yield event
      }
    }
  }
  return { shown: Readable.from(withoutCounts()), summary }
}

type EndEvent = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>

const isOfTop = (event: TestEvent): event is EndEvent =>
  (event.type === 'test:pass' || event.type === 'test:fail') && event.data.nesting === 0

/** Records the outcome of a file. If the file fails as a whole, the failure has the file's name, and may come after its counts. */
function takePart(summary: Summary, { type, data }: EndEvent, entries: ReadonlySet<string>): void {
  const passed = type === 'test:pass'
  if (entries.has(data.name)) {
    if (!passed) summary.broken.add(data.name)
  } else {
    summary.parts.set(data.name, { passed, seconds: data.details.duration_ms / 1000 })
  }
}

/** The outcome of each file that ran. If the process of a batch failed as a whole, none of its files passed. */
function outcomes({ parts, broken }: Summary, batches: readonly Batch[]): Map<string, FileOutcome> {
  const found = batches.flatMap(({ entry, files }) => {
    return files.flatMap((file) => {
      const part = parts.get(file) ?? parts.get(entry)
      return part ? [[file, { ...part, passed: part.passed && !broken.has(entry) }] as const] : []
    })
  })
  return new Map(found)
}

type SummaryEvent = Extract<TestEvent, { type: 'test:summary' }>['data']

/** Records counts. A summary that names a file covers only that process; the summary without a file covers all. */
function takeCounts(summary: Summary, { file, duration_ms, success, counts }: SummaryEvent): void {
  if (file !== undefined) {
    summary.parts.set(file, { passed: success, seconds: duration_ms / 1000 })
    return
  }
  summary.success = success
  summary.count = counts.tests
}
