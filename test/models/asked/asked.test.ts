// Claims and syncs: src/claims/claim.ts and sync.ts, with payments of every state, transactions of every kind and passes that bring in more or nothing, answer
// what the second reading answers, and start as many passes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { claimer } from '../../../src/claims/claim.ts'
import { createSyncer } from '../../../src/claims/sync.ts'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './asked.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [TX, WALLET, HEAD, START] = [word(1), account(1), 30, 5]
const pollPolicy = { looksMax: 3, pauseMs: 0, waitMs: 2_000, readMs: 2_000 }
const inBlock = (number: number | null) => ({ block_number: number, block_hash: number === null ? null : word(number) })

const state = fc.constantFrom<string>(
  'seen',
  'accepted',
  'minting',
  'held',
  'refunded',
  'dismissed',
  'orphaned',
  'orphaned',
)
const tx = fc.record({
  to: fc.constantFrom<model.Tx['to']>('wallet', 'other'),
  isFromWallet: fc.constantFrom(false, false, false, false, true),
  valueWei: fc.constantFrom(0n, 5n, 5n, 5n),
  succeeded: fc.constantFrom(true, true, true, true, false),
  block: fc.constantFrom(null, START - 1, START, 20, 20, 20),
})
const residue = fc.constantFrom<model.Ledger['residue']>(null, null, [15, 22], [20, 20], [15, 19], [21, 22])
const checked = { checkedTo: fc.constantFrom(0, 19, 20, 21), residue }
const claims = fc.record({
  tx: fc.option(tx, { freq: 6 }),
  before: fc.record({
    cursor: fc.constantFrom(10, 20, 25),
    payments: fc.oneof(
      fc.constant<string[]>([]),
      fc.array(fc.constant<string>('orphaned'), { minLength: 1, maxLength: 2 }),
      fc.array(state, { maxLength: 2 }),
    ),
    isDust: fc.constantFrom(false, false, false, true),
    ...checked,
  }),
  /** What a pass brings: the state of each payment that had gone, or new ones. */
  comes: fc.constantFrom<string | null>(null, null, 'held', 'minting', 'seen'),
  ...checked,
})
type Claims = typeof claims extends fc.Arbitrary<infer T> ? T : never

const paymentRow = (payment: string, n: number): Row => {
  const isHeld = payment === 'held'
  const isTaken = payment === 'accepted' || payment === 'minting'
  return {
    ...{ ref: word(100 + n), tx_hash: TX, inner_index: n, wallet: WALLET, from_address: account(5), value_wei: 5 },
    ...{ succeeded: true, state: payment, reason: isHeld ? 'recheck' : null, block_time: at(500) },
    ...{
      tier_id: isTaken ? 't1' : null,
      tier_version: isTaken ? 1 : null,
      outbox_id: payment === 'minting' ? 1 : null,
    },
    ...inBlock(payment === 'orphaned' ? null : 20),
  }
}

const claimRows = ({ cursor, payments, isDust, checkedTo }: model.Ledger): Rows => ({
  cursors: [{ name: 'follow', block_time: 600, ...inBlock(cursor) }],
  payment_wallets: [{ id: 1, wallet: WALLET, from_block: 0, from_time: 0, watched_from: 0, entered_by: 'eve' }],
  wallet_books: [{ wallet: WALLET, base_wei: 0, base_block: 0, audited_block: checkedTo, audited_proof: 'proven' }],
  payments: payments.map(paymentRow),
  dust: isDust ? [dustRow] : [],
})
const dustRow: Row = {
  ...{ block_number: 20, tx_index: 1, wallet_id: 1, tx_hash: `\\x${TX.slice(2)}`, value_wei: 1 },
  from_address: `\\x${account(5).slice(2)}`,
}

async function setResidue(sql: Sql, range: model.Ledger['residue']): Promise<void> {
  await sql`DELETE FROM wallet_outflows`
  if (range !== null)
    await sql`INSERT INTO wallet_outflows (ref, wallet, value_wei, fee_wei, from_block, block_number, block_hash, block_time)
      VALUES (${word(50)}, ${WALLET}, 1, 0, ${range[0]}, ${range[1]}, ${word(22)}, now())`
}

