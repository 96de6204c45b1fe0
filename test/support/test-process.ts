// The runner (scripts/tests/run.ts) loads this into every test process, before its test file.

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
