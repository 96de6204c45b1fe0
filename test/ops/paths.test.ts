// What lies between the service and PostgreSQL, on real servers: poolers are tried, whatever their mode is called, and TLS is used if the server has
// it.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { withLock } from '../../src/db/core/locks.ts'
import { lookAtPooler } from '../../src/db/core/pooler.ts'
import { connect } from '../../src/db/core/sql.ts'
import { admin, elsewhere, type Server, startPooler, startServer, withoutPooler, withoutPostgres } from './servers.ts'

const withoutTls =
  withoutPostgres || (spawnSync('openssl', ['version']).status !== 0 && 'needs Debian’s openssl package')

describe('a pooler is tried', { skip: withoutPooler }, () => {
  let server: Server
  before(async () => {
    server = await startServer()
  })
  after(() => server?.stop())
  const behind = async <T>(mode: 'transaction' | 'session', size: number, ask: (url: string) => Promise<T>) => {
    const pooler = await startPooler(server, mode, size)
    try {
      return await ask(elsewhere(server.url, { port: pooler.port }))
    } finally {
      await pooler.stop()
    }
  }
  const look = async (url: string, directUrl = url) => lookAtPooler({ url, directUrl })

  test('straight to the server and in session mode, locks and prepared statements are kept', async () => {
    for (const found of [await look(server.url), await behind('session', 5, (url) => look(url))])
      assert.deepEqual(found, {
        says: 'connections keep their sessions',
        reading: { pooled: false, directPooled: false, prepared: true },
      })
  })

  test('in transaction mode locks are lost, however many connections it has to lend', async () => {
    for (const size of [1, 2, 5])
      assert.match((await behind('transaction', size, (url) => look(url))).fail ?? '', /session mode/)
    const { says, fail, reading } = await behind('transaction', 3, (url) => look(url, server.url))
    // Debian 12's PgBouncer loses them. From 1.24 on, PgBouncer keeps them by default.
    const [, minor] = /PgBouncer 1\.(\d+)/.exec(execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' })) ?? []
    const prepared = Number(minor) >= 24
    assert.deepEqual([fail, reading], [undefined, { pooled: true, directPooled: false, prepared }])
    assert.match(says, prepared ? /keeps prepared statements/ : /statements are not prepared/)
  })

  test('in session mode a pass takes its lock, which ends with the holder', async () => {
    await behind('session', 5, async (url) => {
      const inside = await withLock(url, 'payments', async () => {
        const [row] = await admin(
          server.url,
          (sql) => sql`
          SELECT count(*)::int AS held FROM pg_locks WHERE locktype = 'advisory' AND granted`,
        )
        return [row?.held, await withLock(url, 'payments', async () => 'taken twice')]
      })
      assert.deepEqual(inside, [1, null])
      assert.equal(await withLock(url, 'payments', async () => 'free again'), 'free again')
    })
  })
})

describe('a server that demands TLS', { skip: withoutTls }, () => {
  let server: Server
  before(async () => {
    server = await startServer()
    const [key, cert] = [join(server.directory, 'server.key'), join(server.directory, 'server.crt')]
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1']
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    // The server accepts a key that only its own account can read.
    const owner = ['--reference', join(server.directory, 'PG_VERSION'), key, cert]
    execFileSync('chown', owner)
    execFileSync('chmod', ['600', key])
    const access = join(server.directory, 'pg_hba.conf')
    writeFileSync(access, readFileSync(access, 'utf8').replaceAll(/^host /gm, 'hostssl '))
    appendFileSync(join(server.directory, 'postgresql.auto.conf'), 'ssl = on\n')
    // Over the connection that is still open.
    await admin(server.url, (sql) => sql`SELECT pg_reload_conf()`)
  })
  after(() => server?.stop())
  const isEncrypted = async (query: string) => {
    const sql = connect(`${server.url}${query}`, { max: 1, prepare: false, applicationName: 'test' })
    try {
      const [row] = await sql<{ ssl: boolean }[]>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`
      return row?.ssl
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  test('is used with TLS if the URL has no sslmode, as in other clients', async () => {
    assert.deepEqual([await isEncrypted(''), await isEncrypted('?sslmode=require')], [true, true])
    await assert.rejects(isEncrypted('?sslmode=disable'), /no encryption/)
  })
})
