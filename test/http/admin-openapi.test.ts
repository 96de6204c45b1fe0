// The operator's document (api/admin.yaml) and the routes under /api/admin and /api/passkeys agree: the service serves
// exactly what it describes, and every reading answers as it says. Every other answer of the operator's routes in a
// test is checked against it too (support/http.ts, support/operator.ts).
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { writeNonceAhead } from '../../src/db/sends/nonce-ahead.ts'
import { TRANSACTION_STATES } from '../../src/db/sends/transactions.ts'
import { PAYMENT_STATES } from '../../src/domain/transitions.ts'
import { buildRoutes } from '../../src/http/routes.ts'
import { buildTools } from '../../src/http/tools.ts'
import { startService } from '../support/http.ts'
import { adminDocument, assertRequired, document } from '../support/http-contract.ts'
import { type Desk, KEYS, startDesk } from '../support/operator.ts'

const PREFIX = '/api/admin/'
/** The operator's routes that need no key, because people get a key through them. */
const IS_DOOR = /^\/api\/passkeys(\/|$)/
/** Fields that an answer may lack, depending on another field; and those that an input may lack. */
const OPTIONAL = {
  Error: ['problems'],
  Drift: ['name', 'nodeId', 'cohort', 'field', 'ledger', 'chain'],
  TransfersInput: ['innerIndex', 'from', 'valueWei'],
}

type Operation = {
  summary?: string
  security?: object[]
  operationId?: string
  parameters?: { $ref?: string }[]
  responses: object
}
const operations = Object.entries(adminDocument.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
)

describe('the operator’s document', () => {
  it('describes every route of the operator with its methods, and no other', () => {
    const settings = {
      publicUrl: 'http://x',
      frameAncestors: [],
      sessionSecret: 'x'.repeat(32),
      previousSessionSecret: null,
      adminKeys: [],
    }
    const routes = buildRoutes(buildTools({ settings, changes: null, clock: () => 0 } as never))
    const served = routes
      .filter(({ path, methods }) => (path.startsWith(PREFIX) || IS_DOOR.test(path)) && methods !== 'any')
      .flatMap(({ path, methods }) =>
        [...(methods as readonly string[])].map((method) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
      )
    assert.ok(served.length > 50)
    assert.deepEqual(operations.map(({ path, method }) => `${method} ${path}`).sort(), served.sort())
  })

  it('is valid to a public validator, requires the key everywhere, and has each operation once', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(adminDocument))
    assert.ok(valid, JSON.stringify(errors))
    assert.deepEqual(adminDocument.security, [{ adminKey: [] }])
    for (const { path, operation } of operations) {
      assert.ok(operation.summary, path)
      assert.deepEqual(operation.security, IS_DOOR.test(path) ? [] : undefined, path)
    }
    const names = operations.map(({ operation }) => operation.operationId)
    assert.equal(new Set(names).size, names.length)
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    assert.equal(adminDocument.info.version, version)
  })

  it('requires every field in it, because an optional one might never be answered', () =>
    assertRequired(adminDocument, OPTIONAL))

  it('has no dead reference, no unused part, and no text that a comma has cut in two', () => {
    const text = JSON.stringify(adminDocument)
    for (const [, ref = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g))
      assert.ok(
        ref.split('/').reduce((at, key) => at?.[key], adminDocument),
        ref,
      )
    for (const [kind, parts] of Object.entries(adminDocument.components as Record<string, object>))
      for (const name of Object.keys(parts))
        if (kind !== 'securitySchemes') assert.ok(text.includes(`"#/components/${kind}/${name}"`), `${kind}/${name}`)
    const check = (part: unknown, place: string): void => {
      if (typeof part !== 'object' || part === null) return
      for (const [key, inner] of Object.entries(part)) {
        assert.ok(inner !== null || /\/enum\//.test(`${place}/${key}/`), `${place}/${key} is nothing`)
        assert.ok(!key.includes(' '), `${place}/${key} is no key`)
        check(inner, `${place}/${key}`)
      }
    }
    check({ paths: adminDocument.paths, components: adminDocument.components }, '')
  })

  it('has the states and reasons that the code has, and those of the public document', () => {
    const { schemas } = adminDocument.components
    assert.deepEqual(schemas.PaymentStatus.enum, PAYMENT_STATES)
    assert.deepEqual(schemas.TransactionStatus.enum, TRANSACTION_STATES)
    const { enum: reasons } = schemas.NullablePaymentReason
    assert.deepEqual(reasons, [...schemas.PaymentReason.enum, null])
    const known: (string | null)[] = document.components.schemas.Payment.properties.reason.enum
    // To anyone but the operator a payer on the deny list waits for a review like others.
    assert.deepEqual(
      known.filter((reason) => !reasons.includes(reason)),
      ['review'],
    )
    assert.ok(!known.includes('senderDenied'))
  })

  it('is served under the key as it is written, and nowhere without one', async () => {
    const service = await startService({ settings: { adminKeys: KEYS } })
    const [, grace] = KEYS
    const { status, json, headers } = await service.get(`${PREFIX}openapi.json`, {
      headers: { 'x-admin-key': grace?.key },
    })
    assert.equal(status, 200)
    assert.deepEqual(json, adminDocument)
    assert.equal(headers['cache-control'], 'private, no-store')
    assert.equal(headers['access-control-allow-origin'], undefined)
    assert.equal((await service.get(`${PREFIX}openapi.json`)).status, 401)
    await service.close()
    const closed = await startService({ settings: { adminKeys: [] } })
    assert.equal((await closed.get(`${PREFIX}openapi.json`)).status, 404)
    await closed.close()
  })
})

describe('on a ledger in use', () => {
  let desk: Desk
  before(async () => {
    desk = await startDesk()
    const { json } = await desk.post('webhooks', {
      url: 'https://hooks.example/x',
      secret: `whsec_${btoa('x'.repeat(32))}`,
    })
    await desk.post('webhooks/enable', { endpoint: json.endpoint })
    await desk.world.pay(5, 10n ** 16n)
    await desk.world.pay(6, 1n + 10n ** 15n)
    await desk.world.settle()
    await desk.post('senders', { address: `0x${'ab'.repeat(20)}`, label: 'Exchange', reason: 'many people' })
  })
  after(() => desk.close())

  const readings = operations.filter(
    ({ method, operation }) => method === 'GET' && /application\/json/.test(JSON.stringify(operation.responses)),
  )
  for (const { path } of readings.filter(({ path }) => !IS_DOOR.test(path)))
    it(`${path} answers by the document`, async () => {
      const named = path.replace('{payment}', '1').replace('{tierId}/preview', 'basic/preview?supply=5')
      const { status, text } = await desk.get(named.slice(PREFIX.length))
      assert.equal(status, 200, text)
    })

  it('a sender that is stuck is listed, and freed', async () => {
    const sender = desk.world.at(1)
    await writeNonceAhead(desk.world.pool, sender, { reported: 3, known: 1, sinceBlock: 1, takeOver: false })
    const { json } = await desk.get('transactions/stuck')
    assert.deepEqual(json.senders, [{ sender, reported: 3, known: 1, sinceBlock: 1, takeOver: false }])
    assert.equal((await desk.post('transactions/free', { sender, reason: 'it is so' })).json.takeOver, true)
  })
})
