// The disk under PostgreSQL is full, for as long as it takes. The service says that it cannot reach its ledger, or
// still reads it. Nothing is half written, and once there is room the service recovers without help.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Postgres, startPostgres } from '../../packages/embed/postgres.ts'
import type { Hash } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { ensureTemplate, SERVER_VARIABLE } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { ETHER, enterTier } from '../support/world.ts'
import { type Outside, startOutside } from './outside.ts'
import { endWell, isOneNode, openStage, type Stage } from './stage.ts'

/** Room for the server, its template and one ledger, and little more. */
const DISK_MIB = 256
const PRICE = ETHER / 1_000n
const disk = join(temporaryDirectory(), 'disk')
const filler = join(disk, 'filler')

function mount(): false | string {
  try {
    mkdirSync(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=0755`, 'tmpfs', disk], { stdio: 'pipe' })
    return false
  } catch {
    return 'no small disk can be mounted here: that takes root'
  }
}
const skip = mount()

let server: Postgres
let stage: Stage
let instance: Outside
before(async () => {
  if (skip) return
  server = await startPostgres({ dataDir: disk, log: silentLog })
  process.env[SERVER_VARIABLE] = server.url
  await ensureTemplate(server.url)
  stage = await openStage({ maxPerWallet: 200n })
  await enterTier(stage.world, { tierId: 'bulk', tierNo: 9, priceWei: PRICE as never, maxPerWallet: 1_000_000 })
  await stage.world.settle()
  instance = await startOutside(stage)
})
after(async () => {
  if (skip) return
  await instance?.service.stop()
  await stage?.world.close()
  await server?.stop()
  execFileSync('umount', ['--lazy', disk])
})

/** Fills the last byte. */
function fill(): void {
  const file = openSync(filler, 'w')
  try {
    for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
      const zeros = Buffer.alloc(size)
      try {
        for (;;) if (writeSync(file, zeros) < size) break
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
      }
    }
  } finally {
    closeSync(file)
  }
}

test('on a full disk the service answers reads or 503 only, and recovers once there is room', {
  skip,
}, async () => {
  const { world } = stage
  const { service, pass } = instance
  fill()
  const payments: Hash[] = []
  const statuses = new Set<number>()
  for (let block = 0; block < 25 && !statuses.has(503); block++) {
    for (let n = 0; n < 30; n++) payments.push(await world.pay(5 + (n % 15), PRICE))
    await world.chain.mine()
    for (const name of ['payments', 'credit'] as const) statuses.add((await pass(name))?.status ?? 0)
    for (const path of ['/api/stats', '/api/tiers', '/api/cron/health', `/api/nodes/${world.at(5)}`])
      statuses.add((await fetch(service.url + path)).status)
  }
  assert.ok(statuses.has(503), 'the disk was never too full')
  assert.deepEqual(
    [...statuses].filter((status) => status !== 200 && status !== 503),
    [],
  )
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200)
  assert.equal((await fetch(`${service.url}/readyz`)).status, 503)
  assert.match(service.output(), /"level":"error"[^\n]*"pass":"payments"/)

  rmSync(filler)
  // If PostgreSQL could not write its log, it has ended, and its supervisor restarts it.
  const down = await world.pool`SELECT 1`.then(
    () => false,
    () => true,
  )
  if (down) {
    await server.stop()
    server = await startPostgres({ dataDir: disk, log: silentLog })
  }
  await until('everything to be minted', async () => {
    await pass('payments')
    await world.chain.mine()
    const open = await world.pool`SELECT FROM payments WHERE state IN ('seen', 'accepted', 'minting')`
    return open.count === 0 && (await pass('payments'))?.status === 200
  })
  await isOneNode(world, payments.at(-1) ?? assert.fail())
  await endWell(stage)
})
