// Adopting a nonce: src/passes/steps/nonce.ts on a real ledger and the second reading agree over random runs and answers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type Cursor, writeCursor } from '../../../src/db/blocks/blocks.ts'
import type { Pool } from '../../../src/db/core/sql.ts'
import { readNonceAhead } from '../../../src/db/sends/nonce-ahead.ts'
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
  isCurrent: fc.constantFrom(true, true, true, true, true, false),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
/** What a provider proves: of the followed block, of another one, or without the account. */
const drawnProof = fc.constantFrom(null, null, 'own' as const, 'other' as const, 'empty' as const)
type Proof = typeof drawnProof extends fc.Arbitrary<infer T> ? T : never
const PROVEN = 5

let senders = 0

/** A chain of which nothing is read but an account's proven nonce. */
function provingOnly(account: Address, { number, hash }: Cursor, proof: Proof): ChainReader {
  const accountsAt: SurveyReader['accountsAt'] = async (asked) => {
    assert.deepEqual(asked, [{ number, accounts: [account] }])
    if (proof === null) return null
    const state = { nonce: PROVEN, balanceWei: 0n, hasCode: false, codeHash: ZERO_HASH, storageRoot: ZERO_HASH }
    const own = proof === 'other' ? ZERO_HASH : hash
    const block = { number, hash: own, parentHash: ZERO_HASH, time: 1, prevrandao: ZERO_HASH }
    return [{ block, accounts: new Map(proof === 'empty' ? [] : [[account, state]]) }]
  }
  return { survey: { accountsAt } } as unknown as ChainReader
}

async function compareRuns(first: model.Answers, proof: Proof, steps: Step[]): Promise<void> {
  senders += 1
  const account: model.Account = { known: null, aheadSince: null }
  const sender = address(`0x${senders.toString(16).padStart(40, '0')}`)
  const told: model.Result['told'] = []
  let height = 100
  for (const [i, { gap, latest, behind, isCurrent }] of steps.entries()) {
    height += gap
    const atFollowed =
      i === 0 ? first : latest.map((one) => (one === null ? null : Math.max(Math.min(one, 5), one - behind)))
    const hash = `0x${(senders * 1_000 + i).toString(16).padStart(64, '0')}` as Hash
    const cursor = { number: height, hash, time: 1_000 + height }
    await writeCursor(pool, isCurrent ? cursor : { ...cursor, hash: ZERO_HASH })
    const said = latest.find((one) => one !== null)
    if (said === undefined || said === null) continue
    let askedAll = false
    const all = async () => {
      askedAll = true
      return latest
    }
    const noncesAt = async (block: Hash) => {
      assert.equal(block, hash)
      return atFollowed
    }
    const accountReader = { address: sender, nonce: async () => said, nonces: all, noncesAt }
    const ctx = { pool, log: silentLog, chain: provingOnly(sender, cursor, proof) }
    const reading = await readNonce(ctx, { sender: accountReader, cursor })
    const proven = proof === 'own' ? PROVEN : null
    const expected = model.run(account, { height, atFollowed, latest, proven, isCurrent })
    told.push(...expected.told)
    const { next, now } = { next: null, now: null, ...reading }
    const found = { reading: reading.kind === 'known' ? { next, now } : null, askedAll }
    assert.deepEqual(found, { reading: expected.reading, askedAll: expected.askedAll }, `run ${i} at ${height}`)
    assert.equal((await readNonceAhead(pool, sender))?.sinceBlock ?? null, account.aheadSince)
  }
  const audit = await pool`SELECT actor, action, detail FROM audit WHERE subject = ${sender} ORDER BY id`
  assert.deepEqual(
    [...audit],
    told.map((one) => ({ actor: 'pass', ...one })),
  )
}

test('providers’ nonce is adopted after 64 blocks in which all of them report a higher one', async () => {
  const first = fc.constantFrom<model.Answers[]>([5], [5, 5], [5, null, 5], [5, 6], [null, 5])
  const steps = fc.array(step, { minLength: 2, maxLength: 6 })
  await fc.assert(fc.asyncProperty(first, drawnProof, steps, compareRuns), { numRuns: cases(100) })
})

test('providers agree if two of them, or the only one, report one nonce and none another', () => {
  const compare = (all: model.Answers) => assert.equal(agreedNonce(all), model.agreed(all))
  fc.assert(fc.property(fc.array(nonce, { maxLength: 4 }), compare), { numRuns: cases(500) })
})
