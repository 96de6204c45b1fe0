// The memo of ready bytes: one statement for many readers, nothing kept after a change, nothing kept while
// notifications may be lost, and bounded memory.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LedgerNotifications, listenForChanges } from '../../src/db/core/changes.ts'
import { connect, type Sql } from '../../src/db/core/sql.ts'
import { createMemo } from '../../src/http/edge/memo.ts'
import { silentLog } from '../../src/lib/log.ts'
import { startService } from '../support/http.ts'
import { insertSmallLedger, insertTiers, walletOf } from '../support/http-ledger.ts'
import { createDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

/** A notification arrives at once. */
const HEARD_MS = 10_000
/** Changes that a test announces by hand. */
function handMade(): LedgerNotifications & { announce(): void; set(live: boolean): void } {
  let heard = () => {}
  let isLive = true
  return {
    live: () => isLive,
    subscribe: (listener) => {
      heard = listener
    },
    close: async () => {},
    announce: () => heard(),
    set: (live) => {
      isLive = live
      heard()
    },
  }
}

describe('the memo', () => {
  const memoOf = (bytesMax?: number) => {
    const clock = { now: 0 }
    const changes = handMade()
    let built = 0
    const memo = createMemo<string>({
      clock: () => clock.now,
      changes,
      bytesOf: (value) => value.length,
      ...(bytesMax && { bytesMax }),
    })
    const build = async () => `value ${++built}`
    return { clock, changes, memo, build, built: () => built }
  }

  it('builds once for all who ask at the same time, and for its age after', async () => {
    const { memo, build, clock } = memoOf()
    assert.deepEqual(new Set(await Promise.all([1, 2, 3].map(() => memo.get('a', 5_000, build)))), new Set(['value 1']))
    clock.now = 4_999
    assert.equal(await memo.get('a', 5_000, build), 'value 1')
    clock.now = 5_000
    assert.equal(await memo.get('a', 5_000, build), 'value 2')
    clock.now = 1_000
    assert.equal(await memo.get('a', 5_000, build), 'value 3', 'a clock that stepped back')
  })

  it('forgets everything when the ledger changes', async () => {
    const { memo, build, changes } = memoOf()
    await memo.get('a', 5_000, build)
    changes.announce()
    assert.equal(await memo.get('a', 5_000, build), 'value 2')
  })

  it('neither keeps nor hands on a reading that began before a change', async () => {
    const { memo, build, changes } = memoOf()
    let release = () => {}
    const old = memo.get(
      'a',
      5_000,
      () =>
        new Promise((resolve) => {
          release = () => resolve('before')
        }),
    )
    changes.announce()
    const fresh = memo.get('a', 5_000, build)
    release()
    assert.deepEqual([await old, await fresh], ['before', 'value 1'])
    assert.equal(await memo.get('a', 5_000, build), 'value 1')
  })

  it('keeps nothing while changes go unheard', async () => {
    const { memo, build, changes } = memoOf()
    await memo.get('a', 5_000, build)
    changes.set(false)
    assert.equal(await memo.get('a', 5_000, build), 'value 2')
    assert.equal(await memo.get('a', 5_000, build), 'value 3')
    changes.set(true)
    assert.equal(await memo.get('a', 5_000, build), 'value 4')
    assert.equal(await memo.get('a', 5_000, build), 'value 4')
  })

  it('keeps no failure', async () => {
    const { memo, build } = memoOf()
    await assert.rejects(async () => memo.get('a', 5_000, () => Promise.reject(new Error('no'))))
    assert.equal(await memo.get('a', 5_000, build), 'value 1')
  })

  it('drops the least recently requested value when it is full', async () => {
    const { memo, build, built } = memoOf(3 * 540)
    for (const key of ['a', 'b', 'c']) await memo.get(key, 5_000, build)
    await memo.get('a', 5_000, build)
    await memo.get('d', 5_000, build)
    assert.equal(built(), 4)
    await memo.get('a', 5_000, build)
    assert.equal(built(), 4)
    await memo.get('b', 5_000, build)
    assert.equal(built(), 5)
  })
})

describe('the listener', () => {
  it('reports changes, its loss immediately, and its return', async () => {
    const database = await createDatabase()
    const sql = connect(database.url, { max: 1, prepare: true, applicationName: 'test changes' })
    const changes = listenForChanges(database.url, silentLog)
    const told: boolean[] = []
    changes.subscribe(() => told.push(changes.live()))
    const isTold = async (expected: boolean[]) => {
      await until('the signal', () => told.length >= expected.length, HEARD_MS)
      assert.deepEqual(told, expected)
    }
    await isTold([true])
    await sql`NOTIFY ledger`
    await isTold([true, true])
    await sql`NOTIFY other`
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'node-ledger listen' AND datname = current_database()`
    await isTold([true, true, false, true])
    await sql`NOTIFY ledger`
    await isTold([true, true, false, true, true])
    await changes.close()
    assert.equal(changes.live(), false)
    await sql.end()
    await database.drop()
  })

  it('is not live without a server to listen to, and ends on demand', async () => {
    const changes = listenForChanges('postgres://127.0.0.1:1/none', silentLog)
    await sleep(1_500)
    assert.equal(changes.live(), false)
    await changes.close()
  })
})

describe('memoised reads', () => {
  it('a NOTIFY on the ledger drops them immediately, and a lost listener sends reads to SQL', async () => {
    const service = await startService({ listen: true })
    await insertSmallLedger(service.sql)
    const totalNodes = async () => {
      service.clock.now += 60_000
      return (await service.get('/api/stats')).json.totalNodes
    }
    const keptNodes = async () => (await service.get('/api/stats')).json.totalNodes
    await service.sql`NOTIFY ledger`
    // Kept: within its age no one notices an unannounced change.
    await until(
      'readings to be kept',
      async () => {
        await service.sql`UPDATE totals SET nodes = 100`
        const before = await totalNodes()
        await service.sql`UPDATE totals SET nodes = 200`
        return before === 100 && (await keptNodes()) === 100
      },
      HEARD_MS,
    )
    await service.sql`NOTIFY ledger`
    await until('the change to be heard', async () => (await keptNodes()) === 200, HEARD_MS)
    // Lost: the server ends the listening connection.
    await service.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'node-ledger listen' AND datname = current_database()`
    await service.sql`UPDATE totals SET nodes = 300`
    await until('the change to be heard', async () => (await keptNodes()) === 300, HEARD_MS)
    // Reconnected: kept again, and still dropped on a notification.
    await until(
      'the change to be heard',
      async () => {
        const before = await totalNodes()
        await service.sql`UPDATE totals SET nodes = nodes + 1`
        return (await keptNodes()) === before
      },
      HEARD_MS,
    )
    await service.sql`UPDATE totals SET nodes = 400`
    await service.sql`NOTIFY ledger`
    await until('the change to be heard', async () => (await keptNodes()) === 400, HEARD_MS)
    await service.close()
  })

  it('cost the database one statement for any number of callers', async () => {
    let asked = 0
    const service = await startService()
    await insertTiers(service.sql)
    const counting = new Proxy(service.sql, {
      apply: (target, _self, args: Parameters<Sql>) => {
        // The same function makes fragments; only a whole statement begins with SELECT.
        if (String(args[0]).trim().startsWith('SELECT')) asked++
        return Reflect.apply(target, undefined, args)
      },
    })
    const counted = await startService({ sql: counting, readSql: counting, changes: handMade() })
    await Promise.all(
      Array.from({ length: 40 }, (_, i) => counted.get(`/api/nodes/${walletOf(1)}`, { from: `127.0.0.${i + 1}` })),
    )
    assert.equal(asked, 1)
    await counted.close()
    await service.close()
  })
})
