import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isAlive } from '../../packages/embed/process.ts'
import { judgeParent, type ParentView } from '../../src/lib/parent.ts'
import { assertGone, readReport, SERVICE } from '../embed/fixtures/start.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/with-runtime.mjs', import.meta.url))

const launcher = 100
const cases: readonly [string, ParentView, ReturnType<typeof judgeParent>][] = [
  ['started by the launcher, which runs', view(launcher, 100, 100, true), 'present'],
  ['the launcher was killed', view(launcher, 100, 1, false), 'gone'],
  ['the launcher was killed, and its number is in use again', view(launcher, 100, 1, true), 'gone'],
  ['the launcher was killed before this process looked', view(launcher, 1, 1, false), 'gone'],
  ['the number was inherited by way of another process', view(launcher, 200, 200, true), 'unwatched'],
  ['started by hand', view(null, 200, 200, false), 'unwatched'],
  ['started by hand, and left behind on purpose', view(null, 200, 1, false), 'unwatched'],
]

for (const [name, given, expected] of cases) {
  test(`${name}: ${expected}`, () => assert.equal(judgeParent(given), expected))
}

function view(
  launcherPid: number | null,
  parentAtStart: number,
  parentNow: number,
  launcherAlive: boolean,
): ParentView {
  return { launcherPid, parentAtStart, parentNow, launcherAlive }
}

/** Plays npm: starts the launcher, prints its pid, and waits. */
const NPM = `
  const { spawn } = require('node:child_process')
  const child = spawn(process.argv[1], process.argv.slice(2), { stdio: 'inherit' })
  child.on('exit', (code) => process.exit(code))
  console.log('launcher ' + child.pid)`

async function startAsNpm(env: Record<string, string>) {
  const orders = JSON.stringify({ dataDir: temporaryDirectory(), anvil: { port: 0 } })
  const npm = spawn(process.execPath, ['-e', NPM, process.execPath, LAUNCHER, SERVICE, orders], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, npm_command: '', ...env },
  })
  let printed = ''
  npm.stdout.on('data', (text) => {
    printed += text
  })
  const report = await readReport(npm)
  const launcherPid = Number(/launcher (\d+)/.exec(printed)?.[1])
  assert.ok(npm.pid && report.anvil)
  return { npm: npm.pid, launcher: launcherPid, service: report.pid, chain: report.anvil.pid }
}

test('kill -9 of npm stops launcher, service and chain', async () => {
  const pids = await startAsNpm({ npm_command: 'run-script' })
  process.kill(pids.npm, 'SIGKILL')
  await assertGone(pids.launcher, pids.service, pids.chain)
})

test('kill -9 of the launcher stops service and chain', async () => {
  const pids = await startAsNpm({ npm_command: 'run-script' })
  process.kill(pids.launcher, 'SIGKILL')
  await assertGone(pids.service, pids.chain)
})

test('SIGTERM to the launcher stops service and chain', async () => {
  const pids = await startAsNpm({ npm_command: 'run-script' })
  process.kill(pids.launcher, 'SIGTERM')
  await assertGone(pids.launcher, pids.service, pids.chain)
})

test('without npm the launcher runs on when the shell that started it goes', async () => {
  const pids = await startAsNpm({})
  process.kill(pids.npm, 'SIGKILL')
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  assert.ok(isAlive(pids.launcher) && isAlive(pids.service) && isAlive(pids.chain))
  process.kill(pids.launcher, 'SIGTERM')
  await assertGone(pids.launcher, pids.service, pids.chain)
})
