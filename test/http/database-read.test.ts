// The routes' reads while the database is down: no caller waits for it, and every caller gets the reason.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDatabaseDown } from '../../src/db/core/faults.ts'
import { connect } from '../../src/db/core/sql.ts'
import { databaseRead } from '../../src/http/database-read.ts'
import { refusalOfFault } from '../../src/http/refusals.ts'
import { startService } from '../support/http.ts'
import { walletOf } from '../support/http-ledger.ts'

test('while the database is away, the next callers share the first one’s answer', async () => {
  // The discard port has no listener.
  const pool = connect('postgres://u@127.0.0.1:9/x', { max: 1, prepare: false, applicationName: 'test' })
  try {
    const read = databaseRead(pool)
    let asked = 0
    const failing = async () => {
      try {
        await read(async (sql) => {
          asked++
          await sql`SELECT`
        })
      } catch (error) {
        return error
      }
      return assert.fail('it answered')
    }
    const faults = [await failing(), await failing(), await failing()]
    assert.equal(asked, 1)
    for (const fault of faults) {
      assert.ok(isDatabaseDown(fault), String(fault))
      assert.equal(refusalOfFault(fault).refused, 'noDatabase')
    }
  } finally {
    await pool.end({ timeout: 1 })
  }
})

test('the service answers 503 on every read while the database is down, without details', async () => {
  const down = connect('postgres://nobody:hunter2@127.0.0.1:1/none', { max: 1, prepare: true, applicationName: 'down' })
  const settings = { factoryAddress: walletOf(0xfac), publicRpcUrl: 'https://rpc.example' }
  const service = await startService({ sql: down, readSql: down, priceFeed: async () => 1, settings })
  const paths = [
    'stats',
    'tiers',
    'node/1',
    `nodes/${walletOf(1)}`,
    'distributions',
    'distributions/1/turns',
    'deploy-quote',
    'price',
    'cron/health',
  ]
  for (const path of paths) {
    const { status, text } = await service.get(`/api/${path}`)
    assert.equal(status, 503, path)
    assert.doesNotMatch(text, /hunter2|postgres|ECONN/)
  }
  assert.equal((await service.get('/readyz')).status, 503)
  assert.equal((await service.get('/healthz')).status, 200)
  // Chain and contract are settings, and owners withdraw by them.
  const known = (await service.get('/.well-known/node-ledger.json')).json
  assert.deepEqual(
    [known.chainId, known.rpcUrl, known.factoryAddress, known.paymentAddress],
    [31337, settings.publicRpcUrl, settings.factoryAddress, null],
  )
  await down.end()
  await service.close()
})
