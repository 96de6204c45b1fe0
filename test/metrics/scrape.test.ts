// The metrics page of the real service: its values are what happened, it omits what it cannot read, and the alert rules
// and the dashboard name nothing that it lacks.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { type Service, startService } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const root = new URL('../../', import.meta.url)
const RULES = fileURLToPath(new URL('ops/prometheus/alerts.yaml', root))
const RULES_TEST = fileURLToPath(new URL('ops/prometheus/alerts.test.yaml', root))
const DASHBOARD = fileURLToPath(new URL('ops/grafana/dashboard.json', root))

let service: Service
let page: string
const scrape = async () => {
  const url = /(http:\S+\/metrics)/.exec(service.output())?.[1]
  assert.ok(url, service.output())
  const response = await fetch(url)
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  return await response.text()
}
/** The value of a sample, by its name and exactly these labels; undefined if it is absent. */
function sample(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const found = samplesOf(text).filter(
    (s) => s.name === name && Object.entries(labels).every(([k, v]) => s.labels[k] === v),
  )
  assert.ok(found.length <= 1, `${name} ${JSON.stringify(labels)} has ${found.length} samples`)
  return found[0]?.value
}
function samplesOf(text: string) {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', inside = '', value = ''] =
        /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? assert.fail(line)
      const labels = Object.fromEntries(
        [...inside.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, k = '', v = '']) => [k, v]),
      )
      return { name, labels, value: Number(value) }
    })
}

before(async () => {
  service = await startService(temporaryDirectory())
  for (const path of ['/api/stats', '/api/stats', '/api/nodes/0x976ea74026e726554db657fa54763abd0c3a0aa9'])
    await service.get(path)
  for (let i = 0; i < 3; i++) await fetch(`${service.url}/no/such/path/${i}`)
  await until('both passes ran', async () => {
    page = await scrape()
    const ran = (pass: string) =>
      sample(page, 'node_ledger_pass_last_success_timestamp_seconds', { pass }) !== undefined
    return ran('payments') && ran('credit') && ran('reconcile') && ran('funds')
  })
})
after(() => service.stop())

test('requests are counted by route pattern, never by path', async () => {
  const count = (route: string, code: string) =>
    sample(page, 'http_request_duration_seconds_count', { method: 'GET', route, code })
  assert.equal(count('/api/stats', '200'), 2)
  assert.equal(count('/api/nodes/:address', '200'), 1)
  assert.equal(count('unknown', '404'), 3)
  assert.ok(!page.includes('0x976ea74026'))
  assert.ok(!page.includes('no/such/path'))
  // Each new block drops the cache, so any single request may come too late.
  await until('an answer is given twice', async () => {
    await Promise.all([service.get('/api/stats'), service.get('/api/stats')])
    return (sample(await scrape(), 'node_ledger_memo_requests_total', { result: 'hit' }) ?? 0) > 0
  })
})

test('an unknown method or path makes no new series', async () => {
  const before = samplesOf(await scrape()).filter(({ name }) => name === 'http_request_duration_seconds_count').length
  for (const method of ['PROPFIND', 'LOCK', 'MKCOL', 'PURGE']) await fetch(`${service.url}/api/stats`, { method })
  for (let i = 0; i < 5; i++) await fetch(`${service.url}/api/${i}`, { method: 'PROPFIND' })
  const after = samplesOf(await scrape()).filter(({ name }) => name === 'http_request_duration_seconds_count')
  assert.ok(after.length <= before + 2, `${after.length - before} new series`)
  assert.ok(after.every(({ labels }) => ['GET', 'HEAD', 'POST', 'OPTIONS', 'other'].includes(labels.method ?? '')))
})

test('the ledger’s figures are those of the API, and what cannot be known yet is absent', async () => {
  const stats = await service.get<{ totalNodes: number }>('/api/stats')
  assert.equal(sample(page, 'node_ledger_nodes'), stats.totalNodes)
  assert.equal(sample(page, 'node_ledger_reading_up', { source: 'database' }), 1)
  assert.equal(sample(page, 'node_ledger_reading_up', { source: 'chain' }), 1)
  // Read one after the other, while blocks arrive.
  const [head, followed] = ['node_ledger_head_block', 'node_ledger_followed_block'].map(
    (name) => sample(page, name) ?? -1,
  )
  assert.ok(Math.abs((head ?? 0) - (followed ?? 0)) < 100 && (followed ?? 0) > 0, `${head} ${followed}`)
  assert.ok((sample(page, 'node_ledger_sender_balance_ether', { sender: 'minter' }) ?? 0) > 9_000)
  // The contract owes nothing yet, so cover has no value, which is not zero.
  assert.equal(sample(page, 'node_ledger_cover_bps'), undefined)
  assert.ok(samplesOf(page).every(({ value }) => !Number.isNaN(value)))
})

test('no series has a label with an address, a hash or a URL in it', () => {
  for (const { name, labels } of samplesOf(page)) {
    for (const value of Object.values(labels)) assert.ok(!/0x[0-9a-f]{8}|:\/\//i.test(value), `${name} ${value}`)
  }
})

test('only /metrics is there, and only to be read', async () => {
  const url = /(http:\S+\/metrics)/.exec(service.output())?.[1] ?? ''
  assert.equal((await fetch(new URL('/', url))).status, 404)
  assert.equal((await fetch(url, { method: 'POST' })).status, 405)
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200)
})

