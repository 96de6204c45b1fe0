// Commands beside a service that runs on embedded parts, as a newcomer meets them after `npm start`. They find its
// database and its chain. If no service runs, they say so and start nothing.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runHere, runProcess } from '../support/cli.ts'
import { runtimeEnv } from '../support/runtime-env.ts'
import { type Service, startService, type WellKnown, wallet } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const PRICE = 10n ** 16n
const dataDir = temporaryDirectory()
const env = { DATA_DIR: dataDir }

let service: Service
before(async () => {
  service = await startService(dataDir, { TICK_SEC: '1' })
})
after(() => service.stop())

/** The JSON that a command prints. Polling in this process costs a tenth of starting one each time. */
const json = async (argv: readonly string[], run: typeof runHere | typeof runProcess = runProcess) => {
  const { code, out, err } = await run([...argv, '--json'], env)
  assert.equal(code, 0, err)
  return JSON.parse(out)
}

describe('beside a running service', () => {
  test('commands find its database and its chain by themselves', async () => {
    const chain = await service.get<WellKnown>('/.well-known/node-ledger.json')
    await wallet(6, chain).pay(chain.paymentAddress, PRICE)
    const hash = await wallet(7, chain).pay(chain.paymentAddress, PRICE + 1n)
    await until('the held payment', async () => {
      const { payments } = await json(['payments', 'list', '--status', 'held'], runHere)
      return payments.length > 0 ? payments : null
    })
    await json(['payments', 'release', hash, '--tier-id', 'basic', '--yes'])
    await until('both nodes', async () => (await service.get<{ totalNodes: number }>('/api/stats')).totalNodes === 2)
    const { equal, nodes } = await json(['verify'])
    assert.deepEqual([equal, nodes], [true, 2])
    assert.match((await json(['config'])).DATABASE_URL, /embedded/)
  })

  test('a pass takes its turn with those of the service', async () => {
    const ran = await until('a turn', async () => {
      const { code, out } = await runHere(['pass', 'payments', '--json'], env)
      assert.equal(JSON.parse(out).ran, code === 0)
      return code === 0 ? out : null
    })
    assert.ok(JSON.parse(ran).headBlock > 0)
  })

  test('the doctor finds nothing wrong', async () => {
    const { verdict, findings } = await until('a ledger that was compared', async () => {
      const { out } = await runHere(['doctor', '--json'], env)
      return out.includes('not compared with the contract yet') ? null : JSON.parse(out)
    })
    const bad = findings.filter(
      (finding: { verdict: string }) => finding.verdict === 'fail' || finding.verdict === 'unknown',
    )
    assert.deepEqual(bad, [], verdict)
    const { says } = findings.find(({ check }: { check: string }) => check === 'service')
    assert.ok(says.endsWith(`is ready at ${service.url}/readyz`), says)
  })

  test('a statement for a state that the chain has dropped reports whose limit that is', async () => {
    const { rpcUrl } = await service.get<WellKnown>('/.well-known/node-ledger.json')
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_mine', params: ['0x64'] })
    // As after half an hour.
    for (let mined = 0; mined < 1_800; mined += 100)
      await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const whole = await runProcess(['statement'], env)
    assert.equal(whole.code, 3)
    assert.match(whole.err, /after block 0|after block \d+: .*minter/)
    assert.match(whole.err, /embedded chain keeps some hundred/)
  })

  test('a second service on the same directory is refused in a sentence', async () => {
    const { code, err } = await runProcess(['start'], { ...env, PORT: '0', CHAIN_PORT: '0', METRICS_PORT: '0' })
    assert.equal(code, 1)
    assert.match(err, /is in use by process \d+/)
    assert.doesNotMatch(err, /at .*\.ts:\d/)
  })
})

test('commands report that no service runs, and start nothing', async () => {
  const nowhere = temporaryDirectory()
  for (const [argv, run] of [
    [['payments', 'list'], runProcess],
    [['verify'], runHere],
    [['pass', 'credit'], runHere],
    [['migrate'], runHere],
    [['doctor'], runHere],
  ] as const) {
    const { code, out, err } = await run([...argv, '--json'], { DATA_DIR: nowhere, PORT: '0' })
    assert.equal(code, 3, err)
    assert.match(out, /[Nn]o service runs in this directory/)
  }
  assert.deepEqual(readdirSync(nowhere), [])
})

test('on a terminal the log is readable lines, and the banner shows pages and key file', async () => {
  const own = temporaryDirectory()
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const ports = { PORT: '0', CHAIN_PORT: '0', METRICS_PORT: '0', TICK_SEC: '1', LOG_LEVEL: 'info' }
  // A real terminal, through util-linux.
  const child = spawn('script', ['-qefc', `'${process.execPath}' '${main}' start`, '/dev/null'], {
    env: { ...runtimeEnv(), HOME: own, DATA_DIR: own, ...ports },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (part) => {
    said += part
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  try {
    for (const words of [
      /http:\/\/127\.0\.0\.1:\d+\/ .*\/buy, .*\/console, .*\/docs/,
      /console +sign in with the key that is ADMIN_KEY in .*secrets\.json/,
      /^\d\d:\d\d:\d\d (info|WARN) /m,
    ])
      await until(`${words}`, async () => words.test(said))
    assert.doesNotMatch(said, /^\{"level"/m)
    const { ADMIN_KEY } = JSON.parse(readFileSync(join(own, 'secrets.json'), 'utf8'))
    assert.ok(!said.includes(ADMIN_KEY))
  } finally {
    child.stdin.write('\x03')
    child.stdin.end()
  }
  await ended
})

test('ports in use are all reported together, each with its setting', async () => {
  const servers = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const [PORT = '', METRICS_PORT = '', CHAIN_PORT = ''] = servers.map((server) =>
    String((server.address() as AddressInfo).port),
  )
  const { code, err } = await runProcess(['start'], { DATA_DIR: temporaryDirectory(), PORT, METRICS_PORT, CHAIN_PORT })
  for (const server of servers) server.close()
  assert.equal(code, 1, err)
  for (const [name, port] of Object.entries({ PORT, METRICS_PORT, CHAIN_PORT }))
    assert.match(err, new RegExp(`Port ${port} is taken.* set ${name} `))
})

describe('a failed start prints its reason on one line', () => {
  const rows: [string, Record<string, string>, number, RegExp][] = [
    ['wrong settings', { PORT: 'many' }, 2, /PORT is "many"/],
    ['production without anything', { NODE_ENV: 'production' }, 2, /DATABASE_URL is required/],
    ['a failpoint there is not', { NODE_LEDGER_FAILPOINT: 'nowhere', DATA_DIR: temporaryDirectory() }, 1, /There are:/],
  ]
  for (const [what, given, expected, words] of rows) {
    test(what, async () => {
      const { code, err } = await runProcess(['start'], given)
      assert.equal(code, expected, err)
      assert.match(err, words)
      assert.doesNotMatch(err, /at .*\.ts:\d/)
    })
  }
})
