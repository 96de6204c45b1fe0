// Starts processes for a bench. Each prints `listening <port>` once it serves, and stops with the bench.
import { type ChildProcess, spawn } from 'node:child_process'

/** How long a start may take on a busy machine. */
const START_MS = 30_000

export interface Served {
  origin: string
  stop(): Promise<void>
}

/** Starts a script of bench/servers and waits until it listens. Throws with its output if it does not. */
export async function serve(script: string, args: readonly string[]): Promise<Served & { pid: number }> {
  const path = new URL(`../servers/${script}`, import.meta.url).pathname
  const { said, ...server } = await startServer([path, ...args], /listening (\d+)/)
  return { origin: `http://127.0.0.1:${said}`, ...server }
}

/** The heap settings with which the image and bin/node-ledger.mjs start the service. A peer gets its own authors' settings. */
export const HEAP = ['--max-semi-space-size=4', '--max-old-space-size=512']
export const OUTSIDE_HEAP = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' }

/** Starts servers/api.ts on a ledger, with the service's memory settings, and waits until it listens. Throws with its output if it does not. */
export async function serveApi(databaseUrl: string, kind: 'plain' | 'memoised'): Promise<Served> {
  const path = new URL('../servers/api.ts', import.meta.url).pathname
  const env = { ...process.env, ...OUTSIDE_HEAP }
  const { said, ...server } = await startServer([...HEAP, path, databaseUrl, kind], /listening (\d+)/, { env })
  return { origin: `http://127.0.0.1:${said}`, ...server }
}

/** Starts a script with this Node and waits until the pattern's first group is in its output. Throws with its output otherwise. */
export async function startServer(
  args: readonly string[],
  pattern: RegExp,
  { waitMs, ...options }: { cwd?: string; env?: NodeJS.ProcessEnv; waitMs?: number } = {},
): Promise<{ said: string; pid: number; stop(): Promise<void> }> {
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const killIt = () => child.kill('SIGKILL')
  process.once('exit', killIt)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  ended.then(() => process.off('exit', killIt))
  return {
    said: await firstMatch(child, pattern, waitMs),
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** The pattern's first group in the output of the process. If it never appears, kills the process and throws. */
export async function firstMatch(child: ChildProcess, pattern: RegExp, waitMs = START_MS): Promise<string> {
  let output = ''
  return await new Promise((resolve, reject) => {
    const fail = (why: string) => {
      child.kill('SIGKILL')
      reject(new Error(`${why}:\n${output}`))
    }
    const late = setTimeout(() => fail(`no ${pattern} in ${waitMs} ms`), waitMs)
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const found = pattern.exec(output)?.[1]
      if (found === undefined) return
      clearTimeout(late)
      resolve(found)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('exit', () => {
      clearTimeout(late)
      reject(new Error(`it ended:\n${output}`))
    })
  })
}
