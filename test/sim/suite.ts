// Runs of the simulation as tests: as many seeds as a file names, none of which may break. In a long run nearly
// everything that the simulation claims to draw must really have happened.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { neverMet, report, runSeeds } from './run.ts'
import type { Backend } from './stage.ts'

/** Seeds take as long as the machine needs; this only ends a run that hangs. */
const TIMEOUT_MS = 30 * 60_000

export interface Share {
  from: number
  count: number
  backend: Backend
  /** Least share of the classes (faults, failpoints, interruptions, acts, fates) that must have happened; few seeds promise none. */
  met?: number
}

/** A test of so many seeds. `NL_SIM_SEEDS` plays fewer of them, if you are working on something else. */
export function testSeeds({ from, count, backend, met = 0 }: Share): void {
  const wanted = Number(process.env.NL_SIM_SEEDS ?? count)
  const last = from + Math.min(count, wanted) - 1
  test(`seeds ${from} to ${last} on the ${backend} chain: all invariants hold`, { timeout: TIMEOUT_MS }, async (t) => {
    const failures: string[] = []
    const counts = await runSeeds({ from, count: last - from + 1, backend, say: (line) => failures.push(line) })
    for (const line of report(counts)) t.diagnostic(line)
    assert.deepEqual(failures, [])
    const { claimed, missing } = neverMet(counts.tally)
    const share = (claimed - missing.length) / claimed
    if (wanted >= count) assert.ok(share >= met, `of ${claimed} classes these never happened: ${missing.join(', ')}`)
  })
}
