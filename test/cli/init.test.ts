// `node-ledger init`, as a new operator calls it: on an empty folder, an empty database and a chain that mines by itself.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { startAnvil } from '../../packages/embed/anvil.ts'
import { findFreePort } from '../../packages/embed/port.ts'
import { callRpc } from '../../packages/embed/rpc.ts'
import { developmentAccount } from '../../src/domain/development.ts'
import { silentLog } from '../../src/lib/log.ts'
import { AWS_KEY } from '../chain/kms/double.ts'
import { runHere, runProcess } from '../support/cli.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts'
import { runtimeEnv } from '../support/runtime-env.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const OWNER = developmentAccount(9).address
const PAYMENTS = developmentAccount(8).address
const TERMS = [
  '--min-wei',
  '0.0005ether',
  '--max-wei',
  '0.001ether',
  '--price-wei',
  '0.01ether',
  '--label',
  'First of all',
]
const ANSWERS = ['--owner', OWNER, '--payments', PAYMENTS, ...TERMS]
const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

let chain: Awaited<ReturnType<typeof startAnvil>>
let database: TestDatabase
before(async () => {
  const dataDir = temporaryDirectory()
  chain = await startAnvil({ dataDir, port: 0, blockTimeSec: 1, persist: false, log: silentLog })
  database = await createEmptyDatabase()
})
after(async () => {
  await database.drop()
  await chain.stop()
})

const rpc = <T>(method: string, params: readonly unknown[]) => callRpc<T>(chain.rpcUrl, method, params)
const urls = () => ({ RPC_URL: chain.rpcUrl, DATABASE_URL: database.url })
const newFolder = () => join(temporaryDirectory(), 'ledger')
const readIn = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8')
const progressIn = (folder: string) => JSON.parse(readIn(folder, 'init.json'))

/** Secrets of the operator's own, in the folder before the first run. */
function put(folder: string, secrets: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder, 'secrets'), { recursive: true })
  for (const [name, text] of Object.entries(secrets)) writeFileSync(join(folder, 'secrets', name), `${text}\n`)
}

/** The accounts that a stopped run asks ether for, funded. */
async function fund(said: string): Promise<void> {
  const accounts = [...said.matchAll(/^ {2}(?:minter|distributor|deployer) +(0x\w{40})/gm)].map(
    ([, account]) => account,
  )
  assert.equal(accounts.length, 3, said)
  for (const account of accounts) await rpc('anvil_setBalance', [account, '0xde0b6b3a7640000'])
}

describe('before anything is written', () => {
  test('all that is missing or wrong is named at once, and no URL repeated', async () => {
    const folder = newFolder()
    const wrong = ['--owner', `${OWNER.slice(0, -1)}1`, '--price-wei', '0.1 eth', '--form', 'docker']
    const { code, err } = await runHere(['init', '--folder', folder, ...wrong], {
      DATABASE_URL: 'mysql://top:secret@x',
    })
    assert.equal(code, 2)
    for (const name of [
      '--owner',
      '--payments',
      '--min-wei',
      '--max-wei',
      '--price-wei',
      '--form',
      'RPC_URL',
      'DATABASE_URL',
    ])
      assert.match(err, new RegExp(`^${name}: `, 'm'))
    assert.doesNotMatch(err, /secret/)
    assert.equal(existsSync(folder), false)
  })

  test('a dry run says what it would do; a person who declines has lost nothing', async () => {
    const folder = newFolder()
    const dry = await runHere(['init', '--folder', folder, '--dry-run', ...ANSWERS], urls())
    assert.deepEqual([dry.code, existsSync(folder)], [0, false])
    assert.match(dry.err, /First of all \(basic\) for 0\.01 ether/)
    const options = ['--form', 'shell', '--public-url', 'https://a.example', '--interval', '60', '--slot', '10']
    const all = [...ANSWERS, ...options, '--tier', 'first', '--per-wallet', '3']
    const declined = await runHere(['init', '--folder', folder, ...all], urls(), 'n')
    assert.deepEqual([declined.code, existsSync(folder)], [1, false])
  })

  test('a person is asked for what the call does not say, and again where the answer is wrong', async () => {
    const folder = newFolder()
    const typed = ['', 'nobody', OWNER, PAYMENTS, '', '1gwei', '2gwei', '', '', '', '', '0.5ether', '', 'n'].join('\n')
    const { code, err } = await runHere(['init', '--folder', folder, '--dry-run'], urls(), typed)
    assert.equal(code, 0, err)
    assert.match(err, /Wanted is an address/)
    assert.match(err, /0\.000000001 to 0\.000000002 ether, every 86400 s/)
    assert.match(err, /Basic \(basic\) for 0\.5 ether, 10 for a wallet/)
  })
})

