// The parts of the process that a command gets, so that tests can pass their own; and the user who runs it.
import { userInfo } from 'node:os'
import type { Readable, Writable } from 'node:stream'

export interface Io {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Writable & { isTTY?: boolean }
  readonly stderr: Writable
}

/** The user's name, for the audit log and their keys. Empty if there is none, because a container may run under a bare user id. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return ''
  }
}
