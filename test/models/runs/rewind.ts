// What a ledger keeps when it goes back to a block, by docs/ARCHITECTURE.md (Cursor and forks, Decisions), docs/ADMIN.md (Payments) and the tables of
// migrations/0001_schema.sql. Every fact has its block. The rows of a ledger are built from its facts, those of one that went back from the facts up to
// that block alone, so nothing is ever taken back.
//
// Choices in what the documents leave open:
// - A payment whose block is gone stays on record, in no block, with the reason of its last verdict. So do the operator's verdicts and refunds.
// - If only its mint is gone, its last verdict stands again. It is `minting` if that accepted it and its transaction is to be sent again.
// - A balance that began above the block begins again. Otherwise it was compared up to that block at most, and no further than it was before.
// - A rescan reads the same blocks again, so neither wallets nor steps of a ladder go back, and no refund is told of.
import { account, at as iso, type Row, type Rows, word } from '../../db/direct-rows.ts'

export type Verdict = 'accepted' | 'held' | 'ignored' | 'refunded' | 'dismissed'
export interface Payment {
  block: number
  wallet: number
  wei: bigint
  succeeded: boolean
  verdict: { verdict: Verdict; reason: string | null } | null
  /** Blocks after its own in which its mint came, by one of our transactions or another's; null for none. */
  mint: { after: number; isOurs: boolean; owner: number; cohort: number } | null
  refund: { block: number; isFinal: boolean } | null
  /** Value that the balance check found; attributed to a payer later. */
  isAttributed: boolean
}
export interface NodeFact {
  payment: number
  kind: 'transfer' | 'withdrawal' | 'failed' | 'expulsion'
  after: number
  to: number
}
export interface Books {
  base: number | null
  audited: number
  watchedFrom: number
}
export interface Facts {
  head: number
  payments: Payment[]
  nodeFacts: NodeFact[]
  /** Blocks of further facts of each kind. */
  outflows: number[]
  dust: number[]
  zeros: number[]
  rounds: { block: number; nodes: number }[]
  acts: number[]
  seeds: number[]
  openings: number[]
  foreign: number[]
  bases: number[]
  wallets: [Books, Books]
  /** Blocks in which a cohort is opened, and changed, and set by the owner. */
  cohorts: { opened: number; changed: number[]; ownerSet: number | null }[]
  surveyedTo: number | null
}
export interface Back {
  /** The block of which the rows are; the head for a ledger that did not go back. */
  at: number
  /** Before the first block: nothing is followed. */
  isEmpty: boolean
  isRescan: boolean
}

export const hashOf = (number: number) => word(10_000 + number)
const inBlock = (number: number | null) => ({
  block_number: number,
  block_hash: number === null ? null : hashOf(number),
})
const timeOf = (number: number) => 1_000 + 10 * number
const RICH = 10n ** 20n

/** A payment's node, if its mint came. */
export function mintOf({ head, cohorts }: Facts, one: Payment): { block: number; cohort: number } | null {
  if (one.mint === null || !one.succeeded || one.isAttributed) return null
  const opened = cohorts[one.mint.cohort]?.opened ?? 0
  const block = Math.max(one.block, opened) + one.mint.after
  return block > head ? null : { block, cohort: 1 + one.mint.cohort }
}

/** The facts of a node, oldest first. */
function factsOf(facts: Facts, id: number, minted: number, at: number) {
  const own = facts.nodeFacts.filter(({ payment }) => payment === id)
  const placed = own.map((one, n) => ({ ...one, n, block: minted + one.after }))
  return placed
    .filter(({ block }) => block <= Math.min(at, facts.head))
    .toSorted((a, b) => a.block - b.block || a.n - b.n)
}

/** The state that a payment has but for its node. */
function verdictOf(facts: Facts, one: Payment, { at }: Back) {
  const tier = { tier_id: 'basic', tier_version: 1 }
  if (one.verdict === null) return { state: 'seen', reason: null, tier_id: null, tier_version: null }
  const { verdict: state, reason } = one.verdict
  const minted = mintOf(facts, one)
  const isOnItsWay = state === 'accepted' && one.mint?.isOurs === true && (minted === null || minted.block > at)
  return { state: isOnItsWay ? 'minting' : state, reason, ...tier }
}

