// What a command is given of its process, so that tests can hand it their own.
import type { Readable, Writable } from 'node:stream'

export interface Io {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Writable
  readonly stderr: Writable
}
