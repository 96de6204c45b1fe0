// Withdraw calls that reverted: src/db/nodes/nodes.ts, with nodes that change hands, are paid, withdrawn from and expelled in the block of the call and around it,
// stores what the second reading says.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { insertFailedWithdrawals } from '../../../src/db/nodes/nodes.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { inOrder } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './withdrawals.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const OWNERS = [account(5), account(5), account(6)]
const block = fc.constantFrom(9, 10, 10, 10, 11)
const node = fc.record({
  /** Its mint comes first. */
  owners: fc.array(fc.record({ block, to: fc.constantFrom(...OWNERS) }), { minLength: 1, maxLength: 4 }),
  mintedIn: fc.constantFrom(8, 8, 8, 9, 10),
  perNodeAtMint: fc.constantFrom(0n, 5n),
  states: fc.uniqueArray(fc.record({ block, more: fc.constantFrom(0n, 3n, 8n) }), {
    maxLength: 3,
    selector: (one) => one.block,
  }),
  expelled: fc.option(fc.record({ block, credited: fc.constantFrom(0n, 2n, 4n) }), { freq: 2 }),
  sent: fc.array(fc.record({ block, more: fc.constantFrom(1n, 2n) }), { maxLength: 3 }),
})
const call = fc.record({
  caller: fc.constantFrom(...OWNERS),
  block,
  nodeIds: fc.array(fc.constantFrom(1n, 1n, 2n, 3n, 0n, 2n ** 255n), { minLength: 1, maxLength: 3 }),
  amountWei: fc.constantFrom(null, null, 0n, 7n),
})
const drawn = fc.record({
  nodes: fc.array(node, { minLength: 2, maxLength: 3 }),
  calls: fc.array(call, { minLength: 2, maxLength: 5 }),
  /** The first range that is stored ends with this block. */
  rangeEnd: fc.constantFrom(9, 10),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never
const byBlock = (a: { block: number }, b: { block: number }) => a.block - b.block

/** The sum after each one, in the order of the blocks. */
const sums = (some: readonly { block: number; more: bigint }[], first: bigint): [number, bigint][] => {
  const ordered = some.toSorted(byBlock)
  return ordered.map(({ block: number }, n) => [
    number,
    ordered.slice(0, n + 1).reduce((sum, { more }) => sum + more, first),
  ])
}

const nodesOf = ({ nodes }: Drawn): model.Node[] =>
  nodes.map(({ owners, mintedIn, states, sent, ...one }, n) => {
    const later = (places: number) => Math.max(mintedIn, places)
    return {
      ...{ id: 1 + n, perNodeAtMint: one.perNodeAtMint, expelled: one.expelled },
      transfers: owners.map(({ block: number, to }, k) => ({
        ...{ block: k === 0 ? mintedIn : later(number), log: 10 * n + k, to },
      })),
      states: sums(states, one.perNodeAtMint).map(([number, perNode]) => ({ block: number, perNode })),
      sent: sums(sent, 0n).map(([number, total]) => ({ block: number, total })),
    }
  })

const callsOf = ({ calls }: Drawn): model.Call[] =>
  calls.toSorted(byBlock).map((one, n) => ({ ...one, tx: word(900 + n), to: account(50 + n) }))

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

function rowsOf(nodes: model.Node[]): Rows {
  return {
    cohorts: nodes.map(({ id, states, perNodeAtMint }) => ({
      ...{ cohort: id, tier_no: 1, interval_sec: 60, next_due: 0, size: 1, ...inBlock(1) },
      per_node_wei: states.at(-1)?.perNode ?? perNodeAtMint,
    })),
    cohort_states: nodes.flatMap(({ id, states }) =>
      states.map((one): Row => {
        const state = { cohort: id, interval_sec: 60, next_due: 0, size: 1, turn_count: 1 }
        return { ...state, block_number: one.block, per_node_wei: one.perNode }
      }),
    ),
    nodes: nodes.map(({ id, expelled, perNodeAtMint, transfers }) => ({
      ...{
        node_id: id,
        owner: transfers.at(-1)?.to ?? '',
        cohort: expelled ? null : id,
        ref: word(id),
        payment_id: null,
      },
      ...{ per_node_at_mint_wei: perNodeAtMint, turns_at_mint: 0, mint_tx_hash: word(id), minted_at: at(80) },
      ...inBlock(transfers[0]?.block ?? 8),
    })),
    node_transfers: nodes.flatMap(({ id, transfers }) =>
      transfers.map((one): Row => {
        return {
          node_id: id,
          log_index: one.log,
          from_address: account(0),
          to_address: one.to,
          tx_hash: word(7),
          ...inBlock(one.block),
        }
      }),
    ),
    expulsions: nodes.flatMap(({ id, expelled }): Row[] => {
      const row = { node_id: id, cohort: id, turn_count: 0, expelled_at: at(100), tx_hash: word(8) }
      return expelled === null ? [] : [{ ...row, credited_wei: expelled.credited, ...inBlock(expelled.block) }]
    }),
    withdrawals: nodes.flatMap(({ id, sent }) =>
      sent.map((one, k): Row => {
        const row = {
          node_id: id,
          amount_wei: 1,
          withdrawn_total_wei: one.total,
          to_address: account(9),
          tx_hash: word(9),
        }
        return {
          ...row,
          log_index: 10 * id + k,
          status: 'sent',
          created_at: at(90),
          ...inBlock(one.block),
        }
      }),
    ),
  }
}

test('a failed withdraw call is an entry of its caller’s nodes, as they were before the block', async () => {
  const compare = async (given: Drawn) => {
    const [nodes, calls] = [nodesOf(given), callsOf(given)]
    await tables.within(rowsOf(nodes), async (sql) => {
      const failed = calls.map(({ tx, block: number, ...one }, n) => {
        return { ...one, txHash: tx, blockNumber: number, blockHash: word(number), blockTime: 10 * number, txIndex: n }
      })
      const isFirst = (one: { blockNumber: number }) => one.blockNumber <= given.rangeEnd
      for (const range of [failed.filter(isFirst), failed.filter((one) => !isFirst(one))])
        await insertFailedWithdrawals(sql, range as never)
      const rows = await sql<{ tx: string; node: number; to: string; wei: bigint }[]>`
        SELECT tx_hash AS tx, node_id::int AS node, to_address AS to, amount_wei AS wei FROM withdrawals
        WHERE status = 'failed' AND withdrawn_total_wei IS NULL AND log_index IS NULL AND block_hash IS NOT NULL`
      assert.deepEqual(inOrder(rows.map((row) => ({ ...row }))), inOrder(model.entries(nodes, calls)))
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(300) })
})
