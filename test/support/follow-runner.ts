// Loaded into every test process by the runner: a test process whose runner was killed ends at once, and with it the
// chain and whatever else it started. Does nothing else.

/** How often the runner is looked at. */
const POLL_MS = 500

const runner = process.ppid
setInterval(() => {
  if (process.ppid !== runner) process.exit(1)
}, POLL_MS).unref()
