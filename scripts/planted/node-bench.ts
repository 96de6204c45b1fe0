// Runs Node test files in copies of the project, for bugs in its TypeScript and its migrations.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { SERVER_VARIABLE } from '../../test/support/postgres.ts'
import { signalGroup } from '../../test/support/process-group.ts'
import { copyProject } from '../copy-project.ts'
import type { Bench } from './run.ts'

/**
 * The time limit of a test file, in milliseconds. If a bug makes the tests hang, that counts as noticed. It is generous: the slowest file takes two
 * minutes on an idle machine.
 */
const FILE_MS = 900_000
/** How many bugs we plant at once: this many for each core, up to a maximum. A test waits for its chain and its database half of its time. */
const PER_CORE = 2
const AT_ONCE_MAX = 4

/** Creates the copies. The bench needs a test server; an abort of `signal` ends its tests. */
export function nodeBench(signal: AbortSignal): Bench {
  return {
    copies: Array.from({ length: Math.min(AT_ONCE_MAX, availableParallelism() * PER_CORE) }, copyProject),
    run: (copy, test, bug) => {
      // A changed migration needs a server that creates its own template.
      const ownServer = bug?.edits.some(({ file }) => file.startsWith('migrations/')) ?? false
      return runTests(copy, test, signal, { ownServer })
    },
  }
}

/** Runs a test file of the copy up to the first failure; returns the failure, or null if all passed. Too late is a failure. */
export async function runTests(
  copy: string,
  file: string,
  signal: AbortSignal,
  { ownServer = false, limitMs = FILE_MS }: { ownServer?: boolean; limitMs?: number } = {},
): Promise<string | null> {
  // This many seeds of the simulation are enough to notice.
  const env: NodeJS.ProcessEnv = { NL_SIM_SEEDS: '100', ...process.env }
  // A changed migration needs a server that creates its own template.
  if (ownServer) delete env[SERVER_VARIABLE]
  const args = ['--test', '--test-force-exit', '--test-reporter=tap', file]
  // Runs in its own process group, which is killed as a whole, so that a service started by a test never stays behind.
  const child = spawn(process.execPath, args, { cwd: copy, env, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  const endAll = () => signalGroup(child.pid, 'SIGKILL')
  signal.addEventListener('abort', endAll, { once: true })
  let output = ''
  let failed: string | null = null
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    failed ??= /^not ok \d+ - (.*)\n/m.exec(output)?.[1] ?? null
    // Ends at the first failure. The tests' chains and databases end with their process.
    if (failed !== null) child.kill('SIGTERM')
  })
  const late = setTimeout(endAll, limitMs)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  clearTimeout(late)
  signal.removeEventListener('abort', endAll)
  endAll()
  return code === 0 ? null : (failed ?? `${file} ended with ${code ?? 'no answer in time'}`)
}
