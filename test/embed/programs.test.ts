import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { findAnvil, findPostgres, repairLibraries } from '../../src/embed/programs.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const run = promisify(execFile)
const PROGRAMS = new URL('../../src/embed/programs.ts', import.meta.url).href

/** A package as npm leaves it: two libraries, and a list of the links they are called by. */
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

test('several processes may repair at once', async () => {
  const root = unpack()
  symlinkSync('gone.so', join(root, 'native', 'lib', 'libone.so'))
  const code = `import { repairLibraries } from '${PROGRAMS}'; repairLibraries('${root}', '${root}/unused')`
  await Promise.all([1, 2, 3, 4].map(() => run(process.execPath, ['--input-type=module', '-e', code])))
  for (const name of ['libone.so', 'libone.so.1', 'libtwo.so', 'libtwo.so.1']) {
    assert.ok(existsSync(join(root, 'native', 'lib', name)), name)
  }
})

test('a package that belongs to someone else gets its links in the data directory', () => {
  const root = unpack()
  const libraryDir = join(temporaryDirectory(), 'lib')
  if (process.getuid?.() === 0) {
    chmodSync(root, 0o755)
    chownSync(join(libraryDir, '..'), 65534, 65534)
  } else {
    chmodSync(join(root, 'native', 'lib'), 0o555)
  }
  const previous = process.geteuid?.()
  if (previous === 0) process.seteuid?.(65534)
  try {
    assert.deepEqual(Object.values(repairLibraries(root, libraryDir)), [libraryDir])
    assert.equal(readFileSync(join(libraryDir, 'libone.so'), 'utf8'), 'one')
    assert.equal(readFileSync(join(libraryDir, 'libtwo.so.1'), 'utf8'), 'two')
  } finally {
    if (previous === 0) process.seteuid?.(0)
    chmodSync(join(root, 'native', 'lib'), 0o755)
  }
})
