// The command `node-ledger dev`: the service for its developers. Runs `start` in a process of its own, shows its log as readable lines, and restarts
// it when a file changes. It must never run a real service.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, watch } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { RefusedError } from '../errors.ts'
import { readableLine } from '../log-line.ts'

const MAIN = fileURLToPath(new URL('../../main.ts', import.meta.url))
const WATCHED = ['../../', '../../../migrations/'].map((path) => fileURLToPath(new URL(path, import.meta.url)))
/** An editor saves in several steps. */
const SETTLE_MS = 200

/** Runs the command until Ctrl-C. */
export async function dev({ io, out }: Call): Promise<ExitCode> {
  const { NODE_ENV } = io.env
  if (NODE_ENV === 'production')
    throw new RefusedError('dev is for working on Node Ledger: with NODE_ENV=production use "start".')
  if (!existsSync(MAIN)) throw new RefusedError('dev needs a checkout: a published package has nothing to change.')
  let child: ChildProcess | null = null
  let again = false
  let stopping = false
  const stopped = Promise.withResolvers<ExitCode>()
  const run = () => {
    again = false
    const started = spawn(process.execPath, [MAIN, 'start'], {
      env: { ...io.env, NODE_LEDGER_LAUNCHER_PID: String(process.pid) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child = started
    createInterface({ input: started.stdout }).on('line', (line) => io.stdout.write(`${readableLine(line)}\n`))
    started.once('exit', (code) => {
      child = null
      if (stopping) stopped.resolve(EXIT.done)
      else if (again) run()
      else out.say(`The service ended with exit code ${code}; it starts again when a file changes.`)
    })
  }
  const change = debounced(() => {
    out.say('A file changed: starting again.')
    again = true
    if (child) child.kill('SIGTERM')
    else run()
  })
  const watchers = WATCHED.map((path) =>
    watch(path, { recursive: true }, (_kind, name) => /\.(ts|sql)$/.test(name ?? '') && change()),
  )
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      stopping = true
      // On a terminal the service got the same Ctrl-C; a second signal does no harm.
      if (child) child.kill('SIGTERM')
      else stopped.resolve(EXIT.done)
    })
  }
  run()
  const code = await stopped.promise
  for (const watcher of watchers) watcher.close()
  return code
}

function debounced(act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    clearTimeout(timer)
    timer = setTimeout(act, SETTLE_MS)
  }
}
