// The recipes of CONTRIBUTING.md, played: adds one act, one setting, one check, one event and one field of a node to a copy of the project,
// only in the files that their recipes name. Then it generates everything derived from those, and runs the copy's own service and commands.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { copyProject } from '../../scripts/copy-project.ts'
import { addEndpoint } from '../../src/db/webhooks.ts'
import { worldEnv } from '../support/cli.ts'
import { runtimeEnv } from '../support/runtime-env.ts'
import { type Service, startService } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'
import { SECRET } from '../webhooks/receiver.ts'
import { ROOT } from './pages.ts'

const KEY = 'admin-key-of-ada-0123456789abcdefg'

/** What each recipe adds: to a file, before a line. */
const ADDED: Readonly<Record<string, readonly [path: string, before: string, text: string][]>> = {
  'an act': [
    [
      'src/operator/acts/pause.ts',
      'export const resume = ',
      `export const ring = defineAct({
  path: 'pause/bell',
  scope: 'operate',
  command: 'pause bell',
  summary: 'ring the bell',
  examples: ['pause bell --tone high'],
  fields: { tone: field.text('the tone that is rung', { max: 9, value: 'tone' }) },
  change: async ({ record }, { tone }) => {
    record({ action: 'bellRung', subject: tone })
    return { rung: true }
  },
  says: 'Rung.',
})

`,
    ],
    [
      'api/admin.yaml',
      '  /api/admin/resume:\n',
      `  /api/admin/pause/bell:
    post:
      tags: [Switches]
      operationId: ringBell
      responses:
        '200':
          description: Rung.
          content:
            application/json:
              schema: { type: object, required: [rung, says], properties: { rung: { const: true }, says: { $ref: '#/components/schemas/Says' } } }
        <<: *actRefusals

`,
    ],
  ],
  'a setting': [
    [
      'src/config/service.ts',
      '    METRICS_PORT: {',
      "    BELL_TONE: { parse: oneOf(['high', 'low']), default: 'high', text: 'The tone of the bell.' },\n",
    ],
  ],
  'a check': [
    [
      'src/checks/ledger.ts',
      "  'passes.pause': ",
      "  'ledger.bell': check(null, () => null, () => ({ says: 'nobody has rung', warn: 'Ring the bell.' })),\n\n",
    ],
  ],
  'an event': [
    [
      'src/domain/webhooks/kinds.ts',
      "  'rounds.resumed': ",
      "  'bell.rung': { words: 'The bell was rung', asks: true, place: STATE, acts: ['bellRung'] },\n",
    ],
  ],
  'a field of a node': [
    ['src/db/reads/public-api.ts', "  owner: 'n.owner',\n", '  bell: "\'ding\'::text",\n'],
    [
      'api/openapi.yaml',
      "        owner: { $ref: '#/components/schemas/Address', description: The owner as recorded.",
      '        bell: { const: ding, description: The sound. }\n',
    ],
    ['api/openapi.yaml', '      properties: &nodeProperties\n', '        - bell\n'],
    ['api/openapi.yaml', '        - matchedBy\n', '        - bell\n'],
  ],
}

let copy: string
let world: World
let service: Service
before(async () => {
  world = await startWorld()
  await world.pay(5, ETHER / 100n)
  await world.settle()
  await addEndpoint(world.pool, { url: 'https://hooks.example/a', secrets: [SECRET], events: ['all'] }, 'test')
  copy = copyProject()
  symlinkSync(join(ROOT, 'client/node_modules'), join(copy, 'client/node_modules'))
  for (const [path, line, text] of Object.values(ADDED).flat()) {
    const before = readFileSync(join(copy, path), 'utf8')
    assert.equal(before.split(line).length, 2, `${path}: ${line}`)
    writeFileSync(
      join(copy, path),
      before.replace(line, () => text + line),
    )
  }
  generate()
  const env = { ...worldEnv(world), ADMIN_KEY: `ada:${KEY}`, SCHEDULER: 'off' }
  service = await startService(temporaryDirectory(), env, () => {}, [], join(copy, 'src/main.ts'))
})
after(async () => {
  await service?.stop()
  await world?.close()
})

