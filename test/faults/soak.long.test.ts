// Everything at once, until the figures below are reached: a short soak. scripts/soak.ts runs the long ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coverage, killsOf, missing, noCounts, report } from './counts.ts'
import { runEra } from './soak.ts'

const KILLS = 60
const POSTGRES_KILLS = 10
const PAYMENTS = 500
const REORGANISATIONS = 40
/** Share of all the proxy's faults and all named points that must really have happened. */
const HAPPENED = 0.95
const ERAS_MAX = 6
/** It takes as long as the machine needs; this only ends a run that hangs. */
const TIMEOUT_MS = 30 * 60_000

test(`${PAYMENTS} payments, ${REORGANISATIONS} reorgs, ${KILLS} kills of the service and ${POSTGRES_KILLS} of PostgreSQL, liars: no loss, no double`, {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const counts = noCounts()
  const enough = () =>
    counts.payments >= PAYMENTS &&
    counts.reorganisations >= REORGANISATIONS &&
    killsOf(counts) >= KILLS &&
    counts.postgresKills >= POSTGRES_KILLS &&
    coverage(counts) >= HAPPENED
  const say = (line: string) => t.diagnostic(line)
  for (let seed = 1; seed <= ERAS_MAX && !enough(); seed++)
    await runEra({
      seed,
      counts,
      cyclesPerCheck: 5,
      ratePercent: [20, 20],
      depth: 12,
      unguarded: seed % 3 === 0,
      lying: seed % 2 === 1,
      say,
      enough,
    })
  for (const line of report(counts)) t.diagnostic(line)
  assert.ok(enough(), `never happened: ${JSON.stringify(missing(counts))}`)
  assert.deepEqual([counts.losses, counts.duplicates], [0, 0])
})
