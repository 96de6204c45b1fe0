// `readTierPlans` of src/db/sale/tiers.ts agrees with the second reading, over plans that are cancelled, have begun, or whose key or passkey was revoked
// about when they could last be cancelled.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { readTierPlans } from '../../../src/db/sale/tiers.ts'
import { at, openTables, type Row, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { type Entry, type Keys, pending } from './pending.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const HEAD = 10_000
const times = [HEAD - 1, HEAD, HEAD + 1, HEAD + 119, HEAD + 120, HEAD + 121, HEAD + 300]
const revocations = [null, HEAD - 121, HEAD - 120, HEAD - 1, HEAD, HEAD + 1, HEAD + 179, HEAD + 180, HEAD + 181]
const revoked = fc.constantFrom(...revocations)
const drawn = fc.record({
  entries: fc.array(
    fc.record({
      tierId: fc.constantFrom('basic', 'gold'),
      fromTime: fc.constantFrom(...times),
      enteredAt: fc.constantFrom(1, 2),
      isCancelled: fc.constantFrom(false, false, false, true),
      hasBegun: fc.constantFrom(false, false, false, true),
      key: fc.constantFrom(null, 'key-a', 'key-b', 'pass-a', 'pass-b'),
    }),
    { maxLength: 6 },
  ),
  keys: fc.record({ 'key-a': revoked, 'key-b': revoked, 'pass-a': revoked, 'pass-b': revoked }),
  cursor: fc.constantFrom(null, HEAD),
  after: fc.constantFrom(null, null, HEAD + 1, HEAD + 120),
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** A key's row has its digest. A passkey's has the credential whose digest is on what it enters. */
function keyRows(keys: Keys): { admin_keys: Row[]; passkeys: Row[] } {
  const rows = (kind: string, own: (name: string) => Row): Row[] =>
    Object.entries(keys)
      .filter(([name]) => name.startsWith(kind))
      .map(([name, time]) => ({
        ...{ label: name, scopes: '{prices}', expires_at: at(HEAD + 9_000), ...own(name) },
        ...{ revoked_at: time === null ? null : at(time), revoked_by: time === null ? null : 'eve' },
      }))
  return {
    admin_keys: rows('key', (name) => ({ digest: `\\x${sha256(name)}`, made_by: 'eve' })),
    passkeys: rows('pass', (name) => ({
      ...{
        credential_id: `\\x${Buffer.from(name).toString('hex')}`,
        public_key: '\\x01',
        counter: 0,
        transports: '{}',
      },
      invited_by: 'eve',
    })),
  }
}

test('planned changes count unless their key was revoked while they could be cancelled', async () => {
  await fc.assert(
    fc.asyncProperty(drawn, async ({ entries: given, keys, cursor, after: afterTime }) => {
      const entries: Entry[] = given.map((one, n) => ({ ...one, version: 2 + n }))
      const rows = {
        ...keyRows(keys),
        tiers: entries.map(
          (one): Row => ({
            ...{ tier_id: one.tierId, version: one.version, tier_no: one.tierId === 'basic' ? 1 : 2, label: 't' },
            ...{ price_wei: 10, max_per_wallet: 1, payout_bps: 1, on_sale: true, live: false, names: '{priceWei}' },
            ...{ from_block: one.hasBegun ? 7 : null, from_time: one.fromTime, cancelled: one.isCancelled },
            ...{ made_with: one.key && `\\x${sha256(one.key)}`, entered_at: at(one.enteredAt), entered_by: 'ada' },
          }),
        ),
        cursors: cursor === null ? [] : [{ name: 'follow', block_number: 5, block_hash: word(5), block_time: cursor }],
      }
      await tables.within(rows, async (sql) => {
        const plans = await readTierPlans(sql, afterTime)
        const expected = pending(entries, keys, afterTime ?? cursor ?? 0)
        const name = ({ tierId, version }: { tierId: string; version: number }) => `${tierId} ${version}`
        assert.deepEqual(plans.map(name), expected.map(name))
      })
    }),
    { numRuns: cases(100) },
  )
})
