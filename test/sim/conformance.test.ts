// The simulation depends on the model chain, so this compares it with a real EVM and the real contract. The same seeds draw the
// same histories, and everything the service could see of them must be equal. Each block of either must match its hash.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestChain } from '../support/anvil.ts'
import { playHistory } from './history.ts'
import { difference } from './model/difference.ts'
import { soundBlocks } from './model/recompute.ts'
import { SLOTS_IN_EPOCH } from './model/rpc.ts'
import { startModelChain } from './model/test-chain.ts'

const SEEDS = Array.from({ length: Number(process.env.NL_CONFORMANCE_SEEDS ?? 2) }, (_, i) => i + 1)
const BLOCKS = 20

for (const seed of SEEDS) {
  test(`history ${seed} looks the same on the model as on a real chain`, async () => {
    const real = await startTestChain({ slotsInEpoch: SLOTS_IN_EPOCH })
    try {
      const expected = await playHistory(real, seed, BLOCKS)
      const model = startModelChain()
      const seen = await playHistory(model, seed, BLOCKS)
      assert.equal(difference(expected, seen), null)
      for (const chain of [real, model]) await soundBlocks(chain)
    } finally {
      await real.stop()
    }
  })
}
