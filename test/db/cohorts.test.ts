// The states of cohorts that are kept for taking blocks back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pruneCohortStates, readCohorts, rewindCohorts, writeCohorts } from '../../src/db/cohorts.ts'
import { connect } from '../../src/db/sql.ts'
import type { LedgerCohort } from '../../src/domain/replay.ts'
import { hash, wei } from '../../src/domain/units.ts'
import { createDatabase } from '../support/postgres.ts'

const openedHash = hash(`0x${'0'.repeat(64)}`)

test('when old states are forgotten, every block above can still be gone back to', async () => {
  const database = await createDatabase()
  const pool = connect(database.url, { max: 1, prepare: true, applicationName: 'test' })
  try {
    const at = (size: number): LedgerCohort => ({
      ...{ cohort: 1, tierNo: 1, intervalSec: 100, nextDue: 1_000, size },
      ...{ perNodeWei: wei(0n), turnCount: 0, lastTurnAt: null, openedBlock: 5, openedHash },
    })
    const states = [10, 20, 30].map((blockNumber) => ({ blockNumber, state: at(blockNumber) }))
    await writeCohorts(pool, [at(30)], states)
    await pruneCohortStates(pool, 25)
    const kept = await pool<{ block: number }[]>`SELECT block_number AS block FROM cohort_states ORDER BY 1`
    assert.deepEqual(
      kept.map((row) => row.block),
      [20, 30],
    )
    await rewindCohorts(pool, 26)
    assert.equal((await readCohorts(pool))[0]?.size, 20)
  } finally {
    await pool.end({ timeout: 1 })
    await database.drop()
  }
})
