// Adopting a nonce: src/passes/steps/nonce.ts on a real ledger and the second reading agree over random runs and answers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type Cursor, writeCursor } from '../../../src/db/blocks/blocks.ts'
import type { Pool } from '../../../src/db/core/sql.ts'
import { type Address, address, type Hash, ZERO_HASH } from '../../../src/domain/units.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { agreedNonce, readNonce } from '../../../src/passes/steps/nonce.ts'
import type { ChainReader, SurveyReader } from '../../../src/ports/chain.ts'
import { type OpenDatabase, openDatabase } from '../../support/postgres.ts'
import { cases } from '../../support/property.ts'
import * as model from './adopting.ts'

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase(2)
  pool = database.pool
})
after(() => database.close())

const nonce = fc.constantFrom(5, 5, 6, 6, 7, 4, null)
const answers = fc
  .tuple(
    fc.constantFrom(1, 2, 3),
    fc.constantFrom(5, 6, 6, 6, 7),
    fc.array(nonce, { minLength: 3, maxLength: 3 }),
    fc.nat(4),
  )
  .map(([providers, all, own, kind]) => {
    const given = kind > 0 ? own.map(() => all) : own
    // Half of the time one of them is away, or says something else.
    if (kind === 4) given[given.length - 1] = own[0] ?? null
    return given.slice(0, providers)
  })
const step = fc.record({
  gap: fc.constantFrom(0, 1, 1, 63, 64, 65, -2),
  latest: answers,
  /** How many of the latest transactions are in blocks that are not followed yet. */
  behind: fc.constantFrom(0, 0, 1, 9),
})

let senders = 0

/** A chain of which nothing is read but an account's proven nonce. */
function provingOnly(account: Address, { number, hash }: Cursor, nonce: number | null): ChainReader {
  const accountsAt: SurveyReader['accountsAt'] = async () => {
    if (nonce === null) return null
    const state = { nonce, balanceWei: 0n, hasCode: false, codeHash: ZERO_HASH, storageRoot: ZERO_HASH }
    const block = { number, hash, parentHash: ZERO_HASH, time: 1, prevrandao: ZERO_HASH }
    return [{ block, accounts: new Map([[account, state]]) }]
  }
  return { survey: { accountsAt } } as unknown as ChainReader
}

test('providers’ nonce is adopted after 64 blocks in which all of them report a higher one', async () => {
  const compare = async (
    first: model.Answers,
    proven: number | null,
    steps: { gap: number; latest: model.Answers; behind: number }[],
  ) => {
    senders += 1
    const account: model.Account = { known: null, aheadSince: null }
    let height = 100
    for (const [i, { gap, latest, behind }] of steps.entries()) {
      height += gap
      const atFollowed =
        i === 0 ? first : latest.map((one) => (one === null ? null : Math.max(Math.min(one, 5), one - behind)))
      const hash = `0x${(senders * 1_000 + i).toString(16).padStart(64, '0')}` as Hash
      const cursor = { number: height, hash, time: 1_000 + height }
      await writeCursor(pool, cursor)
      const said = latest.find((one) => one !== null)
      const sender = {
        address: address(`0x${senders.toString(16).padStart(40, '0')}`),
        nonce: async () => said ?? assert.fail('no provider answers'),
        nonces: async () => latest,
        noncesAt: async () => atFollowed,
      }
      if (said === undefined || said === null) continue
      const code = await readNonce(
        { pool, log: silentLog, chain: provingOnly(sender.address, cursor, proven) },
        { sender, cursor },
      )
      const expected = model.run(account, { height, atFollowed, latest, proven })
      assert.equal(code.kind === 'known' ? code.next : null, expected, `run ${i} at ${height}`)
    }
  }
  const first = fc.constantFrom<model.Answers[]>([5], [5, 5], [5, null, 5], [5, 6], [null, 5])
  const steps = fc.array(step, { minLength: 2, maxLength: 6 })
  await fc.assert(fc.asyncProperty(first, fc.constantFrom(null, null, 5), steps, compare), { numRuns: cases(80) })
})

test('providers agree if two of them, or the only one, report one nonce and none another', () => {
  const compare = (all: model.Answers) => assert.equal(agreedNonce(all), model.agreed(all))
  fc.assert(fc.property(fc.array(nonce, { maxLength: 4 }), compare), { numRuns: cases(500) })
})
