// Exports: one snapshot each, for a slow reader, too, and a truncated file that cannot be mistaken for a complete one.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { connect, type Pool } from '../../../src/db/core/sql.ts'
import { csvLine } from '../../../src/lib/csv.ts'
import { isOperatorRefusal, type OperatorDeps } from '../../../src/operator/act.ts'
import { type ExportFile, exportLedger, exportOwner } from '../../../src/operator/acts/books/exports.ts'
import { startService } from '../../support/http.ts'
import { KEYS } from '../../support/operator.ts'
import { type OpenDatabase, openDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { AMOUNT, factsOf, fillLedger, OWNER } from './ledger.ts'

const NODES = 100

/** Time that the database may take to execute an order. */
const WAIT_MS = 10_000
let database: OpenDatabase
let pool: Pool
let deps: OperatorDeps

before(async () => {
  database = await openDatabase(4)
  pool = database.pool
  deps = { pool, readPool: pool, rules: { startBlock: 1 } } as OperatorDeps
  await fillLedger(pool, NODES)
})
after(() => database.close())

async function open(input: object): Promise<ExportFile> {
  const file = await exportLedger(deps, input as never)
  if (isOperatorRefusal(file)) return assert.fail(file.message)
  return file
}

/** Ends the connections of the running exports, as an administrator would, or a restart. */
async function endExports(): Promise<void> {
  const ended = await pool`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = ${database.name} AND pid <> pg_backend_pid() AND query LIKE '%export_credits%' AND state <> 'idle'`
  assert.equal(ended.length, 1)
}

async function readAll(file: ExportFile): Promise<string[]> {
  const parts: Buffer[] = []
  for await (const part of file.stream) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString()
  assert.ok(text.endsWith('\r\n'))
  return text.slice(0, -2).split('\r\n')
}

describe('a cell', () => {
  it('is quoted if it has a comma, a quote or a line break that would end it', () => {
    assert.equal(
      csvLine(['a,b', 'say "no"', 'two\r\nlines', 'plain', null]),
      '"a,b","say ""no""","two\r\nlines",plain,\r\n',
    )
  })

  it('is never a formula, and a negative number stays one', () => {
    assert.equal(csvLine(['=1+1', '+1', '-cmd', '@x', '\tx']), "'=1+1,'+1,'-cmd,'@x,'\tx\r\n")
    assert.equal(csvLine(['-12', '-1.5', '12']), '-12,-1.5,12\r\n')
    assert.equal(csvLine(['=HYPERLINK("x","y")']), '"\'=HYPERLINK(""x"",""y"")"\r\n')
  })
})

describe('an export of the whole ledger', () => {
  it('waits for a slow reader, and is one snapshot however long they take', async () => {
    const file = await open({ kind: 'credits' })
    const iterator = file.stream[Symbol.asyncIterator]()
    await iterator.next()
    // Without a reader, the rows read ahead are bounded, and later changes are not in the file.
    await until(
      'its snapshot',
      async () => {
        const [row] =
          await pool`SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = ${database.name} AND state = 'idle in transaction'`
        return row?.open === 1
      },
      WAIT_MS,
    )
    assert.ok(file.stream.readableLength < 2 ** 20)
    file.stream.destroy()
    await until(
      'the end of its transaction',
      async () => {
        const [left] =
          await pool`SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = ${database.name} AND state <> 'idle'`
        return left?.open === 1
      },
      WAIT_MS,
    )
  })

  it('is refused while two are running, and accepted when one is done', async () => {
    const [one, two] = [await open({ kind: 'credits' }), await open({ kind: 'credits' })]
    const third = await exportLedger(deps, { kind: 'nodes' })
    assert.ok(isOperatorRefusal(third) && third.because === 'notYet')
    one.stream.destroy()
    two.stream.destroy()
    await until(
      'room for another one',
      async () => {
        const file = await exportLedger(deps, { kind: 'nodes' })
        if (isOperatorRefusal(file)) return false
        await readAll(file)
        return true
      },
      WAIT_MS,
    )
  })

  it('has no last line when the database ends the connection half way', async () => {
    const file = await open({ kind: 'credits' })
    let text = ''
    await assert.rejects(async () => {
      for await (const part of file.stream) {
        if (text === '') await endExports()
        text = (text + part).slice(-1000)
      }
    })
    assert.ok(!text.includes('#total'))
    await pool`SELECT 1`
  })
})

it('breaks the HTTP connection if it fails half way: a part cannot pass for the whole', async () => {
  const service = await startService({ operator: deps, settings: { adminKeys: KEYS } })
  try {
    const answer = await fetch(`http://127.0.0.1:${service.port}/api/admin/exports/credits.csv`, {
      headers: { 'x-admin-key': KEYS[0]?.key ?? '' },
    })
    assert.equal(answer.status, 200)
    let text = ''
    await assert.rejects(async () => {
      for await (const part of answer.body ?? []) {
        if (text === '') await endExports()
        text = (text + Buffer.from(part).toString()).slice(-1000)
      }
    })
    assert.ok(text !== '' && !text.includes('#total'))
  } finally {
    await service.close()
  }
})

describe('an export of a period', () => {
  it('has the rows of its blocks', async () => {
    const lines = await readAll(await open({ kind: 'credits', from: '11', to: '12' }))
    assert.equal(factsOf(lines.at(-1)).rows, String(2 * NODES))
  })

  it('is read without prepared statements, too, as behind a pooler', async () => {
    const plain = connect(database.url, { max: 1, prepare: false, applicationName: 'test' })
    for (const kind of ['credits', 'payments', 'transactions', 'refunds', 'outflows']) {
      const file = await exportLedger({ ...deps, readPool: plain }, { kind, from: '1', to: '11' })
      if (isOperatorRefusal(file)) return assert.fail(file.message)
      const lines = await readAll(file)
      assert.equal(factsOf(lines.at(-1)).rows, String(lines.length - 2), kind)
      // The pool gets the connection back when the transaction has ended, a moment after the last line.
      await plain`SELECT 1`
    }
    await plain.end({ timeout: 1 })
  })

  it('refuses an invalid period', async () => {
    for (const input of [
      { kind: 'credits', from: 'yesterday' },
      { kind: 'credits', from: '2026-02-30' },
      { kind: 'credits', from: '2026-02-30T00:00:00Z' },
      { kind: 'credits', month: '2026-13' },
      { kind: 'credits', month: '2026-01', from: '1' },
      { kind: 'credits', from: '20', to: '10' },
      { kind: 'everything' },
    ]) {
      const refusal = await exportLedger(deps, input)
      assert.ok(isOperatorRefusal(refusal) && refusal.because === 'invalid', JSON.stringify(input))
    }
  })
})

describe("an owner's export", () => {
  it('adds up the wallet’s credits and withdrawals, with the price if there is one', async () => {
    await pool`INSERT INTO price_history (hour, usd, quoted_at) VALUES ('1970-01-01T01:00:00Z', 2000.5, now())`
    const file = await exportOwner(deps, { address: OWNER, from: '1001', to: '2000' })
    if (isOperatorRefusal(file)) return assert.fail(file.message)
    const lines = await readAll(file)
    const end = factsOf(lines.at(-1))
    assert.equal(end.creditedWei, String(AMOUNT * BigInt(NODES) * 10n))
    assert.equal(end.withdrawnWei, '50')
    assert.match(lines.find((line) => line.startsWith('withdrawal')) ?? '', /,5,0\.000000000000000005,2000\.5,0\.00,/)
    assert.match(lines[1] ?? '', /^credit,.*,1000000000000007,0\.001000000000000007,,,991,/)
    await pool`DELETE FROM price_history`
  })

  it('has as many ether as wei, to the last digit', async () => {
    const wei = 1_234_567_890_123_456_789_012n
    await pool`UPDATE turns SET amount_wei = ${wei.toString()} WHERE round = 600`
    const file = await exportOwner(deps, { address: OWNER, from: '610', to: '610' })
    if (isOperatorRefusal(file)) return assert.fail(file.message)
    const [, first] = await readAll(file)
    assert.match(first ?? '', /^credit,.*,1234567890123456789012,1234\.567890123456789012,/)
    await pool`UPDATE turns SET amount_wei = ${AMOUNT.toString()} WHERE round = 600`
  })
})

it('reads the credits in an index’s order, without a sort or a scan of a large table', async () => {
  const { EXPORT_FORMS } = await import('../../../src/db/reads/exports.ts')
  const plan = async (kind: 'credits' | 'payments' | 'withdrawals', blocks: { after: number; upTo: number } | null) => {
    const rows = await pool`EXPLAIN ${EXPORT_FORMS[kind].select(pool, blocks)}`
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  // With so few nodes, an index lookup is no faster than a scan.
  const credits = (await plan('credits', { after: 10, upTo: 12 })).replace('Seq Scan on nodes expelled', '')
  assert.doesNotMatch(credits, /Seq Scan on (nodes|turns|rounds)/)
  assert.doesNotMatch(await plan('payments', { after: 10, upTo: 12 }), /Seq Scan on payments/)
})
