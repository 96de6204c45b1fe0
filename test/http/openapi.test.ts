// The document and the routes agree: the service serves exactly what the document describes. Its own examples match its
// own schemas.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { buildRoutes } from '../../src/http/routes.ts'
import { buildTools } from '../../src/http/tools.ts'
import { startService } from '../support/http.ts'
import { assertRequired, document } from '../support/http-contract.ts'

/** Not part of the API's public surface: the operator's, the scheduler's and the platform's routes, and all pages. */
const UNDOCUMENTED = /^\/api\/cron\/(payments|credit)$|^\/api\/(admin|passkeys)|^\/(?!api\/|\.well-known\/node-ledger)/

describe('the document', () => {
  it('describes every public route with its methods, and no other', async () => {
    const service = await startService()
    const settings = {
      publicUrl: 'http://x',
      frameAncestors: [],
      sessionSecret: 'x'.repeat(32),
      previousSessionSecret: null,
      adminKeys: [],
    }
    const routes = buildRoutes(buildTools({ settings, changes: null, clock: () => 0 } as never))
    const served = routes
      .filter((route) => !UNDOCUMENTED.test(route.path))
      .map((route) => [route.path.replaceAll(/:(\w+)/g, '{$1}'), [...route.methods].sort()] as const)
    const described = Object.entries(document.paths).map(
      ([path, operations]) =>
        [
          path,
          Object.keys(operations as object)
            .map((m) => m.toUpperCase())
            .sort(),
        ] as const,
    )
    assert.deepEqual(new Map(described), new Map(served))
    assert.doesNotMatch(JSON.stringify(document), /api\/(admin|passkeys)|cron\/(payments|credit)|x-(cron|admin)-key/)
    await service.close()
  })

  it('lists a refusal for each answer of a route, and rate headers exactly if there is a limit', () => {
    const settings = {
      publicUrl: 'http://x',
      frameAncestors: [],
      sessionSecret: 'x'.repeat(32),
      previousSessionSecret: null,
      adminKeys: [],
    }
    for (const route of buildRoutes(buildTools({ settings, changes: null, clock: () => 0 } as never))) {
      if (UNDOCUMENTED.test(route.path)) continue
      const operations = document.paths[route.path.replaceAll(/:(\w+)/g, '{$1}')]
      for (const { responses } of Object.values(operations) as { responses: Record<string, { headers?: object }> }[]) {
        assert.ok(responses['200'] && responses['400'] && responses['500'], route.path)
        assert.equal('429' in responses, route.limitPerMinute !== null, route.path)
        assert.equal('x-ratelimit-limit' in (responses['200'].headers ?? {}), route.limitPerMinute !== null, route.path)
        assert.equal('401' in responses, route.session === true || route.path === '/api/auth/verify', route.path)
        assert.equal('304' in responses, route.cache.startsWith('public'), route.path)
      }
    }
  })

  it('is served as it is written', async () => {
    const service = await startService()
    const { json } = await service.get('/api/openapi.json')
    assert.deepEqual(json, document)
    assert.equal(json.components.securitySchemes.sessionCookie.name, 'nl_session')
    assert.match(json.openapi, /^3\.1\./)
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    assert.equal(json.info.version, version)
    await service.close()
  })

  it('lists the cookies that this service sets, in production too', async () => {
    for (const production of [false, true]) {
      const service = await startService({ settings: { production } })
      const { securitySchemes } = (await service.get('/api/openapi.json')).json.components
      const [set = ''] = (await service.get('/api/auth/nonce')).headers['set-cookie'] ?? []
      assert.equal(securitySchemes.nonceCookie.name, set.split('=')[0])
      assert.equal(securitySchemes.sessionCookie.name, set.split('=')[0]?.replace('nonce', 'session'))
      await service.close()
    }
  })

  it('is valid to a public validator, and marks every operation that needs a cookie', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    assert.ok(valid, JSON.stringify(errors))
    assert.deepEqual(document.security, [], 'public, unless an operation says otherwise')
  })

  it('has no text that a comma has cut in two, which would leave a key without a value', () => {
    const check = (part: unknown, place: string): void => {
      if (typeof part !== 'object' || part === null) return
      for (const [key, inner] of Object.entries(part)) {
        const isData = /\/(example|examples|enum)\//.test(`${place}/${key}/`)
        assert.ok(inner !== null || isData, `${place}/${key} is nothing`)
        assert.ok(!key.includes(' '), `${place}/${key} is no key`)
        check(inner, `${place}/${key}`)
      }
    }
    check(document, '')
  })

  it('has nothing but valid schemas', () => {
    const ajv = new Ajv2020({ strict: false })
    const schemas = (part: unknown): unknown[] =>
      typeof part !== 'object' || part === null
        ? []
        : Object.entries(part).flatMap(([key, inner]) => (key === 'schema' ? [inner] : schemas(inner)))
    const all = [...Object.values(document.components.schemas), ...schemas(document)]
    assert.ok(all.length > 50)
    for (const one of all) assert.ok(ajv.validateSchema(one as object), ajv.errorsText(ajv.errors))
  })

  it('gives examples that follow its schemas, and describes every operation and field', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    addFormats.default(ajv)
    ajv.addSchema(document, 'openapi')
    let examples = 0
    for (const [pointer, value] of examplesOf(document, '')) {
      const validate = ajv.getSchema(`openapi#${pointer}`)
      assert.ok(validate, pointer)
      assert.ok(validate(value), `${pointer}: ${ajv.errorsText(validate.errors)}`)
      examples++
    }
    assert.ok(examples > 20, `${examples} examples`)
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const operation of Object.values(operations as object))
        assert.ok(operation.summary && operation.operationId, path)
    }
  })

  it('requires every field of an answer, so that none becomes optional in the client', () =>
    assertRequired(document, { Payment: ['verdict', 'payments'] }))

  it('has no reference that leads nowhere', () => {
    const resolve = (ref: string) => {
      let at = document
      for (const key of ref.slice(2).split('/')) at = at?.[key]
      return at
    }
    for (const [, ref] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)) {
      assert.ok(resolve(ref ?? ''), ref ?? '')
    }
    const used = JSON.stringify(document)
    for (const [kind, parts] of Object.entries(document.components))
      for (const name of Object.keys(parts as object))
        if (kind !== 'securitySchemes')
          assert.ok(used.includes(`"#/components/${kind}/${name}"`), `${kind}/${name} is used nowhere`)
  })
})

/** Every example in the document, with the pointer of its schema. */
function* examplesOf(part: unknown, pointer: string): Generator<[pointer: string, value: unknown]> {
  if (typeof part !== 'object' || part === null) return
  const here = part as { example?: unknown; examples?: unknown; schema?: unknown }
  if (here.example !== undefined) yield [here.schema === undefined ? pointer : `${pointer}/schema`, here.example]
  if (Array.isArray(here.examples)) for (const one of here.examples) yield [pointer, one]
  for (const [key, inner] of Object.entries(part)) {
    if (key === 'example') continue
    yield* examplesOf(inner, `${pointer}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
  }
}
