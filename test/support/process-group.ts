// Process groups: a process spawned with `detached` leads one, and all its children belong to it.

/** Sends a signal to every process in the group that `leader` leads. Does nothing if none is left, or none was started. */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return
  try {
    process.kill(-leader, signal)
  } catch {
    // No process of the group is left.
  }
}
