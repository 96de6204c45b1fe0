// A year without rounds for 24 cohorts, three tiers in eight phases each: five transactions pay 8,760 turns, to the wei.
import { test } from 'node:test'
import { wei } from '../../src/domain/units.ts'
import { beginSlot, ETHER, enterTier, startWorld } from '../support/world.ts'
import { catchUpOnYear } from './year.ts'

const SILVER = ETHER / 50n
const PRICES = [ETHER / 100n, ETHER / 40n, SILVER]
const PHASES = 8

test('a year without rounds for 24 cohorts is caught up in five transactions, to the wei', {
  timeout: 900_000,
}, async () => {
  const world = await startWorld()
  try {
    await enterTier(world, { tierId: 'silver', tierNo: 4, priceWei: wei(SILVER), payoutBps: 12_345 })
    await world.settle()
    for (let phase = 0; phase < PHASES; phase++) {
      await beginSlot(world)
      for (const price of PRICES) await world.pay(5 + phase, price)
      await world.settle()
    }
    await catchUpOnYear(world, { cohorts: PRICES.length * PHASES, blocksPerTurn: 10, roundsMax: 5 })
  } finally {
    await world.close()
  }
})
