// Plants bugs, one at a time, into a copy of the project, and runs the tests that must notice. A harness that lets one
// through proves nothing. Prints 'N passed, N failed': passed is caught.
//   node bin/with-runtime.mjs scripts/planted.ts [part of a bug's name ...]
import { spawn } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SERVER_VARIABLE } from '../test/support/postgres.ts'
import { temporaryDirectory } from '../test/support/temporary.ts'
import { BUGS, type PlantedBug } from './planted/bugs.ts'
import { withTestServer } from './test-server.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** All that tests read. */
const COPIED = ['src', 'test', 'scripts', 'migrations', 'api', 'bin', 'package.json', 'schema.sql', 'tsconfig.json']
/** A bug that makes the tests hang is noticed, too. */
const FILE_MS = 240_000

/** A copy of the project whose text may be changed. */
function copyProject(): string {
  const copy = temporaryDirectory()
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  symlinkSync(join(ROOT, 'contracts'), join(copy, 'contracts'))
  return copy
}

/** Plants the bug; gives what takes it out again. Throws when its place is not there exactly once. */
function plant(copy: string, bug: PlantedBug): () => void {
  const before = new Map<string, string>()
  for (const { file, find, put } of bug.edits) {
    const path = join(copy, file)
    const text = readFileSync(path, 'utf8')
    if (!before.has(path)) before.set(path, text)
    if (text.split(find).length !== 2) {
      for (const [at, original] of before) writeFileSync(at, original)
      throw new Error(`${file} does not hold this once:\n${find}`)
    }
    writeFileSync(
      path,
      text.replace(find, () => put),
    )
  }
  return () => {
    for (const [at, original] of before) writeFileSync(at, original)
  }
}

/** Runs a test file of the copy; gives the names of the tests that failed, or null where all passed. */
async function runTests(copy: string, file: string, ownServer: boolean): Promise<string[] | null> {
  const env = { ...process.env }
  // A changed migration needs a server whose template it makes itself.
  if (ownServer) delete env[SERVER_VARIABLE]
  const args = ['--test', '--test-force-exit', '--test-reporter=tap', file]
  const child = spawn(process.execPath, args, { cwd: copy, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const late = setTimeout(() => child.kill('SIGKILL'), FILE_MS)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  clearTimeout(late)
  if (code === 0) return null
  const failed = [...output.matchAll(/^not ok \d+ - (.*)$/gm)].map(([, name]) => name ?? '')
  return failed.length > 0 ? failed : [`${file} ended with ${code}`]
}

async function isCaught(copy: string, bug: PlantedBug): Promise<string | null> {
  const takeOut = plant(copy, bug)
  try {
    const ownServer = bug.edits.some(({ file }) => file.startsWith('migrations/'))
    for (const file of bug.tests) {
      const failed = await runTests(copy, file, ownServer)
      if (failed) return `${file}: ${failed[0]}${failed.length > 1 ? ` and ${failed.length - 1} more` : ''}`
    }
    return null
  } finally {
    takeOut()
  }
}

const wanted = process.argv.slice(2)
const bugs = BUGS.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
const failures = await withTestServer(async (signal) => {
  const copy = copyProject()
  let failed = 0
  // What fails without a bug would catch every bug.
  for (const file of new Set(bugs.flatMap(({ tests }) => tests))) {
    const broken = await runTests(copy, file, false)
    if (!broken) continue
    console.error(`not usable: ${file} fails without any bug: ${broken.join('; ')}`)
    failed++
  }
  if (failed > 0) return failed
  for (const bug of bugs) {
    if (signal.aborted) break
    try {
      const by = await isCaught(copy, bug)
      console.log(by ? `caught    ${bug.name}\n          by ${by}` : `SURVIVED  ${bug.name}`)
      if (!by) failed++
    } catch (error) {
      console.log(`STALE     ${bug.name}: ${error instanceof Error ? error.message : String(error)}`)
      failed++
    }
  }
  return failed
})
console.log(`\n${Math.max(0, bugs.length - failures)} passed, ${failures} failed`)
process.exit(failures === 0 ? 0 : 1)
