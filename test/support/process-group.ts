// Process groups: what was spawned with `detached` leads one, in which all that it starts runs, too.

/** Sends a signal to every process of the group that `leader` leads. Does nothing where none is left, or none was begun. */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return
  try {
    process.kill(-leader, signal)
  } catch {
    // No process of it is left.
  }
}
