// The files that ship the service, checked with tools that read them and against each other: the image copies
// everything that a production start needs, its root file system is read-only, and every setting they name exists.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { resolveConfig } from 'vite'
import { parse, parseAllDocuments } from 'yaml'
import { importsOf, readSources, target } from '../../scripts/imports.ts'
import { SETTINGS } from '../../src/config/names.ts'
import { AWS_KEY } from '../chain/kms/double.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
interface Step {
  uses?: string
  run?: string
}
const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
const run = (command: string, args: readonly string[], cwd = ROOT) => {
  const { stdout, stderr, status } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  return { output: stdout + stderr, status }
}

test('systemd reads the units, and finds little that they expose', {
  skip: !has('systemd-analyze') && 'needs systemd-analyze',
}, () => {
  const units = readdirSync(join(ROOT, 'ops/systemd'))
  assert.equal(units.length, 4)
  // It checks whether the programs exist, which depends on the machine and not on the units.
  const directory = temporaryDirectory()
  for (const unit of units) {
    const text = read(`ops/systemd/${unit}`).replace('ExecStart=/usr/bin/node', `ExecStart=${process.execPath}`)
    writeFileSync(join(directory, unit), text)
  }
  const verified = run('systemd-analyze', [
    'verify',
    ...units.map((unit) => join(directory, unit).replace('@.', '@payments.')),
  ])
  assert.doesNotMatch(verified.output, /Unknown|Failed|Invalid|ignoring/i)
  for (const unit of units.filter((name) => name.endsWith('.service'))) {
    const exposure = run('systemd-analyze', ['security', '--offline=true', '--threshold=20', join('ops/systemd', unit)])
    assert.equal(exposure.status, 0, exposure.output)
  }
})

