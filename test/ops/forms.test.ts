// The files that run a service, compared with what `node-ledger init` writes: each of them reads every setting and
// every secret of the folder, and names no missing file.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'
import { startAnvil } from '../../packages/embed/anvil.ts'
import { findFreePort } from '../../packages/embed/port.ts'
import { silentLog } from '../../src/lib/log.ts'
import { ANSWERS, fund } from '../cli/new-ledger.ts'
import { runHere } from '../support/cli.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
/** The first command of "With containers", which creates the database's password and URL. */
const PASSWORD =
  /\*\*With containers\*\*[\s\S]*?```sh\n(\([\s\S]*?\))\n/.exec(
    readFileSync(join(ROOT, 'docs/RUNBOOK.md'), 'utf8'),
  )?.[1] ?? assert.fail('the runbook has no such command')

interface Read {
  /** Settings that are no secrets. */
  readonly settings: Readonly<Record<string, string | undefined>>
  /** Content of the file that each setting of a secret names. */
  readonly secrets: Readonly<Record<string, string>>
}

/** The checkout, with the folder that `init` creates in it. */
const checkout = temporaryDirectory()
const folder = join(checkout, 'node-ledger')
const readIn = (...names: string[]) => readFileSync(join(folder, ...names), 'utf8')
let database: TestDatabase
before(async () => {
  const dataDir = temporaryDirectory()
  const chain = await startAnvil({ dataDir, port: 0, blockTimeSec: 1, persist: false, log: silentLog })
  database = await createEmptyDatabase()
  try {
    execFileSync('sh', ['-c', PASSWORD], { cwd: checkout })
    assert.match(readIn('secrets/database_url'), /^postgres:\/\/ledger:[0-9a-f]{48}@127\.0\.0\.1:5432\/ledger\n$/)
    writeFileSync(join(folder, 'secrets/database_url'), `${database.url}\n`)
    const ports = { PORT: String(await findFreePort()), METRICS_PORT: String(await findFreePort()) }
    const call = ['init', '--folder', folder, '--yes', ...ANSWERS, '--public-url', 'https://nodes.example.org']
    await fund(chain.rpcUrl, (await runHere(call, { RPC_URL: chain.rpcUrl })).err)
    const { code, out, err } = await runHere(call, { ...ports, TRUSTED_PROXIES: '127.0.0.1/32' })
    assert.equal(code, 0, err + out)
    for (const path of ['compose.yaml', 'ops/postgresql/compose.yaml']) {
      mkdirSync(dirname(join(checkout, path)), { recursive: true })
      cpSync(join(ROOT, path), join(checkout, path))
    }
  } finally {
    await chain.stop()
  }
})
after(() => database.drop())

/** The folder's content, as its own command reads it. */
function held(): Read {
  const exported = [...readIn('ledger').matchAll(/^export (\w+)='(.*\/secrets\/.*)'$/gm)]
  return {
    settings: { ...parseEnv(readIn('settings.env')) },
    secrets: Object.fromEntries(exported.map(([, name = '', path = '']) => [name, readFileSync(path, 'utf8')])),
  }
}

/** Splits a container's environment: settings, and the secrets whose files `read` can find. */
function divided(environment: Readonly<Record<string, string>>, read: (path: string) => string): Read {
  const [files, plain] = ['_FILE', ''].map((end) =>
    Object.entries(environment).filter(([name]) => name.endsWith('_FILE') === (end !== '')),
  )
  return {
    settings: Object.fromEntries(plain ?? []),
    secrets: Object.fromEntries((files ?? []).map(([name, path]) => [name, read(path)])),
  }
}

test('init leaves only secrets that its command reads, plus the deployer’s and database’s', () => {
  const names = readdirSync(join(folder, 'secrets')).filter((name) => !/^(deployer_key|database_password)$/.test(name))
  assert.deepEqual(Object.values(held().secrets).sort(), names.map((name) => readIn('secrets', name)).sort())
  assert.equal(names.length, 7)
})

test('the unit of systemd reads all of it, and systemd reads the unit', () => {
  const text = readFileSync(join(ROOT, 'ops/systemd/node-ledger.service'), 'utf8').replaceAll(
    '/etc/node-ledger',
    folder,
  )
  const valuesOf = (key: string) => [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)
  const credentials = new Map(valuesOf('LoadCredential').map((value) => value.split(':', 2) as [string, string]))
  const given = Object.fromEntries(valuesOf('Environment').map((value) => value.split(/=(.*)/).slice(0, 2)))
  const own = divided(given, (path) =>
    readFileSync(credentials.get(path.replace('%d/', '')) ?? assert.fail(path), 'utf8'),
  )
  assert.equal(credentials.size, Object.keys(own.secrets).length)
  const { NODE_ENV, MALLOC_ARENA_MAX: _arenas, MALLOC_MMAP_THRESHOLD_: _threshold, ...others } = own.settings
  assert.deepEqual([NODE_ENV, others], ['production', {}])
  const [settings = ''] = valuesOf('EnvironmentFile')
  assert.deepEqual({ settings: { ...parseEnv(readFileSync(settings, 'utf8')) }, secrets: own.secrets }, held())
  if (!has('systemd-analyze')) return
  const unit = join(checkout, 'node-ledger.service')
  writeFileSync(unit, text.replace('ExecStart=/usr/bin/node', `ExecStart=${process.execPath}`))
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  assert.doesNotMatch(stdout + stderr, /Unknown|Failed|Invalid|ignoring/i)
})

describe('compose', { skip: !has('docker-compose') && 'needs docker-compose' }, () => {
  const configOf = (path: string) => {
    const { status, stdout, stderr } = spawnSync('docker-compose', ['--file', join(checkout, path), 'config'], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    return parse(stdout, { merge: true })
  }
  /** The files of a service's secrets, by their paths in its container. */
  const filesOf = (
    { secrets }: { secrets: Record<string, { file: string }> },
    service: { secrets: { source: string }[] },
  ) =>
    new Map(
      service.secrets.map(({ source }) => [`/run/secrets/${source}`, secrets[source]?.file ?? assert.fail(source)]),
    )

  test('gives the service and its migration all of it', () => {
    const config = configOf('compose.yaml')
    for (const service of [config.services.migrate, config.services.ledger]) {
      const files = filesOf(config, service)
      const { settings, secrets } = divided(service.environment, (path) =>
        readFileSync(files.get(path) ?? assert.fail(path), 'utf8'),
      )
      assert.equal(files.size, Object.keys(secrets).length)
      // On the host's network, so for this machine alone.
      const { HOST, ...others } = settings
      assert.deepEqual([service.network_mode, HOST], ['host', '127.0.0.1'])
      assert.deepEqual({ settings: others, secrets }, held())
    }
  })

  test('starts a database with the password that the runbook makes', () => {
    const config = configOf('ops/postgresql/compose.yaml')
    const { database: server } = config.services
    const path = filesOf(config, server).get(server.environment.POSTGRES_PASSWORD_FILE) ?? assert.fail()
    assert.equal(readFileSync(path, 'utf8'), readIn('secrets/database_password'))
    const { POSTGRES_USER, POSTGRES_DB } = server.environment
    assert.ok(PASSWORD.includes(`postgres://${POSTGRES_USER}:$(cat database_password)@127.0.0.1:5432/${POSTGRES_DB}`))
  })
})

