// Changes of the payments wallet, by one person or two: src/operator/acts/payment-wallets.ts and second-person/proposals.ts, after planned changes and thefts, with
// providers that are silent, agree with the second reading about the answer, the grace and the proposal.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin } from '../../../src/db/core/sql.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import '../../../src/operator/acts/payment-wallets.ts'
import { confirmProposal } from '../../../src/operator/acts/second-person/proposals.ts'
import { account, fromNow, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './changes.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [FACTORY, MINTER, SETTING] = [account(0xfac), account(0xa1), 1_200]
const drawn = fc.record({
  wallets: fc.array(fc.record({ stolen: fc.boolean(), graceSec: fc.constantFrom(0, 600, 900, 3_600) }), {
    maxLength: 4,
  }),
  asked: fc.record({
    address: fc.constantFrom(
      account(0xb9),
      account(0xb9),
      account(0xb9),
      account(0xb9),
      account(0xb1),
      account(0xb2),
      FACTORY,
      MINTER,
    ),
    stolen: fc.constantFrom(false, false, true),
    graceSec: fc.constantFrom(null, null, null, 600, 7_200),
  }),
  hasCursor: fc.constantFrom(true, true, true, true, false),
  answers: fc.constantFrom(true, true, true, false),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const worldOf = ({ wallets, hasCursor, answers }: Drawn): model.World => ({
  // A theft ends all earlier wallets at once; the first one replaced nothing.
  wallets: wallets.map(({ stolen, graceSec }, n) => {
    const isTheft = stolen && n > 0
    return { wallet: account(0xb1 + n), stolen: isTheft, graceSec: isTheft ? 0 : graceSec }
  }),
  ...{ hasCursor, answers, own: [FACTORY, MINTER], settingSec: SETTING },
})

const rowsOf = ({ wallets, hasCursor }: model.World, { asked }: Drawn): Rows => ({
  cursors: hasCursor ? [{ name: 'follow', block_number: 500, block_hash: word(500), block_time: 6_000 }] : [],
  payment_wallets: wallets.map(({ wallet, stolen, graceSec }, n) => ({
    ...{
      id: 1 + n,
      wallet,
      from_block: n,
      from_time: n,
      stolen,
      grace_sec: graceSec,
      watched_from: 0,
      entered_by: 'eve',
    },
  })),
  proposals: [
    {
      ...{ id: 1, act: 'changeWallet', proposed_by: 'ada', expires_at: fromNow(900), outcome: null },
      input: JSON.stringify({ address: asked.address, stolen: asked.stolen, graceSec: asked.graceSec ?? undefined }),
    },
  ],
})

test('a wallet is replaced with the last planned change’s grace, and a proposal needs providers', async () => {
  const compare = async (given: Drawn) => {
    const world = worldOf(given)
    await tables.within(rowsOf(world, given), async (sql) => {
      await sql`SELECT setval(pg_get_serial_sequence('payment_wallets', 'id'), 50, false)`
      const walletFacts = async () => {
        if (!world.answers) throw new ChainFault('no answer')
        return { chainId: 1, minter: MINTER, distributor: account(0xa2), hasCode: false, isTraceable: true }
      }
      const deps = {
        ...{ pool: poolWithin(sql), environmentKeys: [], rules: { priceGraceSec: SETTING, startBlock: 0 } },
        ...{ contract: { factory: FACTORY, walletFacts }, signers: { minter: MINTER, distributor: null } },
      }
      const found = await confirmProposal(deps as never, { name: 'bob', requestId: null } as never, { id: 1 })
      const expected = model.change(given.asked, world)
      const outcome = model.settled(expected)
      if ('refused' in expected)
        assert.equal(isOperatorRefusal(found) && found.because, outcome === 'failed' ? 'conflict' : expected.refused)
      else assert.ok(!isOperatorRefusal(found), isOperatorRefusal(found) ? found.message : '')
      const [proposal] = await sql<
        { outcome: string | null; by: string | null }[]
      >`SELECT outcome, settled_by AS by FROM proposals`
      assert.deepEqual({ ...proposal }, { outcome, by: outcome && 'bob' })
      const rows = await sql<{ wallet: string; graceSec: number; stolen: boolean }[]>`
        SELECT wallet, grace_sec AS "graceSec", stolen FROM payment_wallets ORDER BY id`
      const { address, stolen } = given.asked
      const isFirst = world.wallets.length === 0
      const added = 'graceSec' in expected ? [{ wallet: address, graceSec: expected.graceSec, stolen }] : []
      const known = rows.map((row) => ({ ...row }))
      // The first wallet replaces none, so it has no grace of its own.
      if (isFirst && added.length > 0)
        assert.deepEqual(
          known.map(({ wallet }) => wallet),
          [address],
        )
      else
        assert.deepEqual(known, [
          ...world.wallets.map(({ wallet, graceSec, stolen: was }) => ({ wallet, graceSec, stolen: was })),
          ...added,
        ])
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(100) })
})