export const stateOf = (facts: Facts, one: Payment, back: Back): { state: string; reason: string | null } & Row => {
  const before = verdictOf(facts, one, back)
  const minted = mintOf(facts, one)
  if (one.block > back.at) return { ...before, state: 'orphaned' }
  if (minted === null || minted.block > back.at) return before
  return { ...before, state: 'minted', reason: null, tier_id: 'basic', tier_version: 1 }
}

function paymentRows(facts: Facts, back: Back): Row[] {
  return facts.payments.map((one, n) => {
    const id = 1 + n
    const isGone = one.block > back.at
    const minted = mintOf(facts, one)
    const isMinted = !isGone && minted !== null && minted.block <= back.at
    const isResidue = one.isAttributed && isGone
    return {
      ...{ id, ref: word(isResidue ? 500 + id : 100 + id), wallet: account(1 + one.wallet), value_wei: one.wei },
      ...{ tx_hash: isResidue ? null : word(id), from_address: isResidue ? null : account(9) },
      inner_index: one.isAttributed && !isResidue ? 2 : 0,
      ...{ succeeded: one.succeeded, ...stateOf(facts, one, back), block_time: iso(timeOf(one.block)) },
      ...{ outbox_id: one.mint?.isOurs ? id : null, node_id: isMinted ? id : null },
      ...{ ...inBlock(isGone ? null : one.block), tx_index: isGone ? null : 3 },
    }
  })
}

type NodeRows = Record<'nodes' | 'withdrawals' | 'node_transfers' | 'expulsions', Row[]>

/** The rows of nodes, and of what became of them. */
function nodeRows(facts: Facts, { at }: Back): NodeRows {
  const rows: NodeRows = { nodes: [], withdrawals: [], node_transfers: [], expulsions: [] }
  for (const [n, one] of facts.payments.entries()) {
    const minted = mintOf(facts, one)
    if (minted !== null && minted.block <= at) addNode(rows, { facts, n, at, ...minted })
  }
  return rows
}

const FAILED = { status: 'failed', withdrawn_total_wei: null, log_index: null }

function addNode(rows: NodeRows, node: { facts: Facts; n: number; at: number; block: number; cohort: number }): void {
  const id = 1 + node.n
  let owner = account(20 + (node.facts.payments[node.n]?.mint?.owner ?? 0))
  let cohort: number | null = node.cohort
  let withdrawn = 0n
  const minted = { from_address: account(19), to_address: owner, tx_hash: word(700 + id), node_id: id }
  rows.node_transfers.push({ ...minted, log_index: 100 * id, ...inBlock(node.block) })
  for (const fact of factsOf(node.facts, node.n, node.block, node.at)) {
    const log = { log_index: 100 * id + 1 + fact.n, ...inBlock(fact.block) }
    const [to, tx] = [account(20 + fact.to), { node_id: id, tx_hash: word(1_000 * id + fact.n) }]
    if (fact.kind === 'transfer') {
      rows.node_transfers.push({ ...tx, from_address: owner, to_address: to, ...log })
      owner = to
    } else if (fact.kind === 'expulsion') {
      const gone = { credited_wei: 0n, turn_count: 0, expelled_at: iso(1), ...inBlock(fact.block) }
      if (cohort !== null) rows.expulsions.push({ ...tx, cohort, ...gone })
      cohort = null
    } else {
      if (fact.kind === 'withdrawal') withdrawn += 7n
      const paid = { amount_wei: 7n, created_at: iso(1), ...log }
      const total = fact.kind === 'failed' ? FAILED : { status: 'sent', withdrawn_total_wei: withdrawn }
      // Rows are numbered as their blocks came.
      rows.withdrawals.push({ id: 100_000 * fact.block + 100 * id + fact.n, ...tx, to_address: to, ...paid, ...total })
    }
  }
  rows.nodes.push({
    ...{ node_id: id, owner, cohort, ref: word(100 + id), payment_id: id, per_node_at_mint_wei: 0n, turns_at_mint: 0 },
    ...{ withdrawn_wei: withdrawn, mint_tx_hash: word(700 + id), minted_at: iso(1), ...inBlock(node.block) },
  })
}

