import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { findAnvil, findPostgres, repairLibraries } from '../../packages/embed/programs.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const isRoot = process.getuid?.() === 0
/** "nobody" */
const UNPRIVILEGED_ID = 65534
const run = promisify(execFile)
const PROGRAMS = new URL('../../packages/embed/programs.ts', import.meta.url).href

/** A package as npm leaves it: two libraries, and a list of the links to them. */
function unpack(): string {
  const root = temporaryDirectory()
  mkdirSync(join(root, 'native', 'lib'), { recursive: true })
  const links = []
  for (const name of ['one', 'two']) {
    writeFileSync(join(root, 'native', 'lib', `lib${name}.so.1.5`), name)
    for (const short of [`lib${name}.so`, `lib${name}.so.1`]) {
      links.push({ source: `native/lib/lib${name}.so.1.5`, target: `native/lib/${short}` })
    }
  }
  writeFileSync(join(root, 'native', 'pg-symlinks.json'), JSON.stringify(links))
  return root
}

test('the programs of the installed packages run', async () => {
  const { postgres, initdb, env } = findPostgres(temporaryDirectory())
  for (const program of [postgres, initdb]) {
    const { stdout } = await run(program, ['--version'], { env: { ...process.env, ...env } })
    assert.match(stdout, /PostgreSQL/)
  }
  assert.match((await run(findAnvil(), ['--version'])).stdout, /anvil/)
})

test('missing library links are made, relative, so that the package can be moved', () => {
  const root = unpack()
  assert.deepEqual(repairLibraries(root, join(root, 'unused')), {})
  assert.equal(readlinkSync(join(root, 'native', 'lib', 'libtwo.so')), 'libtwo.so.1.5')
  assert.equal(readFileSync(join(root, 'native', 'lib', 'libone.so.1'), 'utf8'), 'one')
  assert.equal(existsSync(join(root, 'unused')), false)
  assert.deepEqual(repairLibraries(root, join(root, 'unused')), {})
})

test('a link to nowhere is replaced', () => {
  const root = unpack()
  symlinkSync('gone.so', join(root, 'native', 'lib', 'libone.so'))
  repairLibraries(root, join(root, 'unused'))
  assert.equal(readFileSync(join(root, 'native', 'lib', 'libone.so'), 'utf8'), 'one')
})

test('several processes may repair together', async () => {
  const root = unpack()
  symlinkSync('gone.so', join(root, 'native', 'lib', 'libone.so'))
  const code = `import { repairLibraries } from '${PROGRAMS}'; repairLibraries('${root}', '${root}/unused')`
  await Promise.all([1, 2, 3, 4].map(() => run(process.execPath, ['--input-type=module', '-e', code])))
  for (const name of ['libone.so', 'libone.so.1', 'libtwo.so', 'libtwo.so.1']) {
    assert.ok(existsSync(join(root, 'native', 'lib', name)), name)
  }
})

test('someone else’s package gets its links in the data directory, and its programs run', async () => {
  const root = copyPackage()
  const libraryDir = join(temporaryDirectory(), 'lib')
  const lib = join(root, 'native', 'lib')
  chmodSync(root, 0o755)
  chmodSync(lib, 0o555)
  if (isRoot) chownSync(join(libraryDir, '..'), UNPRIVILEGED_ID, UNPRIVILEGED_ID)
  const env = asNormalUser(() => repairLibraries(root, libraryDir))
  chmodSync(lib, 0o755)
  assert.ok(existsSync(libraryDir))
  assert.equal(existsSync(join(lib, 'libpq.so.5')), false)
  const { stdout } = await run(join(root, 'native', 'bin', 'initdb'), ['--version'], {
    env: { ...process.env, ...env },
  })
  assert.match(stdout, /PostgreSQL/)
})

/** The installed PostgreSQL as npm unpacks it: without links. */
function copyPackage(): string {
  const root = temporaryDirectory()
  const installed = dirname(dirname(findPostgres(root).postgres))
  cpSync(installed, join(root, 'native'), {
    recursive: true,
    filter: (path) =>
      !lstatSync(path).isSymbolicLink() && !path.includes('/share/') && !path.includes('/lib/postgresql/'),
  })
  return root
}

function asNormalUser<T>(act: () => T): T {
  if (isRoot) process.seteuid?.(UNPRIVILEGED_ID)
  try {
    return act()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}
