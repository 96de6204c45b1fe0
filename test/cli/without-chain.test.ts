// What commands do not load. Those that need only the database load nothing of the chain, and call no provider, because
// loading it takes as long as the rest of a command.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { address } from '../../src/domain/units.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import { runtimeEnv } from '../support/runtime-env.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const HASH = `0x${'1'.repeat(64)}`
/** Commands that touch only the database, each with its exit code here. */
const COMMANDS: readonly [line: string, code: number][] = [
  ['help', 0],
  ['tiers list', 0],
  ['payments list', 0],
  [`payments show ${HASH}`, 1],
  ['wallets list', 0],
  ['contract-wallets list', 0],
  ['transactions list', 0],
  ['rounds list', 0],
  ['nodes unpaid', 0],
  ['proposals list', 0],
  ['audit list', 0],
  ['webhooks deliveries', 0],
  ['admin-keys list', 0],
  ['pause --yes', 0],
]

/** A process that runs them one after the other, and prints after each its exit code and the modules loaded so far. */
const SCRIPT = `
  import { registerHooks } from 'node:module'
  import { PassThrough } from 'node:stream'
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  const { runCli } = await import(process.env.RUN)
  for (const line of JSON.parse(process.env.LINES)) {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough().resume(), new PassThrough()]
    const code = await runCli(line.split(' '), { env: process.env, stdin, stdout, stderr })
    console.log(JSON.stringify({ line, code, err: String(stderr.read() ?? ''), loaded: loaded.splice(0) }))
  }
  process.exit()`

const LAUNCHER = fileURLToPath(new URL('../../bin/node-ledger.mjs', import.meta.url))
/** Makes every process say at its end if it has loaded the type stripper. */
const TELL = `process.on('exit', () => process.moduleLoadList.some((name) => /amaro/.test(name)) && console.error('stripped'))`

let database: TestDatabase
before(async () => {
  database = await createDatabase()
})
after(() => database.drop())

test('commands for the database alone load neither viem nor undici, and need no provider', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT], {
    cwd: temporaryDirectory(),
    env: {
      ...runtimeEnv(),
      RUN: fileURLToPath(new URL('../../src/cli/run.ts', import.meta.url)),
      LINES: JSON.stringify(COMMANDS.map(([line]) => line)),
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      // Port 1: nothing listens there.
      RPC_URL: 'http://127.0.0.1:1',
      FACTORY_ADDRESS: address(`0x${'ab'.repeat(20)}`),
      START_BLOCK: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = (await text(child.stdout)).trim().split('\n')
  const ran = lines.map((line) => JSON.parse(line) as { line: string; code: number; err: string; loaded: string[] })
  assert.deepEqual(
    ran.map(({ line, code, err }) => [line, code, code > 1 ? err : '']),
    COMMANDS.map(([line, code]) => [line, code, '']),
  )
  for (const { line, loaded } of ran) {
    const chain = loaded.filter((url) =>
      /node_modules\/(viem|undici|ox|abitype)\/|src\/chain\/(rpc|evidence|factory\/(?!bounds))/.test(url),
    )
    assert.deepEqual(chain, [], line)
  }
  assert.ok(
    ran.some(({ loaded }) => loaded.some((url) => url.endsWith('/operator/acts/tiers.ts'))),
    'the list is of all that was loaded',
  )
})

test('the service loads its own undici’s client only, and no part of Node’s', async () => {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url))
  const told =
    'console.log(JSON.stringify([...process.moduleLoadList, ...Object.keys((await import("node:module")).default._cache)]))'
  const script = `await import(${url('../../src/cli/service/start.ts')}); await import(${url('../../packages/embed/index.ts')}); ${told}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env: runtimeEnv() })
  const loaded = JSON.parse(await text(child.stdout)) as string[]
  assert.ok(loaded.includes('NativeModule http'))
  const undici = loaded.filter((name) => name.includes('undici'))
  assert.ok(undici.some((name) => name.endsWith('/undici/lib/dispatcher/pool.js')))
  assert.deepEqual(
    undici.filter((name) => !/\/undici\/lib\/(api|core|dispatcher|handler|llhttp|util)\//.test(name)),
    [],
  )
})

test('a file whose types were stripped once is not stripped again', async () => {
  // Without the test runner's own cache.
  const { NODE_COMPILE_CACHE: _, ...own } = runtimeEnv()
  const env = { ...own, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(TELL)}` }
  const run = async () => {
    const child = spawn(process.execPath, [LAUNCHER, 'help'], { cwd: temporaryDirectory(), env })
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    assert.match(out, /^Usage: node-ledger/)
    return err
  }
  await run()
  assert.equal(await run(), '')
  // Otherwise the assertion above proves nothing.
  Object.assign(env, { NODE_DISABLE_COMPILE_CACHE: '1' })
  assert.equal(await run(), 'stripped\n')
})
