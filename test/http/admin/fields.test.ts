// Acts accept the fields that the operator's document names, and refuse any other: over HTTP an unknown one, one that
// the path names, and one in the query; on the command line an option that the act does not have. Real parts.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { runHere, worldEnv } from '../../support/cli.ts'
import { type Desk, KEYS, startDesk } from '../../support/operator.ts'
import { ACTS, FIELDS, type FieldSchema } from './documented.ts'

/** Unknown fields that a refusal names. */
const NAMED_MAX = 5
/** A valid value for each path parameter. */
const IN_PATH: Record<string, string> = {
  payment: '999',
  nodeId: '999',
  id: '999',
  tierId: 'none',
  code: 'none',
  address: `0x${'12'.repeat(20)}`,
  root: `0x${'34'.repeat(32)}`,
}

/** A value as long as its schema allows; each character takes six bytes. */
function largestOf({ type, maxLength, maxItems, items }: FieldSchema): unknown {
  if (type === 'array') return Array.from({ length: maxItems ?? 1 }, () => largestOf(items ?? {}))
  return '\u0001'.repeat(maxLength ?? 1)
}

/** A path with a value in place of each parameter. */
const filled = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => IN_PATH[name] ?? '')

describe('an act', () => {
  let desk: Desk
  before(async () => {
    desk = await startDesk()
    await desk.world.settle()
  })
  after(() => desk.close())

  const audited = async () => (await desk.world.pool`SELECT FROM audit`).count

  it('refuses each field of another act, and lists what it accepts', async () => {
    assert.ok(ACTS.length > 35 && FIELDS.length > 40)
    const before = await audited()
    for (const { path, params, fields } of ACTS) {
      const others = ['surprise', ...FIELDS].filter((one) => !fields.includes(one) && !params.includes(one))
      for (let at = 0; at < others.length; at += NAMED_MAX) {
        const names = others.slice(at, at + NAMED_MAX)
        const values = [null, [], '0', true, {}]
        const { status, json } = await desk.post(
          filled(path),
          Object.fromEntries(names.map((name, i) => [name, values[i]])),
        )
        assert.equal(status, 400, `${path} with ${names}`)
        const named = names.map((name) => `"${name}"`).join(', ')
        const [, said, takes] = /unknown fields? (.*): this action takes ([\w, ]+)\.$/.exec(json.error) ?? []
        assert.equal(said, named, path)
        const known = fields.length + params.length === 0 ? ['no fields'] : [...fields, ...params]
        assert.deepEqual(takes?.split(', ').sort(), known.sort(), path)
      }
    }
    assert.equal(await audited(), before, 'nothing was done')
  })

  it('reads the largest body that its schema allows, however it is escaped', async () => {
    for (const { path, schemas } of ACTS) {
      const body = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, largestOf(schema)]))
      const { json } = await desk.post(filled(path), { ...body, surprise: 1 })
      assert.match(json.error, /unknown field "surprise"/, path)
    }
    const tooLarge = await desk.post('pause', { reason: 'x'.repeat(100_000) })
    assert.match(tooLarge.json.error, /The body is larger than \d+ KiB/)
  })

  it('accepts each documented field with any values in the others', async () => {
    for (const { path, fields } of ACTS)
      for (const name of fields) {
        const { json } = await desk.post(filled(path), { [name]: {} })
        assert.doesNotMatch(json.error ?? '', /unknown field/, `${path} with ${name}`)
      }
  })

  it('refuses texts that PostgreSQL cannot store and members that JavaScript calls, per field', async () => {
    const before = await audited()
    for (const { path, fields } of ACTS)
      for (const name of fields)
        for (const value of [{ toString: 1 }, [{ toString: 1 }], ['999', '\0'], [{ '\ud800': 1 }], ['\udc00'], '9\0']) {
          const { status, json } = await desk.post(filled(path), { [name]: value })
          assert.equal(status, 400, `${path} with ${name}: ${JSON.stringify(value)}`)
          assert.match(json.error, new RegExp(`${name} must be .*, without NUL characters`))
        }
    const prepare = (payment: unknown) => desk.post('payments/refunds/prepare', { payments: ['999', payment] })
    for (const payment of [null, true, 1.5, 1e300, [], {}, 'a\nb', '9'.repeat(67)]) {
      const { status, json } = await prepare(payment)
      assert.deepEqual([status, /each a transaction hash or a row id/.test(json.error)], [400, true], `${payment}`)
    }
    for (const payment of ['', 'none', 999, -1]) assert.equal((await prepare(payment)).status, 200)
    assert.equal(await audited(), before, 'nothing was done')
  })

  it('refuses a field that its path has already, and fields in a query', async () => {
    const before = await audited()
    for (const { path, params } of ACTS) {
      for (const name of params) {
        const { status, json } = await desk.post(filled(path), { [name]: IN_PATH[name] })
        assert.deepEqual([status, json.error], [400, `${name} is in the path: leave it out of the body.`], path)
      }
      const { status, json } = await desk.post(`${filled(path)}?dryRun=true`, {})
      assert.equal(status, 400, path)
      assert.match(json.error, /takes its fields in the body/)
    }
    assert.equal(await audited(), before, 'nothing was done')
  })

  it('refuses JavaScript’s own members as fields, and lists only the first few of many', async () => {
    for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'line\nbreak']) {
      const { status, json } = await desk.service.ask('POST', '/api/admin/pause', {
        headers: { 'x-admin-key': KEYS[0]?.key, 'content-type': 'application/json' },
        body: `{${JSON.stringify(name)}: {"reason": "x"}}`,
      })
      assert.equal(status, 400, name)
      assert.ok(json.error.startsWith(`unknown field ${JSON.stringify(name)}`), json.error)
    }
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`field-${i}`.padEnd(12, 'x'), 1]))
    const { status, json } = await desk.post('pause', many)
    assert.equal(status, 400)
    assert.match(json.error, /^unknown fields "field-0xxxxx", .* and 895 more: this action takes reason\.$/)
    assert.ok(json.error.length < 300)
  })

  it('refuses a field that an element of a list does not take', async () => {
    const transfers = [{ txHash: `0x${'ab'.repeat(32)}`, value: '1' }]
    const { status, json } = await desk.post('payments/999/attribute', { transfers })
    assert.equal(status, 400)
    assert.match(json.error, /transfer 1: unknown field "value": this action takes txHash, innerIndex, from, valueWei/)
    const twice = await desk.post('payments/999/attribute', {
      transfers: [{ txHash: transfers[0]?.txHash }],
      from: null,
    })
    assert.equal(twice.status, 409, 'null is not given')
    const both = await desk.post('payments/999/attribute', { transfers, valueWei: '1' })
    assert.match(both.json.error, /valueWei and transfers exclude each other/)
  })

  it('refuses options that it does not take on the command line', async () => {
    const env = worldEnv(desk.world)
    const refused: [string[], RegExp][] = [
      [['payments', 'release', '999', '--payments', '1', '--yes'], /--payments: there is no such option/],
      [
        ['payments', 'decide', 'dismiss', '--held-for', 'recheck', '--tier-id', 'basic', '--yes'],
        /--tier-id: only with/,
      ],
    ]
    for (const [words, says] of refused) {
      const { code, err } = await runHere(words, env)
      assert.equal(code, 2, err)
      assert.match(err, says)
    }
  })
})
