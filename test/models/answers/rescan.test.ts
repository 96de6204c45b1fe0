// The act "rescan": src/operator/acts/rescan.ts and src/db/blocks/rescan.ts, over entries that only the chain or only the ledger has, at the edges of ranges and of what is
// stored, agree with the second reading about refusals, differences, the rewind and the audit log.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { rescan } from '../../../src/operator/acts/rescan.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { inOrder, plain } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './rescan.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [OLDEST, CURSOR, WALLET] = [100, 305, account(1)]
const entry = fc.record({
  kind: fc.constantFrom<model.Entry['kind']>('payment', 'payment', 'outflow', 'ownerAct'),
  block: fc.constantFrom(100, 101, 102, 299, 300, 301, 305),
  wei: fc.constantFrom(5n, 10n ** 19n),
  failed: fc.constantFrom(false, false, false, true),
  at: fc.constantFrom<model.Entry['at']>('both', 'both', 'chain', 'ledger', 'differs'),
})
const drawn = fc.record({
  startBlock: fc.constantFrom(OLDEST, 50),
  entries: fc.array(entry, { maxLength: 4 }).map((all) => all.map((one, place) => ({ ...one, place }))),
  fromBlock: fc.constantFrom(99, 100, 100, 101, 101, 102, 106, 300, 305, 306),
  dryRun: fc.constantFrom(false, false, true),
  isHalted: fc.constantFrom(false, false, false, false, false, true),
  fork: fc.constantFrom(null, null, null, null, null, CURSOR, 306),
  reason: fc.constantFrom('a doubt', null),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const hashOf = ({ place }: model.Entry) => word(7_000 + place)
/** An act of the owner has no amount, so it cannot be there twice with another one. */
const settled = (one: model.Entry): model.Entry => {
  const failed = one.kind === 'payment' && one.failed
  return { ...one, failed, at: one.kind === 'ownerAct' && one.at === 'differs' ? 'both' : one.at }
}
const words: model.Words = (one, wei) => {
  if (one.kind === 'ownerAct') return `ownerAct ${one.place} Paused`
  if (one.kind === 'outflow') return `outflow ${hashOf(one)} ${WALLET} ${account(6)} ${wei}`
  return `payment ${hashOf(one)} ${WALLET} ${account(5)} ${wei}${one.failed ? ' failed' : ''}`
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const rowsOf = (given: model.Given): Rows => {
  const ours = given.entries.filter((one) => one.at !== 'chain')
  const of = (kind: model.Entry['kind']) => ours.filter((one) => one.kind === kind)
  return {
    cursors: [{ name: 'follow', ...inBlock(CURSOR), block_time: 10 * CURSOR }],
    blocks: Array.from({ length: CURSOR - OLDEST + 1 }, (_, n) => OLDEST + n).map((number) => ({
      ...{ number, hash: word(number), parent_hash: word(number - 1), time: 10 * number, prevrandao: word(0) },
    })),
    payment_wallets: [{ id: 1, wallet: WALLET, from_block: 0, from_time: 0, watched_from: 0, entered_by: 'test' }],
    wallet_books: [{ wallet: WALLET, in_wei: 10n ** 24n, out_wei: 10n ** 24n }],
    troubles: given.isHalted
      ? [
          {
            name: 'halted',
            value: JSON.stringify({ reason: 'otherChain', detail: {}, sealed: true }),
          },
        ]
      : [],
    payments: of('payment').map((one) => ({
      ...{ id: 1 + one.place, ref: hashOf(one), tx_hash: hashOf(one), wallet: WALLET, from_address: account(5) },
      ...{
        value_wei: one.wei,
        succeeded: !one.failed,
        state: 'seen',
        block_time: at(10 * one.block),
        ...inBlock(one.block),
      },
    })),
    wallet_outflows: of('outflow').map((one) => ({
      ...{ ref: hashOf(one), tx_hash: hashOf(one), wallet: WALLET, to_address: account(6), value_wei: one.wei },
      ...{ fee_wei: 3, block_time: at(10 * one.block), ...inBlock(one.block) },
    })),
    owner_acts: of('ownerAct').map((one) => ({
      ...{ log_index: one.place, name: 'Paused', detail: '{}', at: at(10 * one.block), tx_hash: hashOf(one) },
      ...inBlock(one.block),
    })),
  }
}

function chainOf(given: model.Given) {
  const hash = (number: number) => word(given.fork !== null && number >= given.fork ? 90_000 + number : number)
  const block = (number: number) => ({
    ...{ number, hash: hash(number), parentHash: hash(number - 1), time: 10 * number, prevrandao: word(0) },
  })
  const observe = async (from: number, to: number, parent: string | null) => {
    assert.equal(parent, from === OLDEST ? null : word(from - 1), 'it continues where the ledger was')
    const theirs = given.entries.filter((one) => one.at !== 'ledger' && one.block >= from && one.block <= to)
    const of = (kind: model.Entry['kind']) => theirs.filter((one) => one.kind === kind)
    const place = (one: model.Entry) => ({
      ...{ blockNumber: one.block, blockHash: word(one.block), txHash: hashOf(one), txIndex: 0, wallet: WALLET },
      valueWei: one.at === 'differs' ? one.wei + 1n : one.wei,
    })
    return {
      blocks: Array.from({ length: to - from + 1 }, (_, n) => block(from + n)),
      transfers: of('payment').map((one) => ({ ...place(one), from: account(5), succeeded: !one.failed, codes: null })),
      outflows: of('outflow').map((one) => ({ ...place(one), to: account(6), succeeded: true, feeWei: 4n })),
      events: of('ownerAct').map((one) => ({ ...place(one), kind: 'ownerAct', logIndex: one.place, name: 'Paused' })),
    }
  }
  return { block: async (number: number) => block(number), observe, providers: [] }
}

async function readLedger(sql: Sql) {
  const [row] = await sql`
    SELECT (SELECT block_number FROM cursors) AS cursor, (SELECT count(*) FROM payments WHERE state = 'seen') AS payments,
      (SELECT count(*) FROM wallet_outflows) AS outflows`
  const told = await sql`
    SELECT actor, action, subject, request_id AS request, detail FROM audit WHERE action IN ('rescanned', 'wentBack') ORDER BY id`
  return { ...row, told: told.map(({ detail, ...one }) => ({ ...one, ...(one.action === 'rescanned' && { detail }) })) }
}

function expectedLedger(given: model.Given, answer: ReturnType<typeof model.rescan>, reason: string | null) {
  const back = 'refused' in answer ? null : answer.wentBackTo
  // Before the first block there is no cursor.
  const cursor = back === null ? CURSOR : back < given.startBlock ? null : back
  const left = given.entries.filter((one) => one.at !== 'chain' && one.block <= (back ?? CURSOR))
  const count = (kind: string) => left.filter((one) => one.kind === kind).length
  const wentBack = { actor: 'ada', action: 'wentBack', subject: null, request: null }
  const rescanned = { actor: 'ada', action: 'rescanned', subject: String(given.fromBlock), request: 'r1' }
  const told = [
    ...(back === null ? [] : [wentBack]),
    ...('refused' in answer || given.dryRun ? [] : [{ ...rescanned, detail: { after: answer, reason } }]),
  ]
  return { cursor, payments: count('payment'), outflows: count('outflow'), told }
}

test('a rescan goes back to before the first difference, and reports what it found', async () => {
  const compare = async (drawnCase: Drawn) => {
    const { reason, ...rest } = drawnCase
    const given = { ...rest, entries: rest.entries.map(settled), oldest: OLDEST, cursor: CURSOR }
    await tables.within(rowsOf(given), async (sql) => {
      const deps = {
        pool: poolWithin(sql),
        chain: chainOf(given),
        log: silentLog,
        rules: { startBlock: given.startBlock },
      }
      const { fromBlock, dryRun } = given
      const input = { fromBlock, dryRun, ...(reason !== null && { reason }) }
      const found = await rescan(deps as never, { name: 'ada', requestId: 'r1' }, input)
      const answer = model.rescan(given, words)
      if (isOperatorRefusal(found)) assert.deepEqual({ refused: found.because }, answer)
      else {
        const sorted =
          'refused' in answer
            ? answer
            : { ...answer, missing: inOrder(answer.missing), surplus: inOrder(answer.surplus) }
        assert.deepEqual({ ...found, missing: inOrder(found.missing), surplus: inOrder(found.surplus) }, sorted)
        const blocks = found.missing.map(({ blockNumber }) => blockNumber)
        assert.deepEqual(
          blocks,
          blocks.toSorted((a, b) => a - b),
          'the lowest block first',
        )
      }
      const now = await readLedger(sql)
      const told = isOperatorRefusal(found) ? answer : found
      assert.deepEqual(plain(now), plain(expectedLedger(given, told as never, reason)))
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(90) })
})
