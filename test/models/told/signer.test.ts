// What runs record of a signer that fails and works in turns: src/passes/steps/signer.ts and the second reading agree about answers, rows and the audit log.
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { withSigner } from '../../../src/passes/steps/signer.ts'
import { SignerFault } from '../../../src/ports/faults.ts'
import { account, openTables, type Tables } from '../../db/direct-rows.ts'
import { type Act, act, play, stepsOf } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import { pass, readRows, rowsOf } from './settings.ts'
import * as model from './signer.ts'
import { emptyLedger, type Ledger } from './troubles.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const ROLE_ERRORS: Record<string, string> = { minter: 'NotMinter', distributor: 'NotDistributor' }

async function runOnce(sql: Sql, { role, address, does, signs, inRole }: model.Run) {
  let asked = 0
  const sender = {
    address,
    async estimate() {
      return inRole ? { kind: 'reverts', error: 'Paused' } : { kind: 'reverts', error: ROLE_ERRORS[role] }
    },
    async sign() {
      const gives = signs[asked] ?? signs.at(-1) ?? true
      asked += 1
      if (!gives) throw new SignerFault(`refused ${asked - 1}`)
      return { txHash: '0x', raw: '0x' }
    },
  }
  const ctx = { pool: poolWithin(sql), log: silentLog }
  const { signer } = await withSigner(ctx, role as 'minter', sender as never, async (watched) => {
    for (const one of does) {
      if (one === 'simulate') await watched.estimate({} as never)
      // As the send step does, the run goes on without a signature.
      else await watched.sign({} as never, {} as never).catch(() => {})
    }
  })
  return signer
}

const acts: Record<string, Act<Ledger>> = {
  time: act({
    draw: fc.constantFrom(60, 120, 598, 600, 601),
    run: (sql, seconds) => pass(sql, seconds),
    expects: (state: Ledger, seconds) => {
      state.now += seconds
    },
  }),
  run: act({
    draw: fc.record({
      role: fc.constantFrom('minter', 'minter', 'minter', 'distributor'),
      address: fc.constantFrom(account(1), account(1), account(1), account(2)),
      does: fc.constantFrom<model.Run['does']>(
        [],
        [],
        ['simulate'],
        ['sign'],
        ['simulate', 'sign'],
        ['simulate', 'sign', 'sign'],
      ),
      signs: fc.constantFrom<boolean[]>([true], [true], [false], [false], [false, true], [true, false]),
      inRole: fc.constantFrom(true, true, true, false),
    }),
    run: runOnce,
    expects: model.run,
  }),
}

test('a failing signer or role is on record, and a person hears of its beginning and end', async () => {
  const compare = async (steps: Parameters<typeof play<Ledger, unknown>>[1]['steps']) => {
    await tables.within({}, async (sql) => {
      await play(sql, { steps, state: emptyLedger() }, { read: readRows, expected: rowsOf })
    })
  }
  const steps = stepsOf(acts, { least: 4, most: 14, weights: { run: 3 } })
  await fc.assert(fc.asyncProperty(steps, compare), { numRuns: cases(80) })
})