const read = (path: string) => readFileSync(join(copy, path), 'utf8')

/** The part of "npm run generate" that does not compile contracts. */
function generate(): void {
  const made = [
    'admin-document.ts: writeAdminDocument',
    'api-types.ts: writeApiTypes',
    'cli-reference.ts: writeCliReference',
  ]
  const more = ['settings.ts: writeSettings', 'tables.ts: writeTables']
  const lines = [...made, ...more].map((row) => {
    const [file = '', name] = row.split(': ')
    return `await (await import(${JSON.stringify(pathToFileURL(join(copy, 'scripts', file)).href)})).${name}()`
  })
  execFileSync(process.execPath, ['--input-type=module', '-e', lines.join('\n')], { cwd: copy, env: runtimeEnv() })
}

/** Runs a command of the copy's on the world's ledger. Its exit code may report a problem. */
function command(...argv: string[]): string {
  const env = { ...runtimeEnv(), HOME: temporaryDirectory(), ...worldEnv(world) }
  try {
    return execFileSync(process.execPath, [join(copy, 'src/main.ts'), ...argv], {
      cwd: temporaryDirectory(),
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

test('an act is a route, a command, in both documents and a form of the console', async () => {
  const ring = (body: object) =>
    fetch(`${service.url}/api/admin/pause/bell`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-admin-key': KEY },
      body: JSON.stringify(body),
    })
  assert.equal((await ring({})).status, 400)
  const answer = await ring({ tone: 'low' })
  assert.deepEqual([answer.status, await answer.json()], [200, { rung: true, says: 'Rung.' }])
  assert.deepEqual(JSON.parse(command('pause', 'bell', '--tone', 'high', '--json')), { rung: true })
  assert.match(read('api/admin.yaml'), /operationId: ringBell\n {6}x-scope: operate\n {6}summary: 'Ring the bell'/)
  assert.match(read('api/admin.ts'), /"pause\/bell": \{/)
  assert.match(read('docs/CLI.md'), /^\| `pause bell` \| ring the bell \|$/m)
  assert.match(
    read('api/admin-acts.ts'),
    /'pause\/bell': \{\n.*operate.*\n.*\n.*tone: \{ help: "the tone that is rung"/,
  )
})

test('a setting has its value, its row, its line and its place in what the operator is shown', async () => {
  assert.match(read('.env.example'), /^# BELL_TONE=high$/m)
  assert.match(read('docs/SETTINGS.md'), /\| `BELL_TONE` \| `high` \| The tone of the bell\. \|/)
  const shown = await fetch(`${service.url}/api/admin/config`, { headers: { 'x-admin-key': KEY } })
  assert.equal(((await shown.json()) as { settings: Record<string, string> }).settings.BELL_TONE, 'high')
})

test('a check is a finding of the doctor', () => {
  const { findings } = JSON.parse(command('doctor', '--json')) as { findings: { check: string }[] }
  const finding = { verdict: 'warn', says: 'nobody has rung', todo: 'Ring the bell.', runbook: null, reading: null }
  assert.deepEqual(
    findings.filter(({ check }) => check === 'ledger.bell'),
    [{ check: 'ledger.bell', ...finding }],
  )
})

test('an event is written with its act, and is in the table of events', async () => {
  const events = await world.pool<
    { body: string }[]
  >`SELECT body FROM webhook_events WHERE type = 'bell.rung' ORDER BY seq`
  assert.deepEqual(
    events.map(({ body }) => JSON.parse(body).data.subject),
    ['low', 'high'],
  )
  assert.match(read('docs/WEBHOOKS.md'), /\| `bell\.rung` \| The bell was rung \| yes \|/)
})

test('a field of a node is in every answer with a node, and in the client', async () => {
  const node = await service.get<{ nodeId: string; bell: string }>('/api/node/1')
  assert.deepEqual([node.nodeId, node.bell], ['1', 'ding'])
  const [listed] = await service.get<{ bell: string }[]>(`/api/nodes/${world.at(5)}`)
  assert.equal(listed?.bell, 'ding')
  assert.match(read('client/src/schema.ts'), /bell: "ding";/)
})
