// The operator's switches and lists: random acts of several people, one after the other, and the second reading agree about each answer, all rows, and the
// audit log with what was there before and after.
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { readPublicReferral, readReferrals, readReferralsOf } from '../../../src/db/sale/referrals.ts'
import type { Address } from '../../../src/domain/units.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import * as contracts from '../../../src/operator/acts/contract-wallets.ts'
import * as denying from '../../../src/operator/acts/deny-list.ts'
import * as grants from '../../../src/operator/acts/grants.ts'
import * as pausing from '../../../src/operator/acts/pause.ts'
import { registerReferral, registerReferrals } from '../../../src/operator/acts/referrals/codes.ts'
import { setSecondPerson, showSecondPerson } from '../../../src/operator/acts/second-person/rule.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { type Act, act, inOrder, play, type Step, stepsOf } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './lists.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [HEAD, NOW] = [100, 10_000]
type Machine = Act<model.Desk>
type Called = (deps: never, actor: never, input: Record<string, unknown>) => Promise<object>

const actor = fc.oneof(
  fc.record({ name: fc.constantFrom('ada', 'ben'), requestId: fc.constantFrom('r1', null) }),
  fc.constant({ name: 'ada', requestId: 'r2', confirmed: { by: 'ben', proposal: 7 } }),
) as fc.Arbitrary<model.Actor>

/** What a provider tells of its head, and no more. */
function depsOf(sql: Sql, provider: number | null) {
  const head = async () => {
    if (provider === null) throw new ChainFault('no answer')
    return { number: provider, hash: word(provider), time: NOW }
  }
  return { pool: poolWithin(sql), chain: { head, providers: [{ head }] } } as never
}

/** Without the time of an entry, which is that of the case. */
const timeless = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(timeless)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([name]) => !['addedAt', 'enteredAt'].includes(name))
  return Object.fromEntries(fields.map(([name, one]) => [name, timeless(one)]))
}

let provider: number | null = HEAD
/** An act with plain input. `reason` is left out if it is null. */
const done = <Input extends object>(
  run: Called,
  draw: fc.Arbitrary<Input>,
  expects: (desk: model.Desk, actor: model.Actor, input: Input) => unknown,
): Machine =>
  act({
    draw: fc.record({ actor, input: draw }),
    run: async (sql, { actor, input }) => {
      const given = Object.entries(input).filter(([, value]) => value !== null)
      const plain = given.map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value])
      const found = await run(depsOf(sql, provider), actor as never, Object.fromEntries(plain))
      return isOperatorRefusal(found) ? found.because : timeless(found)
    },
    expects: (desk: model.Desk, { actor, input }) => expects(desk, actor, input),
  })

const address = fc.constantFrom(account(5), account(5), account(6))
const reason = fc.constantFrom('x', 'y', null)
const because = fc.constantFrom('x', 'y')
const noting = fc.record({ address, label: fc.constantFrom('one', 'two'), reason: because })
const leaving = fc.record({ address, reason })
const newest: Machine = act({
  draw: fc.constantFrom(98, 99, 99, 100, 101, 102, 103, null),
  run: async (_sql, at) => {
    provider = at
  },
  expects: (desk: model.Desk, at) => {
    desk.provider = at
  },
})
const moved: Machine = act({
  draw: fc.constantFrom(100, 101, 103),
  run: (sql, number) => sql`UPDATE cursors SET block_number = ${number}`.then(() => null),
  expects: (desk: model.Desk, number) => {
    desk.head = number
  },
})
const listing = (run: (sql: Sql) => Promise<unknown>, expects: (desk: model.Desk) => unknown): Machine =>
  act({
    draw: fc.constant(null),
    run: async (sql) => timeless(await run(sql)),
    expects: (desk: model.Desk) => expects(desk),
  })

const noted = (list: Map<string, model.Noted>) =>
  [...list].map(([address, one]) => ({ address, ...one })).toSorted((a, b) => (a.address < b.address ? -1 : 1))

const lists: Record<string, Machine> = {
  deny: done(denying.addToDenyList as never, noting, (desk, by, input) => model.put(desk, by, 'denied', input)),
  undeny: done(denying.removeFromDenyList.unguarded as never, leaving, (desk, by, { address, reason }) =>
    model.take(desk, by, 'denied', address, reason),
  ),
  allow: done(contracts.allowContractWallet.unguarded as never, noting, (desk, by, input) =>
    model.put(desk, by, 'allowed', input),
  ),
  disallow: done(contracts.disallowContractWallet as never, leaving, (desk, by, { address, reason }) =>
    model.take(desk, by, 'allowed', address, reason),
  ),
  listed: listing(
    async (sql) => [
      (await denying.listDenyList({ pool: sql } as never)) as unknown,
      ((await contracts.listContractWallets({ pool: sql } as never)) as contracts.ContractWalletsView).allowed,
    ],
    (desk) => [{ senders: noted(desk.denied) }, noted(desk.allowed)],
  ),
}