test('however it is started, its memory has the same limits', () => {
  for (const path of [
    'bin/node-ledger.mjs',
    'Dockerfile',
    'ops/systemd/node-ledger.service',
    'src/cli/init/command.ts',
    'bench/lib/process.ts',
  ]) {
    const text = read(path)
    assert.deepEqual(
      text.match(/--max-[a-z-]+-size=\d+/g),
      ['--max-semi-space-size=4', '--max-old-space-size=512'],
      path,
    )
    const allocator = [...text.matchAll(/(MALLOC_[A-Z_]+)(?:=|: ')(\d+)/g)].map(([, name, value]) => `${name}=${value}`)
    assert.deepEqual(allocator, ['MALLOC_ARENA_MAX=1', 'MALLOC_MMAP_THRESHOLD_=131072'], path)
  }
})

test('every setting in a file exists, and every secret is read from a file', () => {
  const compose = parse(read('compose.yaml'), { merge: true })
  const kubernetes = parseAllDocuments(read('ops/kubernetes/ledger.yaml'), { merge: true }).map((one) => one.toJS())
  const deployment = kubernetes.find(({ kind }) => kind === 'Deployment')
  const unit = read('ops/systemd/node-ledger.service')
  const places = {
    'compose.yaml': Object.keys(compose.services.ledger.environment),
    'the Deployment': deployment.spec.template.spec.containers[0].env.map(({ name }: { name: string }) => name),
    'the unit': [...unit.matchAll(/^Environment=([A-Z_]+)=/gm)].map(([, name]) => name),
    'the image': [...read('Dockerfile').matchAll(/^(?:ENV| {4}) *([A-Z_]+)=/gm)].map(([, name]) => name),
  }
  for (const [place, names] of Object.entries(places)) {
    assert.ok(names.length > 0, place)
    for (const name of names.filter((one: string) => !one.startsWith('MALLOC_'))) {
      assert.ok(
        (SETTINGS as readonly string[]).includes(name.replace(/_FILE$/, '')),
        `${place}: there is no setting ${name}`,
      )
    }
  }
})

test('the release workflow runs this project’s scripts and pinned actions, with listed rights', () => {
  const { jobs, permissions } = parse(read('.github/workflows/release.yml'))
  assert.deepEqual(permissions, {})
  const { scripts } = JSON.parse(read('package.json'))
  for (const [name, { steps, permissions: rights }] of Object.entries<{ steps: Step[]; permissions: object }>(jobs)) {
    assert.ok(Object.keys(rights).length > 0, name)
    for (const { uses, run: line } of steps) {
      if (uses !== undefined) assert.match(uses, /^[a-z-]+\/[a-z-]+@[0-9a-f]{40}$/)
      const [, script] = /^npm run (?:--silent )?([a-z:]+)/.exec(line ?? '') ?? []
      if (script !== undefined) assert.ok(script in scripts, script)
    }
  }
  const notes = (tag: string) => run(process.execPath, ['scripts/release/notes.ts', tag])
  assert.match(notes('v0.0.9').output, /has version 0\.1\.0, and the tag is v0\.0\.9/)
  const known = notes(`v${JSON.parse(read('package.json')).version}`)
  assert.match(known.output, /CHANGELOG\.md has no part|### Added/)
  const [, script = ''] = /<script type="module">(.*?)<\/script>/s.exec(read('web/dist/withdraw.html')) ?? []
  const digest = `sha256-${createHash('sha256').update(script).digest('base64')}`
  assert.ok(known.output.includes(`script-src '${digest}'`), 'the digest of what owners keep')
})

test('a release keeps the previous one’s scripts, from package or folder, and no older ones', async () => {
  const folder = temporaryDirectory()
  const into = join(folder, 'kept')
  const dist = join(folder, 'package/web/dist')
  const files = {
    'index.html': '<script src="/assets/index-a1.js"></script>',
    'reference.html': '<link href="/assets/reference-b2.css">',
    'reload.js': '1',
    'assets/index-a1.js': 'import("./owner-c3.js")',
    'assets/owner-c3.js': 'import "./wallet-d4.js"; import("./index-a1.js")',
    'assets/wallet-d4.js': '1',
    'assets/reference-b2.css': '',
    'assets/owner-of-still-older.js': '1',
  }
  mkdirSync(join(dist, 'assets'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dist, name), text)
  const former = (...before: string[]) =>
    run(process.execPath, ['scripts/release/former.ts', '--into', into, ...before], ROOT)
  const kept = () => (existsSync(into) ? readdirSync(into).sort() : [])
  const own = ['index-a1.js', 'owner-c3.js', 'reference-b2.css', 'wallet-d4.js']
  run('tar', ['-czf', join(folder, 'former.tgz'), '-C', folder, 'package'])
  for (const before of [join(folder, 'former.tgz'), join(folder, 'package')]) {
    assert.match(former(before).output, /^Kept 4 files of /)
    assert.deepEqual(kept(), own)
    assert.equal(readFileSync(join(into, 'index-a1.js'), 'utf8'), files['assets/index-a1.js'])
    // The first release has none before it.
    assert.deepEqual(former(), {
      output: 'No earlier release is given, so this one keeps none of its files.\n',
      status: 0,
    })
    assert.deepEqual(kept(), [])
  }
  for (const [what, words] of [
    [join(folder, 'none.tgz'), /is not the package of a release/],
    [folder, /has no built pages/],
  ] as const) {
    const { output, status } = former(what)
    assert.equal(status, 1)
    assert.match(output, words)
  }
  const { publicDir, build } = await resolveConfig({ configFile: join(ROOT, 'web/vite.config.ts') }, 'build')
  assert.deepEqual([publicDir, build.copyPublicDir], [join(ROOT, 'web/public'), true])
})

test('the grace that each gives to a stop is longer than the stop', () => {
  const stopSec = Number(/STOP_MS = (\d+)_000/.exec(read('src/cli/service/start.ts'))?.[1])
  const waits = [
    /TimeoutStopSec=(\d+)/.exec(read('ops/systemd/node-ledger.service')),
    /terminationGracePeriodSeconds: (\d+)/.exec(read('ops/kubernetes/ledger.yaml')),
    /stop_grace_period: (\d+)s/.exec(read('compose.yaml')),
  ]
  for (const wait of waits) assert.ok(Number(wait?.[1]) > stopSec, `${wait?.[0]} against ${stopSec} s`)
})

test('the image’s build of the pages has every file outside web that a page imports', () => {
  const [, stage = ''] = /AS pages\n(.*?)\nFROM /s.exec(read('Dockerfile')) ?? []
  const copied = [...stage.matchAll(/^COPY (\S+) /gm)].map(([, path]) => path)
  const pages = [...readSources()].filter(([path]) => path.startsWith('web/'))
  const imports = pages.flatMap(([path, text]) => importsOf(path, text).map((name) => name && target(path, name)))
  const outside = imports.filter((path) => path?.includes('/') && !path.startsWith('web/'))
  assert.ok(outside.length > 0)
  for (const path of outside)
    assert.ok(
      copied.some((each) => path === each || path?.startsWith(`${each}/`)),
      String(path),
    )
})

test('the copied files start without privileges on a read-only root file system', {
  skip: !has('bwrap') && 'needs bubblewrap',
}, () => {
  const app = join(temporaryDirectory(), 'app')
  const stage =
    read('Dockerfile')
      .split(/^FROM /m)
      .at(-1) ?? ''
  const folders = /^RUN node strip\.ts --into stripped (.+)$/m.exec(read('Dockerfile'))?.[1]?.split(' ') ?? []
  const stripped = run(process.execPath, ['scripts/release/strip.ts', '--into', app, ...folders])
  assert.equal(stripped.status, 0, stripped.output)
  for (const [, line = ''] of stage.matchAll(/^COPY (?!--from)(.+)$/gm)) {
    const [to = '', ...from] = line.split(' ').reverse()
    for (const path of from) cpSync(join(ROOT, path), join(app, to === './' ? path : to), { recursive: true })
  }
  // Only what a production install has.
  const lock = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean }>
  }
  const binds = Object.entries(lock.packages)
    .filter(([path, { dev, optional }]) => path.startsWith('node_modules/') && !dev && !optional)
    .filter(
      ([path]) =>
        !path.includes('@node-ledger') && path.lastIndexOf('node_modules') === 0 && existsSync(join(ROOT, path)),
    )
    .map(([path]) => path)
  for (const path of binds) mkdirSync(join(app, path), { recursive: true })
  const system = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc']
  const own = binds.flatMap((path) => ['--ro-bind', join(ROOT, path), join(app, path)])
  const user = ['--unshare-user', '--uid', '65532', '--gid', '65532', '--chdir', app, '--setenv', 'NODE_ENV']
  const start = (environment: string, words: readonly string[] = ['start']) =>
    run('bwrap', [...system, ...own, ...user, environment, process.execPath, 'src/main.js', ...words], dirname(app))
  // It imports everything, and lists the missing settings, which is as far as it gets without a database and a chain.
  const { output, status } = start('production')
  assert.equal(status, 2, output)
  assert.match(output, /DATABASE_URL/)
  assert.doesNotMatch(output, /ERR_MODULE_NOT_FOUND|EROFS|Cannot find/)
  // Outside production it would start the embedded parts; the image has none.
  const embedded = start('development')
  assert.equal(embedded.status, 1, embedded.output)
  assert.match(embedded.output, /has no embedded PostgreSQL.*DATABASE_URL/)
  // It has no vendor's client, and says which one a key needs.
  const client = start('production', ['keys', 'address', AWS_KEY])
  assert.equal(client.status, 2, client.output)
  assert.match(client.output, /needs the package @aws-sdk\/client-kms@3, which is not installed/)
})
