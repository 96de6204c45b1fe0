// What acts count as for the second person: the statements of src/db/operator/sums.ts, the acts that ask them, and the second reading agree over random rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { readHeldBefore } from '../../../src/db/payments/refunds.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { attributePayment } from '../../../src/operator/acts/attribute.ts'
import { allowContractWallet } from '../../../src/operator/acts/contract-wallets.ts'
import { removeFromDenyList } from '../../../src/operator/acts/deny-list.ts'
import { grantNode } from '../../../src/operator/acts/grants.ts'
import { fileCommissions } from '../../../src/operator/acts/referrals/commissions.ts'
import { cancelRefund, prepareRefund } from '../../../src/operator/acts/refunds/prepare.ts'
import { prepareAllRefunds } from '../../../src/operator/acts/refunds/prepare-all.ts'
import { prepareRefunds } from '../../../src/operator/acts/refunds/prepare-many.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { commissionsOf, type Transfer } from '../rows/commissions.ts'
import * as model from './sums.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const HELD = [
  'wrongAmount',
  'soldOut',
  'walletLimit',
  'notOpenYet',
  'senderDenied',
  'unattributed',
  'contractWallet',
  'refunding',
  'recheck',
]
const STATES = [
  'seen',
  'held',
  'held',
  'held',
  'accepted',
  'minting',
  'minted',
  'minted',
  'refunded',
  'dismissed',
  'orphaned',
  'ignored',
]
const UINT256_MAX = 2n ** 256n - 1n

