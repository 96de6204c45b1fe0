// How much of a round is sent: src/passes/steps/send-round.ts, with surplus, allowance and size each at its edge, tries what the second reading tries.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { sendRound } from '../../../src/passes/steps/send-round.ts'
import { account, openTables, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './halves.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const drawn = fc.record({
  amounts: fc.array(fc.constantFrom(1n, 2n, 3n, 10n), { minLength: 1, maxLength: 6 }),
  /** How many cohorts surplus and allowance are for, and by how much they miss or exceed it. */
  surplus: fc.record({ cohorts: fc.nat(6), off: fc.constantFrom(-1n, 0n, 0n, 1n, 100n) }),
  allowance: fc.record({ cohorts: fc.nat(6), off: fc.constantFrom(-1n, 0n, 0n, 1n, 100n) }),
  mode: fc.constantFrom<model.Purse['mode']>('swaps', 'swaps', 'swaps', 'treasury'),
  distributedWei: fc.constantFrom(0n, 50n),
  withdrawnWei: fc.constantFrom(0n, 20n),
  fits: fc.constantFrom(1, 2, 3, 6, 6, 6),
  isProven: fc.boolean(),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function purseOf({ amounts, surplus, allowance, ...one }: Drawn): model.Purse {
  const of = ({ cohorts, off }: Drawn['surplus']) => amounts.slice(0, cohorts).reduce((sum, wei) => sum + wei, 0n) + off
  const withdrawnWei = one.withdrawnWei < one.distributedWei ? one.withdrawnWei : one.distributedWei
  const [free, allowanceWei] = [of(surplus), of(allowance)]
  const balanceWei = one.distributedWei - withdrawnWei + free
  return {
    ...one,
    withdrawnWei,
    balanceWei: balanceWei < 0n ? 0n : balanceWei,
    allowanceWei: allowanceWei < 0n ? 0n : allowanceWei,
  }
}

const planOf = (amounts: bigint[]) => ({
  credits: amounts.map((amountWei, n) => ({
    ...{ cohort: 1 + n, pendingDue: 100, skipped: 0, turns: [{ due: 100, amountWei }], amountWei, nodeCount: 1 },
  })),
  totalWei: amounts.reduce((sum, one) => sum + one, 0n),
  ...{ nodeCount: amounts.length, notOwed: [], delayed: [], unbacked: [], unknown: [], outOfBounds: [] },
})

interface Call {
  credits: { cohort: number }[]
  valueWei: bigint
}

test('a round is what surplus, allowance and a transaction all have room for', async () => {
  const compare = async (given: Drawn) => {
    const purse = purseOf(given)
    await tables.within({}, async (sql) => {
      await sql`UPDATE totals SET distributed_wei = ${String(purse.distributedWei)}, withdrawn_wei = ${String(purse.withdrawnWei)}`
      const simulated: Call[] = []
      const sender = {
        address: account(8),
        estimate: async (call: Call) => {
          simulated.push(call)
          // A fault of the whole round ends the try, and nothing is signed.
          return call.credits.length > purse.fits ? { kind: 'overGasCap' } : { kind: 'reverts', error: 'Expired' }
        },
      }
      const { balanceWei, allowanceWei } = purse
      const ctx = {
        ...{ pool: poolWithin(sql), log: silentLog, rules: { distMode: purse.mode, validForSec: 900 } },
        chain: { balanceAt: async () => (given.isProven ? { wei: balanceWei, proof: 'proven' } : null), providers: [] },
        contract: { factory: account(2), swapsAllowance: async () => allowanceWei, balance: async () => balanceWei },
      }
      const cursor = { number: 100, hash: word(100), time: 1_000 }
      const run = {
        guardUsable: false,
        agreed: null,
        checkLock: () => {},
        outOfTime: () => false,
        reportFault: () => {},
      }
      const plan = planOf(given.amounts)
      const found = await sendRound(
        ctx as never,
        { run, sender, cursor } as never,
        { plan, basis: null, bounds: null } as never,
      )
      const expected = model.tried(given.amounts, purse)
      const cohorts = plan.credits.slice(0, expected.cohorts).map(({ cohort }) => cohort)
      assert.deepEqual(
        found.plan.credits.map(({ cohort }) => cohort),
        cohorts,
      )
      assert.equal(found.sent !== null, expected.isAffordable, 'affordable')
      const last = simulated.at(-1)
      if (found.sent === null) return
      assert.deepEqual(
        last?.credits.map(({ cohort }) => cohort),
        cohorts,
      )
      assert.equal(last?.valueWei, purse.mode === 'treasury' ? found.plan.totalWei : 0n)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(200) })
})
