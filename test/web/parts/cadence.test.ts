// What the listed rounds tell of the next one, and what they paid a node of each tier.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextTurnOf, paidByTier } from '../../../web/src/cadence.ts'

const turn = (cohort: number, dueSec: number, { count = 1, tierId = 'basic', amountWei = 1n } = {}) => ({
  ...{ cohort, dueSec, count, tierId, amountWei },
  due: new Date(dueSec * 1000),
})
const round = (id: number, ...turns: ReturnType<typeof turn>[]) => ({ id, turns })

test('the next round is that of the cohort whose turn comes first', () => {
  const rounds = [round(3, turn(2, 1_030)), round(2, turn(1, 1_000)), round(1, turn(2, 930), turn(1, 900))]
  assert.deepEqual(nextTurnOf(rounds, 1_040_000), new Date(1_100_000))
})

test('a cohort that is held back does not hide the next turn of another', () => {
  const rounds = [round(3, turn(2, 1_130)), round(2, turn(2, 1_030)), round(1, turn(1, 1_000)), round(0, turn(1, 900))]
  assert.deepEqual(nextTurnOf(rounds, 1_180_000), new Date(1_230_000))
  assert.deepEqual(nextTurnOf(rounds.slice(2), 1_180_000), new Date(1_100_000), 'it is the only one')
})

test('several turns of one round count as several intervals', () => {
  const rounds = [round(2, turn(1, 1_300, { count: 2 })), round(1, turn(1, 1_000, { count: 3 }))]
  assert.deepEqual(nextTurnOf(rounds, 1_400_000), new Date(1_500_000))
})

test('nothing is foretold before a second turn, nor after rounds have ended', () => {
  assert.equal(nextTurnOf([], 0), null)
  assert.equal(nextTurnOf([round(1, turn(1, 1_000))], 1_000_000), null)
  const ended = [round(2, turn(1, 1_100)), round(1, turn(1, 1_000))]
  assert.deepEqual(nextTurnOf(ended, 1_299_000), new Date(1_200_000), 'late, not ended')
  assert.equal(nextTurnOf(ended, 1_300_000), null)
})

test('a tier shows its own turns, oldest first, one a round', () => {
  const rounds = [
    round(3, turn(1, 300, { amountWei: 7n }), turn(4, 290, { amountWei: 9n })),
    round(2, turn(2, 200, { tierId: 'plus' })),
    round(1, turn(1, 100, { amountWei: 5n })),
  ]
  const paid = (max: number) => paidByTier(rounds, 'basic', max).map(({ round: id, wei }) => [id, wei])
  assert.deepEqual(paid(12), [
    [1, 5n],
    [3, 7n],
  ])
  assert.deepEqual(paid(1), [[3, 7n]])
})