/** The ledger after a pass. */
function passed({ before: ledger, comes, checkedTo, residue: left, tx: found }: Claims): model.Ledger {
  const came = comes === null ? ledger.payments : ledger.payments.map((one) => (one === 'orphaned' ? comes : one))
  const isNew = comes !== null && came.length === 0 && found !== null
  return { ...ledger, cursor: HEAD, payments: isNew ? [comes] : came, checkedTo, residue: left }
}

async function storePass(sql: Sql, now: model.Ledger): Promise<void> {
  await sql`UPDATE cursors SET block_number = ${HEAD}, block_hash = ${word(HEAD)}`
  await sql`UPDATE wallet_books SET audited_block = ${now.checkedTo}`
  await setResidue(sql, now.residue)
  await sql.unsafe('SET LOCAL session_replication_role = replica')
  for (const [n, one] of now.payments.entries()) {
    const { reason, tier_id, tier_version, outbox_id, block_number, block_hash } = paymentRow(one, n)
    const found = await sql`
      UPDATE payments SET state = ${one}, reason = ${reason as never}, tier_id = ${tier_id as never}, tier_version = ${tier_version as never},
        outbox_id = ${outbox_id as never}, block_number = ${block_number as never}, block_hash = ${block_hash as never} WHERE inner_index = ${n}`
    if (found.count === 0) await sql`INSERT INTO payments ${sql(paymentRow(one, n) as never)}`
  }
  await sql.unsafe('SET LOCAL session_replication_role = origin')
}

const head = async () => ({ number: HEAD, hash: word(HEAD), time: 900 })

test('a claim is answered by the payment’s own block, and one that had gone is looked for again', async () => {
  const compare = async (given: Claims) => {
    const { before: ledger, tx: found } = given
    await tables.within(claimRows(ledger), async (sql) => {
      await setResidue(sql, ledger.residue)
      let passes = 0
      const run = async () => {
        passes += 1
        await storePass(sql, passed(given))
        return { ran: true, headBlock: HEAD }
      }
      const view = found && {
        ...{
          txHash: TX,
          from: found.isFromWallet ? WALLET : account(5),
          to: found.to === 'wallet' ? WALLET : account(9),
        },
        ...{ valueWei: found.valueWei, succeeded: found.succeeded, blockNumber: found.block },
      }
      const chain = { head, transaction: async () => view, providers: [] }
      const ctx = { pool: poolWithin(sql), log: silentLog, chain, pollPolicy, rules: { startBlock: START } }
      const answer = await claimer(ctx as never, run as never)(TX as never)
      const expected = model.claim(ledger, found, passed(given), START)
      assert.deepEqual({ kind: answer.kind, passes }, expected)
    })
  }
  await fc.assert(fc.asyncProperty(claims, compare), { numRuns: cases(250) })
})