/** Metric names of a PromQL expression: words that are no function, keyword, label or range. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '')
  return [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w*\s*\()/g)]
    .map(([word]) => word)
    .filter((word) => word.includes('_') && !bare.includes(`${word}(`) && !bare.includes(`${word} (`))
}
/** Series in a scrape, and those that Prometheus adds itself. */
const shown = () => new Set([...samplesOf(page).map(({ name }) => name), 'up'])
/** Shown only once they have a value: a fault, a limit reached, a held payment, a debt. */
const SOMETIMES = new Set([
  'node_ledger_tier_sold',
  'node_ledger_tier_reserved',
  'node_ledger_tier_supply',
  'node_ledger_tier_cap',
  'node_ledger_rpc_faults_total',
  'node_ledger_http_rate_limited_total',
  'node_ledger_payments_held',
  'node_ledger_cover_bps',
])

test('names are found in an expression as Prometheus reads it', () => {
  assert.deepEqual(
    metricsIn(
      'sum by (pass_name) (rate(a_total{x_y="b_c"}[5m])) / on (le_x) b_total > 0 and time() - max(c_seconds) > 5',
    ),
    ['a_total', 'b_total', 'c_seconds'],
  )
})

test('every metric of an alert is on the page of the real service', () => {
  const rules = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: { alert: string; expr: string }[] }[] }
  const all = rules.groups.flatMap((group) => group.rules)
  assert.ok(all.length >= 10)
  for (const { alert, expr } of all) {
    const names = metricsIn(expr)
    assert.ok(names.length > 0 || expr.includes('up'), alert)
    for (const name of names) assert.ok(shown().has(name) || SOMETIMES.has(name), `${alert} names ${name}`)
  }
})

test('every metric of the dashboard is on the page of the real service', () => {
  const dashboard = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
    panels: { title: string; type: string; targets?: { expr: string }[] }[]
  }
  const panels = dashboard.panels.filter(({ type }) => type !== 'row')
  assert.ok(panels.length >= 10)
  for (const { title, targets } of panels) {
    assert.ok(targets && targets.length > 0, title)
    for (const { expr } of targets) {
      for (const name of metricsIn(expr)) assert.ok(shown().has(name) || SOMETIMES.has(name), `${title} names ${name}`)
    }
  }
})

test('the dashboard plots cover and providers’ answers, which nothing else keeps over time', () => {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
    panels: { type: string; targets?: { expr: string }[] }[]
  }
  const plotted = panels
    .filter(({ type }) => type === 'timeseries')
    .flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr)))
  for (const part of ['contract_balance_ether', 'outstanding_ether', 'rpc_faults_total'])
    assert.ok(plotted.includes(`node_ledger_${part}`), part)
  assert.ok(plotted.some((name) => name.startsWith('node_ledger_rpc_request_duration_seconds')))
})

test('a series that is shown only sometimes has the name that the code gives it', () => {
  const source = ['metrics/meters', 'metrics/readings', 'db/reads/metrics']
    .map((file) => readFileSync(new URL(`src/${file}.ts`, root), 'utf8'))
    .join('')
  for (const name of SOMETIMES) assert.match(source, new RegExp(`\\b${name}\\b`), name)
})

const promtool = spawnSync('promtool', ['--version']).status === 0
const skip = promtool ? false : 'promtool is not installed (Debian: apt-get install prometheus)'

test('Prometheus’ own tool accepts the page, except for three metric names of Node', { skip }, () => {
  const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' })
  const complaints = `${stdout}${stderr}`.split('\n').filter((line) => line !== '')
  assert.deepEqual(
    complaints.filter((line) => !/^nodejs_active_(handles|requests|resources)_total /.test(line)),
    [],
  )
})

test('Prometheus’ own tool accepts the alert rules, and they fire when they should', { skip }, () => {
  assert.match(execFileSync('promtool', ['check', 'rules', RULES], { encoding: 'utf8' }), /SUCCESS: \d+ rules found/)
  execFileSync('promtool', ['test', 'rules', RULES_TEST], { encoding: 'utf8' })
})

test('while the chain does not answer, its readings are absent, and the page is there', async () => {
  const chainPid = Number(execFileSync('pgrep', ['-P', String(service.pid), 'anvil'], { encoding: 'utf8' }).trim())
  process.kill(chainPid, 'SIGSTOP')
  try {
    await until(
      'the reading is given up',
      async () => sample(await scrape(), 'node_ledger_reading_up', { source: 'chain' }) === 0,
    )
    // The service reads funds every ten seconds; until then the last reading stands.
    const ofTheChain = ['node_ledger_head_block', 'node_ledger_lag_blocks', 'node_ledger_sender_nonce']
    let without = ''
    await until('its readings are gone', async () => {
      without = await scrape()
      return !samplesOf(without).some(({ name }) => ofTheChain.includes(name))
    })
    assert.equal(sample(without, 'node_ledger_reading_up', { source: 'database' }), 1)
  } finally {
    process.kill(chainPid, 'SIGCONT')
  }
  await until('it is back', async () => sample(await scrape(), 'node_ledger_reading_up', { source: 'chain' }) === 1)
})
