// What a range of blocks does to payments, nodes and our transactions: src/follower/store.ts settles and tells what the second reading does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { storeRange } from '../../../src/follower/store.ts'
import { silentLog } from '../../../src/lib/log.ts'
import {
  account,
  at,
  noticesIn,
  openTables,
  type Row,
  type Rows,
  recording,
  type Tables,
  word,
} from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { blocksAfter, nothing } from './chains.ts'
import type { Block } from './follow.ts'
import * as model from './settled.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const CURSOR = 10
/** Long after cohort 4 was opened, and its terms ended. */
const BLOCKS = blocksAfter(null, 20, 0).map((one) => ({ ...one, time: one.time + 9_000 }))
const [MINTER, FORMER, STRANGER, WALLET] = [account(0x51), account(0x52), account(0x53), account(0x61)]
const ZERO = account(0)
const OTHER = account(0x99)
/** Its outbox has it, whatever the range says of it. */
const KNOWN_TX = word(301)
const LOST_TX = word(999)

const KINDS: [state: string, reason: string | null][] = [
  ['seen', null],
  ['seen', null],
  ['accepted', null],
  ['minting', null],
  ['minting', null],
  ['held', 'soldOut'],
  ['held', 'refunding'],
  ['held', 'refunding'],
  ['held', 'mintedElsewhere'],
  ['refunded', 'wrongAmount'],
  ['dismissed', 'soldOut'],
  ['ignored', 'operator'],
  ['minted', null],
]
const [OPENED_AT, HOUR_SEC] = [5_000, 3_600]
const often = <T>(usual: T, ...others: T[]) => fc.constantFrom(usual, usual, usual, usual, ...others)
const payment = fc.record({
  kind: fc.constantFrom(...KINDS),
  succeeded: often(true, false),
  wei: fc.constantFrom(10n, 10n, 20n, 15n),
  tier: fc.constantFrom(null, null, 1, 1, 2),
  outbox: fc.constantFrom(900_001, 900_003),
  node: fc.constantFrom('none', 'none', 'before', 'range', 'range'),
  mintedTo: often<'payer' | 'other'>('payer', 'other'),
  isGivenAway: often(false, true),
  cohort: fc.constantFrom(1, 1, 1, 2, 4, 4, 4),
  isExpelled: often(false, true),
  skip: often<number | null>(null, 1, 2, 3, 4, 5, 6),
  taken: often<'payer' | 'other' | null>(null, 'payer', 'other'),
  isNew: fc.boolean(),
  wasAsked: often(false, true),
})
const sent = fc.option(fc.record({ isOwn: fc.constantFrom(true, true, false), succeeded: often(true, false) }))
const drawn = fc.record({
  payments: fc.array(payment, { minLength: 0, maxLength: 4 }),
  sent: fc.array(sent, { minLength: 6, maxLength: 6 }),
  opened: fc.constantFrom(
    null,
    null,
    { intervalSec: 60, firstDue: 6_000 },
    { intervalSec: 61, firstDue: 6_000 },
    { intervalSec: 60, firstDue: 6_001 },
  ),
  set: fc.subarray([1, 3, 4], { maxLength: 2 }),
  /** How long before cohort 4 was opened the terms ended that have its interval; null: none ever had it. */
  ended: fc.constantFrom(null, null, 0, 1, HOUR_SEC - 1, HOUR_SEC, HOUR_SEC + 1),
  /** How long after that the first terms were entered. */
  entered: fc.constantFrom(-3_000, -3_000, -1, 0, 1),
  isRestored: often(false, true),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function paymentOf({ kind, isNew, tier, outbox, succeeded, wei }: Drawn['payments'][number], n: number): model.Payment {
  const [state, reason] = kind
  const hasTier = state === 'accepted' || state === 'minting' || state === 'minted'
  return {
    ...{ ref: word(101 + n), payer: account(1 + n), wei, state, reason, isNew: isNew && state === 'seen' },
    succeeded: succeeded || hasTier,
    tier: state === 'seen' ? null : hasTier ? (tier ?? 1) : tier,
    outbox: state === 'minting' ? outbox : null,
    nodeId: state === 'minted' ? 1 + n : null,
  }
}

function nodeOf({ node, mintedTo, cohort, isExpelled }: Drawn['payments'][number], one: model.Payment): model.Node[] {
  const isMinted = one.state === 'minted'
  if (node === 'none' && !isMinted) return []
  return [
    {
      ...{ nodeId: Number(one.ref) - 100, ref: one.ref, isExpelled, isPaid: isMinted },
      ...{ mintedTo: mintedTo === 'payer' || isMinted ? one.payer : OTHER, isNew: node === 'range' && !isMinted },
      cohort: isMinted ? (one.tier as number) : cohort,
    },
  ]
}

const INTENTS: model.Intent[] = [
  { id: 900_001, kind: 'mint', sender: MINTER, nonce: 1, hash: KNOWN_TX, state: 'pending', minedAs: null },
  { id: 900_002, kind: 'credit', sender: MINTER, nonce: 2, hash: word(302), state: 'pending', minedAs: null },
  { id: 900_003, kind: 'mint', sender: FORMER, nonce: 1, hash: word(303), state: 'pending', minedAs: null },
]
const SENDERS: [string, number][] = [
  [MINTER, 1],
  [MINTER, 2],
  [MINTER, 3],
  [FORMER, 1],
  [FORMER, 2],
  [STRANGER, 1],
]

function termsOf({ ended, entered }: Drawn): model.Terms[] {
  const enteredAt = OPENED_AT + entered
  if (ended === null) return [{ enteredAt, from: 0, intervalSec: 60, slotSec: 60 }]
  return [
    { enteredAt, from: 0, intervalSec: 61, slotSec: 1 },
    { enteredAt: OPENED_AT + 100, from: OPENED_AT - ended, intervalSec: 60, slotSec: 60 },
  ]
}

function worldOf(given: Drawn): model.World {
  const payments = given.payments.map(paymentOf)
  const nodes = given.payments.flatMap((one, n) => nodeOf(one, payments[n] as model.Payment))
  const cohort = (number: number, tier: number) => ({
    ...{ cohort: number, tier, intervalSec: 60, openedIntervalSec: 60, firstDue: 6_000, openedAt: OPENED_AT },
  })
  const { opened } = given
  const set = given.set.filter((number) => number !== 3 || opened)
  const others = opened
    ? [{ ...cohort(3, 1), ...opened, openedIntervalSec: opened.intervalSec, openedAt: (BLOCKS[11] as Block).time }]
    : []
  const cohorts = [cohort(1, 1), cohort(2, 2), ...others, { ...cohort(4, 1), openedIntervalSec: 61 }]
  return {
    ...{ payments, nodes, set, minter: MINTER, isRestored: given.isRestored, opened: opened ? [3] : [] },
    terms: termsOf(given),
    cohorts: cohorts.map((one) => (set.includes(one.cohort) ? { ...one, intervalSec: 120 } : one)),
    intents: INTENTS.map((one) => ({ ...one })),
    asked: payments.flatMap(({ ref }, n) => (given.payments[n]?.wasAsked ? [ref] : [])),
    sent: given.sent.flatMap((one, n) => {
      const [sender, nonce] = SENDERS[n] as [string, number]
      const intent = INTENTS.find((other) => other.sender === sender && other.nonce === nonce)
      return one
        ? [{ sender, nonce, succeeded: one.succeeded, hash: (one.isOwn && intent?.hash) || word(401 + n) }]
        : []
    }),
    skips: payments.flatMap(({ ref }, n) => {
      const reason = given.payments[n]?.skip ?? null
      return reason === null ? [] : [{ ref, reason }]
    }),
    taken: payments.flatMap(({ ref, payer }, n) => {
      const taken = given.payments[n]?.taken ?? null
      const nodeId = nodes.find((one) => one.ref === ref)?.nodeId ?? 90 + n
      return taken === null ? [] : [{ ref, nodeId, to: taken === 'payer' ? payer : OTHER }]
    }),
  }
}

const inBlock = (number: number) => ({ block_number: number, block_hash: (BLOCKS[number] as Block).hash })
const tierRow = (tierNo: number) => ({
  ...{ tier_id: `t${tierNo}`, version: 1, tier_no: tierNo, label: 't', price_wei: 10 * tierNo, max_per_wallet: 9 },
  ...{ payout_bps: 1, on_sale: true, live: true, from_block: 0, from_time: 0, entered_by: 'test' },
})

function rowsOf(world: model.World, given: Drawn): Rows {
  const payments = world.payments.filter((one) => !one.isNew)
  const nodes = world.nodes.filter((one) => !one.isNew)
  const isGiven = ({ nodeId }: model.Node) => given.payments[nodeId - 1]?.isGivenAway ?? false
  const ownerOf = (one: model.Node) => (isGiven(one) ? STRANGER : one.mintedTo)
  const transfer = (one: model.Node, from: string, to: string, n: number) => ({
    ...{ node_id: one.nodeId, from_address: from, to_address: to, tx_hash: word(700), log_index: 10 * one.nodeId + n },
    ...inBlock(7),
  })
  return {
    cursors: [{ name: 'follow', ...inBlock(CURSOR), block_time: (BLOCKS[CURSOR] as Block).time }],
    blocks: BLOCKS.slice(5, CURSOR + 1).map(({ parentHash, ...one }) => ({ ...one, parent_hash: parentHash })),
    payment_wallets: [{ id: 101, wallet: WALLET, from_block: 0, from_time: 0, watched_from: 0, entered_by: 'test' }],
    wallet_books: [{ wallet: WALLET }],
    tiers: [tierRow(1), tierRow(2)],
    credit_terms: world.terms.map(({ enteredAt, from, intervalSec, slotSec }) => ({
      ...{ from_time: from, payouts: true, min_wei: 1, max_wei: 1, interval_sec: intervalSec, slot_sec: slotSec },
      ...{ entered_by: 'test', entered_at: at(enteredAt) },
    })),
    cohorts: [1, 2, 4].map((cohort) => ({
      ...{ cohort, tier_no: cohort === 2 ? 2 : 1, interval_sec: 60, next_due: 9_000, size: 9, ...inBlock(6) },
      // Others opened this one.
      ...{ opened_interval_sec: cohort === 4 ? 61 : 60, first_due: 6_000, opened_at: OPENED_AT },
    })),
    outbox: world.intents.map(({ id, kind, sender, nonce }) => ({
      ...{ id, kind, sender, nonce, call: '{}', gas_limit: 1, valid_until: 9_999 },
    })),
    outbox_attempts: world.intents.map(({ id, hash }) => ({
      ...{ tx_hash: hash, outbox_id: id, attempt: 1, raw: '0x01', max_fee_wei: 1, max_priority_fee_wei: 1 },
      signed_at_block: 1,
    })),
    payments: payments.map((one): Row => {
      // No new row gets such an id.
      const id = 900_000 + Number(one.ref) - 100
      return {
        ...{ id, ref: one.ref, tx_hash: one.ref, wallet: WALLET, from_address: one.payer, value_wei: one.wei },
        ...{ succeeded: one.succeeded, state: one.state, reason: one.reason, block_time: at(1_000), tx_index: 1 },
        ...{ tier_id: one.tier === null ? null : `t${one.tier}`, tier_version: one.tier === null ? null : 1 },
        ...{ outbox_id: one.outbox, node_id: one.nodeId, ...inBlock(8) },
      }
    }),
    owners: [...Map.groupBy(nodes, ownerOf)].map(([owner, own]) => ({ owner, nodes: own.length })),
    nodes: nodes.map((one) => ({
      ...{ node_id: one.nodeId, owner: ownerOf(one), cohort: one.cohort, ref: one.ref, mint_tx_hash: word(700) },
      ...{ per_node_at_mint_wei: 0, turns_at_mint: 0, minted_at: at(1_000), ...inBlock(7) },
      payment_id: one.isPaid ? 900_000 + one.nodeId : null,
    })),
    node_transfers: nodes.flatMap((one) => [
      transfer(one, ZERO, one.mintedTo, 1),
      ...(isGiven(one) ? [transfer(one, one.mintedTo, STRANGER, 2)] : []),
    ]),
    audit: world.asked.map((ref) => ({ actor: 'pass', action: 'nodeToConfirm', subject: ref, detail: '{}' })),
  }
}

/** The range in which all of that happens, as the chain shows it. */
function rangeOf(world: model.World, given: Drawn) {
  const place = (number: number, txHash: string, txIndex: number) => {
    const { hash, time } = BLOCKS[number] as Block
    return { blockNumber: number, blockHash: hash, blockTime: time, txHash, txIndex }
  }
  let logs = 0
  const event = (number: number, kind: string, rest: object, tx = KNOWN_TX) => ({
    ...{ ...place(number, tx, 0), logIndex: logs++, kind, ...rest },
  })
  const events = [
    ...(given.opened ? [event(11, 'cohortOpened', { cohort: 3, tierNo: 1, ...given.opened })] : []),
    ...world.set.map((cohort) => event(11, 'intervalSet', { cohort, intervalSec: 120 })),
    ...(world.isRestored ? [event(11, 'turnsSkipped', { round: 1, cohort: 2, due: 9_000, turns: 1 }, LOST_TX)] : []),
    ...world.nodes.flatMap((one) => {
      const id = { nodeId: BigInt(one.nodeId) }
      if (!one.isNew) return []
      const { mintedTo: owner, ref, cohort } = one
      const isGiven = given.payments[one.nodeId - 1]?.isGivenAway
      return [
        event(12, 'nodeMinted', { ...id, owner, ref, cohort }),
        event(12, 'transfer', { ...id, from: ZERO, to: owner }),
        ...(isGiven ? [event(12, 'transfer', { ...id, from: owner, to: STRANGER })] : []),
      ]
    }),
    ...world.skips.map((one) => event(12, 'mintSkipped', one)),
    ...world.taken.map((one) => event(12, 'refTaken', { ...one, nodeId: BigInt(one.nodeId) })),
    ...world.nodes
      .filter(({ isExpelled }) => isExpelled)
      .map(({ nodeId, ref, cohort }) =>
        event(13, 'nodeExpelled', { nodeId: BigInt(nodeId), ref, cohort, creditedWei: 0n }),
      ),
  ]
  const transfers = world.payments
    .filter(({ isNew }) => isNew)
    .map(({ ref, payer, wei, succeeded }, n) => ({
      ...{ ...place(12, ref, n), wallet: WALLET, from: payer, valueWei: wei, succeeded, type: 2, isUnsigned: false },
      ...{ proof: 'proven', codes: null },
    }))
  const sent = world.sent.map(({ hash, ...one }, n) => ({
    ...{ ...place(13, hash, n), ...one, gasUsed: 9n, feeWei: 8n, to: OTHER, valueWei: 0n, type: 2, proof: 'proven' },
  }))
  const watching = { wallets: [{ wallet: WALLET, watchedFrom: 0, closedBlock: null }], signers: [MINTER, FORMER] }
  return { ...nothing, watching, blocks: BLOCKS.slice(CURSOR + 1, CURSOR + 4), events, transfers, sent }
}

async function read(sql: Sql, askedBefore: number) {
  const payments = await sql`
    SELECT ref, state, reason, node_id AS "nodeId", outbox_id AS outbox, substr(tier_id, 2)::int AS tier FROM payments ORDER BY ref`
  const nodes = await sql`
    SELECT n.node_id AS "nodeId", payment_id IS NOT NULL AS "isPaid", cohort IS NULL AS "isExpelled", p.ref FROM nodes n LEFT JOIN payments p ON p.id = payment_id
    ORDER BY 1`
  const intents = await sql`
    SELECT sender, nonce, kind, state, tx_hash AS "minedAs", block_number AS block FROM outbox ORDER BY sender, nonce`
  const verdicts = await sql`
    SELECT p.ref, v.verdict, v.reason, v.evidence, v.decided_by AS by FROM payment_verdicts v JOIN payments p ON p.id = v.payment_id`
  const told = await sql`
    SELECT actor, action, subject, detail FROM audit WHERE action <> 'restored' ORDER BY id OFFSET ${askedBefore}`
  return Object.fromEntries(
    Object.entries({ payments, nodes, intents, verdicts, told }).map(([name, rows]) => [
      name,
      sorted(rows.map((row) => ({ ...row }))),
    ]),
  )
}
const textOf = (one: object) => JSON.stringify(one)
const sorted = (rows: object[]) => rows.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))

