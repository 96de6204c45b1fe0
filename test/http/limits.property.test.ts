// Counters and keys, against a slow reference implementation.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Limits } from '../../src/http/edge/limits.ts'
import type { Call } from '../../src/http/route.ts'
import { adminGuard, notFoundBelow } from '../../src/http/routes/admin/guard.ts'
import type { Tools } from '../../src/http/tools.ts'
import { cases } from '../support/property.ts'

test('every caller gets the answer of a plain count', () => {
  const ask = fc.record({
    bucket: fc.constantFrom(0, 1, 32_767),
    limit: fc.constantFrom(1, 3, 60),
    client: fc.constantFrom('0.0.0.0', '198.51.100.7', '255.255.255.255', '0:0:0:0', '2001:db8:0:1'),
    waitMs: fc.oneof({ weight: 20, arbitrary: fc.nat({ max: 500 }) }, fc.integer({ min: -90_000, max: 90_000 })),
  })
  fc.assert(
    fc.property(fc.array(ask, { maxLength: 200, size: 'max' }), (asks) => {
      let now = 1_800_000_000_000
      const limits = new Limits(() => now)
      let window = -1
      const counts = new Map<string, number>()
      for (const { bucket, limit, client, waitMs } of asks) {
        now += waitMs
        const seconds = Math.floor(now / 1000)
        if (Math.floor(seconds / 60) !== window) counts.clear()
        window = Math.floor(seconds / 60)
        const key = JSON.stringify([bucket, client])
        const before = counts.get(key) ?? 0
        assert.equal(limits.isSpent(bucket, limit, client), before >= limit)
        const count = before + 1
        counts.set(key, count)
        const reset = window * 60 + 60
        assert.deepEqual(limits.take(bucket, limit, client), {
          limit,
          remaining: Math.max(0, limit - count),
          reset,
          retryAfter: reset - seconds,
          exceeded: count > limit,
        })
      }
    }),
    { numRuns: cases(300) },
  )
})

test('once there is no room, old callers keep their counters, and new ones share, without loss', () => {
  const limits = new Limits(() => 0, 3_000)
  const client = (index: number) => `10.0.${index >> 8}.${index & 255}`
  for (const left of [9, 8]) for (let i = 0; i < 3_000; i++) assert.equal(limits.take(0, 10, client(i)).remaining, left)
  assert.equal(limits.size, 3_000)
  const newcomer = [1, 2, 3].map(() => limits.take(0, 2, '203.0.113.9'))
  assert.deepEqual(
    newcomer.map((state) => [state.remaining, state.exceeded]),
    [
      [1, false],
      [0, false],
      [0, true],
    ],
  )
  let shared = 0
  for (let i = 0; i < 160_000; i++) if (limits.take(0, 2, `2001:db8:0:${i.toString(16)}`).exceeded) shared++
  assert.ok(shared > 40_000 && shared < 140_000, `${shared}`)
  assert.ok(limits.size <= 3_000 + 65_536, `${limits.size} counters`)
})

const ALICE = { label: 'alice', key: 'alice-key-0123456789-0123456789' }
const BOB = { label: 'bob', key: 'bob-key-0123456789-0123456789-xy' }
const callOf = (keys: string[] | null, fields: { method?: string; origin?: string } = {}) =>
  ({
    method: fields.method ?? 'POST',
    raw: {
      headers: fields.origin === undefined ? {} : { origin: fields.origin },
      headersDistinct: keys === null ? {} : { 'x-admin-key': keys },
    },
  }) as unknown as Call
const toolsOf = (adminKeys: { label: string; key: string }[]) =>
  ({
    deps: { settings: { adminKeys } },
    ledgerKeys: { find: async () => null, hasAny: async () => false },
    isOwnOrigin: (origin?: string) => origin === undefined || origin === 'own',
  }) as unknown as Tools
const authorize = async (call: Call, adminKeys = [ALICE, BOB]) =>
  (await adminGuard(toolsOf(adminKeys), null).authorize(call, () => false))?.refused ?? null

test('the door opens to a key that was sent once, whole, and shows whose it is', async () => {
  const opened = async (keys: string[] | null) => {
    const call = callOf(keys)
    await authorize(call)
    return call.holder?.label ?? null
  }
  assert.equal(await opened([ALICE.key]), 'alice')
  assert.equal(await opened([BOB.key]), 'bob')
  for (const keys of [
    null,
    [],
    [''],
    [ALICE.key, ALICE.key],
    [`${ALICE.key} `],
    [ALICE.key.slice(1)],
    [ALICE.label],
    ['x'.repeat(10_000)],
  ])
    assert.equal(await opened(keys), null)
})

test('the door is absent without keys, and shut to strangers and acting pages of other origins', async () => {
  const { limitPerMinute, cache, cors } = adminGuard(toolsOf([ALICE, BOB]), null)
  assert.deepEqual([limitPerMinute, cache, cors], [null, 'private, no-store', false])
  assert.equal(await authorize(callOf(['']), []), 'unknownRoute')
  const answers: [Call, string | null][] = [
    [callOf([ALICE.key]), null],
    [callOf([ALICE.key], { origin: 'own' }), null],
    [callOf([ALICE.key], { origin: 'other' }), 'wrongKey'],
    [callOf([ALICE.key], { origin: 'other', method: 'GET' }), null],
    [callOf(['wrong']), 'wrongKey'],
    [callOf(null), 'wrongKey'],
    [callOf(null, { method: 'GET' }), 'wrongKey'],
  ]
  for (const [call, expected] of answers) assert.equal(await authorize(call), expected)
})

test('behind the door, what is no route is nowhere, by any method', async () => {
  const routes = notFoundBelow.map((build) => build(toolsOf([ALICE])))
  assert.deepEqual(
    routes.map(({ path, methods, deadlineMs, cache }) => [path, methods, deadlineMs, cache]),
    [
      ['/api/admin', 'any', null, 'private, no-store'],
      ['/api/admin/*', 'any', null, 'private, no-store'],
    ],
  )
  for (const route of routes) {
    assert.equal((route.handle(callOf([ALICE.key])) as { refused: string }).refused, 'unknownRoute')
    assert.equal((await route.authorize?.(callOf(['wrong']), () => false))?.refused, 'wrongKey')
  }
})
