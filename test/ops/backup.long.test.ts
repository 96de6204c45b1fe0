// Back-up and restore with PostgreSQL's own tools and the commands of docs/RUNBOOK.md: what the service does with a
// ledger that is older than the chain, and that it mints nothing twice and mints nothing for refunded money.
import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { chooseRunAs, handOver } from '../../packages/embed/runas.ts'
import { runProcess } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { type LedgerService, startLedger } from './ledger.ts'
import { admin, elsewhere, type Server, serve, startServer, tool, withoutPostgres } from './servers.ts'

describe('restoring the ledger', { skip: withoutPostgres }, () => {
  let server: Server
  let archive: string
  let service: LedgerService | undefined
  const dataDir = temporaryDirectory()
  const ledger = (database: string, from = server) => elsewhere(from.url, { database })
  /** A command as an operator runs it, in production. */
  const command = (words: string[], url: string) =>
    runProcess(words, { NODE_ENV: 'test', DATABASE_URL: url, DATA_DIR: dataDir })
  const start = (url: string) => startLedger(dataDir, { DATABASE_URL: url })

  before(async () => {
    archive = join(temporaryDirectory(), 'archive')
    mkdirSync(archive)
    handOver(archive, chooseRunAs(archive))
    server = await startServer(['archive_mode=on', `archive_command=cp %p ${archive}/%f`, 'wal_level=replica'])
    await admin(server.url, (sql) => sql`CREATE DATABASE ledger`)
  })
  afterEach(async () => {
    await service?.stop()
    service = undefined
  })
  after(() => server?.stop())

  test('from a dump: the chain shows later mints, and what has none is held for the operator', async () => {
    service = await start(ledger('ledger'))
    await service.buy(5)
    const key = join(temporaryDirectory(), 'clerk.key')
    const created = await command(
      ['admin-keys', 'create', '--label', 'clerk', '--scopes', 'read', '--out', key],
      ledger('ledger'),
    )
    assert.equal(created.code, 0, created.err)
    const link = join(temporaryDirectory(), 'dora.link')
    const invited = await command(
      ['admin-keys', 'invite', '--label', 'dora', '--scopes', 'read', '--out', link],
      ledger('ledger'),
    )
    assert.equal(invited.code, 0, invited.err)
    const wallet = `0x${'11'.repeat(20)}`
    const { root } = await service.admin<{ root: string }>('allowlists', { label: 'first', rows: `${wallet},2` })
    await service.admin('referrals', { code: 'friends', payee: wallet, commissionBps: 500 })
    const allowed = await service.get(`/api/allowlists/${root}/${wallet}`)
    const folder = join(temporaryDirectory(), 'backup')
    const made = await command(['backup', '--out', folder], ledger('ledger'))
    assert.equal(made.code, 0, made.err)
    assert.equal((await command(['backup', '--out', folder], ledger('ledger'))).code, 1, 'there is one already')
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
    const { nodes, allowlists, allowlist_entries: entries, referral_codes: codes } = manifest.rows
    assert.deepEqual([nodes, allowlists, entries, codes], [1, 1, 1, 1])
    assert.doesNotMatch(JSON.stringify(manifest), /postgres:|secret|whsec/)
    await service.buy(6)
    const unminted = await service.pay(7)
    await service.stop()

    await admin(server.url, (sql) => sql`CREATE DATABASE restored`)
    const full = await command(['restore', folder, '--into', ledger('ledger')], '')
    assert.match(full.err, /not empty/)
    const restored = await command(['restore', folder, '--into', ledger('restored')], '')
    assert.equal(restored.code, 0, restored.err)
    assert.match(restored.err, /wallets set.*recheck --up-to head/s)
    assert.match(restored.err, /1 admin keys and 0 passkeys are now revoked/)
    const keys = await admin(ledger('restored'), (sql) => sql`SELECT FROM admin_keys WHERE revoked_at IS NULL`)
    assert.equal(keys.count, 0, 'one that was revoked since must not open again')
    const invitations = await admin(
      ledger('restored'),
      (sql) => sql`SELECT FROM passkey_invitations WHERE revoked_at IS NULL`,
    )
    assert.equal(invitations.count, 0, 'nor must one make a passkey that was taken back since')
    appendFileSync(join(folder, 'ledger.dump'), 'x')
    assert.match((await command(['restore', folder, '--into', ledger('restored')], '')).err, /digest differs/)
    service = await start(ledger('restored'))
    await service.nodes(2)
    const held = await until('the payment that has no node', async () => {
      await service?.pass('payments')
      const payment = await paymentOf(service, unminted)
      return payment?.status === 'held' ? payment : null
    })
    assert.equal(held.reason, 'recheck')
    assert.deepEqual(await service.get(`/api/allowlists/${root}/${wallet}`), allowed)
    assert.equal((await service.get<{ payee: string }>('/api/referrals/friends')).payee, wallet)
    const minted = await admin(ledger('restored'), (sql) => sql`SELECT FROM nodes`)
    assert.equal(minted.count, 2)
  })

  test('to a point in time: the archive restores the ledger, and the service follows from there', async () => {
    const copy = join(temporaryDirectory(), 'data')
    tool('pg_basebackup', ['-d', server.url, '-D', copy, '-X', 'stream', '--checkpoint=fast', '--no-sync'])
    service = await start(ledger('restored'))
    await service.buy(8)
    await service.stop()
    await admin(server.url, (sql) => sql`SELECT pg_create_restore_point('before the mistake')`)
    await admin(ledger('restored'), (sql) => sql`DROP TABLE audit CASCADE`)
    await archived(server)
    writeFileSync(join(copy, 'recovery.signal'), '')
    const recovered = await serve(copy, [
      `restore_command=cp ${archive}/%f %p`,
      'recovery_target_name=before the mistake',
      'recovery_target_action=promote',
    ])
    try {
      await until('the end of the recovery', () =>
        admin(recovered.url, async (sql) => {
          const [row] = await sql<{ running: boolean }[]>`SELECT pg_is_in_recovery() AS running`
          return row?.running ? null : true
        }),
      )
      service = await start(ledger('restored', recovered))
      assert.equal((await service.get<{ totalNodes: number }>('/api/stats')).totalNodes, 3)
      await service.buy(9)
    } finally {
      await service?.stop()
      service = undefined
      await recovered.stop()
    }
  })
})

async function paymentOf(service: LedgerService | undefined, txHash: string) {
  if (!service) throw new Error('the service does not run')
  const { payments } = await service.admin<{ payments: { status: string; reason: string | null }[] }>(
    `payments/${txHash}`,
  )
  return payments[0]
}

/** Ends the current segment, and waits until it is in the archive. */
async function archived(server: Server): Promise<void> {
  const [last] = await admin(
    server.url,
    (sql) => sql<{ file: string }[]>`SELECT pg_walfile_name(pg_switch_wal()) AS file`,
  )
  await until('the archive', () =>
    admin(server.url, async (sql) => {
      const [row] = await sql<{ done: boolean }[]>`
        SELECT coalesce(last_archived_wal >= ${last?.file ?? ''}, false) AS done FROM pg_stat_archiver`
      return row?.done === true
    }),
  )
}
