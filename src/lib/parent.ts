// Tells the service that its parent process is gone, so that the service stops and does not run on unnoticed. It only watches; the caller decides
// what to do.
import { codeOf } from './errors.ts'

/** Milliseconds between two checks. We notice within this time that the launcher was killed. */
const POLL_MS = 500

export interface ParentView {
  /** The launcher's process id, which it gave to this process; null if no launcher started it. */
  readonly launcherPid: number | null
  /** The id of the parent process: when this process started, and at present. */
  readonly parentAtStart: number
  readonly parentNow: number
  readonly launcherAlive: boolean
}

/**
 * `unwatched`: not started by a launcher of ours, so a person may have left this process running on purpose
 * (nohup, a supervisor). The launcher's id may also have been inherited from further up, for example if a test starts the service. That launcher is
 * alive, but is not our parent.
 */
export function judgeParent(view: ParentView): 'present' | 'gone' | 'unwatched' {
  if (view.launcherPid === null) return 'unwatched'
  if (view.parentNow === view.launcherPid) return 'present'
  if (view.parentAtStart === view.launcherPid) return 'gone'
  return view.launcherAlive ? 'unwatched' : 'gone'
}

const parentAtStart = process.ppid

/**
 * Calls `callback` once, when the launcher with this process id (NODE_LEDGER_LAUNCHER_PID) is gone. The launcher itself watches npm, its own parent.
 * Returns a function that ends the watch. The watch does not keep this process alive.
 */
export function onParentGone(launcherPid: number | null, callback: () => void): () => void {
  const timer = setInterval(() => {
    const state = judgeParent({
      launcherPid,
      parentAtStart,
      parentNow: process.ppid,
      launcherAlive: launcherPid !== null && exists(launcherPid),
    })
    if (state === 'present') return
    clearInterval(timer)
    if (state === 'gone') callback()
  }, POLL_MS).unref()
  return () => clearInterval(timer)
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