function cohortRows({ cohorts }: Facts, { at }: Back): Rows {
  const found = { cohorts: [] as Row[], cohort_states: [] as Row[] }
  for (const [n, { opened, changed, ownerSet }] of cohorts.entries()) {
    if (opened > at) continue
    const cohort = 1 + n
    const blocks = [...new Set([opened, ...changed.filter((block) => block > opened)])].toSorted((a, b) => a - b)
    const states = blocks
      .filter((block) => block <= at)
      .map((block) => ({
        ...{ interval_sec: 60 + block, next_due: 1_000 * block, size: block, per_node_wei: BigInt(3 * block) },
        ...{ turn_count: block, last_turn_at: block === opened ? null : iso(timeOf(block)) },
      }))
    for (const [i, state] of states.entries())
      found.cohort_states.push({ cohort, block_number: blocks[i] as number, ...state })
    const set = ownerSet !== null && ownerSet <= at ? ownerSet : null
    found.cohorts.push({ cohort, tier_no: 1, ...states.at(-1), owner_set_block: set, ...inBlock(opened) })
  }
  return found
}

function sendRows(facts: Facts, { at }: Back): Rows {
  const own = facts.payments.flatMap((one, n): Row[] => {
    if (one.mint?.isOurs !== true) return []
    const minted = mintOf(facts, one)
    const block = minted !== null && minted.block <= at ? minted.block : null
    const done =
      block === null ? {} : { tx_hash: word(700 + n), gas_used: 9, fee_wei: 8n, value_wei: 0n, to_address: account(30) }
    const call = {
      kind: 'mint',
      sender: account(31),
      nonce: n,
      call: '{}',
      gas_limit: 1,
      valid_until: 9,
      created_at: iso(1),
    }
    const time = block === null ? null : iso(timeOf(block))
    return [
      { id: 1 + n, ...call, state: block === null ? 'pending' : 'mined', ...inBlock(block), block_time: time, ...done },
    ]
  })
  const foreign = facts.foreign.filter((block) => block <= at)
  return {
    outbox: [
      ...own,
      ...foreign.map((block, n) => ({
        ...{
          id: 900 + n,
          kind: 'foreign',
          sender: account(32),
          nonce: n,
          call: '{}',
          gas_limit: 1,
          created_at: iso(1),
        },
        ...{
          valid_until: null,
          state: 'displaced',
          ...inBlock(block),
          block_time: iso(timeOf(block)),
          tx_hash: word(950 + n),
        },
        ...{ gas_used: 9, fee_wei: 8n, value_wei: 0n, to_address: account(30) },
      })),
    ],
    sender_bases: facts.bases
      .map((block, n) => ({ sender: account(40 + n), nonce: n, block_number: block }))
      .filter((row) => row.block_number <= at),
  }
}

function walletRows(facts: Facts, back: Back): Rows {
  const { at, isEmpty, isRescan } = back
  const upTo = (blocks: number[]) => blocks.filter((block) => block <= at)
  const [outflows, dust, zeros] = [upTo(facts.outflows), upTo(facts.dust), upTo(facts.zeros)]
  const sum = (wei: bigint[]) => wei.reduce((total, one) => total + one, 0n)
  const arrived = facts.payments.filter((one) => one.wallet === 0 && one.succeeded && one.block <= at)
  const other = facts.payments.filter((one) => one.wallet === 1 && one.succeeded && one.block <= at)
  const booked = facts.wallets.map(({ base, audited }, n): Row => {
    const isKept = !isEmpty && base !== null && base <= at
    const own = n === 0 ? arrived : other
    return {
      ...{ wallet: account(1 + n), in_wei: sum(own.map(({ wei }) => wei)) + (n === 0 ? BigInt(dust.length) : 0n) },
      ...{ out_wei: n === 0 ? 5n * BigInt(outflows.length) : 0n, base_wei: isKept ? RICH : null },
      ...{ base_block: isKept ? base : null, audited_block: isKept ? Math.min(Math.max(base, audited), at) : null },
      ...{ audited_proof: isKept ? 'proven' : null, dust_transfers: n === 0 ? dust.length : 0 },
      zero_transfers: n === 0 ? 2 * new Set(zeros).size : 0,
    }
  })
  const bytes = (hex: string) => `\\x${hex.slice(2)}`
  return {
    wallet_books: booked,
    payment_wallets: facts.wallets.map(({ watchedFrom }, n) => ({
      ...{ id: 1 + n, wallet: account(1 + n), from_block: 0, from_time: 0, entered_by: 'test', entered_at: iso(1) },
      watched_from: isRescan ? watchedFrom : Math.min(watchedFrom, at + 1),
    })),
    wallet_outflows: outflows.map((block, n) => ({
      ...{ ref: word(800 + n), tx_hash: word(800 + n), wallet: account(1), to_address: account(9), value_wei: 4n },
      ...{ fee_wei: 1n, block_time: iso(timeOf(block)), ...inBlock(block) },
    })),
    dust: dust.map((block, n) => ({
      ...{ block_number: block, tx_index: n, wallet_id: 1, tx_hash: bytes(word(850 + n)), value_wei: 1n },
      from_address: bytes(account(9)),
    })),
    zero_transfers: [...new Set(zeros)].map((block) => ({ block_number: block, wallet_id: 1, transfers: 2 })),
  }
}

