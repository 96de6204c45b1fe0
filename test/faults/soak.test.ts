// A short era of everything at once. The long ones are run by scripts/soak.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noCounts, report, runEra } from './soak.ts'

test('payments, rounds, withdrawals and reorganisations while providers lie and everything is killed: nothing is lost or doubled', async (t) => {
  const counts = noCounts()
  await runEra({ seed: 9, checks: 1, cyclesPerCheck: 5, counts, say: (line) => t.diagnostic(line) })
  for (const line of report(counts)) t.diagnostic(line)
  assert.ok(counts.payments >= 20 && counts.faults.size >= 8)
})
