// PostgreSQL URLs in vendors' formats: each leads to its database, or is refused with the name of the option that the driver cannot honour.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect, placeOf } from '../../src/db/core/sql.ts'
import { type DatabaseUrl, hostsOf, readDatabaseUrl } from '../../src/lib/database-url.ts'
import { createDatabase } from '../support/postgres.ts'

function read(url: string): DatabaseUrl {
  const found = readDatabaseUrl(url)
  assert.ok(!('mistake' in found), JSON.stringify(found))
  return found
}

describe('what a URL contains', () => {
  const rows: [string, Partial<DatabaseUrl>][] = [
    [
      'postgres://h1:5433,h2/d?target_session_attrs=primary',
      { hosts: ['h1', 'h2'], ports: [5433, 5432], session: 'primary' },
    ],
    ['postgres://[2001:db8::1]:6432/d', { hosts: ['2001:db8::1'], ports: [6432] }],
    ['postgres://%2Frun%2Fpostgresql/d', { path: '/run/postgresql/.s.PGSQL.5432' }],
    ['postgres:///d?host=/run/postgresql&port=5433', { path: '/run/postgresql/.s.PGSQL.5433', parameters: {} }],
    ['postgres://u%40x:p%3Aq%2F@h/d%2De', { user: 'u@x', password: 'p:q/', database: 'd-e' }],
    ['postgres://h/d?user=u&password=p+q', { user: 'u', password: 'p+q', parameters: {} }],
    ['postgres://h/d?sslmode=verify-full&sslrootcert=/ca.pem', { tls: { mode: 'verify-full', rootCert: '/ca.pem' } }],
    ['postgres://h/d?pgbouncer=true&connection_limit=1&connect_timeout=9', { pooled: true, parameters: {} }],
    ['postgres://h/d?channel_binding=prefer&sslmode=require', { parameters: {}, tls: { mode: 'require' } }],
    ['postgres://h/d?options=endpoint%3Dquiet-sea', { parameters: { options: 'endpoint=quiet-sea' } }],
  ]
  for (const [url, expected] of rows)
    test(url, () => {
      const found = read(url) as unknown as Record<string, unknown>
      for (const [name, value] of Object.entries(expected)) assert.deepEqual(found[name], value, name)
    })
})

test('TLS is tried if the URL sets nothing, and never on a local socket', () => {
  const urls = [
    'postgres://h/d',
    'postgres://h/d?sslmode=disable',
    'postgres:///d?host=/run/postgresql&sslmode=require',
  ]
  assert.deepEqual(
    urls.map((url) => placeOf(url).ssl),
    ['prefer', false, false],
  )
})

test('hosts appear without a password', () => {
  assert.equal(hostsOf('postgres://u:p@a:1,[::1]/d?target_session_attrs=primary'), 'a:1, [::1]:5432')
})

test('of several hosts the one that answers is used, with its own port', async () => {
  const database = await createDatabase()
  const { username, password, hostname, port } = new URL(database.url)
  // The discard port has no listener.
  const several = `postgres://${username}:${password}@127.0.0.1:9,${hostname}:${port}/${database.name}?target_session_attrs=read-write&pgbouncer=true&sslmode=disable`
  for (const readIdleTimeoutMs of [undefined, 60_000]) {
    const pool = connect(several, {
      max: 2,
      prepare: true,
      applicationName: 'test',
      ...(readIdleTimeoutMs && { readIdleTimeoutMs }),
    })
    const name = () => pool<{ name: string }[]>`SELECT current_database() AS name`
    const rows = await name().catch(() => name())
    assert.equal(rows[0]?.name, database.name)
    await pool.end({ timeout: 1 })
  }
  await database.drop()
})

test('a certificate that cannot be read is refused with its path', () => {
  const url = 'postgres://u:s3cret@h/d?sslmode=verify-full&sslrootcert=/nowhere/ca.pem'
  assert.throws(
    () => connect(url, { max: 1, prepare: false, applicationName: 'test' }),
    (error: Error) => {
      assert.match(error.message, /\/nowhere\/ca\.pem.*ENOENT/)
      assert.doesNotMatch(error.message, /s3cret/)
      return true
    },
  )
})
