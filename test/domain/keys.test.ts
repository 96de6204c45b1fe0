// Keys that the rules combine from numbers: a difference in one number makes another key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { innerRef, residueRef, turnDigest } from '../../src/chain/digest.ts'
import type { FactoryEvent } from '../../src/domain/observed.ts'
import { replay } from '../../src/domain/replay.ts'
import { firstBlocksOfTurns } from '../../src/domain/rounds/due-turns.ts'
import { address, hash } from '../../src/domain/units.ts'

const COUNT = 25
const numbers = Array.from({ length: COUNT }, (_, i) => i + 1)
const word = (n: number) => hash(`0x${n.toString(16).padStart(64, '0')}`)

test('each cohort has its own state after each block in which it changed', () => {
  const at = (blockNumber: number, logIndex: number) => ({
    blockNumber,
    blockHash: word(blockNumber),
    blockTime: blockNumber,
    txHash: word(blockNumber),
    txIndex: 0,
    logIndex,
  })
  const opened = numbers.map((cohort) => ({
    ...at(0, cohort),
    kind: 'cohortOpened',
    cohort,
    tierNo: 1,
    firstDue: 9,
    intervalSec: 9,
  }))
  const changed = numbers.flatMap((block) =>
    numbers.map((cohort) => ({ ...at(block, cohort), kind: 'intervalSet', cohort, intervalSec: 100 * cohort + block })),
  )
  const { cohortStates } = replay(new Map(), [...opened, ...changed] as FactoryEvent[])
  const states = [...cohortStates.values()].filter(({ blockNumber }) => blockNumber > 0)
  assert.deepEqual(
    new Set(
      states.map(
        ({ blockNumber, state }) => `${state.cohort} ${state.intervalSec - 100 * state.cohort} ${blockNumber}`,
      ),
    ),
    new Set(numbers.flatMap((block) => numbers.map((cohort) => `${cohort} ${block} ${block}`))),
  )
})

test('cohorts of other intervals or phases have other turns, even if their digits run together', () => {
  const times = Array.from({ length: 400 }, (_, i) => i)
  for (let intervalSec = 11; intervalSec < 40; intervalSec++)
    for (let phase = 10; phase < intervalSec; phase++) {
      // Concatenated, the two have the same digits.
      const other = { intervalSec: 10 * intervalSec + Math.floor(phase / 10), nextDue: phase % 10 }
      const one = { intervalSec, nextDue: phase }
      const alone = [one, other].flatMap((cohort) => firstBlocksOfTurns(times, -1, [cohort]))
      assert.deepEqual(
        firstBlocksOfTurns(times, -1, [other, one]),
        [...new Set(alone)].sort((a, b) => a - b),
        JSON.stringify([one, other]),
      )
    }
})

test('no two draws, inner transfers or residues share a key', () => {
  const wallets = [1, 17].map((n) => address(`0x${n.toString(16).padStart(40, '0')}`))
  const draws = numbers.flatMap((cohort) => numbers.map((due) => turnDigest(word(1), cohort, due)))
  const inner = numbers.flatMap((tx) =>
    wallets.flatMap((wallet) => numbers.map((index) => innerRef(word(tx), wallet, index))),
  )
  const residues = wallets.flatMap((wallet) =>
    [1, 17].flatMap((chainId) =>
      numbers.flatMap((block) => [-1n, 1n, 17n].map((wei) => residueRef(chainId, wallet, word(block), wei))),
    ),
  )
  for (const names of [draws, inner, residues]) assert.equal(new Set<unknown>(names).size, names.length)
})
