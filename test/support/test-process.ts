// The runner (scripts/tests/run.ts) loads this into every test process, before its test file.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readProcessorSeconds } from '../../scripts/tests/processor-time.ts'

/** How often we check that the runner is still there. */
const POLL_MS = 500

// If its runner was killed, a test process ends at once, with the chain and everything else it started.
const runner = process.ppid
setInterval(() => {
  if (process.ppid !== runner) process.exit(1)
}, POLL_MS).unref()

// Results reach the runner through a pipe, and --test-force-exit does not wait until they are read. So the last tests of a file with many quick ones
// were never reported (https://github.com/nodejs/node/issues/64833). We therefore make writes block.
const { _handle: pipe } = process.stdout as { _handle?: { setBlocking?(blocking: boolean): void } }
pipe?.setBlocking?.(true)

// What this file cost, with everything that it started and that has ended.
const { NODE_LEDGER_TEST_TIMES: times } = process.env
if (times)
  process.on('exit', () => {
    const seconds = readProcessorSeconds()
    if (seconds === null) return
    try {
      writeFileSync(join(times, `${process.pid}.time`), JSON.stringify({ entry: process.argv[1], seconds }))
    } catch {
      // The runner was interrupted, and its directory is gone.
    }
  })
