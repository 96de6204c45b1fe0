// Tells the service that its parent process is gone, so that it stops instead of running on unnoticed. It only watches; the caller decides what to
// do.
import { codeOf } from './errors.ts'

/** How often we check the parent. We notice a killed launcher within this time. */
const POLL_MS = 500

export interface ParentView {
  /** Process id that the launcher gave as its own; null if there is none. */
  readonly launcherPid: number | null
  /** Parent process id when this process started, and now. */
  readonly parentAtStart: number
  readonly parentNow: number
  readonly launcherAlive: boolean
}

/**
 * `unwatched` when no launcher of ours started this process: a person may leave it behind on purpose
 * (nohup, a supervisor). The launcher's id can also be inherited from further up, for example if a test starts the service. Then that process is
 * alive but is not our parent.
 */
export function judgeParent(view: ParentView): 'present' | 'gone' | 'unwatched' {
  if (view.launcherPid === null) return 'unwatched'
  if (view.parentNow === view.launcherPid) return 'present'
  if (view.parentAtStart === view.launcherPid) return 'gone'
  return view.launcherAlive ? 'unwatched' : 'gone'
}

const parentAtStart = process.ppid

/**
 * Calls `callback` once when the launcher with this process id (NODE_LEDGER_LAUNCHER_PID) is gone. The launcher in turn watches npm above it. Returns
 * a function that ends the watch. The watch does not keep the process alive.
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
