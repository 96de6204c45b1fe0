// Starts the programs that the service runs beside itself, so that none outlives it. If the service dies, the kernel
// signals the child (setpriv --pdeathsig), or a watcher at the other end of a pipe does. Children get their own
// session, because a terminal's Ctrl-C must reach only the service, which then stops them in order.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { within } from '../../src/lib/deadline.ts'

/** How many of the child's last lines an error about it may quote. */
const TAIL_LINES_MAX = 20
/** How long the last lines of an ended child may take to arrive. */
const LAST_LINES_WAIT_MS = 100
/** A probe runs `true`. If it takes longer than this, it does not work here. */
const PROBE_TIMEOUT_MS = 5000

/** The way a child is tied to the life of this process. */
export type Guard = 'pdeathsig' | 'watcher'

export interface ChildOptions {
  readonly command: string
  readonly args: readonly string[]
  /** Placed before the command, for example to run it as another user. The prefix must exec, not fork. */
  readonly prefix?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
  readonly gid?: number
  /** Sent to the child if this process dies without having stopped it. */
  readonly deathSignal: 'SIGINT' | 'SIGTERM'
  /** Called with each line the child prints. */
  readonly onLine?: (line: string) => void
  /** The way to use. Default: the stronger of the two that work here. */
  readonly guard?: Guard
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Child {
  readonly pid: number
  /** Settles when the child is gone, whatever the cause. */
  readonly exited: Promise<Exit>
  /** True until the child is gone. */
  running(): boolean
  /** The child's last printed lines, for an error message. */
  tail(): string
  /** Sends the child a signal; does nothing if it is gone. */
  kill(signal: NodeJS.Signals): void
  /** Sends each signal in turn until the child is gone. Resolves with how it ended; throws if no signal ended it. */
  end(steps: readonly { readonly signal: NodeJS.Signals; readonly waitMs: number }[]): Promise<Exit>
  /** Lets this process exit while the child runs (the guard then ends the child). */
  unref(): void
}

/** Starts a child tied to this process's life. Throws if the program cannot be run at all. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const guard = options.guard ?? (canSetDeathSignal() ? 'pdeathsig' : 'watcher')
  const command = [...(options.prefix ?? []), options.command, ...options.args]
  const argv = guard === 'pdeathsig' ? withDeathSignal(command, options) : command
  const [file = '', ...args] = argv
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    // biome-ignore lint/style/noProcessEnv: the child inherits the environment; nothing is read from it here.
    env: { ...process.env, ...options.env },
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  })
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      // The child's last lines may still be in the pipe, but a grandchild may hold that pipe open for good.
      const done = () => resolve({ code, signal })
      child.once('close', done)
      setTimeout(done, LAST_LINES_WAIT_MS)
    })
  })
  const tail = collectLines(child, options.onLine)
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('spawn', () => resolve(child.pid ?? 0))
  })
  if (guard === 'watcher') watch(pid, options.deathSignal, exited)
  return {
    pid,
    exited,
    running: () => child.exitCode === null && child.signalCode === null,
    tail: () => tail.join('\n'),
    kill: (signal) => void child.kill(signal),
    end: async (steps) => {
      for (const { signal, waitMs } of steps) {
        child.kill(signal)
        const exit = await within(waitMs, exited, () => null)
        if (exit !== null) return exit
      }
      throw new Error(`Process ${pid} (${options.command}) does not end, not even by ${steps.at(-1)?.signal}.`)
    },
    unref: () => {
      child.unref()
      for (const stream of [child.stdout, child.stderr]) (stream as Socket | null)?.unref()
    },
  }
}

let deathSignalWorks: boolean | undefined

/** True if the kernel signals a child when its parent dies, and there is a program that requests it. */
export function canSetDeathSignal(): boolean {
  deathSignalWorks ??= succeeds('setpriv', ['--pdeathsig', 'SIGTERM', '--', 'true'])
  return deathSignalWorks
}

/** True if the command runs here and reports success. Discards its output. */
export function succeeds(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore', timeout: PROBE_TIMEOUT_MS }).status === 0
}

/**
 * Makes setpriv ask the kernel for the signal. setpriv comes after `prefix`, because a change of user would cancel the
 * request. If this process dies before the request is made, the child has a different parent from the given one, and
 * does not start.
 */
function withDeathSignal(command: readonly string[], options: ChildOptions): string[] {
  const prefix = command.slice(0, options.prefix?.length ?? 0)
  const program = command.slice(prefix.length)
  const check = '[ "$PPID" = "$0" ] || exit 1; exec "$@"'
  return [
    ...prefix,
    ...['setpriv', '--pdeathsig', options.deathSignal, '--'],
    ...['/bin/sh', '-c', check, String(process.pid)],
    ...program,
  ]
}

/**
 * For a system whose kernel cannot do this: starts a shell that waits on a pipe held by this process. The pipe closes
 * when the process dies, whatever the cause. The shell then sends the signal, and SIGKILL 30 s later.
 */
function watch(pid: number, deathSignal: NodeJS.Signals, exited: Promise<Exit>): void {
  const script = `read -r _
    kill -s ${deathSignal.slice(3)} "$1" 2>/dev/null
    n=0
    while [ $n -lt 30 ] && kill -0 "$1" 2>/dev/null; do sleep 1; n=$((n + 1)); done
    kill -s KILL "$1" 2>/dev/null`
  const watcher = spawn('/bin/sh', ['-c', script, 'watcher', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.unref()
  watcher.on('error', () => {
    // If there is no shell, nothing watches. The next start then stops whatever is left.
  })
  // The watcher is killed before the child's pid can be reused, so that it never signals another process.
  exited.then(() => watcher.kill('SIGKILL'))
}

function collectLines(child: ChildProcess, onLine: ((line: string) => void) | undefined): string[] {
  const tail: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', (line) => {
      tail.push(line)
      if (tail.length > TAIL_LINES_MAX) tail.shift()
      onLine?.(line)
    })
  }
  return tail
}