const modes: Record<string, Machine> = {
  newest,
  moved,
  set: done(
    contracts.setContractWallets.unguarded as never,
    fc.record({ mode: fc.constantFrom('hold', 'proven', 'all'), reason }),
    (desk, by, { mode, reason }) => model.setMode(desk, by, mode, reason),
  ),
  shown: listing(
    async (sql) => {
      const { mode, modes } = (await contracts.listContractWallets({
        pool: sql,
      } as never)) as contracts.ContractWalletsView
      return [mode, modes]
    },
    (desk) => [
      model.modeNow(desk),
      desk.modes
        .toSorted((a, b) => a.fromBlock - b.fromBlock)
        .map(({ mode, fromBlock, by }) => ({ mode, fromBlock, enteredBy: by })),
    ],
  ),
}

const rules: Record<string, Machine> = {
  pause: done(pausing.pause as never, fc.record({ reason }), (desk, by, { reason }) =>
    model.pause(desk, by, true, reason),
  ),
  resume: done(pausing.resume as never, fc.record({ reason }), (desk, by, { reason }) =>
    model.pause(desk, by, false, reason),
  ),
  rule: done(
    setSecondPerson.unguarded as never,
    fc
      .record({ aboveWei: fc.constantFrom(0n, 5n, 6n, null), reason })
      .map((one) => (one.aboveWei === null ? { ...one, off: true } : one)),
    (desk, by, { aboveWei, reason }) => model.setRule(desk, by, aboveWei, reason),
  ),
  shown: listing(
    async (sql) => showSecondPerson({ pool: sql } as never),
    ({ aboveWei }) => ({ aboveWei: aboveWei === null ? null : BigInt(aboveWei) }),
  ),
}

const node = fc.constantFrom(1, 1, 2, 3, 9)
const nodes: Record<string, Machine> = {
  grant: done(grants.grantNode.unguarded as never, fc.record({ nodeId: node, reason: because }), (desk, by, one) =>
    model.grant(desk, by, one.nodeId, one.reason),
  ),
  revoke: done(grants.revokeGrant as never, fc.record({ nodeId: node, reason: because }), (desk, by, one) =>
    model.revoke(desk, by, one.nodeId, one.reason),
  ),
}

/** Null keeps what a code has, and 0 ends a limit. */
const edge = fc.constantFrom(null, null, 0, NOW - 1, NOW, NOW + 1)
const referral = fc.record({
  ...{ code: fc.constantFrom('ada', 'Ada', 'ben'), payee: address, commissionBps: fc.constantFrom(0, 500) },
  ...{ opensAt: edge, closesAt: edge, waitSec: fc.constantFrom(null, 0, 60) },
})
const TITLES = ['', 'Code;Payee;bps\r\n', '\uFEFFcode;wallet;commission_bps;note\n'] as const
const codes: Record<string, Machine> = {
  newest: act({
    draw: fc.constantFrom(99, 100, 101),
    run: async (_sql, at) => {
      provider = at
    },
    expects: (desk: model.Desk, at) => {
      desk.provider = at
    },
  }),
  moved,
  register: done(
    registerReferral as never,
    fc.record({ asked: referral, reason }).map(({ asked, reason }) => ({ ...asked, reason })),
    (desk, by, { reason, ...asked }) => model.register(desk, by, asked, reason),
  ),
  registerAll: done(
    registerReferrals as never,
    fc
      .record({ all: fc.array(referral, { minLength: 1, maxLength: 3 }), title: fc.constantFrom(...TITLES), reason })
      .map(({ all, title, reason }) => {
        const { opensAt, closesAt, waitSec } = all[0] as (typeof all)[number]
        const lines = all.map(({ code, payee, commissionBps }) => `${code};${payee};${commissionBps}`)
        return { opensAt, closesAt, waitSec, reason, rows: `${title}${lines.join('\n')}` }
      }),
    (desk, by, { rows, reason, ...shared }) => {
      const lines = rows.split('\n').filter((line) => line.includes('0x'))
      const all = lines.map((line) => {
        const [code = '', payee = '', bps] = line.split(';')
        return { code, payee, commissionBps: Number(bps), ...shared }
      })
      return model.registerAll(desk, by, all as never, reason)
    },
  ),
  shown: act({
    draw: fc.record({ code: fc.constantFrom('ada', 'ben', 'eve'), payee: address }),
    run: async (sql, { code, payee }) => {
      const shown = await readPublicReferral(sql, code)
      const own = await readReferralsOf(sql, payee as Address)
      return [shown && inSeconds(shown), own.map(inSeconds), timeless(await readReferrals(sql))]
    },
    expects: (desk: model.Desk, { code, payee }) => [
      model.publicReferral(desk, code, NOW),
      model.referralsOf(desk, payee, NOW),
      desk.referrals.toSorted((a, b) => (a.code === b.code ? a.version - b.version : a.code < b.code ? -1 : 1)),
    ],
  }),
}

