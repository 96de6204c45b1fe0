// Our own histogram is written as prom-client writes its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram as PromHistogram, Registry } from 'prom-client'
import { Histogram } from '../../src/metrics/histogram.ts'

const BOUNDS = [0.001, 0.5, 1, 10]
const VALUES = [0, 0.001, 0.0011, 0.4, 0.5, 0.75, 1, 1, 9.5, 10, 10.1, 1e6]

test('the same values make the same page, whatever the labels hold', async () => {
  const registry = new Registry()
  const theirs = new PromHistogram({
    name: 'seconds',
    help: 'How long.',
    labelNames: ['route', 'code'],
    buckets: BOUNDS,
    registers: [registry],
  })
  const ours = new Histogram('seconds', 'How long.', BOUNDS)
  for (const [index, labels] of [
    { route: '/a/:id', code: '200' },
    { route: '/"b"\\\n', code: '404' },
  ].entries()) {
    const observe = ours.series(labels)
    for (const value of VALUES.slice(index)) {
      observe(value)
      theirs.observe(labels, value)
    }
  }
  assert.equal(ours.render(), await registry.metrics())
})
