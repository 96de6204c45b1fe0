// Settings that change while the service runs: its operator edits the files that hold them, and sends a signal or a command.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { silentLog } from '../../src/lib/log.ts'
import { runHere } from '../support/cli.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import { type Service, startService } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const [FIRST, SECOND] = ['first-admin-key-of-the-test-0123', 'second-admin-key-of-the-test-012']
const directory = temporaryDirectory()
const file = join(directory, 'admin_key')
let database: TestDatabase
let service: Service
let env: Record<string, string>
before(async () => {
  writeFileSync(file, `ann:${FIRST}\n`)
  database = await createDatabase()
  env = { ADMIN_KEY_FILE: file, DATABASE_URL: database.url, DATA_DIR: directory }
  service = await startService(directory, env)
})
after(async () => {
  await service?.stop()
  await database?.drop()
})

const statusWith = async (key: string) =>
  (await fetch(`${service.url}/api/admin/payments/counts`, { headers: { 'x-admin-key': key } })).status

/** The log comes through a pipe, so an answer may be here before the line that was written ahead of it. */
const logged = (line: RegExp) => until(`the log line ${line}`, async () => (line.test(service.output()) ? true : null))

test('SIGHUP takes another key of the operator, and the service goes on', async () => {
  assert.deepEqual([await statusWith(FIRST), await statusWith(SECOND)], [200, 401])
  writeFileSync(file, `ann:${SECOND}\n`)
  service.kill('SIGHUP')
  await until('the new key', async () => ((await statusWith(SECOND)) === 200 ? true : null))
  assert.equal(await statusWith(FIRST), 401)
  await logged(/"taken":\["ADMIN_KEY"\],"needRestart":\[\]/)
  assert.ok(!service.output().includes(SECOND))
})

test('settings that are not right change nothing, and the log names them', async () => {
  writeFileSync(file, `ann:${FIRST},ann:${SECOND}\n`)
  service.kill('SIGHUP')
  await logged(/stay as they were/)
  assert.match(service.output(), /"setting":"ADMIN_KEY"/)
  assert.equal(await statusWith(SECOND), 200)
})

test('the command asks every instance, and may set the level of the log', async () => {
  writeFileSync(file, `ann:${SECOND},bob:${FIRST}\n`)
  const { code, err } = await runHere(['reload', '--log-level', 'debug'], env)
  assert.equal(code, 0, err)
  await until('both keys', async () => ((await statusWith(FIRST)) === 200 ? true : null))
  await logged(/"logLevel":"debug"/)
  assert.equal((await runHere(['reload', '--log-level', 'loud'], env)).code, 2)
})

test('a provider’s URL changes where it leads to the same provider', async () => {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    request.resume().on('end', () => response.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}'))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const rpc = createRpc({ urls: [`${origin}/old-key`], log: silentLog })
  try {
    await rpc.request('eth_chainId', [])
    assert.equal(rpc.use([`${origin}/new-key?a=b`]), true)
    await rpc.request('eth_chainId', []).catch(() => {})
    for (const urls of [['http://127.0.0.2:1/'], [origin, origin], []]) assert.equal(rpc.use(urls), false)
    assert.deepEqual(paths.slice(0, 2), ['/old-key', '/new-key?a=b'])
  } finally {
    await rpc.close()
    server.close()
  }
})
