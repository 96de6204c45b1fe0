// The memory of an export does not grow with the ledger.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStats } from '../../../src/db/reads/public-api.ts'
import { isOperatorRefusal, type OperatorDeps } from '../../../src/operator/act.ts'
import { exportLedger } from '../../../src/operator/acts/books/exports.ts'
import { openDatabase } from '../../support/postgres.ts'
import { factsOf, fillLedger, ROUNDS } from './ledger.ts'

const NODES = 1_000

test('an export streams a million credits without keeping them', { timeout: 300_000 }, async () => {
  await using database = await openDatabase(4)
  const { pool } = database
  await fillLedger(pool, NODES)
  const deps = { pool, readPool: pool, rules: { startBlock: 1 } } as OperatorDeps
  const file = await exportLedger(deps, { kind: 'credits' })
  if (isOperatorRefusal(file)) assert.fail(file.message)
  let [lines, bytes, tail] = [0, 0, '']
  const most = [0, 0]
  for await (const part of file.stream) {
    const text = (part as Buffer).toString()
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
    bytes += text.length
    tail = (tail + text).slice(-400)
    const half = lines < (NODES * ROUNDS) / 2 ? 0 : 1
    most[half] = Math.max(most[half] ?? 0, process.memoryUsage().rss)
  }
  const end = factsOf(tail.trimEnd().split('\r\n').at(-1))
  assert.equal(lines, NODES * ROUNDS + 2)
  assert.equal(end.rows, String(NODES * ROUNDS))
  assert.equal(end.amountWei, (await readStats(pool)).totalDistributedWei)
  // We do not keep rows after reading them: half of the file would be 75 MiB and more. The collector may not have freed all of it yet.
  const grown = (most[1] ?? 0) - (most[0] ?? 0)
  assert.ok(bytes > 150 * 2 ** 20, `${bytes} bytes`)
  assert.ok(grown < 60 * 2 ** 20, `${Math.round(grown / 2 ** 20)} MiB more`)
})