test('a ledger is set up, stops for ether, goes on, and sells; a second run changes nothing', {
  timeout: 300_000,
}, async () => {
  const folder = newFolder()
  const [PORT, METRICS_PORT] = [String(await findFreePort()), String(await findFreePort())]
  const env = { ...urls(), PORT, METRICS_PORT, ADMIN_KEY: 'not-for-the-file' }
  const call = ['init', '--folder', folder, '--yes']
  const stopped = await runProcess([...call, ...ANSWERS], env)
  assert.equal(stopped.code, 1, stopped.err)
  await fund(stopped.err)

  // The answers and URLs are known now.
  const done = await runProcess([...call, '--test-sale'], { PORT, METRICS_PORT })
  assert.equal(done.code, 0, done.err)
  assert.match(done.err, /Sold: the deployer has node 1/)
  assert.match(done.err, /\n0 wrong, /)
  const files = readdirSync(join(folder, 'secrets'))
  for (const name of files) {
    assert.equal(statSync(join(folder, 'secrets', name)).mode & 0o077, 0, name)
    if (name !== 'rpc_url')
      assert.ok(!(stopped.err + done.err + done.out).includes(readIn(folder, `secrets/${name}`).trim()), name)
  }
  const settings = readIn(folder, 'settings.env')
  assert.match(settings, new RegExp(`^PORT=${PORT}$`, 'm'))
  assert.doesNotMatch(settings, /not-for-the-file|postgres:/)
  const own = spawnSync(join(folder, 'ledger'), ['tiers', 'list', '--json'], { encoding: 'utf8', env: runtimeEnv() })
  assert.equal(JSON.parse(own.stdout).tiers[0].label, 'First of all')

  const before = progressIn(folder)
  const again = await runProcess(call, {})
  assert.equal(again.code, 0, again.err)
  assert.doesNotMatch(again.err, /\$ ledger (deploy|tiers create)/)
  assert.deepEqual(progressIn(folder), before)
  const other = await runHere([...call, '--owner', PAYMENTS], {})
  assert.deepEqual([other.code, /--owner: was /.test(other.err)], [2, true])
})

test('cut off after its deployment was sent, it finds the contract and pays for no second one', async () => {
  const folder = newFolder()
  // The form that needs no database here.
  const call = ['init', '--folder', folder, '--yes', '--form', 'compose']
  await fund((await runHere([...call, ...ANSWERS], urls())).err)
  assert.equal((await runHere(call, {})).code, 0)
  const { factory, ...cut } = progressIn(folder)
  writeFileSync(join(folder, 'init.json'), JSON.stringify(cut))
  rmSync(join(folder, 'settings.env'))
  const again = await runHere(call, {})
  assert.equal(again.code, 0, again.err)
  assert.doesNotMatch(again.err, /\$ ledger deploy/)
  const found = progressIn(folder).factory
  assert.equal(found.address, factory.address)
  assert.ok(found.startBlock <= factory.startBlock)
})

