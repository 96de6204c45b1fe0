// Commissions: the statements of src/db/reads/commissions.ts and the second reading agree to the wei, over random codes, payments and refunds.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { readCommissions, readDueCommissions } from '../../../src/db/reads/commissions.ts'
import type { Address } from '../../../src/domain/units.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { type CodeVersion, commissionsOf, dueOf, type Paid, type Transfer } from './commissions.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const BLOCKS = [4, 5, 6, 9, 10, 11]
const block = fc.constantFrom(...BLOCKS)
/** A block's time. */
const timeOf = (number: number) => 1_000 + number * 10
const time = fc.oneof(fc.constant(null), fc.constantFrom(...BLOCKS.map(timeOf)))
const who = fc.constantFrom(...[1, 2, 3].map(account))
const code = fc.constantFrom('ann', 'bob')

const drawnVersion = fc.record({
  code,
  payee: who,
  commissionBps: fc.constantFrom(0, 1, 333, 2_000),
  opensAt: time,
  closesAt: time,
  fromBlock: fc.constantFrom(0, 0, 5, 5, 10),
  waitSec: fc.constantFrom(0, 0, 9, 10, 11, 1_000),
})
const drawnPayment = fc.record({
  from: who,
  valueWei: fc.constantFrom(1n, 9_999n, 10_000n, 10n ** 30n + 7n),
  codes: fc.oneof(
    fc.shuffledSubarray(['ann', 'bob'], { minLength: 2 }),
    fc.array(fc.constantFrom('ann', 'bob', 'zoe', 'ANN'), { maxLength: 3 }),
  ),
  block,
  /** Blocks from payment to mint; null: no node. */
  mint: fc.constantFrom(0, 0, 1, 1, 5, null),
  state: fc.constantFrom('held', 'refunded', 'accepted', 'dismissed'),
  refundBlock: fc.option(block, { freq: 2 }),
  proof: fc.constantFrom('proven', 'agreed', 'believed', null),
  mintProof: fc.constantFrom('proven', 'agreed', 'believed'),
})
const drawnPayout = fc.record({ code, to: who, valueWei: fc.constantFrom(1n, 333n, 2_000n), block })
const drawn = fc.record({
  versions: fc.array(drawnVersion, { maxLength: 5 }),
  payments: fc.array(drawnPayment, { maxLength: 6 }),
  payouts: fc.array(drawnPayout, { maxLength: 2 }),
  period: fc.tuple(block, block),
  trustsOne: fc.boolean(),
  /** The followed block. */
  head: block,
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function ledgerOf(given: Drawn) {
  const versions: CodeVersion[] = []
  // As they are entered, a later version never begins in an earlier block.
  for (const one of given.versions.toSorted((a, b) => a.fromBlock - b.fromBlock)) {
    if (one.opensAt !== null && one.closesAt !== null && one.closesAt <= one.opensAt) continue
    versions.push({ ...one, version: 1 + versions.filter((other) => other.code === one.code).length })
  }
  const payments: Paid[] = given.payments.map((one, n) => {
    const mintedBlock = one.mint === null ? null : one.block + one.mint
    const isBelieved = one.proof === 'believed' || one.mintProof === 'believed'
    return {
      ...one,
      ref: word(1 + n),
      time: timeOf(one.block),
      mintedBlock,
      mintedTime: timeOf(mintedBlock ?? 0),
      isBelieved,
    }
  })
  const refunds = given.payments.flatMap((one, n): Transfer[] => {
    if (one.refundBlock === null || one.refundBlock < one.block) return []
    return [{ refunds: word(1 + n), commissionOf: null, to: one.from, valueWei: one.valueWei, block: one.refundBlock }]
  })
  const payouts = given.payouts.map(
    (one): Transfer => ({
      refunds: null,
      commissionOf: one.code,
      to: one.to,
      valueWei: one.valueWei,
      block: one.block,
    }),
  )
  return { versions, payments, transfers: [...refunds, ...payouts] }
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

function rowsOf(given: Drawn, { versions, payments, transfers }: ReturnType<typeof ledgerOf>): Rows {
  const nodes = payments.flatMap((one, n) => (one.mintedBlock === null ? [] : [{ n, minted: one.mintedBlock }]))
  return {
    cursors: [{ name: 'follow', block_time: timeOf(given.head), ...inBlock(given.head) }],
    referral_codes: versions.map((one) => ({
      ...{ code: one.code, version: one.version, payee: one.payee, commission_bps: one.commissionBps },
      ...{
        opens_at: one.opensAt,
        closes_at: one.closesAt,
        wait_sec: one.waitSec,
        from_block: one.fromBlock,
        entered_by: 'test',
      },
    })),
    payments: payments.map((one, n) => ({
      ...{
        id: 1 + n,
        ref: one.ref,
        tx_hash: word(100 + n),
        wallet: account(9),
        from_address: one.from,
        value_wei: one.valueWei,
      },
      ...{ succeeded: true, codes: one.codes.length === 0 ? null : one.codes.join(','), tx_index: 0 },
      ...{ state: one.mintedBlock === null ? (given.payments[n]?.state ?? 'seen') : 'minted', tier_id: 'basic' },
      ...{ reason: given.payments[n]?.state === 'held' && one.mintedBlock === null ? 'soldOut' : null },
      ...{ node_id: one.mintedBlock === null ? null : 1 + n, block_time: at(one.time), ...inBlock(one.block) },
      proof: given.payments[n]?.proof ?? null,
    })),
    nodes: nodes.map(({ n, minted }) => ({
      ...{
        node_id: 1 + n,
        owner: account(1),
        cohort: null,
        ref: word(1 + n),
        payment_id: 1 + n,
        per_node_at_mint_wei: 0n,
      },
      ...{ turns_at_mint: 0, mint_tx_hash: word(200 + n), minted_at: at(timeOf(minted)), ...inBlock(minted) },
      proof: given.payments[n]?.mintProof ?? null,
    })),
    refunds: transfers.map((one, n) => ({
      ...{
        payment_ref: one.refunds,
        commission_of: one.commissionOf,
        tx_hash: word(300 + n),
        from_address: account(9),
      },
      ...{ to_address: one.to, value_wei: one.valueWei, recorded_by: 'test', ...inBlock(one.block) },
    })),
  }
}

const sorted = <T extends { code: string; payee: string }>(lines: T[]): T[] =>
  lines.toSorted((a, b) => (`${a.code} ${a.payee}` < `${b.code} ${b.payee}` ? -1 : 1))

async function compare(given: Drawn): Promise<void> {
  const ledger = ledgerOf(given)
  const [a, b] = given.period
  const period = { after: Math.min(a, b), upTo: Math.max(a, b) }
  const asked = { final: b, trustsOne: given.trustsOne, now: timeOf(given.head) }
  const payee = account(1) as Address
  const [lines, due, own] = await tables.within(rowsOf(given, ledger), async (sql) => [
    await readCommissions(sql, period),
    await readDueCommissions(sql, asked),
    await readDueCommissions(sql, { ...asked, payee }),
  ])
  const ownCodes = ledger.versions.filter((one) => one.payee === payee).map((one) => one.code)
  assert.deepEqual(
    [...own],
    due.filter((line) => line.payee === payee && ownCodes.includes(line.code)),
    'what its payee sees',
  )
  assert.deepEqual([...lines], sorted(commissionsOf(ledger, period)))
  const withoutFile = due.map(({ filedWei, fileMadeAt, ...line }) => line)
  assert.deepEqual(withoutFile, sorted(dueOf(ledger, asked)))
}

test('commissions earned, undone, paid and due follow the rules, to the wei', async () => {
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(120) })
})
