// Keys that the command line makes: where it writes them, and what it never shows.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { addressOfKey } from '../../src/chain/pages/wallets.ts'
import { parsePrivateKey } from '../../src/config/values.ts'
import type { Pool } from '../../src/db/core/sql.ts'
import { findLiveKey } from '../../src/db/operator/admin-keys.ts'
import { digestOfKey } from '../../src/operator/acts/keys/secret.ts'
import { runHere, runProcess } from '../support/cli.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const directory = temporaryDirectory()
let database: OpenDatabase
let pool: Pool
let env: Record<string, string>
before(async () => {
  database = await openDatabase(1, { prepare: false })
  pool = database.pool
  env = { NODE_ENV: 'test', DATABASE_URL: database.url, DATA_DIR: directory }
})
after(() => database.close())
const run = (...argv: string[]) => runHere(argv, env)

test('keys new writes a key that only its owner may read, and prints the address alone', async () => {
  const path = join(directory, 'minter.key')
  const { code, out, err } = await runProcess(['keys', 'new', '--out', path], env)
  assert.equal(code, 0, err)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const before = readFileSync(path, 'utf8')
  const key = parsePrivateKey(before.trim()) ?? assert.fail()
  assert.equal(addressOfKey(key), out.trim().toLowerCase())
  assert.ok(!(out + err).includes(key.slice(2)))
  const again = await run('keys', 'new', '--out', path)
  assert.equal(again.code, 1)
  assert.match(again.err, /exists already/)
  assert.equal(readFileSync(path, 'utf8'), before)
})

test('an admin key goes once into a new private file, and appears on no terminal', async () => {
  const path = join(directory, 'admin.key')
  const words = [
    'admin-keys',
    'create',
    '--label',
    'clerk',
    '--scopes',
    'read,decide',
    '--expires',
    '8h',
    '--out',
    path,
  ]
  const { code, out, err } = await runProcess(words, env)
  assert.equal(code, 0, err)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const key = readFileSync(path, 'utf8').trim()
  assert.match(key, /^nlk_/)
  assert.ok(!(out + err).includes(key))
  const count = async () => (await pool`SELECT FROM admin_keys WHERE label = 'clerk'`).count
  assert.equal(await count(), 1)
  const again = await run(...words)
  assert.equal(again.code, 1)
  assert.match(again.err, /exists already/)
  const shown = await run(...words.slice(0, -2))
  assert.equal(shown.code, 2)
  assert.match(shown.err, /No terminal to show it on/)
  const [other = ''] = (
    await runHere(['admin-keys', 'create', '--label', 'bot', '--scopes', 'read'], env, '')
  ).out.split('\n')
  assert.match(other, /^nlk_[\w-]{43}$/, 'a terminal shows it, once')
  assert.equal((await findLiveKey(pool, digestOfKey(other)))?.label, 'bot')
  assert.ok(!(await run('admin-keys', 'list')).out.includes(other))
  const wrong = await run('admin-keys', 'create', '--label', 'clerk', '--scopes', 'all', '--out', `${path}.2`)
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /--scopes must be some of read/)
  assert.ok(!existsSync(`${path}.2`), 'no key, no file')
  assert.equal(await count(), 1)
  assert.equal((await run('admin-keys', 'revoke', '--yes')).code, 2)
})

test('an invitation’s link goes into a file once, and admin-keys lists and revokes it', async () => {
  const path = join(directory, 'dora.link')
  const words = ['admin-keys', 'invite', '--label', 'dora', '--scopes', 'read', '--out', path]
  const nameless = await runHere(words, { ...env, PUBLIC_URL: 'https://192.0.2.7' })
  assert.equal(nameless.code, 1)
  assert.match(nameless.err, /PUBLIC_URL is https:\/\/192\.0\.2\.7: set it to the console's https address/)
  assert.ok(!existsSync(path))
  const named = { ...env, PUBLIC_URL: 'https://ledger.example' }
  const { code, out, err } = await runHere(words, named)
  assert.equal(code, 0, err)
  const link = readFileSync(path, 'utf8').trim()
  assert.match(link, /^https:\/\/ledger\.example\/console#invite=nli_[\w-]{43}$/)
  assert.ok(!(out + err).includes('nli_'))
  assert.equal((await run(...words.slice(0, -2))).code, 2)
  assert.match((await runHere(words.slice(0, -2), named, '')).out, /^https:\/\/ledger\.example\/console#invite=/)

  await pool`INSERT INTO passkeys (label, scopes, credential_id, public_key, counter, transports, invited_by, expires_at)
    VALUES ('dora', '{read,decide}', '\\x01', '\\x02', 0, '{}', 'cli:test', now() + interval '1 day')`
  const [passkey] = await pool<{ id: number }[]>`SELECT id FROM passkeys WHERE label = 'dora'`
  const [invitation] = await pool<{ id: number }[]>`SELECT id FROM passkey_invitations ORDER BY id LIMIT 1`
  const listed = (await run('admin-keys', 'list')).out
  assert.match(listed, new RegExp(`passkey-${passkey?.id} +dora +read,decide +open`))
  assert.match(listed, new RegExp(`invitation-${invitation?.id} +dora +read +waits`))
  assert.ok(!listed.includes('nli_'))
  for (const id of [`passkey-${passkey?.id}`, `invitation-${invitation?.id}`]) {
    assert.equal((await run('admin-keys', 'revoke', id, '--yes')).code, 0, id)
    assert.equal((await run('admin-keys', 'revoke', id, '--yes')).code, 1, `${id} again`)
  }
  assert.equal((await run('admin-keys', 'revoke', 'passkey-x', '--yes')).code, 2)
  const all = await run('admin-keys', 'revoke', '--all', '--yes', '--json')
  assert.equal(JSON.parse(all.out).invitations, 1)
  assert.ok(!(await run('admin-keys', 'list')).out.includes('waits'))
})
