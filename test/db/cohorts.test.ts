// The states of cohorts that we keep for a rewind, and the seeds of payable turns.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pruneCohortStates, readCohorts, rewindCohorts, writeCohorts } from '../../src/db/nodes/cohorts.ts'
import { forgetSeedBlocks, readSeedBlock } from '../../src/db/nodes/seed-blocks.ts'
import type { LedgerCohort } from '../../src/domain/replay.ts'
import { hash, wei } from '../../src/domain/units.ts'
import { openDatabase } from '../support/postgres.ts'

const openedHash = hash(`0x${'0'.repeat(64)}`)

test('when old states are forgotten, every block above can still be gone back to', async () => {
  await using database = await openDatabase()
  const { pool } = database
  const at = (size: number): LedgerCohort => ({
    cohort: 1,
    tierNo: 1,
    intervalSec: 100,
    nextDue: 1_000,
    size,
    perNodeWei: wei(0n),
    turnCount: 0,
    lastTurnAt: null,
    openedBlock: 5,
    openedHash,
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
})

test('seeds are kept for unpaid turns, also after a rewind to any block, and forgotten in parts', async () => {
  await using database = await openDatabase()
  const { pool } = database
  const at = (cohort: number, nextDue: number, size = 1): LedgerCohort => ({
    cohort,
    tierNo: 1,
    intervalSec: 100,
    nextDue,
    size,
    perNodeWei: wei(0n),
    turnCount: 0,
    lastTurnAt: null,
    openedBlock: 5,
    openedHash,
  })
  const states = [
    { blockNumber: 10, state: at(1, 1_900) },
    { blockNumber: 20, state: at(1, 2_500) },
    { blockNumber: 10, state: at(2, 2_000) },
    { blockNumber: 10, state: at(3, 100, 0) },
  ]
  await writeCohorts(pool, [at(1, 2_500), at(2, 2_000), at(3, 100, 0)], states)
  await pool`INSERT INTO seed_blocks (number, time, parent_time, seed, proof) SELECT n, n, n - 1, ${openedHash}, 'proven' FROM generate_series(1, 3000) n`
  const oldest = async () => {
    await forgetSeedBlocks(pool)
    return (await pool<{ time: number }[]>`SELECT min(time) AS time FROM seed_blocks`)[0]?.time
  }
  assert.deepEqual([await oldest(), await oldest(), await oldest()], [1_001, 1_900, 1_900])
  assert.equal((await readSeedBlock(pool, 1_900))?.seedBlock, 1_900)
  assert.equal(await readSeedBlock(pool, 1_899), null)
  await pruneCohortStates(pool, 25)
  assert.equal(await oldest(), 2_000)
  await pool`UPDATE cohorts SET size = 0`
  await pool`DELETE FROM cohort_states`
  assert.equal(await oldest(), 2_000)
})
