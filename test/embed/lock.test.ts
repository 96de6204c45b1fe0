import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { EmbedError } from '../../packages/embed/errors.ts'
import { lockDataDir } from '../../packages/embed/lock.ts'
import { recordOf } from '../../packages/embed/process.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { assertGone, startService } from './fixtures/start.ts'

test('a second service on the same data directory is refused, naming the first and the setting', async () => {
  const dataDir = temporaryDirectory()
  const { report } = await startService({ dataDir })
  await assert.rejects(
    lockDataDir(dataDir),
    (error) =>
      error instanceof EmbedError && error.message.includes(`process ${report.pid}`) && /DATA_DIR/.test(error.message),
  )
  await assert.rejects(startService({ dataDir }), /DATA_DIR/)
  process.kill(report.pid, 'SIGTERM')
  await assertGone(report.pid)
  ;(await lockDataDir(dataDir)).release()
})

test('the lock of a service that was killed does not block', async () => {
  const dataDir = temporaryDirectory()
  const { report } = await startService({ dataDir })
  process.kill(report.pid, 'SIGKILL')
  await assertGone(report.pid)
  assert.ok(existsSync(join(dataDir, 'service.lock')))
  ;(await lockDataDir(dataDir)).release()
})

test('a lock whose number belongs to another process by now does not block', async () => {
  const dataDir = temporaryDirectory()
  writeFileSync(join(dataDir, 'service.lock'), JSON.stringify({ pid: process.pid, identity: 'another boot:1' }))
  ;(await lockDataDir(dataDir)).release()
})

test('a damaged lock does not block', async () => {
  const dataDir = temporaryDirectory()
  writeFileSync(join(dataDir, 'service.lock'), '{"pid":')
  ;(await lockDataDir(dataDir)).release()
})

test('if several find a dead lock together, one gets the directory', async () => {
  const dataDir = temporaryDirectory()
  writeFileSync(join(dataDir, 'service.lock'), JSON.stringify({ pid: 1, identity: 'another boot:1' }))
  const started = await Promise.allSettled([1, 2, 3].map(() => startService({ dataDir })))
  const up = started.filter((result) => result.status === 'fulfilled')
  assert.equal(up.length, 1)
  const { report } = up[0]?.value ?? assert.fail()
  process.kill(report.pid, 'SIGKILL')
  await assertGone(report.pid)
})

test('a released lock leaves nothing behind, and the lock of another is not released', async () => {
  const dataDir = temporaryDirectory()
  const lock = await lockDataDir(dataDir)
  assert.deepEqual(JSON.parse(readFileSync(join(dataDir, 'service.lock'), 'utf8')), recordOf(process.pid))
  lock.release()
  assert.deepEqual(readdirSync(dataDir), [])
  writeFileSync(join(dataDir, 'service.lock'), JSON.stringify({ pid: 1, identity: 'x' }))
  lock.release()
  assert.deepEqual(readdirSync(dataDir), ['service.lock'])
})
