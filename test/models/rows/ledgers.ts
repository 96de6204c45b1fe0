// Random ledgers of a sale, with the rows that the database has of them: tiers, payments in every state, and nodes that were minted or expelled.
import fc from 'fast-check'
import { account, at, type Row, type Rows, word } from '../../db/direct-rows.ts'
import { type History, histories } from '../histories.ts'
import { choose } from '../sale.ts'
import type { Ledger, NodeRow, PaymentRow } from './places.ts'

/** A tier's number on the contract, in another order than the ids. */
export const tierNo = (tierId: string) => 1 + ((Number(tierId.slice(1)) + 1) % 3)
const tierNames = ['t0', 't1', 't2']

/** Two wallets, most often the first. */
export const HOLDERS = [account(2), account(3)]
const holder = fc.constantFrom(account(2), account(2), account(3))

const drawnPayment = fc.record({
  from: holder,
  pick: fc.nat(999),
  state: fc.constantFrom(
    'seen',
    'seen',
    'seen',
    'seen',
    'accepted',
    'minting',
    'held',
    'held',
    'refunded',
    'dismissed',
  ),
  isRefunding: fc.boolean(),
  hasMint: fc.boolean(),
  txIndex: fc.nat(1),
  innerIndex: fc.nat(1),
  otherTier: fc.constantFrom(null, null, null, ...tierNames),
})
const drawnNode = fc.record({
  owner: holder,
  tierId: fc.constantFrom(...tierNames),
  isExpelled: fc.boolean(),
  payment: fc.constantFrom('none', 'kept', 'refunded'),
})
/** What a ledger is made of. */
export const drawn = fc.record({
  history: histories(),
  payments: fc.array(drawnPayment, { maxLength: 10 }),
  nodes: fc.array(drawnNode, { maxLength: 4 }),
  /** The head is this much later than one of the payments. */
  headPick: fc.nat(9),
  age: fc.constantFrom(0, 1, 3_599, 3_600, 3_601),
})
export type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function paymentOf({ sale, payments }: History, one: Drawn['payments'][number]): PaymentRow | null {
  const bought = payments.filter(({ valueWei, block }) => choose(sale, valueWei, block).kind === 'sells')
  // One in five is of any amount, the others buy something.
  const among = one.pick % 5 === 0 || bought.length === 0 ? payments : bought
  const picked = among[one.pick % Math.max(1, among.length)]
  if (picked === undefined) return null
  const { valueWei, block } = picked
  const { otherTier, pick, ...rest } = one
  const choice = choose(sale, valueWei, { ...block, txIndex: one.txIndex, innerIndex: one.innerIndex })
  const other = sale.versions.find(({ tierId }) => tierId === otherTier)
  const tierId = other?.tierId ?? (choice.kind === 'sells' ? choice.tierId : (sale.versions[0]?.tierId ?? null))
  const state = rest.state as PaymentRow['state']
  const isRefunding = state === 'held' && rest.isRefunding
  const hasMint = state === 'minting' || rest.hasMint
  return { ...rest, state, isRefunding, hasMint, tierId, valueWei, block: block.number, time: block.time }
}

export function ledgerOf({ history, payments, nodes, headPick, age }: Drawn): Ledger {
  const known = payments.map((one) => paymentOf(history, one)).filter((one) => one !== null)
  const headTime = (known[headPick % Math.max(1, known.length)]?.time ?? 1_000) + age
  return {
    sale: history.sale,
    nodes: nodes as NodeRow[],
    payments: known.filter((one) => one.time <= headTime),
    headTime,
  }
}

const block = (number: number) => ({ block_number: number, block_hash: word(number) })

const latest = ({ versions }: Ledger['sale'], tierId: string) =>
  Math.max(0, ...versions.filter((v) => v.tierId === tierId).map((v) => v.version))

const paid = (n: number) => ({
  id: n,
  ref: word(n),
  tx_hash: word(n),
  wallet: account(1),
  from_address: account(2),
  succeeded: true,
})

