// The router: what it remembers of targets says the same as what it would read of them again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRouter, oncePerTarget } from '../../../src/http/edge/router.ts'
import type { Call, Route } from '../../../src/http/route.ts'

const PARAM_MAX = 16 * 1024
const routes = ['/a', '/a/:id', '/b/:address/c'].map((path) => ({ path }) as Route)
const plain = (found: unknown) => JSON.parse(JSON.stringify(found)) as unknown

/** Targets that differ in little. */
const TARGETS = [
  ...[
    '/a',
    '/a?limit=5',
    '/a?limit=6',
    '/a?limit=5&limit=6',
    '/a?',
    '/a/',
    '/a/1',
    '/a/1?limit=5',
    '/a/2',
    '/a/%31',
    '/A',
  ],
  ...['/b/1/c', '/b/1/c?limit=5', '/b/1', '/%', '/a/%zz', '', 'a', 'http://host/a', '*', `/a/${'1'.repeat(200)}`],
]

test('a target that was asked for before names what it would name at first, also once more were asked for than are remembered', () => {
  const router = createRouter(routes, PARAM_MAX)
  const ask = (target: string) =>
    assert.deepEqual(plain(router.find(target)), plain(createRouter(routes, PARAM_MAX).find(target)), target)
  for (const target of [...TARGETS, ...TARGETS]) ask(target)
  for (let id = 0; id < 5_000; id++) router.find(`/a/${id}?limit=${id}`)
  for (const target of ['/a/4999?limit=4999', '/a/0?limit=0', ...TARGETS]) ask(target)
})

test('no request can change what another one for the same target reads', () => {
  const router = createRouter(routes, PARAM_MAX)
  const found = router.find('/a/1?limit=5')
  assert.ok(typeof found === 'object')
  assert.throws(() => Object.assign(found.target.params, { id: '2' }), TypeError)
  assert.throws(() => Object.assign(found.target.query, { offset: '2' }), TypeError)
})

test('a target is parsed once while it is remembered, and no other one has what was made of it', () => {
  const router = createRouter(routes, PARAM_MAX)
  let parsed = 0
  const read = oncePerTarget(({ params, query }) => ({ asked: `${params.id} ${query.limit}`, nth: ++parsed }))
  const ask = (target: string) => {
    const found = router.find(target)
    return read({ target: typeof found === 'string' ? assert.fail(target) : found.target } as Call)
  }
  assert.deepEqual(
    ['/a/1', '/a/1?limit=5', '/a/2'].map(ask).map(({ asked }) => asked),
    ['1 undefined', '1 5', '2 undefined'],
  )
  assert.deepEqual(ask('/a/1'), { asked: '1 undefined', nth: 1 })
  assert.equal(parsed, 3)
})