test('on Kubernetes the pods are given all of it, and the pass jobs their key', () => {
  for (const name of ['kustomization.yaml', 'ledger.yaml'])
    cpSync(join(ROOT, 'ops/kubernetes', name), join(folder, name))
  const { configMapGenerator, secretGenerator } = parse(readIn('kustomization.yaml'))
  const [{ name: configMap, envs }] = configMapGenerator
  const [{ name: secret, files }] = secretGenerator
  const settings = { ...parseEnv(envs.map((name: string) => readIn(name)).join('\n')) }
  const contents = new Map<string, string>(files.map((path: string) => [basename(path), readIn(path)]))
  const manifests = parseAllDocuments(readIn('ledger.yaml'), { merge: true }).map((one) => one.toJS())
  const pod = manifests.find(({ kind }) => kind === 'Deployment').spec.template.spec
  assert.deepEqual([pod.volumes[0].name, pod.volumes[0].secret.secretName], ['secrets', secret])
  for (const { env, envFrom, volumeMounts } of [...pod.initContainers, ...pod.containers]) {
    assert.deepEqual(envFrom, [{ configMapRef: { name: configMap } }])
    const [{ name, mountPath }] = volumeMounts
    assert.equal(name, 'secrets')
    const named = Object.fromEntries(env.map((one: { name: string; value: string }) => [one.name, one.value]))
    const { secrets } = divided(named, (path) => {
      assert.equal(dirname(path), mountPath)
      return contents.get(basename(path)) ?? assert.fail(path)
    })
    assert.equal(contents.size, Object.keys(secrets).length)
    assert.deepEqual({ settings, secrets }, held())
  }
  const jobs = parse(readFileSync(join(ROOT, 'ops/kubernetes/cronjobs.yaml'), 'utf8'))
  const [{ secret: mounted }] = jobs.spec.jobTemplate.spec.template.spec.volumes
  assert.equal(mounted.secretName, secret)
  for (const { key } of mounted.items) assert.ok(contents.has(key), key)
  if (!has('kubectl')) return
  // kubectl's version of the same. It leaves an address without quotes, which only Go's parser takes for a string.
  const output = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
  const built = parseAllDocuments(output, { schema: 'failsafe' }).map((one) => one.toJS())
  const dataOf = (kind: string) => built.find((one) => one.kind === kind).data
  assert.deepEqual(dataOf('ConfigMap'), settings)
  const decoded = Object.entries<string>(dataOf('Secret')).map(([name, text]) => [
    name,
    Buffer.from(text, 'base64').toString(),
  ])
  assert.deepEqual(Object.fromEntries(decoded), Object.fromEntries(contents))
  assert.deepEqual(
    built.map(({ kind }) => kind).sort(),
    [...manifests.map(({ kind }) => kind), 'ConfigMap', 'Secret'].sort(),
  )
})