const owner = fc.constantFrom(account(5), account(6))
const syncs = fc.record({
  receipt: fc.option(
    fc.record({
      succeeded: fc.constantFrom(true, true, true, false),
      block: fc.constantFrom(START - 1, START, 20, 20, 20),
      hasNodes: fc.constantFrom(true, true, true, false),
    }),
    { freq: 6 },
  ),
  nodes: fc.array(fc.record({ mintedTo: owner, ownerNow: fc.option(owner, { freq: 8 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
  had: fc.constantFrom<number[]>([], [], [1], [1, 2], [1, 2, 3]),
  has: fc.constantFrom<number[]>([1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2], []),
  reaches: fc.constantFrom(true, true, true, false),
  cursor: fc.constantFrom(10, HEAD - 1, HEAD),
  byId: fc.constantFrom<number | null>(null, null, 1, 2, 3),
})
type Syncs = typeof syncs extends fc.Arbitrary<infer T> ? T : never

async function addNodes(sql: Sql, nodes: model.Node[]): Promise<void> {
  await sql.unsafe('SET LOCAL session_replication_role = replica')
  for (const { id, mintedTo } of nodes) {
    await sql`
      INSERT INTO nodes (node_id, owner, cohort, ref, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number, block_hash)
      VALUES (${id}, ${mintedTo}, 1, ${word(70 + id)}, 0, 0, ${TX}, now(), 20, ${word(20)})`
    await sql`
      INSERT INTO node_transfers (block_number, log_index, node_id, from_address, to_address, tx_hash, block_hash)
      VALUES (20, ${id}, ${id}, ${account(0)}, ${mintedTo}, ${TX}, ${word(20)})`
  }
  await sql.unsafe('SET LOCAL session_replication_role = origin')
}

function contextOf(sql: Sql, given: Syncs, nodes: model.Node[]) {
  const { receipt } = given
  const minted = receipt && {
    ...{ succeeded: receipt.succeeded, block: { number: receipt.block, hash: word(receipt.block) } },
    nodes: receipt.hasNodes ? nodes.map(({ id, mintedTo }) => ({ nodeId: BigInt(id), owner: mintedTo })) : [],
  }
  const onChain = async (first: bigint, count: number) =>
    nodes.flatMap(({ id, ownerNow }) =>
      ownerNow !== null && id >= Number(first) && id < Number(first) + count
        ? [{ nodeId: BigInt(id), owner: ownerNow }]
        : [],
    )
  return {
    ...{
      pool: poolWithin(sql),
      log: silentLog,
      chain: { head, providers: [] },
      pollPolicy,
      rules: { startBlock: START },
    },
    ...{ contract: { nodes: onChain }, history: { mintReceipt: async () => minted, logsOfNode: async () => [] } },
  }
}

test('a sync reports for each node whether this ledger had it before the request', async () => {
  const compare = async (given: Syncs, caller: string) => {
    const nodes = given.nodes.map((one, n) => ({ ...one, id: 1 + n }))
    const ids = nodes.map(({ id }) => id)
    const had = given.had.filter((id) => ids.includes(id))
    const isThere = given.cursor === HEAD
    // If the ledger is at the head already, no pass has to run.
    const has = isThere || !given.reaches ? had : ids.filter((id) => had.includes(id) || given.has.includes(id))
    const ledger = { had, has, reaches: isThere || given.reaches }
    await tables.within({ cursors: [{ name: 'follow', block_time: 600, ...inBlock(given.cursor) }] }, async (sql) => {
      await addNodes(
        sql,
        nodes.filter(({ id }) => had.includes(id)),
      )
      const run = async () => {
        if (!given.reaches) return { ran: true, headBlock: HEAD }
        await sql`UPDATE cursors SET block_number = ${HEAD}, block_hash = ${word(HEAD)}`
        await addNodes(
          sql,
          nodes.filter(({ id }) => has.includes(id) && !had.includes(id)),
        )
        return { ran: true, headBlock: HEAD }
      }
      const syncer = createSyncer(contextOf(sql, given, nodes) as never, run as never)
      const receipt = given.receipt && { ...given.receipt, nodes: given.receipt.hasNodes ? ids : [] }
      const { byId } = given
      const isOnChain = nodes.some(({ id, ownerNow }) => id === byId && ownerNow !== null)
      const [answer, expected] =
        byId === null
          ? [
              await syncer.byTransaction(TX as never, caller as never),
              model.sync({ receipt, nodes, caller }, ledger, START),
            ]
          : [
              await syncer.byNodeId(BigInt(byId) as never),
              isOnChain ? model.found([byId], nodes, ledger) : { kind: 'notFound' },
            ]
      const found =
        'nodes' in answer
          ? { ...answer, nodes: answer.nodes.map(({ nodeId, ...one }) => ({ ...one, id: Number(nodeId) })) }
          : answer
      assert.deepEqual(found, expected)
    })
  }
  await fc.assert(fc.asyncProperty(syncs, owner, compare), { numRuns: cases(120) })
})