function totalsOf(rows: Rows): Row {
  const sum = (table: string, of: (row: Row) => bigint) => (rows[table] ?? []).reduce((wei, row) => wei + of(row), 0n)
  return {
    ...{ nodes: rows.nodes?.length ?? 0, owners: new Set(rows.nodes?.map(({ owner }) => owner)).size },
    rounds: (rows.rounds ?? []).filter(({ node_count }) => Number(node_count) > 0).length,
    distributed_wei: sum('rounds', ({ total_wei }) => BigInt(String(total_wei))),
    withdrawn_wei: sum('nodes', ({ withdrawn_wei }) => BigInt(String(withdrawn_wei))),
    sales_wei: sum('payments', ({ state, value_wei }) => (state === 'minted' ? BigInt(String(value_wei)) : 0n)),
  }
}

/** What people and the judge decided stays. A refund is no longer final if its block is gone. */
function decisionRows(facts: Facts, at: number): Rows {
  return {
    payment_verdicts: facts.payments.flatMap((one, n): Row[] => {
      if (one.verdict === null) return []
      const evidence = JSON.stringify({ rule: 'price', tierId: 'basic', tierVersion: 1 })
      return [{ id: 1 + n, payment_id: 1 + n, ...one.verdict, evidence, decided_by: 'pass', decided_at: iso(1) }]
    }),
    attributions: facts.payments.flatMap((one, n): Row[] => {
      if (!one.isAttributed) return []
      const found = {
        ref: word(101 + n),
        residue_ref: word(501 + n),
        is_rest: true,
        tx_hash: word(1 + n),
        tx_index: 3,
        inner_index: 2,
      }
      return [{ ...found, from_address: account(9), attributed_by: 'ada', attributed_at: iso(1) }]
    }),
    refunds: facts.payments.flatMap((one, n): Row[] => {
      if (one.refund === null) return []
      const { block, isFinal } = one.refund
      const paid = {
        payment_ref: word(101 + n),
        tx_hash: word(600 + n),
        from_address: account(1),
        to_address: account(9),
      }
      const by = { value_wei: one.wei, recorded_by: 'ada', recorded_at: iso(1), final: isFinal && block <= at }
      return [{ ...paid, ...by, ...inBlock(block) }]
    }),
  }
}

