// The runbook, held to what it speaks of: each command and option exists, each alert and each reason a payment is held for has
// its section, each link leads somewhere.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { COMMANDS } from '../../src/cli/commands.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const runbook = read('docs/RUNBOOK.md')
/** Why a payment is no sale at all. */
const IGNORED = ['self', 'operator', 'zero', 'failed']
const sections = [...runbook.matchAll(/^##+ (.+)$/gm)].map(([, title]) => title ?? '')

test('every command and option of the runbook exists', () => {
  const text = runbook.replaceAll('\\\n', ' ')
  const calls = [...text.matchAll(/(?:^|[`( ])(?:node-)?ledger ((?:[a-z-]+ ?)+[^`\n#;]*)/gm)].map(
    ([, words]) => words ?? '',
  )
  const code = calls.filter((words) => COMMANDS.some(({ name }) => words.startsWith(name)))
  assert.ok(code.length > 30, `${code.length} commands were found`)
  for (const words of code) {
    const command = COMMANDS.filter(({ name }) => words.startsWith(name)).sort(
      (a, b) => b.name.length - a.name.length,
    )[0]
    for (const [, option = ''] of words.matchAll(/--([a-z-]+)/g)) {
      assert.ok(Object.hasOwn(command?.options ?? {}, option), `${words}: there is no --${option}`)
    }
  }
  for (const [, words = ''] of runbook.matchAll(/^ledger (.+)$/gm)) {
    assert.ok(
      code.some((known) => words.startsWith(known.trim().split(' ')[0] ?? ' ')),
      `there is no command "${words}"`,
    )
  }
})

test('every alert has its section, and every section of an alert its alert', () => {
  const { groups } = parse(read('ops/prometheus/alerts.yaml')) as { groups: { rules: { alert: string }[] }[] }
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)).sort()
  assert.deepEqual(sections.filter((title) => title.startsWith('NodeLedger')).sort(), alerts)
})

test('every reason that a payment can be held for has its section', () => {
  const check = /payments_reason_check CHECK .*/.exec(read('schema.sql'))?.[0] ?? ''
  const reasons = [...check.matchAll(/'(\w+)'::text/g)].map(([, reason = '']) => reason)
  const held = reasons.filter((reason) => !IGNORED.includes(reason))
  assert.ok(held.length >= 9)
  for (const reason of held) assert.ok(sections.includes(reason), `no section for ${reason}`)
})

test('every link leads to a file and a section that are there', () => {
  for (const [, link = ''] of runbook.matchAll(/\]\(([^)]+)\)/g)) {
    const [path = '', anchor] = link.split('#')
    assert.ok(path === '' || existsSync(join(ROOT, 'docs', path)), link)
    if (anchor === undefined) continue
    const text = path === '' ? runbook : read(join('docs', path))
    const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    )
    assert.ok(anchors.includes(anchor), link)
  }
})
