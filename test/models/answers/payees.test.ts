// The operator's acts on payments wallets: src/operator/acts/payment-wallets.ts, over wallets to come, in force, in grace, old and closed, agrees with the second reading
// about answers, refusals, rows and the audit log.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { cancelWallet, changeWallet, closeBooks, listWallets } from '../../../src/operator/acts/payment-wallets.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { plain } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './payees.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const HEAD = { number: 500, time: 6_000 }
const NEW = account(0xb9)
const payee = fc.record({
  fromBlock: fc.constantFrom(0, 499, 500, 501, 564, 600),
  fromTime: fc.constantFrom(0, 5_400, 5_999, 6_000, 6_001, 9_000),
  stolen: fc.constantFrom(false, false, false, true),
  graceSec: fc.constantFrom(0, 600, 601),
  closedBlock: fc.constantFrom(null, null, null, 499),
  isPaid: fc.constantFrom(false, false, true),
  audited: fc.constantFrom(null, 499, 500, 500),
})
const drawn = fc.record({
  payees: fc.array(payee, { maxLength: 4 }).map((all) =>
    all.map((one, n): model.Payee => {
      const first = { fromBlock: 0, fromTime: 0, stolen: false, graceSec: 0 }
      return { ...one, wallet: account(0xb1 + n), ...(n === 0 && first) }
    }),
  ),
  hasHead: fc.constantFrom(true, true, true, true, true, false),
  earlier: fc.constantFrom(
    { number: 436, time: 5_232 },
    { number: 436, time: 5_999 },
    { number: 490, time: 5_950 },
    { number: 497, time: 5_900 },
    { number: 500, time: 6_000 },
  ),
  act: fc.constantFrom('change', 'change', 'cancel', 'cancel', 'close', 'close'),
  which: fc.constantFrom(0, 1, 1, 2, 3, 9),
  stolen: fc.boolean(),
  graceSec: fc.constantFrom(null, null, 600, 7_200),
  reason: fc.constantFrom('moved', null),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const rowsOf = ({ payees, head, earlier }: model.World): Rows => ({
  cursors: head === null ? [] : [{ name: 'follow', ...inBlock(head.number), block_time: head.time }],
  blocks: [...new Map([HEAD, earlier].map((one) => [one.number, one])).values()].map(({ number, time }) => ({
    ...{ number, time, hash: word(number), parent_hash: word(number - 1), prevrandao: word(0) },
  })),
  payment_wallets: payees.map((one, n) => ({
    ...{ id: 1 + n, wallet: one.wallet, from_block: one.fromBlock, from_time: one.fromTime, stolen: one.stolen },
    ...{ grace_sec: one.graceSec, watched_from: 0, entered_by: 'eve', closed_block: one.closedBlock },
    ...{ closed_at: one.closedBlock && at(5_000), closed_by: one.closedBlock && 'eve' },
  })),
  wallet_books: payees.map(({ wallet, audited }) => ({
    ...{ wallet, base_block: audited && 1, base_wei: audited && 0, audited_block: audited },
    audited_proof: audited && 'proven',
  })),
  payments: payees.flatMap(({ wallet, isPaid }, n) =>
    isPaid
      ? {
          ...{ id: 1 + n, ref: word(70 + n), tx_hash: word(70 + n), wallet, from_address: account(5), value_wei: 1 },
          ...{ succeeded: true, state: 'seen', block_time: at(5_000), ...inBlock(450) },
        }
      : [],
  ),
})

const ACTS = { change: changeWallet, cancel: cancelWallet, close: closeBooks }
async function carryOut(sql: Sql, { act, stolen, graceSec, reason }: Drawn, address: string) {
  const walletFacts = async () => ({ chainId: 1, minter: null, distributor: null, hasCode: false, isTraceable: true })
  const deps = {
    ...{ pool: poolWithin(sql), environmentKeys: [], rules: { priceGraceSec: 1_200, startBlock: 0 } },
    ...{ contract: { factory: account(0xfac), walletFacts }, signers: { minter: null, distributor: null } },
  }
  const of = act === 'change' ? { stolen, ...(graceSec !== null && { graceSec }) } : {}
  const input = { address, ...of, ...(reason !== null && { reason }) }
  const found = await ACTS[act as 'change'](deps as never, { name: 'ada', requestId: 'r1' }, input)
  const { wallets } = (await listWallets(deps as never, {})) as unknown as {
    wallets: { wallet: string; state: string; closedBy: string | null }[]
  }
  return { found, wallets }
}

interface Expected {
  answer: object
  told: object | null
}
/** What the act answers, and its row of the audit log. The state becomes what it leaves. */
function expects(world: model.World, given: Drawn, address: string): Expected {
  const { act, stolen, graceSec } = given
  if (act === 'change') {
    const answer = model.change(world, { address, stolen, graceSec })
    if ('refused' in answer) return { answer, told: null }
    const { watchedFrom, ...rest } = answer
    const { wallet, fromBlock, fromTime, before } = rest
    const isFirst = world.payees.length === 0
    const added = { wallet, fromBlock, fromTime, stolen, graceSec: rest.graceSec, closedBlock: null }
    world.payees = [...world.payees, { ...added, isPaid: false, audited: null, ...(isFirst && { stolen: false }) }]
    const after = { wallet, fromBlock, fromTime, stolen, graceSec: rest.graceSec, watchedFrom }
    return { answer: rest, told: { action: 'walletChanged', before, after } }
  }
  if (act === 'close') {
    const answer = model.close(world, address)
    return { answer, told: 'refused' in answer ? null : { action: 'walletClosed', after: answer } }
  }
  const answer = model.cancel(world, address)
  if ('refused' in answer) return { answer, told: null }
  return { answer, told: { action: 'walletCancelled', before: address, after: { inForce: answer.inForce } } }
}

test('a wallet is changed, cancelled or closed only while that misleads no buyer', async () => {
  const compare = async (given: Drawn) => {
    const head = given.hasHead ? HEAD : null
    const payees = structuredClone(given.payees)
    const world: model.World = { payees, head, earlier: given.earlier, settingSec: 1_200 }
    const known = payees[given.which]?.wallet ?? NEW
    const address = given.act === 'change' && given.which !== 0 ? NEW : known
    await tables.within(rowsOf(world), async (sql) => {
      await sql`SELECT setval(pg_get_serial_sequence('payment_wallets', 'id'), 50, false)`
      const { found, wallets } = await carryOut(sql, given, address)
      const { answer, told } = expects(world, given, address)
      assert.deepEqual(plain(isOperatorRefusal(found) ? { refused: found.because } : found), plain(answer))
      const names = world.payees.map(({ wallet }) => wallet)
      assert.deepEqual(
        wallets.map(({ wallet, state }) => [wallet, state]),
        model.states(world).map((state, n) => [names[n], state]),
      )
      const audit = await sql`SELECT actor, action, subject, request_id AS request, detail FROM audit`
      const rows = audit.map(({ detail: { before, ...detail }, ...row }) => {
        return { ...row, ...detail, ...(before !== undefined && { before: before?.wallet ?? before }) }
      })
      const row = { actor: 'ada', subject: address, request: 'r1', reason: given.reason, ...told }
      assert.deepEqual(plain(rows), plain(told === null ? [] : [row]))
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(200) })
})
