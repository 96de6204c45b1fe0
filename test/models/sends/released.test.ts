// Released payments: src/passes/steps/prove-released.ts looks at the payments that the second reading looks at, within its time, and raises their proofs alike.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { proveReleased, proveSender, readTrustsOne } from '../../../src/passes/steps/prove-released.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './released.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [CURSOR, WALLET, WEI] = [110, account(1), 10n ** 19n]
const often = fc.constantFrom(true, true, true, true, true, true, true, false)
const mined = fc.record({
  ...{ isSameSender: often, isSameWallet: often, isSameValue: often, isSameBlock: often, isSameEnd: often },
  isSameTime: often,
})
const released = fc.record({
  state: fc.constantFrom<model.Released['state']>('accepted', 'accepted', 'accepted', 'held'),
  proof: fc.constantFrom<model.Released['proof']>('believed', 'believed', 'believed', 'proven', 'agreed'),
  block: fc.integer({ min: 101, max: CURSOR + 1 }),
  inList: fc.boolean(),
  mined: fc.option(mined, { freq: 6 }),
})
const drawn = fc.record({
  mode: fc.constantFrom('proven' as const, 'agreed' as const, null),
  providers: fc.constantFrom(0, 1, 2, 3),
  trusts: fc.boolean(),
  cursor: fc.constant(CURSOR),
  most: fc.constantFrom(0, 1, 2, 9, 9),
  payments: fc.uniqueArray(released, { maxLength: 4, selector: ({ block }) => block }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const header = (number: number) => ({
  ...{ number, hash: word(number), parent_hash: word(number - 1), time: 10 * number, prevrandao: word(0) },
})
const rowsOf = ({ mode, payments }: Drawn): Rows => ({
  cursors: [{ name: 'follow', ...inBlock(CURSOR), block_time: 10 * CURSOR }],
  blocks: Array.from({ length: 12 }, (_, n) => header(100 + n)),
  evidence_modes: mode === null ? [] : [{ from_block: 0, mode, set_by: 'test' }],
  payment_wallets: [{ id: 1, wallet: WALLET, from_block: 0, from_time: 0, watched_from: 0, entered_by: 'test' }],
  tiers: [
    {
      ...{
        tier_id: 'basic',
        version: 1,
        tier_no: 1,
        label: 'B',
        price_wei: WEI,
        max_per_wallet: 9,
        payout_bps: 10_000,
      },
      ...{ on_sale: true, live: true, from_block: 0, from_time: 0, entered_by: 'test' },
    },
  ],
  payments: payments.map(({ state, proof, block }) => ({
    ...{ id: block, ref: word(block), tx_hash: word(block), wallet: WALLET, from_address: account(5), value_wei: WEI },
    ...{ succeeded: true, state, reason: state === 'held' ? 'operator' : null, proof, tx_index: 1 },
    ...(state === 'accepted' && { tier_id: 'basic', tier_version: 1 }),
    ...{ block_time: at(10 * block), ...inBlock(block) },
  })),
})

function contextOf(sql: Sql, given: Drawn, asked: { lists: number[]; of: number[] }) {
  const at = (number: number) => given.payments.find(({ block }) => block === number)
  const chain = {
    providers: Array.from({ length: given.providers }),
    observe: async (number: number) => {
      asked.lists.push(number)
      const transfer = {
        ...{ txHash: word(number), txIndex: 1, wallet: WALLET, from: account(5), valueWei: WEI, succeeded: true },
        ...{
          blockNumber: number,
          blockHash: word(number),
          codes: null,
          proof: at(number)?.inList ? 'proven' : 'believed',
        },
      }
      return { blocks: [header(number)], transfers: [transfer], outflows: [], events: [] }
    },
    minedTransaction: async (txHash: string) => {
      const number = Number(BigInt(txHash))
      asked.of.push(number)
      const said = at(number)?.mined
      if (!said) throw new ChainFault('away')
      const { isSameBlock, isSameTime } = said
      return {
        ...{ from: said.isSameSender ? account(5) : account(6), to: said.isSameWallet ? WALLET : account(2) },
        ...{ valueWei: said.isSameValue ? WEI : WEI + 1n, blockHash: word(isSameBlock ? number : number + 1) },
        ...{ succeeded: said.isSameEnd, blockTime: isSameTime ? 10 * number : 10 * number + 1 },
      }
    },
  }
  return {
    pool: poolWithin(sql),
    chain,
    log: silentLog,
    rules: { startBlock: 1, trustsProvider: given.trusts },
  } as never
}

const proofsIn = async (sql: Sql) =>
  [...(await sql`SELECT id, proof FROM payments ORDER BY id`)].map((row) => ({ ...row }))
const expectedProofs = (given: Drawn, looked: model.Released[]) =>
  given.payments
    .map((one) => ({ id: one.block, proof: looked.includes(one) ? model.lookAt(one, given).proof : one.proof }))
    .toSorted((a, b) => a.id - b.id)

test('released payments that rest on one word are proven by their lists, or by two providers', async () => {
  const compare = async (given: Drawn) => {
    await tables.within(rowsOf(given), async (sql) => {
      const asked = { lists: [] as number[], of: [] as number[] }
      const context = contextOf(sql, given, asked)
      const looked = model.looked(given.payments, given)
      let looks = 0
      const run = { outOfTime: () => looks++ >= given.most, checkLock: () => undefined }
      const cursor = { number: CURSOR, hash: word(CURSOR), time: 10 * CURSOR } as never
      assert.equal(await readTrustsOne(context), model.oneIsEnough(given))
      assert.equal(await proveReleased(context, cursor, run as never), model.oneIsEnough(given))
      assert.deepEqual(await proofsIn(sql), expectedProofs(given, looked))
      const numbers = (some: model.Released[]) => some.map(({ block }) => block)
      assert.deepEqual(asked.lists, given.mode === 'proven' ? numbers(looked) : [])
      assert.deepEqual(asked.of, numbers(looked.filter((one) => model.lookAt(one, given).asks)))
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(120) })
})

test('before a refund its payer is proven, unless one word is enough', async () => {
  const compare = async (given: Drawn, id: number, hasCursor: boolean) => {
    const rows = rowsOf(given)
    await tables.within(hasCursor ? rows : { ...rows, cursors: [] }, async (sql) => {
      const asked = { lists: [] as number[], of: [] as number[] }
      await proveSender(contextOf(sql, given, asked), id)
      const isLooked = hasCursor && !model.oneIsEnough(given)
      const looked = given.payments.filter(({ block }) => isLooked && block === id)
      assert.deepEqual(await proofsIn(sql), expectedProofs(given, looked))
      assert.deepEqual(asked.lists, given.mode === 'proven' ? looked.map(({ block }) => block) : [])
    })
  }
  const id = fc.integer({ min: 101, max: CURSOR })
  const hasCursor = fc.constantFrom(true, true, true, true, false)
  await fc.assert(fc.asyncProperty(drawn, id, hasCursor, compare), { numRuns: cases(80) })
})
