// The runbook, compared with its subjects: each alert and each reason to hold a payment has its section. Alerts and events link
// to it and to the console, both ways. documents/references.test.ts checks commands and links.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { FACTORY_CHECKS, PROVIDER_CHECKS } from '../../src/checks/chain.ts'
import { type Check, check, findingOf, runChecks } from '../../src/checks/check.ts'
import { DATABASE_CHECKS, REACHED } from '../../src/checks/database.ts'
import { KEY_CHECKS } from '../../src/checks/keys.ts'
import { LEDGER_CHECKS } from '../../src/checks/ledger.ts'
import { OWNER_CHECKS } from '../../src/checks/owner.ts'
import { ASKED_CHECKS } from '../../src/checks/providers.ts'
import { SALE_CHECKS } from '../../src/checks/sale.ts'
import { SERVICE_CHECKS } from '../../src/checks/service.ts'
import { WEBHOOK_CHECKS } from '../../src/checks/webhooks.ts'
import { inspectConfig } from '../../src/config/load.ts'
import { LAG_SEC, STUCK_SEC } from '../../src/domain/health.ts'
import { KINDS, linksOf } from '../../src/domain/webhooks/kinds.ts'

/** Every check, by its name. boot/preflight.ts chooses those of the start; the doctor makes all. */
const CHECKS: Readonly<Record<string, Pick<Check<never>, 'alert'>>> = {
  ...SERVICE_CHECKS,
  ...REACHED,
  ...DATABASE_CHECKS,
  ...PROVIDER_CHECKS,
  ...ASKED_CHECKS,
  ...FACTORY_CHECKS,
  ...OWNER_CHECKS,
  ...KEY_CHECKS,
  ...SALE_CHECKS,
  ...LEDGER_CHECKS,
  ...WEBHOOK_CHECKS,
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const runbook = read('docs/RUNBOOK.md')
/** Why a payment is no sale at all. */
const IGNORED = ['self', 'operator', 'zero', 'failed']
const sections = [...runbook.matchAll(/^##+ (.+)$/gm)].map(([, title]) => title ?? '')

interface Rule {
  alert: string
  expr: string
  labels: { events?: string }
  annotations: { runbook_url?: string; console_url?: string }
}
const { groups } = parse(read('ops/prometheus/alerts.yaml')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)
/** The page as the service serves it. */
const served = read('web/dist/runbook.html')
/** The console's sections, by their names in its address; the first has no name. */
const consoleSections = [...read('web/src/console/console.tsx').matchAll(/^ {2}'?([\w-]*)'?: \['/gm)].map(
  ([, name]) => name ?? '',
)
const ORIGIN = 'https://nodes.example.org'

/** Asserts that a link leads to the section of that name in the served runbook. */
function assertRunbook(link: string | null | undefined, name: string): void {
  const { origin, pathname, hash } = new URL(link ?? assert.fail(`${name} has no link to the runbook`))
  assert.deepEqual([origin, pathname], [ORIGIN, '/runbook.html'], name)
  assert.ok(served.includes(` id="${hash.slice(1)}">${name}<`), `${name}: ${hash} is not its section`)
}

/** Asserts that a link leads to an existing place in the console, or the pages. */
function assertPlace(link: string | undefined, name: string): void {
  const { origin, pathname } = new URL(link ?? assert.fail(`${name} has no place`))
  assert.equal(origin, ORIGIN, name)
  if (/^\/node\/\d+$/.test(pathname)) return
  const [, page, section = ''] = pathname.split('/')
  assert.equal(page, 'console', name)
  assert.ok(consoleSections.includes(section), `${name}: the console has no ${section}`)
}

test('every alert has a section and every section its alert, linked to it and to the console', () => {
  const alerts = rules.map(({ alert }) => alert).sort()
  assert.deepEqual(sections.filter((title) => title.startsWith('NodeLedger')).sort(), alerts)
  assert.ok(consoleSections.length > 10)
  for (const { alert, annotations } of rules) {
    assertRunbook(annotations.runbook_url, alert)
    assertPlace(annotations.console_url, alert)
  }
})

/** Alerts of what no look at one moment shows, or that the doctor cannot see from where it runs. */
const OVER_TIME = [
  ...['NodeLedgerDown', 'NodeLedgerRpcFaults', 'NodeLedgerErrors', 'NodeLedgerSlow', 'NodeLedgerDatabaseSlow'],
  ...['NodeLedgerChainStalled', 'NodeLedgerWrongAdminKeys', 'NodeLedgerNodesOverdue'],
  ...['NodeLedgerTracesFail', 'NodeLedgerPaidNodeExpelled', 'NodeLedgerInsolvent'],
  ...['NodeLedgerRefundWaits', 'NodeLedgerRefundAlarms', 'NodeLedgerBudgetSpent'],
]

test('an alert is of a check, or of what no check can see', async () => {
  const ofChecks = new Set(Object.values(CHECKS).flatMap(({ alert }) => alert ?? []))
  assert.deepEqual([...ofChecks, ...OVER_TIME].sort(), rules.map(({ alert }) => alert).sort())
  const halted = check(
    'NodeLedgerHalted',
    () => true,
    (isHalted) => (isHalted ? { says: 'halted', fail: 'Look.' } : 'not halted'),
  )
  assert.equal((await runChecks({ halted }, null))[0]?.runbook, 'NodeLedgerHalted')
  assert.equal(findingOf('passes.halt', 'not halted', 'NodeLedgerHalted').runbook, null)
})

test('alerts have the bounds of the checks', () => {
  const { staleAfterSec } = inspectConfig({}, { readFile: () => '' }).config
  for (const [figure, bound] of [
    [/node_ledger_pass_last_success_timestamp_seconds\{pass="\w+"\}\) > (\d+)/g, staleAfterSec],
    [/node_ledger_outbox_pending_age_seconds(?:\{sender="\w+"\})?\) > (\d+)/g, STUCK_SEC],
    [/node_ledger_lag_seconds\) [<>] (\d+)/g, LAG_SEC],
  ] as const) {
    const bounds = rules.flatMap(({ expr }) => [...expr.matchAll(figure)].map((match) => Number(match[1])))
    assert.deepEqual([...new Set(bounds)], [bound], String(figure))
  }
})

test('every event that needs a person has a section and vice versa, linked to it and its place', () => {
  const asking = Object.entries(KINDS).flatMap(([type, { asks }]) => (asks ? [type] : []))
  assert.deepEqual(sections.filter((title) => /^[a-z]+\.[a-z]+$/.test(title)).sort(), asking.sort())
  const data = { txHash: `0x${'a'.repeat(64)}`, subject: '7', nodeId: '3' }
  for (const [type, { asks }] of Object.entries(KINDS)) {
    for (const given of [data, { nodeId: '3' }]) {
      const { runbookUrl, consoleUrl } = linksOf({ type, timestamp: '', data: given }, ORIGIN)
      assertPlace(consoleUrl, type)
      if (asks) assertRunbook(runbookUrl, type)
      else assert.equal(runbookUrl, null, type)
    }
  }
})

test('each event that needs a person has an alert that lists it, and its section links there', () => {
  const pairs = rules.flatMap(({ alert, labels }) =>
    (labels.events?.split(',') ?? []).map((type) => [type, alert] as const),
  )
  for (const [type] of pairs) assert.ok(KINDS[type]?.asks, type)
  for (const [type, { asks }] of Object.entries(KINDS)) {
    const [, alert] = pairs.find(([each]) => each === type) ?? []
    assert.equal(alert !== undefined, asks ?? false, type)
    if (!alert) continue
    const section = runbook.split(`\n### ${type}\n`)[1]?.split('\n#')[0] ?? ''
    assert.ok(section.includes(`](#${alert.toLowerCase()})`), `${type} does not lead to ${alert}`)
  }
})

test('the served runbook has every section, only working links, and no script of its own', () => {
  const anchors = new Set([...served.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  assert.ok(anchors.size > 60)
  for (const [, link = ''] of served.matchAll(/<a href="([^"]+)"/g)) assert.ok(anchors.has(link.slice(1)), link)
  assert.deepEqual(served.match(/<script[^>]*>/g), ['<script src="/document.js" defer>'])
})

test('every reason that a payment can be held for has its section', () => {
  const [, check = ''] = / reason text CHECK \(reason IN \(([^)]*)\)/.exec(read('migrations/0001_schema.sql')) ?? []
  const reasons = [...check.matchAll(/'(\w+)'/g)].map(([, reason = '']) => reason)
  const held = reasons.filter((reason) => !IGNORED.includes(reason))
  assert.ok(held.length >= 9)
  for (const reason of held) assert.ok(sections.includes(reason), `no section for ${reason}`)
})
