// Sold and reserved: the judge, the acts, the public API and the metrics count as the second reading does, over random rows in a real database.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { countPlaces, countPlacesOf } from '../../../src/db/payments/supply.ts'
import { readTierUses, readWalletUse, walletUse } from '../../../src/db/payments/wallet-use.ts'
import { readFigures } from '../../../src/db/reads/metrics.ts'
import { readQuote, readTiers } from '../../../src/db/reads/public-api.ts'
import { byPosition } from '../../../src/domain/sale/position.ts'
import { openTables, type Tables } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { type Drawn, drawn, HOLDERS, ledgerOf, rowsOf, tierNo } from './ledgers.ts'
import { reservationsOf, reservedBefore, soldOf, useOf } from './places.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

/** What every reader says of every tier, in the same words. */
async function readersOf(sql: Sql, tierIds: string[]) {
  const judged = await countPlaces(sql)
  const shown = (await readTiers(sql)).tiers
  const figures = await readFigures(sql)
  const measuredOf = (what: string, tierId: string) =>
    figures.find(({ name, labels }) => name === `node_ledger_tier_${what}` && labels?.tier === tierId)?.value
  const found = []
  for (const tierId of tierIds) {
    const tier = shown.find(({ id }) => id === tierId)
    const quoted = await readQuote(sql, tierId)
    const counted = await countPlacesOf(sql, tierNo(tierId))
    const [sold, reserved] = [measuredOf('sold', tierId), measuredOf('reserved', tierId)]
    found.push({
      tierId,
      undecided: judged.get(tierNo(tierId))?.undecided ?? [],
      sold: {
        judge: judged.get(tierNo(tierId))?.sold,
        acts: counted.sold,
        tiers: tier?.sold,
        ...(quoted === null ? {} : { quote: quoted.sold }),
        ...(sold === undefined ? {} : { metrics: sold }),
      },
      reserved: {
        acts: counted.reserved,
        tiers: tier?.reserved,
        ...(quoted === null ? {} : { quote: quoted.reserved }),
        ...(reserved === undefined ? {} : { metrics: reserved }),
      },
    })
  }
  return found
}

/** Each reader with the same figure. */
const all = (readers: Record<string, unknown>, figure: number) =>
  Object.fromEntries(Object.keys(readers).map((reader) => [reader, figure]))

async function compare(given: Drawn): Promise<void> {
  const ledger = ledgerOf(given)
  const tierIds = [...new Set(ledger.sale.versions.map(({ tierId }) => tierId))]
  const found = await tables.within(rowsOf(ledger), (sql) => readersOf(sql, tierIds))
  for (const { tierId, undecided, sold, reserved } of found) {
    assert.deepEqual(sold, all(sold, soldOf(ledger, tierId)), `sold of ${tierId}`)
    assert.deepEqual(reserved, all(reserved, reservationsOf(ledger, tierId).length), `reserved of ${tierId}`)
    for (const one of ledger.payments) {
      const place = { blockNumber: one.block, txIndex: one.txIndex, innerIndex: one.innerIndex }
      const earlier = undecided.filter((other) => !other.isOld && byPosition(other, place) < 0)
      assert.equal(earlier.length, reservedBefore(ledger, tierId, one), `reserved of ${tierId} before a payment`)
    }
  }
}

test('the judge, the acts, the API and the metrics count sold and reserved by the rules', async () => {
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(60) })
})

/** A connection on which another instance accepts this payment once the undecided ones are read. */
function acceptingMeanwhile(sql: Sql, id: number): Sql {
  let count = 0
  return new Proxy(sql, {
    apply(target, self, args: [TemplateStringsArray, ...unknown[]]) {
      const query = () => Reflect.apply(target as never, self, args)
      if (!args[0].join('').includes('AS gone') || count++ > 0) return query()
      const accept = sql`
        UPDATE payments SET (state, outbox_id, tier_id, tier_version) = (SELECT 'accepted', NULL::bigint, tier_id, version FROM tiers ORDER BY tier_id, version LIMIT 1)
        WHERE id = ${id}`
      return accept.then(query)
    },
  })
}

test('a payment that is accepted while places are counted is counted once', async () => {
  const met = { undecided: 0 }
  const compareMeanwhile = async (given: Drawn, pick: number) => {
    const ledger = ledgerOf(given)
    const n = pick % Math.max(1, ledger.payments.length)
    const one = ledger.payments[n]
    fc.pre(one?.state === 'seen' && ledger.sale.versions.length > 0)
    const [first] = ledger.sale.versions.map(({ tierId }) => tierId).toSorted()
    const payments = ledger.payments.map((other) => {
      return other === one ? { ...other, state: 'accepted' as const, tierId: first ?? null } : other
    })
    const after = { ...ledger, payments }
    await tables.within(rowsOf(ledger), async (sql) => {
      const counted = await countPlaces(acceptingMeanwhile(sql, 100 + n))
      for (const tierId of new Set(ledger.sale.versions.map((version) => version.tierId))) {
        const found = counted.get(tierNo(tierId))
        assert.deepEqual([found?.sold, found?.reserved], [soldOf(after, tierId), reservationsOf(after, tierId).length])
        met.undecided += reservationsOf(after, tierId).length
      }
    })
  }
  await fc.assert(fc.asyncProperty(drawn, fc.nat(9), compareMeanwhile), { numRuns: cases(40) })
  assert.ok(met.undecided > 0)
})

test('the places that a wallet has used are its nodes and all its payments under way, one by one', async () => {
  const compareUse = async (given: Drawn) => {
    const ledger = ledgerOf(given)
    const tierIds = [...new Set(ledger.sale.versions.map(({ tierId }) => tierId))]
    await tables.within(rowsOf(ledger), async (sql) => {
      const together = await readTierUses(sql, HOLDERS as never)
      for (const wallet of HOLDERS) {
        const of = (tierId: string | null) => useOf(ledger, wallet, tierId)
        const { nodes: walletNodes, inFlight: walletInFlight } = of(null)
        for (const tierId of [...tierIds, null]) {
          const own = tierId === null ? { nodes: 0, inFlight: 0 } : of(tierId)
          const expected = { walletNodes, walletInFlight, tierNodes: own.nodes, tierInFlight: own.inFlight }
          const no = tierId === null ? null : tierNo(tierId)
          assert.deepEqual(walletUse(together.get(wallet as never) ?? [], no), expected, `${wallet} and ${tierId}`)
          assert.deepEqual(await readWalletUse(sql, wallet as never, no), expected, `${wallet} alone and ${tierId}`)
        }
      }
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compareUse), { numRuns: cases(50) })
})
