// A hundred thousand transfers of dust, about a hundred dollars on a rollup. junk.test.ts plays the same with two thousand.
import { test } from 'node:test'
import { playFlood } from './junk-flood.ts'

test('a hundred thousand transfers of dust, once followed, delay a buyer by two passes at most, and cost at most 300 bytes each', {
  timeout: 1_800_000,
}, async (t) => {
  const { following, passes, bytesEach } = await playFlood(100_000, 200)
  t.diagnostic(`${following} passes to follow, ${passes} more, ${bytesEach.toFixed(0)} bytes each`)
})
