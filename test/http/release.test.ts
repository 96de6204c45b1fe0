// The promises of the last release, kept in api/released.json: a field that goes away or changes its type must be named in
// the changelog. `NL_RELEASE=write` makes the present document the released one; that is part of releasing.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { it } from 'node:test'
import { document } from '../support/http-contract.ts'
import { brokenPromises, type Contract, contractOf } from '../support/http-release.ts'

const RELEASED = new URL('../../api/released.json', import.meta.url)
const CHANGELOG = new URL('../../CHANGELOG.md', import.meta.url)

it('breaks no promise of the last release without an entry in the changelog', () => {
  if (process.env.NL_RELEASE === 'write') writeFileSync(RELEASED, `${JSON.stringify(contractOf(document), null, 2)}\n`)
  const released: Contract = JSON.parse(readFileSync(RELEASED, 'utf8'))
  const unreleased = readFileSync(CHANGELOG, 'utf8').split(/^## /m)[1] ?? ''
  for (const place of brokenPromises(released, contractOf(document))) {
    const name = /([^. ]+)$/.exec(place)?.[1] ?? place
    assert.ok(
      unreleased.includes(`\`${name}\``),
      `${place} is not what was released, and the changelog does not name \`${name}\``,
    )
  }
})

it('tells a promise that is broken from one that is added', () => {
  const now = contractOf(document)
  assert.equal(now['GET /api/stats 200 .totalDistributedWei'], '"string"')
  assert.equal(now['GET /api/node/{id} 200 .credits[].amountWei'], '"string"')
  assert.deepEqual(brokenPromises(now, now), [])
  assert.deepEqual(brokenPromises(now, { ...now, 'GET /api/new': 'endpoint' }), [])
  const { 'GET /api/stats 200 .totalNodes': gone, ...without } = now
  assert.equal(gone, '"integer"')
  assert.deepEqual(brokenPromises(now, without), ['GET /api/stats 200 .totalNodes'])
  assert.deepEqual(brokenPromises(now, { ...now, 'GET /api/price 200 .usd': '"string"' }), ['GET /api/price 200 .usd'])
})
