// The runbook, held to what it speaks of: each alert and each reason a payment is held for has its section; the operator's routes have a row
// for each reason. Commands and links are held in documents/references.test.ts.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const runbook = read('docs/RUNBOOK.md')
/** Why a payment is no sale at all. */
const IGNORED = ['self', 'operator', 'zero', 'failed']
const sections = [...runbook.matchAll(/^##+ (.+)$/gm)].map(([, title]) => title ?? '')

test('every alert has its section, and every section of an alert its alert', () => {
  const { groups } = parse(read('ops/prometheus/alerts.yaml')) as { groups: { rules: { alert: string }[] }[] }
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)).sort()
  assert.deepEqual(sections.filter((title) => title.startsWith('NodeLedger')).sort(), alerts)
})

test('every reason that a payment can be held for has its section, and its row among the routes', () => {
  const check = /payments_reason_check CHECK .*/.exec(read('schema.sql'))?.[0] ?? ''
  const reasons = [...check.matchAll(/'(\w+)'::text/g)].map(([, reason = '']) => reason)
  const held = reasons.filter((reason) => !IGNORED.includes(reason))
  assert.ok(held.length >= 9)
  const routes = read('docs/ADMIN.md')
  for (const reason of held) {
    assert.ok(sections.includes(reason), `no section for ${reason}`)
    assert.ok(routes.includes(`\n| \`${reason}\` |`), `no row in docs/ADMIN.md for ${reason}`)
  }
})