const secondOf = (time: string | null) => (time === null ? null : Date.parse(time) / 1_000)
const inSeconds = <T extends { opensAt: string | null; closesAt: string | null }>(terms: T) => {
  return { ...terms, opensAt: secondOf(terms.opensAt), closesAt: secondOf(terms.closesAt) }
}

async function readRows(sql: Sql) {
  const noted = (table: string) =>
    sql.unsafe<object[]>(`SELECT address, label, reason, added_by AS "addedBy" FROM ${table}`)
  const rows = {
    senders: await noted('senders'),
    allowed: await noted('allowed_wallets'),
    modes: await sql<object[]>`SELECT mode, from_block AS "fromBlock", entered_by AS by FROM contract_wallet_modes`,
    switches: await sql<object[]>`SELECT paused, second_person_wei::text AS "aboveWei" FROM ledger_state`,
    grants: await sql<object[]>`SELECT ref, reason, granted_by AS "grantedBy" FROM grants`,
    referrals: timeless(await readReferrals(sql)) as object[],
  }
  const audit = await sql<model.Told[]>`SELECT actor, action, subject, detail, request_id FROM audit ORDER BY id`
  return { ...ordered(rows), audit: timeless(audit) }
}
const ordered = (rows: Record<string, object[]>) =>
  Object.fromEntries(Object.entries(rows).map(([name, all]) => [name, inOrder(all)]))

const ROWS: Rows = {
  cursors: [{ name: 'follow', block_number: HEAD, block_hash: word(HEAD), block_time: NOW }],
  nodes: [1, 2, 3].map((id) => ({
    ...{ node_id: id, owner: account(1), cohort: null, ref: word(id), payment_id: id === 3 ? 1 : null },
    ...{ per_node_at_mint_wei: 0n, turns_at_mint: 0, mint_tx_hash: word(9), minted_at: at(900) },
    ...{ block_number: 1, block_hash: word(1) },
  })),
}

const agree = (acts: Record<string, Machine>, usual: number, weights: Record<string, number> = {}) => {
  const compare = async (steps: Step<model.Desk>[]) => {
    provider = HEAD
    const desk: model.Desk = {
      ...{ head: HEAD, provider: HEAD, paused: false, aboveWei: null, modes: [], referrals: [], audit: [] },
      ...{ denied: new Map(), allowed: new Map(), grants: new Map() },
      nodes: new Map([1, 2, 3].map((id) => [id, { isPaid: id === 3, ref: word(id) }])),
    }
    await tables.within(ROWS, async (sql) => {
      const expected = (state: model.Desk) => ({ ...ordered(model.rowsOf(state)), audit: timeless(state.audit) })
      await play(sql, { steps, state: desk }, { read: readRows, expected })
    })
  }
  return fc.assert(fc.asyncProperty(stepsOf(acts, { least: 2, most: 8, weights }), compare), { numRuns: cases(usual) })
}

test('the deny list and allowed contracts are as last written, and the log has former entries', async () => {
  await agree(lists, 35)
})

test('a mode of contract wallets applies from the next block, and no change leaves no row', async () => {
  await agree(modes, 90, { set: 4, newest: 3 })
})

test('the pause and the two-person rule change only if they differ, and only stricter alone', async () => {
  await agree(rules, 35, { rule: 3 })
})

test('a node without a payment is granted once, and its grant is revoked once', async () => {
  await agree(nodes, 25)
})

test('a referral code has a version for each change, and is open between its times', async () => {
  await agree(codes, 40, { register: 4, shown: 2 })
})
