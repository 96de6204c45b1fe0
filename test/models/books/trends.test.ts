// The operator's trends: src/db/reads/trends.ts over random rows at the edges of hours and days agrees with the second reading.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { readTrends } from '../../../src/db/reads/trends.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { plain } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './trends.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [HOUR, DAY] = [3_600, 86_400]
/** A day far in the future, so that the range ends with the ledger, and some hours ago, so that it ends after it. */
const [FUTURE, PAST] = [46_000 * DAY, Math.floor(Date.now() / 1_000 / HOUR) * HOUR - 3 * HOUR]
const drawn = fc
  .record({
    of: fc.constantFrom('future', 'future', 'past', 'none'),
    range: fc.constantFrom(
      { hours: 2, by: 'hour' as const },
      { hours: 3, by: 'hour' as const },
      { hours: 24, by: 'day' as const },
      { hours: 48, by: 'day' as const },
    ),
    /** Seconds since the begin of a bin. */
    into: fc.constantFrom(0, 1, 1_800, HOUR - 1, 2 * HOUR),
  })
  .chain((base) => {
    const bin = base.range.by === 'hour' ? HOUR : DAY
    const head = (base.of === 'past' ? PAST : FUTURE) + base.into
    const last = head - (head % bin)
    const first = last - base.range.hours * HOUR
    const edges = [first, last, last - bin, head, head - base.range.hours * HOUR].flatMap((edge) => [
      edge,
      edge - 1,
      edge + 1,
    ])
    const time = fc.constantFrom(...edges, last + bin - 1).map((one) => Math.min(one, head))
    const wei = fc.constantFrom(1n, 7n, 10n ** 30n)
    const sender = fc.constantFrom(account(1), account(2), account(3))
    return fc.record({
      range: fc.constant(base.range),
      of: fc.constant(base.of),
      head: fc.constant(base.of === 'none' ? null : head),
      payments: fc.array(
        fc.record({
          ...{ time, wei },
          state: fc.constantFrom('minted', 'minted', 'held', 'refunded', 'dismissed', 'ignored', 'seen', 'accepted'),
        }),
        { maxLength: 6 },
      ),
      nodes: fc.array(time, { maxLength: 4 }),
      rounds: fc.array(fc.record({ time, wei, nodes: fc.constantFrom(0, 1, 2) }), { maxLength: 4 }),
      sent: fc.array(
        fc.record({
          kind: fc.constantFrom<model.Sent['kind']>('mint', 'openCohorts', 'credit', 'foreign'),
          ...{ sender, time: fc.option(time, { freq: 5 }), hasHash: fc.constantFrom(true, true, true, false) },
          ...{ gas: fc.constantFrom(1, 21_000), feeWei: wei },
        }),
        { maxLength: 6 },
      ),
      minter: fc.constantFrom(account(1), account(1), null),
      distributor: fc.constantFrom(account(2), account(2), account(1), null),
    })
  })
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const rowsOf = ({ head, payments, nodes, rounds, sent }: Drawn): Rows => ({
  cursors: head === null ? [] : [{ name: 'follow', ...inBlock(9), block_time: head }],
  payments: payments.map(({ time, state, wei }, n) => ({
    ...{
      id: 1 + n,
      ref: word(1 + n),
      tx_hash: word(1 + n),
      wallet: account(9),
      from_address: account(5),
      value_wei: wei,
    },
    ...{ succeeded: true, state, reason: ['held', 'ignored'].includes(state) ? 'wrongAmount' : null, ...inBlock(5) },
    ...{ tier_id: 'a', tier_version: 1, node_id: state === 'minted' ? 1 + n : null, block_time: at(time) },
  })),
  nodes: nodes.map((time, n) => ({
    ...{ node_id: 1 + n, owner: account(5), ref: word(50 + n), per_node_at_mint_wei: 0, turns_at_mint: 0 },
    ...{ mint_tx_hash: word(60 + n), minted_at: at(time), ...inBlock(5) },
  })),
  rounds: rounds.map(({ time, nodes: node_count, wei }, n) => ({
    ...{ round: 1 + n, mode: 'treasury', total_wei: wei, node_count, tx_hash: word(70 + n), created_at: at(time) },
    ...inBlock(5),
  })),
  outbox: sent.map(({ time, kind, sender, hasHash, gas, feeWei }, n) => ({
    ...{ id: 1 + n, kind, sender, nonce: n, call: '{}', gas_limit: 1, valid_until: kind === 'foreign' ? null : 1 },
    // What never reached a block has no hash, no time and no fee; what was displaced elsewhere has a time alone.
    state: time === null ? 'pending' : hasHash ? 'mined' : 'displaced',
    ...{ block_number: time === null ? null : 5, block_hash: time === null ? null : word(5) },
    ...{ block_time: time === null ? null : at(time), tx_hash: time !== null && hasHash ? word(80 + n) : null },
    ...{ gas_used: gas, fee_wei: feeWei },
  })),
})

test('each hour or day has what its blocks brought, and none that was not reached', async () => {
  const compare = async (given: Drawn) => {
    await tables.within(rowsOf(given), async (sql) => {
      const signers = { minter: given.minter, distributor: given.distributor }
      const found = await readTrends(sql, { ...given.range, signers })
      // Without a block of the future, the range ends now.
      const until = given.of === 'future' ? (given.head ?? 0) : Date.parse(found.at(-1)?.startAt ?? '') / 1_000
      if (given.of !== 'future') {
        const bin = given.range.by === 'hour' ? HOUR : DAY
        const binsAgo = Math.floor(Date.now() / 1_000 / bin) - until / bin
        assert.ok(binsAgo === 0 || binsAgo === 1, `the last bin is that of now: ${binsAgo}`)
      }
      const expected = model.trends(given, { ...given.range, until })
      assert.deepEqual(
        plain(found.map(({ startAt, ledger }) => ({ begin: Date.parse(startAt) / 1_000, ledger }))),
        plain(expected),
      )
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(100) })
})
