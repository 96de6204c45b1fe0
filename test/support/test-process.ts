// Loaded into every test process by the runner (scripts/tests/run.ts), before its test file.

/** Interval between two checks of the runner. */
const POLL_MS = 500

// If its runner was killed, a test process ends at once, with the chain and everything else it started.
const runner = process.ppid
setInterval(() => {
  if (process.ppid !== runner) process.exit(1)
}, POLL_MS).unref()

// Results go to the runner through a pipe, and --test-force-exit does not wait until it has read them, so the last tests of a
// file with many quick ones were never reported (https://github.com/nodejs/node/issues/64833). So we make writes block.
const { _handle: pipe } = process.stdout as { _handle?: { setBlocking?(blocking: boolean): void } }
pipe?.setBlocking?.(true)