const drawnPayment = fc.record({
  state: fc.constantFrom(...STATES),
  reason: fc.constantFrom(...HELD),
  /** Of three transactions; null: a residue. */
  tx: fc.constantFrom(1, 1, 2, 3, null),
  from: fc.constantFrom(1, 2),
  valueWei: fc.constantFrom(1n, 2n, 1_000n, 10n ** 24n + 1n),
  code: fc.constantFrom(null, 'ann', 'ann', 'bob'),
  cohort: fc.constantFrom(1, 2, 3, null),
  isPaidBack: fc.boolean(),
  time: fc.constantFrom(49, 50, 51),
  heldBefore: fc.constantFrom('wrongAmount', 'wrongAmount', 'soldOut', null),
  isFiled: fc.boolean(),
})
const drawn = fc.record({
  payments: fc.array(drawnPayment, { minLength: 1, maxLength: 6 }),
  unpaid: fc.record({
    cohort: fc.constantFrom(1, 1, 1, 2, 3, 4, null),
    isGranted: fc.constantFrom(false, false, false, false, true),
  }),
  prices: fc.array(
    fc.record({ tierNo: fc.constantFrom(1, 1, 1, 2), priceWei: fc.constantFrom(1n, 999n, 1_000n, 1_001n) }),
    { maxLength: 4 },
  ),
  paidOut: fc.array(fc.record({ code: fc.constantFrom('ann', 'bob'), valueWei: fc.constantFrom(1n, 100n, 200n) }), {
    maxLength: 2,
  }),
  allowed: fc.subarray([1, 2]),
  names: fc.array(fc.record({ place: fc.nat(5), byHash: fc.boolean() }), { minLength: 1, maxLength: 4 }),
  wallet: fc.constantFrom(1, 2),
  stated: fc.subarray(['innerIndex', 'from', 'valueWei'] as const),
  node: fc.constantFrom('unpaid', 'unpaid', 'paid', 'none'),
  late: fc.record({
    heldFor: fc.constantFrom('wrongAmount' as const, 'wrongAmount' as const, 'soldOut' as const),
    before: fc.constantFrom(50, 51, 52),
    again: fc.boolean(),
  }),
  above: fc.constantFrom('off', 'equal', 'equal', 'equal', 'more', 'none', 'most'),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const UNPAID = 50
const BLOCK = { block_number: 5, block_hash: word(5) }

interface Known {
  payments: (model.Dated & { code: string | null; cohort: number | null; isPaidBack: boolean })[]
  nodes: model.Node[]
  sale: model.Sale
}

function knownOf({ payments, unpaid, prices }: Drawn): Known {
  const rows = payments.map(({ state: drawnState, reason, tx, from, ...one }, n) => {
    const state = tx === null && !['refunded', 'dismissed', 'orphaned'].includes(drawnState) ? 'held' : drawnState
    const why = state === 'held' ? reason : state === 'ignored' ? 'zero' : null
    const txHash = tx === null ? null : word(100 + tx)
    return { ...one, id: 1 + n, txHash, from: tx === null ? null : account(from), state, reason: why }
  })
  const ofPayments = rows
    .filter(({ state }) => state === 'minted')
    .map(({ id, cohort }) => ({ id, cohort, isPaid: true, isGranted: false }))
  return {
    payments: rows,
    nodes: [...ofPayments, { id: UNPAID, ...unpaid, isPaid: false }],
    // The first is that of the payments.
    sale: {
      cohorts: [1, 2, 3].map((cohort) => ({ cohort, tierNo: cohort })),
      tiers: [{ tierNo: 9, priceWei: 5n }, ...prices],
    },
  }
}

/** Ann and Bob get a tenth and a third of what names their codes. */
const CODES = [
  { code: 'ann', payee: account(7), commissionBps: 1_000 },
  { code: 'bob', payee: account(8), commissionBps: 333 },
]

function transfersOf({ payments }: Known, { paidOut }: Drawn): Transfer[] {
  const back = payments.filter(({ isPaidBack, state }) => isPaidBack && state === 'minted')
  const refunds = back.map(({ id, from, valueWei }) => ({
    refunds: word(id),
    commissionOf: null,
    to: from ?? '',
    valueWei,
    block: 6,
  }))
  const payeeOf = (code: string) => CODES.find((one) => one.code === code)?.payee ?? ''
  const paid = paidOut.map(({ code, valueWei }) => ({
    refunds: null,
    commissionOf: code,
    to: payeeOf(code),
    valueWei,
    block: 6,
  }))
  return [...refunds, ...paid]
}

function dueOf(known: Known, transfers: Transfer[]) {
  const versions = CODES.map((one) => ({ ...one, version: 1, opensAt: null, closesAt: null, fromBlock: 0, waitSec: 0 }))
  const payments = known.payments.map(({ id, from, valueWei, code, state }) => ({
    ...{ ref: word(id), from: from ?? '', valueWei, codes: code === null ? [] : [code], block: 5, time: 50 },
    ...{ mintedBlock: state === 'minted' ? 5 : null, mintedTime: 50, isBelieved: false },
  }))
  const lines = commissionsOf({ versions, payments, transfers }, { after: -1, upTo: 100 })
  return lines.map(({ earnedWei, reversedWei, paidWei }) => ({ dueWei: earnedWei - reversedWei - paidWei }))
}

function rowsOf({ payments, nodes, sale }: Known, transfers: Transfer[], { allowed }: Drawn): Rows {
  return {
    cursors: [{ name: 'follow', block_number: 100, block_hash: word(100), block_time: 1_000 }],
    payments: payments.map(({ id, txHash, from, valueWei, state, reason, code, time }) => ({
      ...{
        id,
        tx_hash: txHash,
        inner_index: txHash === null ? 0 : id,
        ref: word(id),
        wallet: account(9),
        from_address: from,
        value_wei: valueWei,
      },
      ...{ succeeded: true, state, reason, tier_id: 'tier-9', tier_version: 1, codes: code, block_time: at(time) },
      ...{ outbox_id: state === 'minting' ? 1 : null, node_id: state === 'minted' ? id : null },
      ...(state === 'orphaned' ? {} : BLOCK),
    })),
    nodes: nodes.map(({ id, cohort, isPaid }) => ({
      ...{
        node_id: id,
        owner: account(1),
        cohort,
        ref: word(id),
        payment_id: isPaid ? id : null,
        per_node_at_mint_wei: 0n,
        turns_at_mint: 0,
      },
      // What one provider reports counts as well.
      ...{ mint_tx_hash: word(200), minted_at: at(50), proof: id % 2 === 0 ? 'proven' : 'believed', ...BLOCK },
    })),
    grants: nodes
      .filter(({ isGranted }) => isGranted)
      .map(({ id }) => ({ ref: word(id), reason: 'a test', granted_by: 'test' })),
    ...refundRows(payments),
    ...saleRows(sale, allowed),
    referral_codes: CODES.map(({ code, payee, commissionBps }) => ({
      ...{ code, version: 1, payee, commission_bps: commissionBps, from_block: 0, entered_by: 'test' },
    })),
    refunds: transfers.map((one, n) => ({
      ...{
        payment_ref: one.refunds,
        commission_of: one.commissionOf,
        tx_hash: word(300 + n),
        from_address: account(9),
        to_address: one.to,
      },
      ...{ value_wei: one.valueWei, recorded_by: 'test', ...BLOCK },
    })),
  }
}

/** What is noted of each refund that is prepared. */
function refundRows(payments: model.Dated[]): Rows {
  const prepared = payments.filter(({ reason }) => reason === 'refunding')
  const by = { decided_by: 'ada', verdict: 'held', reason: 'refunding' }
  return {
    payment_verdicts: prepared.map(({ id, heldBefore }) => ({
      ...{ ...by, payment_id: id, evidence: JSON.stringify({ rule: 'refunding', heldFor: heldBefore }) },
    })),
    audit: prepared
      .filter(({ isFiled }) => isFiled)
      .map(({ id, txHash }) => ({
        ...{ actor: 'ada', action: 'refundFileMade', subject: txHash ?? String(id) },
        detail: JSON.stringify({ after: { ref: word(id) } }),
      })),
  }
}

function saleRows({ cohorts, tiers }: model.Sale, allowed: number[]): Rows {
  const noted = { label: 'one', reason: 'a test', added_by: 'test' }
  return {
    cohorts: cohorts.map(({ cohort, tierNo }) => ({
      cohort,
      tier_no: tierNo,
      interval_sec: 60,
      next_due: 100,
      ...BLOCK,
    })),
    tiers: tiers.map(({ tierNo, priceWei }, n) => ({
      ...{
        tier_id: `tier-${tierNo}`,
        version: 1 + n,
        tier_no: tierNo,
        label: 'a tier',
        price_wei: priceWei,
        max_per_wallet: 1,
        payout_bps: 0,
      },
      ...{ on_sale: n % 2 === 0, live: false, from_block: n, from_time: n, entered_by: 'test' },
    })),
    allowed_wallets: allowed.map((n) => ({ address: account(n), ...noted })),
    senders: [1, 2].map((n) => ({ address: account(n), ...noted })),
  }
}

/** An amount beside a sum. */
function boundNear(worthWei: bigint | null, above: Drawn['above'] | 'less'): bigint | null {
  if (above === 'off') return null
  if (above === 'most') return UINT256_MAX
  if (above === 'none' || worthWei === null) return 0n
  return { less: worthWei > 0n ? worthWei - 1n : 0n, equal: worthWei, more: worthWei + 1n }[above]
}

class AskedChain extends Error {}
const CHAIN = new Proxy({}, { get: () => () => Promise.reject(new AskedChain()) })
class Undone extends Error {}
type Act = (deps: never, actor: never, input: never) => Promise<object>

type Outcome = 'proposed' | 'done' | 'refused' | 'asksChain' | 'triesOut'

/**
 * The outcome of an act, with the rule's amount set. The case undoes it. There is no chain: an act that has to wait asks for one only inside the
 * transaction in which we try it.
 */
async function outcomeOf(sql: Sql, act: unknown, input: object, aboveWei: bigint | null): Promise<Outcome> {
  let outcome: Outcome | null = null
  const pool = poolWithin(sql)
  const play = async (within: Sql) => {
    await within`UPDATE ledger_state SET second_person_wei = ${aboveWei?.toString() ?? null}`
    let hasBegun = false
    const own = new Proxy(poolWithin(within), {
      get: (target, name) => {
        hasBegun ||= name === 'begin'
        return Reflect.get(target, name)
      },
    })
    const deps = { pool: own, chain: CHAIN, rules: {}, signers: { minter: null, distributor: null } }
    const actor = { name: 'ada', requestId: null }
    const answer = await (act as Act)(deps as never, actor as never, input as never).catch((error: unknown) => {
      if (error instanceof AskedChain) return null
      throw error
    })
    outcome =
      answer === null
        ? hasBegun
          ? 'triesOut'
          : 'asksChain'
        : isOperatorRefusal(answer)
          ? 'refused'
          : 'proposal' in answer
            ? 'proposed'
            : 'done'
    throw new Undone()
  }
  await pool.begin(play as never).catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error
  })
  return outcome ?? assert.fail('the act did not answer')
}

