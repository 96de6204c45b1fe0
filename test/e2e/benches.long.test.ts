// Checks that the benches still run: those that need only the repository and little time, in their shortest form. Their figures then mean nothing.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const RUN = fileURLToPath(new URL('../../bench/run.ts', import.meta.url))
const BENCHES = ['start', 'round', 'latency', 'sale', 'contracts', 'lists', 'follow', 'load', 'hostile']
/** Only ends a run that hangs. */
const TIMEOUT_MS = 600_000

test(`the benches ${BENCHES.join(', ')} run, and each ends with its table`, { timeout: TIMEOUT_MS }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, ...BENCHES, '--quick'])
  for (const name of BENCHES) {
    const section = stdout.split(new RegExp(`^${name}: `, 'm'))[1] ?? assert.fail(`${name} did not run:\n${stdout}`)
    assert.match(section, /^\| +\| ours +\|/m)
    assert.doesNotMatch(section.split('\n\n')[1] ?? '', /not measured/)
  }
})