const met: Record<string, number> = {}
const WANTED = [
  'mintedElsewhere',
  'mintedThoughRefunded',
  'mintedThoughRefunding',
  'nodeToConfirm',
  'cohortOdd',
  'refTaken',
]
const missing = () => WANTED.filter((action) => met[action] === undefined)

test('each payment gets its node or its reason, and the run reports what should not be', async () => {
  const compare = async (given: Drawn) => {
    const world = worldOf(given)
    const [rows, range] = [rowsOf(world, given), rangeOf(world, given)]
    const sent: string[] = []
    const [stored, found] = await tables.within(rows, async (sql) => {
      const ctx = { pool: recording(sql, sent), chain: {}, log: silentLog, minter: { address: MINTER } }
      const cursor = { number: CURSOR, hash: (BLOCKS[CURSOR] as Block).hash, time: (BLOCKS[CURSOR] as Block).time }
      const result = await storeRange({ ...ctx, distributor: null } as never, range as never, cursor as never, 13)
      return [result, await read(sql, world.asked.length)] as const
    })
    const [detected, minted] = [range.transfers.length, world.nodes.filter(({ isNew }) => isNew).length]
    const { number, hash, time } = range.blocks.at(-1) as Block
    assert.deepEqual(stored, { cursor: { number, hash, time }, detected, minted })
    const { told, verdicts } = model.settle(world)
    for (const [action] of told) met[action] = (met[action] ?? 0) + 1
    const expected = {
      payments: world.payments.map(({ ref, state, reason, nodeId, outbox, tier }) => ({
        ref,
        state,
        reason,
        nodeId,
        outbox,
        tier,
      })),
      nodes: world.nodes.map(({ nodeId, isPaid, isExpelled, ref }) => ({
        nodeId,
        isPaid,
        isExpelled,
        ref: isPaid ? ref : null,
      })),
      intents: world.intents.map(({ sender, nonce, kind, state, minedAs }) => ({
        ...{ sender, nonce, kind, state, minedAs, block: minedAs === null ? null : 13 },
      })),
      verdicts: verdicts.map(({ ref, reason }) => ({
        ...{ ref, verdict: 'held', reason, evidence: { rule: reason, by: 'contract' }, by: 'pass' },
      })),
      told: told.map(([action, subject, detail]) => ({ actor: 'pass', action, subject, detail })),
    }
    for (const [name, some] of Object.entries(expected)) assert.deepEqual(found[name], sorted(some), name)
    const isQuiet = range.events.length + detected + range.sent.length === 0
    assert.equal(noticesIn(sent) === 0, isQuiet, 'what other instances hear')
  }
  // Some reports are rare: three in 150 cases.
  for (let round = 0; round === 0 || (round < 4 && missing().length > 0); round++)
    await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(150) })
  assert.deepEqual(missing(), [], JSON.stringify(met))
})
