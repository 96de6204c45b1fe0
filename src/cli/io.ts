// The parts of its process that a command is given, so that tests can hand it their own.
import type { Readable, Writable } from 'node:stream'

export interface Io {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Writable & { isTTY?: boolean }
  readonly stderr: Writable
}
