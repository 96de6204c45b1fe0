// Loaded into every test process by the runner (scripts/tests/run.ts), before its test file.

/** Interval between two looks at the runner. */
const POLL_MS = 500

// A test process whose runner was killed ends at once, and with it the chain and whatever else it started.
const runner = process.ppid
setInterval(() => {
  if (process.ppid !== runner) process.exit(1)
}, POLL_MS).unref()

// Results go to the runner through a pipe, and --test-force-exit does not wait until it has taken them: of a file with
// many quick tests the last ones were never reported (https://github.com/nodejs/node/issues/64833). So writing waits.
const { _handle: pipe } = process.stdout as { _handle?: { setBlocking?(blocking: boolean): void } }
pipe?.setBlocking?.(true)
