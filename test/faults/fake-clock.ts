// A clock for the service's process that a test can move while it runs: libfaketime, which Debian has as `faketime`.
// Monotonic time (timers, budgets) continues, as on a machine whose clock someone sets.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../support/temporary.ts'

const LIBRARIES = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map(
  (machine) => `/usr/lib/${machine}/faketime/libfaketimeMT.so.1`,
)
const library = LIBRARIES.find((path) => existsSync(path))

/** Why we cannot move a clock here, for `skip`; false if we can. */
export const noFakeClock = library === undefined && 'libfaketime is not installed (Debian: apt-get install faketime)'

export interface FakeClock {
  /** The environment that starts the process under the clock. */
  env: Record<string, string>
  /** The process sees the true time and so many seconds more from now on. */
  shift(seconds: number): void
  /** The process sees this very second from now on. */
  freeze(): void
}

/** A clock that is right until moved. */
export function createFakeClock(): FakeClock {
  const file = join(temporaryDirectory(), 'clock')
  const say = (text: string) => writeFileSync(file, `${text}\n`)
  const shift = (seconds: number) => say(`${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}`)
  shift(0)
  return {
    env: {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      // Otherwise it reads the file once in ten seconds, and timers stall with the clock.
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      TZ: 'UTC',
    },
    shift,
    freeze: () => say(new Date().toISOString().slice(0, 19).replace('T', ' ')),
  }
}