describe('the forms', () => {
  test('compose: its own database, and files that compose reads', async () => {
    const folder = newFolder()
    const call = ['init', '--folder', folder, '--yes', '--form', 'compose']
    put(folder, { minter_signer_url: 'https://signer.example', minter_address: `0x${'a1'.repeat(20)}` })
    await fund((await runHere([...call, ...ANSWERS], urls())).err)
    const { code, err } = await runHere(call, {})
    assert.equal(code, 0, err)
    const { services, secrets } = parse(readIn(folder, 'compose.yaml'), { merge: true })
    assert.ok(Object.keys(secrets).every((name) => existsSync(join(folder, 'secrets', name))))
    assert.deepEqual(Object.keys(secrets), ['database_password', ...services.ledger.secrets])
    assert.equal(services.ledger.environment.MINTER_SIGNER_URL_FILE, '/run/secrets/minter_signer_url')
    assert.equal(services.ledger.environment.MINTER_PRIVATE_KEY_FILE, undefined)
    assert.match(readIn(folder, 'compose.env'), /^MINTER_ADDRESS=0xa1/m)
    assert.ok(readIn(folder, 'secrets/database_url').includes(readIn(folder, 'secrets/database_password').trim()))
    if (!has('docker-compose')) return
    const read = spawnSync('docker-compose', ['config', '--quiet'], { cwd: folder, encoding: 'utf8' })
    assert.equal(read.status, 0, read.stderr)
  })

  test('kubernetes: each secret that the deployment mounts is in the kustomization, and each setting is', async () => {
    const folder = newFolder()
    const call = ['init', '--folder', folder, '--yes', '--form', 'kubernetes']
    const [minter, distributor] = [`0x${'c3'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
    put(folder, { minter_kms_key: AWS_KEY, minter_address: minter })
    put(folder, { distributor_signer_url: 'http://signer.internal:9000', distributor_address: distributor })
    await fund((await runHere([...call, ...ANSWERS], urls())).err)
    const { code, err } = await runHere(call, {})
    assert.equal(code, 0, err)
    const { secretGenerator, patches } = parse(readIn(folder, 'kustomization.yaml'))
    for (const file of secretGenerator[0].files) assert.ok(existsSync(join(folder, file)), file)
    const parts = readIn(folder, 'ledger.yaml')
      .split(/^---$/m)
      .map((part) => parse(part))
    const partOf = (kind: string) => parts.find((part) => part.kind === kind)
    const [container] = partOf('Deployment').spec.template.spec.containers
    const mounted = container.env.map(({ value }: { value: string }) =>
      value.replace('/run/secrets/node-ledger', 'secrets'),
    )
    assert.deepEqual(mounted, secretGenerator[0].files)
    assert.ok(mounted.includes('secrets/distributor_signer_url') && !/minter_key|distributor_key/.test(mounted.join()))
    const { egress } = partOf('NetworkPolicy').spec
    assert.deepEqual(egress.slice(-2), [
      { ports: [{ port: 9000 }] },
      { to: [{ ipBlock: { cidr: '169.254.170.23/32' } }], ports: [{ port: 80 }] },
    ])
    const { data } = parse(patches[0].patch)
    assert.deepEqual(
      [data.MINTER_KMS_KEY, data.MINTER_ADDRESS, data.DISTRIBUTOR_ADDRESS],
      [AWS_KEY, minter, distributor],
    )
    assert.equal(data.FACTORY_ADDRESS, progressIn(folder).factory.address)
    assert.equal(data.CREDIT_MIN_WEI, '500000000000000')
  })

  test('systemd: a unit with the paths of the folder, and keys that were given by their files', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'secrets'), { recursive: true })
    const password = join(folder, 'secrets/minter_keystore_password')
    writeFileSync(password, 'a password of some length\n')
    const keystore = join(folder, 'secrets/minter_keystore')
    const made = await runHere(['keys', 'new', '--out', keystore, '--password-file', password], {})
    const own = await createEmptyDatabase()
    try {
      const call = ['init', '--folder', folder, '--yes', '--form', 'systemd']
      const ports = { PORT: String(await findFreePort()), METRICS_PORT: String(await findFreePort()) }
      const stopped = await runHere([...call, ...ANSWERS], { ...urls(), DATABASE_URL: own.url })
      assert.match(stopped.err, new RegExp(`minter +${made.out.trim()}`))
      await fund(stopped.err)
      const { code, err } = await runHere(call, ports)
      assert.equal(code, 0, err)
      const unit = readIn(folder, 'node-ledger.service')
      assert.match(unit, /^Environment=MINTER_KEYSTORE=%d\/minter_keystore$/m)
      assert.doesNotMatch(unit, /minter_key:|deployer/)
      assert.match(unit, new RegExp(`^EnvironmentFile=${join(folder, 'settings.env')}$`, 'm'))
      if (!has('systemd-analyze')) return
      const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', join(folder, 'node-ledger.service')], {
        encoding: 'utf8',
      })
      assert.doesNotMatch(stdout + stderr, /Unknown|Failed|Invalid|ignoring|not executable/i)
    } finally {
      await own.drop()
    }
  })
})