/** Each act with its input, and what it counts as. */
function actsOf(
  given: Drawn,
  known: Known,
  due: { dueWei: bigint }[],
): [name: string, act: unknown, input: object, worth: bigint | null][] {
  const { payments, nodes, sale } = known
  const names = given.names.map(({ place, byHash }): model.Name => {
    const { id, txHash } = payments[place % payments.length] as model.Payment
    return byHash && txHash !== null ? { txHash } : { id }
  })
  const [first] = names as [model.Name]
  const written = (name: model.Name) => ('id' in name ? String(name.id) : name.txHash)
  const wallet = account(given.wallet)
  const isAllowed = given.allowed.includes(given.wallet)
  const payment = written(first)
  const place = { innerIndex: 1, from: account(1), valueWei: 1n }
  const stated = Object.fromEntries(given.stated.map((name) => [name, place[name]])) as model.Stated
  const transfer = { txHash: word(101), ...stated, ...('valueWei' in stated ? { valueWei: '1' } : {}) }
  const paid = nodes.find(({ isPaid }) => isPaid)?.id
  const nodeId = given.node === 'unpaid' ? UNPAID : given.node === 'paid' ? (paid ?? UNPAID) : 99
  const noted = { label: 'a fund', reason: 'asked for it' }
  return [
    ['prepare a refund', prepareRefund, { payment }, model.sumPrepared(payments, [first])],
    ['prepare refunds', prepareRefunds, { payments: names.map(written) }, model.sumPrepared(payments, names)],
    [
      'prepare refunds again',
      prepareRefunds,
      { payments: names.map(written), again: true },
      model.sumNamed(payments, names),
    ],
    ['prepare all', prepareAllRefunds, { ...given.late, sumWei: '0' }, model.lateOf(payments, given.late).sumWei],
    ['preview all', prepareAllRefunds, { ...given.late, dryRun: true }, 0n],
    ['give a refund up', cancelRefund, { payment }, model.sumNamed(payments, [first])],
    ['file commissions', fileCommissions, {}, model.sumDue(due)],
    ['attribute', attributePayment, { payment, ...transfer }, model.sumStated(payments, first, [stated])],
    [
      'attribute several',
      attributePayment,
      { payment, transfers: [{ txHash: word(102) }, transfer] },
      model.sumStated(payments, first, [{}, stated]),
    ],
    [
      'allow a contract',
      allowContractWallet,
      { address: wallet, ...noted },
      isAllowed ? 0n : model.sumWaiting(payments, wallet, 'allow'),
    ],
    ['take off the deny list', removeFromDenyList, { address: wallet }, model.sumWaiting(payments, wallet, 'takeOff')],
    [
      'grant',
      grantNode,
      { nodeId, reason: 'a gift' },
      model.worthOfGrant(
        nodes.find(({ id }) => id === nodeId),
        sale,
      ),
    ],
  ]
}

test('an act that gives away more than the amount waits for a second person', async () => {
  let proposed = 0
  const compare = async (given: Drawn) => {
    const known = knownOf(given)
    const transfers = transfersOf(known, given)
    await tables.within(rowsOf(known, transfers, given), async (sql) => {
      const late = await readHeldBefore(sql, given.late, 9)
      assert.deepEqual(late.map(({ id }) => id).toSorted(), model.lateOf(known.payments, given.late).ids.toSorted())
      for (const [name, act, input, worth] of actsOf(given, known, dueOf(known, transfers))) {
        const alone = await outcomeOf(sql, act, input, null)
        for (const near of ['less', given.above] as const) {
          const bound = boundNear(worth, near)
          const waiting = { done: 'proposed', asksChain: 'triesOut' } as const
          const expected = alone in waiting && model.waits(worth, bound) ? waiting[alone as 'done'] : alone
          assert.equal(await outcomeOf(sql, act, input, bound), expected, `${name}: ${worth} above ${bound}`)
          if (expected === 'proposed') proposed++
        }
      }
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(80) })
  assert.ok(proposed >= cases(40), String(proposed))
})