/** All rows of a ledger that has followed the facts up to a block. What it knew of later blocks, it knows of no more. */
export function rowsOf(facts: Facts, back: Back): Rows {
  const { at, isEmpty, isRescan } = back
  const upTo = (blocks: number[]) => [...new Set(blocks)].filter((block) => block <= at)
  const chain = Array.from({ length: at + 1 }, (_, number) => number)
  const rows: Rows = {
    ...{ payments: paymentRows(facts, back), ...nodeRows(facts, back), ...cohortRows(facts, back) },
    ...{ ...sendRows(facts, back), ...walletRows(facts, back) },
    tiers: [
      {
        ...{
          tier_id: 'basic',
          version: 1,
          tier_no: 1,
          label: 'Basic',
          price_wei: 10n,
          payout_bps: 1,
          max_per_wallet: 1,
        },
        ...{ on_sale: true, live: true, from_block: 0, from_time: 0, entered_by: 'test', entered_at: iso(1) },
      },
    ],
    ...decisionRows(facts, at),
    rounds: facts.rounds
      .map(({ block, nodes }, n) => ({
        ...{ round: 1 + n, mode: 'treasury', total_wei: RICH, node_count: nodes, tx_hash: word(960 + n) },
        ...{ created_at: iso(timeOf(block)), ...inBlock(block) },
      }))
      .filter((row) => row.block_number !== null && row.block_number <= at),
    owner_acts: upTo(facts.acts).map((block) => ({
      ...{ log_index: 1, name: 'Swept', detail: '{}', at: iso(timeOf(block)), tx_hash: word(970), ...inBlock(block) },
    })),
    seed_blocks: upTo(facts.seeds).map((number) => ({ number, time: timeOf(number), seed: word(1), proof: 'proven' })),
    tier_openings: facts.openings
      .map((block, n) => ({ tier_id: `t${n}`, opens_after: 'basic', from_block: block, tx_index: 0, inner_index: 0 }))
      .filter(({ from_block: block }) => isRescan || block <= at),
    blocks: chain.map((number) => ({
      ...{ number, hash: hashOf(number), parent_hash: hashOf(number - 1 < 0 ? 99 : number - 1), time: timeOf(number) },
      prevrandao: word(1),
    })),
    // After a difference, nothing is sold until the ledger is where it was.
    ledger_state: [{ mending_to: isRescan && at < facts.head ? facts.head : null }],
    cursors: isEmpty ? [] : [{ name: 'follow', ...inBlock(at), block_time: timeOf(at) }],
  }
  const owners = new Map<string, number>()
  for (const { owner } of rows.nodes ?? []) owners.set(String(owner), (owners.get(String(owner)) ?? 0) + 1)
  rows.owners = [...owners].map(([owner, nodes]) => ({ owner, nodes }))
  rows.totals = [{ single: true, ...totalsOf(rows) }]
  const surveyed = facts.surveyedTo === null ? null : Math.min(facts.surveyedTo, isEmpty ? -1 : at)
  if (surveyed !== null) rows.ledger_state = [...(rows.ledger_state ?? []), { surveyed_to: surveyed }]
  return rows
}

/** What the audit log says of a ledger that went back: how much of what was taken back, and payments that are refunded, or about to be. */
export function toldOf(facts: Facts, back: Back): object[] {
  const [before, after] = [rowsOf(facts, { at: facts.head, isEmpty: false, isRescan: true }), rowsOf(facts, back)]
  const gone = (table: string) => (before[table]?.length ?? 0) - (after[table]?.length ?? 0)
  const mined = ({ outbox }: Rows) => (outbox ?? []).filter(({ state }) => state === 'mined').length
  const detail = {
    ...{ fromBlock: facts.head, toBlock: back.at, resent: mined(before) - mined(after) },
    ...{ nodes: gone('nodes'), withdrawals: gone('withdrawals'), rounds: gone('rounds') },
    orphanedPayments: facts.payments.filter((one) => one.block > back.at).length,
  }
  if (back.isRescan) return [{ actor: 'ada', action: 'rescan', subject: null, detail }]
  return [{ actor: 'pass', action: 'reorganisation', subject: null, detail }, ...refundsOf(facts, back.at)]
}

const refundsOf = (facts: Facts, at: number) =>
  facts.payments.flatMap((one, n) => {
    const { state, reason } = stateOf(facts, one, { at: facts.head, isEmpty: false, isRescan: false })
    const isRefunding = state === 'held' && reason === 'refunding'
    if (one.block <= at || (one.refund === null && !isRefunding)) return []
    const refundTxHash = one.refund === null ? null : word(600 + n)
    const detail = { refundTxHash, valueWei: String(one.wei) }
    return [{ actor: 'pass', action: 'refundOfOrphaned', subject: word(101 + n), detail }]
  })
