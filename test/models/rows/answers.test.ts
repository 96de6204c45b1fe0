// The answers of the public API: the statements of src/db/reads say of nodes, wallets, rounds and payments what the second reading builds from the rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { readDistributions, readNode, readNodesOf, readStats } from '../../../src/db/reads/public-api.ts'
import { readPaymentsOf } from '../../../src/db/reads/public-payments.ts'
import { me } from '../../../src/http/routes/me.ts'
import { events } from '../../../src/http/routes/payments/events.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { withoutChain } from '../../http/edge/no-chain.ts'
import { cases } from '../../support/property.ts'
import * as model from './answers.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const OWNERS = [1, 2].map(account)
const COHORTS = [1, 2]
const NEXT_DUE = new Map([
  [1, 9_000],
  [2, 9_060],
])
const mintTxOf = (nodeId: number) => word(600 + nodeId)
const small = fc.nat(4)

const drawn = fc.record({
  /** Seconds since the round before, and what each cohort was credited: null for no turn. */
  rounds: fc.array(
    fc.record({
      gap: fc.constantFrom(0, 0, 1, 60),
      amounts: fc.tuple(fc.constantFrom(null, 0n, 1n, 5n, 10n ** 24n), fc.constantFrom(null, null, 0n, 3n)),
    }),
    { maxLength: 4 },
  ),
  nodes: fc.array(
    fc.record({
      owner: fc.constantFrom(...OWNERS),
      cohort: fc.constantFrom(...COHORTS),
      mintedAfter: small,
      expelled: fc.constantFrom(null, null, null, 0, 1, 4),
      part: fc.constantFrom(0n, 1n, 2n),
      isPaid: fc.boolean(),
      sharesTx: fc.boolean(),
    }),
    { maxLength: 5 },
  ),
  payments: fc.array(
    fc.record({
      state: fc.constantFrom('seen', 'accepted', 'held', 'refunded', 'dismissed', 'orphaned', 'ignored'),
      reason: fc.constantFrom('wrongAmount', 'senderDenied', 'soldOut', 'refunding'),
      from: fc.constantFrom(...OWNERS),
      tierId: fc.constantFrom('basic', null),
      wasIgnored: fc.boolean(),
      /** Whether it was made in the same transaction as the one before it, by this payer or another. */
      sharesTx: fc.boolean(),
    }),
    { maxLength: 5 },
  ),
  limit: fc.constantFrom(1, 2, 3, 200),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function ledgerOf(given: Drawn): model.Ledger {
  let time = 2_000
  const rounds = given.rounds.map(({ gap, amounts }, n): model.Round => {
    time += gap
    const turns = amounts.flatMap((amountWei, i) => (amountWei === null ? [] : [{ cohort: 1 + i, amountWei }]))
    return { round: 1 + n, time, turns }
  })
  const ledger: model.Ledger = { rounds, nodes: [], payments: [], nextDue: NEXT_DUE, mintTxOf }
  const pay = (id: number, one: Parameters<typeof paymentOf>[1], sharesTx: boolean) =>
    ledger.payments.push(paymentOf(id, one, sharesTx ? ledger.payments.at(-1) : undefined))
  for (const [n, { expelled, part, isPaid, sharesTx, ...one }] of given.nodes.entries()) {
    const mintedAfter = Math.min(one.mintedAfter, rounds.length)
    const expelledAfter = expelled === null ? null : Math.min(mintedAfter + expelled, rounds.length)
    const times = { mintTime: 1_000 + n, expelTime: 3_000 + n }
    const node = {
      ...one,
      ...times,
      nodeId: 1 + n,
      mintedAfter,
      expelledAfter,
      withdrawnWei: 0n,
      paymentId: isPaid ? 1 + n : null,
    }
    // Nothing, half or all of what it was credited.
    const withdrawnWei = (BigInt(model.nodeOf(ledger, node).creditedWei) * part) / 2n
    ledger.nodes.push({ ...node, withdrawnWei })
    if (isPaid) pay(1 + n, { from: one.owner, tierId: 'basic', state: 'minted', reason: null }, sharesTx)
  }
  for (const [n, one] of given.payments.entries()) {
    const keeps = ['held', 'refunded', 'dismissed', 'orphaned'].includes(one.state)
    const ignored = one.state === 'ignored' || (one.state === 'orphaned' && one.wasIgnored)
    const reason = ignored ? 'operator' : keeps ? one.reason : null
    pay(100 + n, { ...one, tierId: one.state === 'accepted' ? 'basic' : one.tierId, reason }, one.sharesTx)
  }
  return ledger
}

function paymentOf(
  id: number,
  one: { from: string; tierId: string | null; state: string; reason: string | null },
  beside?: model.PaymentRow,
): model.PaymentRow {
  const { from, tierId, state, reason } = one
  return {
    ...{
      id,
      txHash: beside?.txHash ?? word(id),
      innerIndex: beside === undefined ? 0 : beside.innerIndex + 1,
      from,
      tierId,
      state,
      reason,
      valueWei: 10n + BigInt(id),
      time: 1_000 + id,
      updatedTime: 4_000 + id,
    },
    ...{ block: state === 'orphaned' ? null : id, refundTxHash: state === 'refunded' ? word(900 + id) : null },
  }
}

const inBlock = (number: number | null) => ({ block_number: number, block_hash: number === null ? null : word(number) })

/** What a cohort's node was credited that is in it from the start, and by how many turns, after some rounds. */
function cohortAfter({ rounds }: model.Ledger, cohort: number, count: number) {
  const turns = rounds.slice(0, count).flatMap((round) => round.turns.filter((one) => one.cohort === cohort))
  return { perNodeWei: turns.reduce((wei, { amountWei }) => wei + amountWei, 0n), turnCount: turns.length }
}

function cohortsRows(ledger: model.Ledger): Row[] {
  const { rounds } = ledger
  return COHORTS.map((cohort) => {
    const { perNodeWei, turnCount } = cohortAfter(ledger, cohort, rounds.length)
    const last = rounds.findLast((round) => round.turns.some((one) => one.cohort === cohort))
    return {
      ...{
        cohort,
        tier_no: 1,
        interval_sec: 60,
        next_due: NEXT_DUE.get(cohort) ?? 0,
        per_node_wei: perNodeWei,
        turn_count: turnCount,
      },
      ...{ last_turn_at: last === undefined ? null : at(last.time), ...inBlock(1) },
    }
  })
}

function roundsRows(ledger: model.Ledger): Row[] {
  const { rounds } = ledger
  return rounds.map(({ round, time, turns }) => ({
    ...{
      round,
      mode: 'treasury',
      total_wei: 0n,
      node_count: turns.length,
      tx_hash: word(round),
      created_at: at(time),
    },
    ...inBlock(round),
  }))
}

function turnsRows(ledger: model.Ledger): Row[] {
  const { rounds } = ledger
  return rounds.flatMap(({ round, turns }, n) =>
    turns.map(({ cohort, amountWei }): Row => {
      const { turnCount } = cohortAfter(ledger, cohort, n + 1)
      const due = { turn_no: turnCount, due: round, turns: 1, amount_wei: amountWei, node_count: 1 }
      return { round, cohort, ...due }
    }),
  )
}

function nodesRows(ledger: model.Ledger): Row[] {
  const { nodes } = ledger
  return nodes.map((one) => {
    const { perNodeWei, turnCount } = cohortAfter(ledger, one.cohort, one.mintedAfter)
    return {
      ...{
        node_id: one.nodeId,
        owner: one.owner,
        cohort: one.expelledAfter === null ? one.cohort : null,
        ref: word(one.nodeId),
      },
      ...{
        payment_id: one.paymentId,
        per_node_at_mint_wei: perNodeWei,
        turns_at_mint: turnCount,
        withdrawn_wei: one.withdrawnWei,
      },
      ...{ mint_tx_hash: mintTxOf(one.nodeId), minted_at: at(one.mintTime), ...inBlock(5) },
    }
  })
}

function expulsionsRows(ledger: model.Ledger): Row[] {
  const { nodes } = ledger
  return nodes.flatMap((one): Row[] => {
    if (one.expelledAfter === null) return []
    const { turnCount } = cohortAfter(ledger, one.cohort, one.expelledAfter)
    const done = { expelled_at: at(one.expelTime), tx_hash: word(700), ...inBlock(9) }
    const credited = BigInt(model.nodeOf(ledger, one).creditedWei)
    return [{ node_id: one.nodeId, cohort: one.cohort, credited_wei: credited, turn_count: turnCount, ...done }]
  })
}

function paymentsRows(ledger: model.Ledger): Row[] {
  const { payments } = ledger
  return payments.map((one) => ({
    ...{
      id: one.id,
      ref: word(one.id),
      tx_hash: one.txHash,
      inner_index: one.innerIndex,
      wallet: account(9),
      from_address: one.from,
      value_wei: one.valueWei,
    },
    ...{
      succeeded: true,
      state: one.state,
      reason: one.reason,
      tier_id: one.tierId,
      node_id: one.state === 'minted' ? one.id : null,
    },
    ...{ block_time: at(one.time), updated_at: at(one.updatedTime), ...inBlock(one.block) },
  }))
}

function refundsRows(ledger: model.Ledger): Row[] {
  const { payments } = ledger
  return payments.flatMap((one): Row[] => {
    if (one.refundTxHash === null) return []
    const transfer = { from_address: account(9), to_address: one.from, value_wei: one.valueWei, recorded_by: 'test' }
    return [{ payment_ref: word(one.id), tx_hash: one.refundTxHash, ...transfer, ...inBlock(12) }]
  })
}

const rowsOf = (ledger: model.Ledger): Rows => ({
  cohorts: cohortsRows(ledger),
  rounds: roundsRows(ledger),
  turns: turnsRows(ledger),
  nodes: nodesRows(ledger),
  expulsions: expulsionsRows(ledger),
  payments: paymentsRows(ledger),
  refunds: refundsRows(ledger),
})

/** What a stream about a wallet or a transaction would show first, without what it rests on. */
async function streamed(sql: Sql, query: Record<string, string>): Promise<unknown> {
  const seen: (() => Promise<{ payments: unknown[]; nodes: unknown[] }>)[] = []
  const watches = { open: async (_client: string, { read }: { read: (typeof seen)[number] }) => seen.push(read) }
  const queryPrimary = (read: (sql: Sql) => unknown) => read(sql)
  const route = events({ deps: { checksum: (one: string) => one }, queryPrimary, watches } as never)
  await route.handle({ query, client: 'one', raw: { headers: {} } } as never)
  const text = JSON.stringify(await seen[0]?.())
  return JSON.parse(text, (name, value) => (name === 'assurance' ? undefined : value))
}

/** The signed-in wallet's answer, without what a chain says. */
async function walletShown(sql: Sql, wallet: string): Promise<unknown> {
  const queryReplica = (read: (sql: Sql) => unknown) => read(sql)
  const route = me({ deps: withoutChain(sql as never), queryReplica } as never)
  const { json } = (await route.handle({ wallet } as never)) as { json: string }
  const { nodes, totals } = JSON.parse(json)
  return { nodes, totals }
}

async function compareRead(sql: Sql, ledger: model.Ledger, limit: number): Promise<void> {
  for (const owner of OWNERS) {
    const nodes = model.nodesOf(ledger, owner)
    assert.deepEqual([...(await readNodesOf(sql, owner as never))], nodes)
    assert.deepEqual(await walletShown(sql, owner), { nodes, totals: model.totalsOf(ledger, owner) })
    const payments = await readPaymentsOf(sql, owner as never, limit)
    const shown = payments.map(({ assurance, ...payment }) => payment)
    assert.deepEqual(shown, model.paymentsOf(ledger, owner, limit))
    assert.deepEqual(await streamed(sql, { address: owner }), model.watchedOf(ledger, owner))
  }
  for (const hash of new Set(ledger.payments.map(({ txHash }) => txHash)))
    assert.deepEqual(await streamed(sql, { payment: hash }), model.watchedIn(ledger, hash))
  const rounds = await readDistributions(sql, limit)
  assert.deepEqual(
    rounds.map(({ id }) => id),
    model.shownRounds(ledger, limit),
  )
  assert.equal((await readStats(sql)).lastDistributionAt, model.lastDistributionAt(ledger))
  for (const node of ledger.nodes) {
    for (const id of [node.nodeId, 1_000_000_000 + node.nodeId]) {
      const page = await readNode(sql, BigInt(id), limit)
      assert.deepEqual(page?.node, model.nodeOf(ledger, node))
      assert.equal(page?.matchedBy, id === node.nodeId ? 'nodeId' : 'id')
      const credits = page?.credits ?? []
      assert.deepEqual(
        credits.map(({ distributionId }) => distributionId),
        model.creditsOf(ledger, node, limit),
      )
    }
  }
}

test('nodes, wallets, rounds and payments are answered by their rows', async () => {
  const compare = async (given: Drawn) => {
    const ledger = ledgerOf(given)
    await tables.within(rowsOf(ledger), (sql) => compareRead(sql, ledger, given.limit))
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(50) })
})
