// Calls that are not sent, and why: src/passes/steps/send.ts, run after run with conditions at their edges, and the second reading agree about each answer, what
// is stored, and what is told.
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { send } from '../../../src/passes/steps/send.ts'
import { SignerFault } from '../../../src/ports/faults.ts'
import { account, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { type Act, act, play, type Step, stepsOf } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import { pass, readRows, rowsOf } from '../told/settings.ts'
import { emptyLedger, type Ledger } from '../told/troubles.ts'
import * as model from './refusals.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [ADDRESS, FIRST_NONCE, START] = [account(1), 5, 10_000]
type State = { ledger: Ledger; account: model.Account; height: number; lastTime: number }

const conditions = fc.record({
  /** Since the last call ended. */
  later: fc.constantFrom(12, 12, 12, 899, 900, 901),
  estimate: fc.constantFrom<model.Conditions['estimate']>(
    ...(['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'NotMinter', 'Paused', 'overGasCap', 'insufficientFunds'] as const),
  ),
  sharedBlock: fc.constantFrom(null, null, null, null, null, 90),
  isBehind: fc.constantFrom(false, false, false, false, true),
  maxFeeWei: fc.constantFrom(9n, 10n, 10n, 11n),
  above: fc.constantFrom(-1n, 0n, 0n, 1n),
  signs: fc.constantFrom(true, true, true, false),
  ends: fc.constantFrom<'mined' | 'reverted'>('reverted', 'reverted', 'reverted', 'reverted', 'mined'),
})
type Drawn = typeof conditions extends fc.Arbitrary<infer T> ? T : never
const FEE_CAP_WEI = 10n

/** Where both are: the same for code and model, because only what is sent moves it. */
let [height, lastTime, sent] = [100, START, 0]

async function runOnce(sql: Sql, given: Drawn): Promise<unknown> {
  const time = lastTime + given.later
  const cursor = { number: height, hash: word(height), time }
  await sql`
    INSERT INTO cursors (name, block_number, block_hash, block_time) VALUES ('follow', ${height}, ${cursor.hash}, ${time})
    ON CONFLICT (name) DO UPDATE SET block_number = excluded.block_number, block_hash = excluded.block_hash, block_time = excluded.block_time`
  const nonce = FIRST_NONCE + sent
  const said = given.isBehind ? nonce - 1 : nonce
  const { estimate } = given
  const sender = {
    address: ADDRESS,
    estimate: async () => {
      if (estimate === 'ok') return { kind: 'ok', gas: model.GAS }
      return estimate === 'NotMinter' || estimate === 'Paused'
        ? { kind: 'reverts', error: estimate }
        : { kind: estimate }
    },
    fees: async () => ({ maxFeeWei: given.maxFeeWei, maxPriorityFeeWei: 1n }),
    balance: async () => model.GAS * given.maxFeeWei + given.above,
    nonce: async () => said,
    nonces: async () => [said],
    noncesAt: async () => [said],
    sign: async () => {
      if (!given.signs) throw new SignerFault('refused')
      return { txHash: word(5_000 + sent), raw: '0x01' }
    },
    broadcast: async () => ({ kind: 'accepted' }),
  }
  const rules = { validForSec: 900, feeCapWei: FEE_CAP_WEI, tipMaxWei: model.TIP_MAX_WEI }
  const ctx = { pool: poolWithin(sql), log: silentLog, rules, chain: {} }
  const shared = given.sharedBlock
  const agreed = shared === null ? null : { number: shared, hash: word(shared) }
  const run = { guardUsable: true, agreed, checkLock: () => {}, outOfTime: () => false, reportFault: () => {} }
  let claimed = 0
  const call = { kind: 'openCohorts', openings: [], validUntil: time + 900 }
  const answer = await send(ctx as never, { run, sender, cursor } as never, call as never, async () => {
    claimed += 1
  })
  if (answer.kind === 'refused') return answer
  const [row] = await sql<{ id: number; nonce: number; validUntil: number; outcome: string | null; sends: number }[]>`
    SELECT o.id, o.nonce, o.valid_until AS "validUntil", a.last_outcome AS outcome, a.sends FROM outbox o JOIN outbox_attempts a ON a.outbox_id = o.id
    WHERE o.state = 'pending' AND a.tx_hash = ${answer.txHash}`
  await ended(sql, row?.id ?? 0, given, time)
  const { nonce: stored, validUntil, outcome, sends } = row ?? {}
  return { kind: 'sent', nonce: stored, validUntil, claimed, outcome, sends }
}

/** The call is in the next block. */
async function ended(sql: Sql, id: number, { ends }: Drawn, time: number): Promise<void> {
  height += 1
  sent += 1
  lastTime = time + 12
  await sql`
    INSERT INTO blocks (number, hash, parent_hash, time, prevrandao)
    VALUES (${height}, ${word(height)}, ${word(height - 1)}, ${lastTime}, ${word(1)})`
  await sql`
    UPDATE outbox SET state = ${ends}, block_number = ${height}, block_hash = ${word(height)}, tx_hash = ${word(5_000 + sent)}, gas_used = 9, fee_wei = 9
    WHERE id = ${id}`
}

const acts: Record<string, Act<State>> = {
  time: act({
    draw: fc.constantFrom(1, 300, 600),
    run: (sql, seconds) => pass(sql, seconds),
    expects: ({ ledger }: State, seconds) => {
      ledger.now += seconds
    },
  }),
  run: act({
    draw: conditions,
    run: runOnce,
    expects: (state: State, { later, ends, ...given }) => {
      const time = state.lastTime + later
      const answer = model.send(state.ledger, state.account, { ...given, time, feeCapWei: FEE_CAP_WEI })
      if (answer.kind === 'refused') return answer
      state.lastTime = time + 12
      state.account.ended.push({ state: ends, time: state.lastTime })
      return { ...answer, claimed: 1, outcome: 'accepted', sends: 1 }
    },
  }),
}

test('a call is refused for the first of its reasons, and an account rests after three reverts', async () => {
  const compare = async (steps: Step<State>[]) => {
    ;[height, lastTime, sent] = [100, START, 0]
    const rows: Rows = { sender_bases: [{ sender: ADDRESS, nonce: FIRST_NONCE, block_number: 1 }] }
    const state: State = {
      ...{ ledger: emptyLedger(), account: { address: ADDRESS, ended: [], firstNonce: FIRST_NONCE } },
      ...{ height, lastTime },
    }
    await tables.within(rows, async (sql) => {
      await play(sql, { steps, state }, { read: readRows, expected: ({ ledger }: State) => rowsOf(ledger) })
    })
  }
  const steps = stepsOf(acts, { least: 5, most: 14, weights: { run: 6 } })
  await fc.assert(fc.asyncProperty(steps, compare), { numRuns: cases(80) })
})
