// What a deployment shows to people: which texts may appear, who names a chain, and that the table of chains is viem's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as viemChains from 'viem/chains'
import { KNOWN_CHAINS } from '../../src/config/known-chains.ts'
import { describeConfig, inspectConfig, siteOn } from '../../src/config/load.ts'

const LOGO = '<?xml version="1.0"?>\n<!-- ours -->\n<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9"/></svg>'

function inspect(env: Record<string, string>, files: Record<string, string> = {}) {
  const readFile = (path: string) => {
    const text = files[path]
    if (text !== undefined) return text
    throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
  }
  return inspectConfig(env, { readFile })
}

test('every one of these settings arrives, as it is shown', () => {
  const env = {
    EXPLORER_URL: 'https://explorer.example/rollup//',
    BRAND_NAME: 'Aurora “Nodes” 節點',
    BRAND_LOGO: 'logo.svg',
    BRAND_COLOR: '#1A6B52',
    BRAND_CONTACT: 'help@nodes.example.org',
    TERMS_URL: 'https://nodes.example.org/terms?v=2#sale',
  }
  const { config, problems } = inspect(env, { 'logo.svg': LOGO })
  assert.deepEqual(problems, [])
  assert.deepEqual(siteOn(config, 1), {
    chainName: 'Ethereum',
    explorerUrl: 'https://explorer.example/rollup',
    brand: {
      name: 'Aurora “Nodes” 節點',
      logo: LOGO,
      color: '#1a6b52',
      contact: 'mailto:help@nodes.example.org',
      termsUrl: 'https://nodes.example.org/terms?v=2#sale',
    },
  })
  const described = describeConfig(config)
  assert.equal(described.BRAND_LOGO, 'logo.svg')
  assert.equal(inspect({ BRAND_CONTACT: 'https://help.example.org' }).config.BRAND_CONTACT, 'https://help.example.org/')
})

test('nothing set: a known chain has its name and explorer, an unknown one has none', () => {
  const site = inspect({}).config
  const brand = { name: null, logo: null, color: null, contact: null, termsUrl: null }
  assert.deepEqual(siteOn(site, 8453), { chainName: 'Base', explorerUrl: 'https://basescan.org', brand })
  assert.deepEqual(siteOn(site, 31_337), { chainName: 'Local chain', explorerUrl: null, brand })
  assert.deepEqual(siteOn(site, 999_999_999), { chainName: null, explorerUrl: null, brand })
  const named = inspect({ EXPLORER_URL: 'https://scan.example' }).config
  assert.deepEqual([siteOn(named, 1).chainName, siteOn(named, 1).explorerUrl], ['Ethereum', 'https://scan.example'])
})

test('a value that could mislead people, or run in their browser, is refused', () => {
  const cases: [Record<string, string>, RegExp, string?][] = [
    [{ BRAND_NAME: 'x'.repeat(41) }, /1 to 40 characters/],
    [{ BRAND_NAME: 'Nodes<b>' }, /1 to 40 characters/],
    [{ BRAND_NAME: 'Nodes\u202e' }, /1 to 40 characters/],
    [{ EXPLORER_URL: 'javascript:alert(1)' }, /is not a URL/],
    [{ EXPLORER_URL: 'https://scan.example?chain=1' }, /query or fragment/],
    [{ TERMS_URL: 'https://u:p@terms.example' }, /user or password/],
    [{ BRAND_COLOR: 'red' }, /6 hex digits/],
    [{ BRAND_CONTACT: 'javascript:alert(1)' }, /email address/],
    [{ BRAND_CONTACT: 'somebody' }, /email address/],
    [{ BRAND_LOGO: 'logo.svg' }, /cannot be read \(ENOENT\)/],
    [{ BRAND_LOGO: 'logo.svg' }, /which is not an SVG/, '\u0089PNG'],
    [{ BRAND_LOGO: 'logo.svg' }, /which is not an SVG/, '<html><svg></svg></html>'],
    [{ BRAND_LOGO: 'logo.svg' }, /too large/, `<svg>${' '.repeat(65_536)}</svg>`],
    [{ BRAND_LOGO: 'logo.svg' }, /more than an image/, '<svg><script>alert(1)</script></svg>'],
    [{ BRAND_LOGO: 'logo.svg' }, /more than an image/, '<svg onload="alert(1)"/>'],
    [{ BRAND_LOGO: 'logo.svg' }, /which is not an SVG/, '<!DOCTYPE svg [<!ENTITY a "b">]><svg/>'],
  ]
  for (const [env, why, logo] of cases) {
    const { problems } = inspect(env, logo === undefined ? {} : { 'logo.svg': logo })
    assert.equal(problems.length, 1, JSON.stringify(env))
    assert.equal(problems[0]?.setting, Object.keys(env)[0])
    assert.match(problems[0]?.message ?? '', why)
  }
})

test('the table of chains is that of viem, but for the local one', () => {
  const byId = Map.groupBy(
    Object.values(viemChains).filter((chain) => typeof chain === 'object'),
    ({ id }): number => id,
  )
  for (const [id, { name, explorerUrl }] of KNOWN_CHAINS) {
    if (id === 31_337) continue
    const same = byId
      .get(id)
      ?.some((chain) => chain.name === name && chain.blockExplorers?.default.url.replace(/\/$/, '') === explorerUrl)
    assert.ok(same, `${id}: ${name}, ${explorerUrl}`)
  }
})
