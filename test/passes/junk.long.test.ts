// A hundred thousand transfers of dust, about a hundred dollars on a rollup. junk.test.ts plays the same with two thousand.
import { test } from 'node:test'
import { playFlood } from './junk-flood.ts'

test('100,000 dust transfers delay a buyer by two passes and cost 300 bytes each, at most', {
  timeout: 1_800_000,
}, async (t) => {
  const { following, passes, bytesEach } = await playFlood(100_000, 200)
  t.diagnostic(`${following} passes to follow, ${passes} more, ${bytesEach.toFixed(0)} bytes each`)
})