const tierRows = ({ sale }: Ledger): Row[] =>
  sale.versions.map((one) => ({
    ...{
      tier_id: one.tierId,
      version: one.version,
      tier_no: tierNo(one.tierId),
      label: one.tierId,
      price_wei: one.priceWei,
    },
    ...{
      max_per_wallet: one.maxPerWallet,
      payout_bps: 10_000,
      on_sale: one.onSale,
      grace_sec: one.graceSec,
      supply: one.supply,
    },
    ...{ opens_at: one.opensAt, closes_at: one.closesAt, opens_after: one.opensAfter },
    ...{
      live: one.version === latest(sale, one.tierId),
      from_block: one.fromBlock,
      from_time: one.fromTime,
      entered_by: 'test',
    },
  }))

function nodeRows({ sale, nodes }: Ledger): Rows {
  return {
    tier_openings: sale.openings.map((one) => ({
      tier_id: one.tierId,
      opens_after: one.opensAfter,
      from_block: one.fromBlock,
      tx_index: one.txIndex,
      inner_index: one.innerIndex,
    })),
    cohorts: tierNames.map((tierId) => ({
      ...{ cohort: tierNo(tierId), tier_no: tierNo(tierId), interval_sec: 60, next_due: 0, ...block(1) },
      size: nodes.filter((one) => one.tierId === tierId && !one.isExpelled).length,
    })),
    nodes: nodes.map((one, n) => ({
      ...{ node_id: 1 + n, owner: one.owner, cohort: one.isExpelled ? null : tierNo(one.tierId), ref: word(500 + n) },
      ...{ payment_id: one.payment === 'none' ? null : 1 + n, per_node_at_mint_wei: 0n, turns_at_mint: 0 },
      ...{ mint_tx_hash: word(600 + n), minted_at: at(1_000), ...block(10) },
    })),
    expulsions: nodes.flatMap((one, n): Row[] => {
      if (!one.isExpelled) return []
      const terms = { credited_wei: 0n, turn_count: 0, expelled_at: at(1_000), tx_hash: word(700 + n) }
      return [{ node_id: 1 + n, cohort: tierNo(one.tierId), ...terms, ...block(11) }]
    }),
    refunds: nodes.flatMap((one, n): Row[] => {
      if (one.payment !== 'refunded') return []
      const transfer = { from_address: account(1), to_address: account(2), value_wei: 10n, recorded_by: 'test' }
      return [{ payment_ref: word(1 + n), tx_hash: word(800 + n), ...transfer, ...block(12) }]
    }),
  }
}

function paymentRows({ sale, nodes, payments }: Ledger): Row[] {
  const kept = nodes.flatMap((one, n): Row[] => {
    if (one.payment === 'none') return []
    return [{ ...paid(1 + n), value_wei: 10n, state: 'minted', node_id: 1 + n, block_time: at(1_000), ...block(10) }]
  })
  return [
    ...kept,
    ...payments.map((one, n) => ({
      ...{
        ...paid(100 + n),
        from_address: one.from,
        inner_index: one.innerIndex,
        tx_index: one.txIndex,
        value_wei: one.valueWei,
        state: one.state,
      },
      ...{ reason: one.state !== 'held' ? null : one.isRefunding ? 'refunding' : 'soldOut' },
      ...{ tier_id: one.state === 'seen' ? null : one.tierId, outbox_id: one.hasMint ? 1 : null, node_id: null },
      tier_version: one.state === 'seen' || one.tierId === null ? null : latest(sale, one.tierId),
      ...{ block_time: at(one.time), ...block(one.block) },
    })),
  ]
}

export const rowsOf = (ledger: Ledger): Rows => ({
  cursors: [{ name: 'follow', block_time: ledger.headTime, ...block(1_000) }],
  tiers: tierRows(ledger),
  ...nodeRows(ledger),
  payments: paymentRows(ledger),
})
