// The parts of its process that a command is given, so that tests can hand it their own; and who runs it.
import { userInfo } from 'node:os'
import type { Readable, Writable } from 'node:stream'

export interface Io {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Writable & { isTTY?: boolean }
  readonly stderr: Writable
}

/** The user's name, for the audit log and for keys that are made for them; empty where there is none: a container may run under a number alone. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return ''
  }
}
