// Events of nodes in blocks that are compared again: src/mending/compare.ts leaves out those of a node whose mint the ledger lacks, because that block differs too.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { compareRange } from '../../../src/mending/compare.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const place = (number: number) => ({
  ...{ blockNumber: number, blockHash: word(number), blockTime: 10 * number, txHash: word(600), txIndex: 0 },
})
const transfer = (block: number, logIndex: number, nodeId: bigint) => ({
  ...{ ...place(block), kind: 'transfer', logIndex, nodeId, from: account(8), to: account(9) },
})
/** By their keys. The ledger has node 7, and of nodes 8 and 9 nothing. */
const EVENTS: Record<string, object> = {
  'ownerAct 5': { ...place(103), kind: 'ownerAct', logIndex: 5, name: 'Paused' },
  'node 8': { ...place(101), kind: 'nodeMinted', nodeId: 8n, ref: word(508), cohort: 1, proof: 'proven' },
  'transfer 3': transfer(102, 3, 8n),
  'transfer 2': transfer(102, 2, 7n),
  'transfer 4': transfer(101, 4, 9n),
}
const rows: Rows = {
  blocks: [101, 102, 103].map((number) => ({
    ...{ number, hash: word(number), parent_hash: word(number - 1), time: 10 * number, prevrandao: word(0) },
  })),
  nodes: [
    {
      ...{ node_id: 7, owner: account(7), cohort: 1, ref: word(507), per_node_at_mint_wei: 0, turns_at_mint: 0 },
      ...{ mint_tx_hash: word(600), minted_at: at(1_000), block_number: 50, block_hash: word(50) },
    },
  ],
}

test('an event of a node that neither the ledger has nor the blocks mint is not missing', async () => {
  const names = Object.keys(EVENTS)
  await tables.within(rows, async (sql) => {
    const none = { blocks: [], transfers: [], outflows: [], events: Object.values(EVENTS) }
    assert.deepEqual(await compareRange(sql, none as never), { missing: [], surplus: [] })
    for (let some = 0; some < 2 ** names.length; some++) {
      const drawn = names.filter((_, n) => (some >> n) & 1)
      const blocks = [101, 102, 103].map((number) => ({ number, hash: word(number) }))
      const range = { ...none, blocks, events: drawn.map((name) => EVENTS[name]) }
      const { missing, surplus } = await compareRange(sql, range as never)
      const isCounted = (name: string) => name !== 'transfer 4' && (name !== 'transfer 3' || drawn.includes('node 8'))
      const counted = drawn.filter(isCounted)
      assert.deepEqual(missing.map(({ key }) => key.split(' ').slice(0, 2).join(' ')).toSorted(), counted.toSorted())
      const order = missing.map(({ blockNumber }) => blockNumber)
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
        'the lowest block first',
      )
      assert.deepEqual(surplus, [])
    }
  })
})
