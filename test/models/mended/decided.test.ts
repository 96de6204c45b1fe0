// What a rebuild copies of lists, wallets, decisions and records: src/mending/rebuild/copy.ts leaves what the second reading names, whatever an earlier try had copied.
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin } from '../../../src/db/core/sql.ts'
import * as copy from '../../../src/mending/rebuild/copy.ts'
import { account, type Row, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './copied.ts'
import { BLOCKS, continues, type Ledgers, openLedgers, type Pair, payment, verdictOf } from './copies.ts'

let ledgers: Ledgers
before(async () => {
  ledgers = await openLedgers()
})
after(() => ledgers.close())

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never
const blocks = { old: { blocks: BLOCKS(7) }, own: { blocks: BLOCKS(8) } }

const list = fc.record({
  /** How many wallets it names. Rows stand for them at the edges of what is read at once. */
  entries: fc.constantFrom(1, 2, 7_999, 8_000, 8_001, 128_000, 128_001),
  isCopied: fc.boolean(),
  published: fc.constantFrom<[old: boolean, own: boolean]>([false, false], [true, false], [true, true]),
})

function listsOf(lists: Drawn<typeof list>[]): Pair {
  const pair: Pair = { old: { allowlists: [], allowlist_entries: [], allowlist_nodes: [] }, own: {} }
  pair.own = { allowlists: [], allowlist_entries: [], allowlist_nodes: [] }
  lists.forEach(({ entries, isCopied, published }, index) => {
    const id = 1 + index
    const first = entries - 1
    const leaves = new Set(
      [first, first + 1, first + 7_999, first + 8_000, 2 * first].filter((leaf) => leaf <= 2 * first),
    )
    const last = Math.floor((2 * first) / 1_024)
    const pages = new Set([0, 1, 249, 250, last].filter((page) => page <= last))
    for (const side of ['old', 'own'] as const) {
      if (side === 'own' && !isCopied) continue
      const rows = pair[side] as Record<string, Row[]>
      rows.allowlists?.push({
        ...{ id, root: word(id), label: 'Early', entries, allocated: entries, entered_at: '2026-01-01T00:00:00.5Z' },
        ...{ entered_by: 'ada', published: published[side === 'old' ? 0 : 1] },
      })
      rows.allowlist_entries?.push(
        ...[...leaves].map((leaf) => ({ list: id, address: account(leaf), allocation: 1 + (leaf % 3), leaf })),
      )
      rows.allowlist_nodes?.push(...[...pages].map((page) => ({ list: id, page, nodes: `\\x0${id}${page % 10}0` })))
    }
  })
  return pair
}

test('a copy of the lists adds each that is missing, whole, and publishes what was published', async () => {
  const compare = (drawn: Drawn<typeof list>[]) =>
    ledgers.compare(
      listsOf(drawn),
      (old, own) => copy.copyAllowlists(old, poolWithin(own)),
      model.lists,
      // Lists are copied in order.
      (own) => (drawn.at(-1)?.isCopied === false ? continues(own, ['allowlists']) : Promise.resolve()),
    )
  await fc.assert(fc.asyncProperty(fc.array(list, { minLength: 1, maxLength: 3 }), compare), { numRuns: cases(12) })
})

const wallet = fc.record({
  /** Which wallet it is, in the new ledger and in the old one. */
  old: fc.constantFrom(null, 1, 2, 3),
  own: fc.constantFrom(null, 1, 2, 3),
  closed: fc.tuple(fc.constantFrom(null, 40), fc.constantFrom(null, null, 40)),
})

function walletsOf(drawn: Drawn<typeof wallet>[]): Pair {
  const rowsOf = (side: 'old' | 'own'): Row[] => {
    const rows = drawn.flatMap((one, index) => {
      const n = one[side]
      const closed = one.closed[side === 'old' ? 0 : 1]
      if (n === null) return []
      return [
        {
          ...{ id: 1 + index, wallet: account(n), from_block: 10 * n, from_time: 9 * n, stolen: n === 2 },
          ...{ grace_sec: 5 * n, watched_from: side === 'old' ? n : 1 + n, entered_at: '2026-01-01T00:00:00.5Z' },
          ...{ entered_by: 'ada', closed_block: closed, closed_by: closed && 'ada' },
          ...{ closed_at: closed && '2026-02-01T00:00:00Z' },
        },
      ]
    })
    // A wallet is entered once.
    return rows.filter((row, n) => rows.findIndex((other) => other.wallet === row.wallet) === n).toReversed()
  }
  const books = rowsOf('own').map((row, n) => ({ wallet: row.wallet ?? null, in_wei: 7 + n, out_wei: n }))
  return {
    old: { payment_wallets: rowsOf('old'), wallet_books: [], ...blocks.old },
    own: { payment_wallets: rowsOf('own'), wallet_books: books, ...blocks.own },
  }
}

test('a copy of the payments wallets leaves those of the old ledger, each with its own books', async () => {
  const compare = (drawn: Drawn<typeof wallet>[]) =>
    ledgers.compare(
      walletsOf(drawn),
      (old, own) => copy.copyWallets(old, poolWithin(own)),
      model.wallets,
      (own) => continues(own, ['payment_wallets']),
    )
  await fc.assert(fc.asyncProperty(fc.array(wallet, { minLength: 1, maxLength: 3 }), compare), { numRuns: cases(20) })
})

const decision = fc.record({
  /** The payment that it is about. */
  of: fc.integer({ min: 1, max: 3 }),
  by: fc.constantFrom('ada', 'ada', 'eve', 'pass'),
  isWithdrawn: fc.constantFrom(false, false, false, true),
  verdict: fc.constantFrom('accepted', 'accepted', 'held', 'refunded', 'dismissed'),
  /** Two decisions may have one time. */
  time: fc.constantFrom(1, 2, 3),
  isCopied: fc.constantFrom(false, false, true),
})
const drawnDecisions = fc.record({
  decisions: fc.array(decision, { maxLength: 5 }),
  payments: fc.array(
    fc.record({
      old: fc.constantFrom('seen', 'held', 'minted'),
      own: fc.constantFrom('none', 'seen', 'seen', 'held', 'accepted', 'minted', 'refunded', 'failed'),
      tier: fc.constantFrom(['free', 1], ['free', 2], ['full', 1]) as fc.Arbitrary<[string, number]>,
    }),
    { minLength: 3, maxLength: 3 },
  ),
})

const tier = (tier_id: string, version: number, more: Row): Row => ({
  ...{
    tier_id,
    version,
    tier_no: tier_id === 'free' ? 1 : 2,
    label: 'Tier',
    price_wei: 5,
    max_per_wallet: 1,
    ...more,
  },
  ...{ payout_bps: 1, on_sale: true, from_block: version, from_time: version, entered_by: 'ada' },
})
const TIERS = [
  // Its supply ended with the next version.
  tier('free', 1, { live: false, supply: 9 }),
  tier('free', 2, { live: true, supply: null }),
  tier('full', 1, { live: true, supply: 9 }),
]

function decisionsOf({ decisions, payments }: Drawn<typeof drawnDecisions>): Pair {
  // The new ledger numbers its payments otherwise. What it has on record comes before what it adds.
  const ownId = (n: number) => 14 - n
  const verdicts = decisions.map(({ of, by, isWithdrawn, verdict, time }, index) =>
    verdictOf(1 + index, of, by, isWithdrawn, {
      ...{ verdict, reason: verdict === 'accepted' ? null : verdict === 'held' ? 'operator' : 'wrongAmount' },
      ...{ decided_at: `2026-01-01T00:00:00.00${time}5Z` },
    }),
  )
  const nodeOf = (state: string, n: number): Row => ({ node_id: state === 'minted' ? n : null })
  return {
    old: {
      ...blocks.old,
      payments: payments.map(({ old, tier: [tier_id, tier_version] }, index) =>
        payment(1 + index, {
          ...{
            state: old,
            tier_id,
            tier_version,
            reason: old === 'held' ? 'soldOut' : null,
            ...nodeOf(old, 1 + index),
          },
        }),
      ),
      payment_verdicts: verdicts,
      tiers: TIERS,
    },
    own: {
      ...blocks.own,
      payments: payments.flatMap(({ own }, index): Row[] => {
        const isFailed = own === 'failed'
        const tier_id = own === 'accepted' ? 'free' : null
        const row = payment(ownId(1 + index), {
          ...{ state: isFailed ? 'seen' : own, reason: own === 'held' ? 'recheck' : null, ref: word(1 + index) },
          ...{ succeeded: !isFailed, ...nodeOf(own, 1 + index), tier_id, tier_version: tier_id && 2 },
        })
        return own === 'none' ? [] : [row]
      }),
      payment_verdicts: verdicts
        .filter(
          (_, index) => decisions[index]?.isCopied && decisions[index]?.by !== 'pass' && !decisions[index]?.isWithdrawn,
        )
        .filter(({ payment_id: id }) => payments[Number(id) - 1]?.own !== 'none')
        .map((row) => ({ ...row, id: Number(row.id) - 90, payment_id: ownId(Number(row.payment_id)) })),
      tiers: TIERS,
    },
  }
}

test('a copy of decisions adds those in force, and decides what has neither node nor failed', async () => {
  const compare = (drawn: Drawn<typeof drawnDecisions>) =>
    ledgers.compare(decisionsOf(drawn), (old, own) => copy.copyVerdicts(old, poolWithin(own)), model.verdicts)
  await fc.assert(fc.asyncProperty(drawnDecisions, compare), { numRuns: cases(30) })
})

const act = fc.record({
  time: fc.constantFrom(1, 2),
  actor: fc.constantFrom('ada', 'eve', 'pass', 'start', 'seed', 'rebuild'),
  action: fc.constantFrom('paused', 'resumed'),
  subject: fc.constantFrom(null, 'basic', 'plus'),
  detail: fc.constantFrom('{}', '{"wei": 12345678901234567890}'),
  isCopied: fc.boolean(),
})
const refund = fc.record({
  ref: fc.integer({ min: 1, max: 4 }),
  isCommission: fc.boolean(),
  since: fc.constantFrom('same', 'added', 'moved', 'gone'),
})
const drawnRecords = fc.record({
  acts: fc.array(act, { maxLength: 5 }),
  refunds: fc.uniqueArray(refund, { maxLength: 3, selector: ({ ref }) => ref }),
})

function recordsOf({ acts, refunds }: Drawn<typeof drawnRecords>): Pair {
  const rows = acts.map(({ time, actor, action, subject, detail }, index) => ({
    ...{ id: 1 + index, at: `2026-01-01T00:00:00.00${time}5Z`, actor, action, subject, detail },
    ...{ request_id: subject && 'r1' },
  }))
  const refundOf = ({ ref, isCommission, since }: Drawn<typeof refund>, isOld: boolean): Row => ({
    ...{
      payment_ref: isCommission ? null : word(ref),
      commission_of: isCommission ? 'ada' : null,
      tx_hash: word(50 + ref),
    },
    ...{ inner_index: isCommission ? 1 : 0, from_address: account(1), to_address: account(ref), value_wei: 10n ** 30n },
    ...{ block_number: 5, block_hash: word(since === 'moved' && isOld ? 6 : 5), final: since === 'moved' && isOld },
    ...{ recorded_at: '2026-01-01T00:00:00.5Z', recorded_by: 'ada' },
  })
  return {
    old: {
      ...{ audit: rows, ...blocks.old },
      refunds: refunds.filter(({ since }) => since !== 'gone').map((one) => refundOf(one, true)),
    },
    own: {
      ...blocks.own,
      audit: [
        {
          id: -90,
          at: '2026-01-03T00:00:00Z',
          actor: 'rebuild',
          action: 'paused',
          subject: null,
          detail: '{}',
          request_id: null,
        },
        ...rows
          .filter((_, index) => acts[index]?.isCopied && ['ada', 'eve'].includes(acts[index]?.actor ?? ''))
          .map((row) => ({ ...row, id: row.id - 90 })),
      ],
      refunds: refunds.filter(({ since }) => since !== 'added').map((one) => refundOf(one, false)),
    },
  }
}

test('a copy of records adds what people did, and leaves the refunds of the old ledger', async () => {
  const compare = (drawn: Drawn<typeof drawnRecords>) =>
    ledgers.compare(recordsOf(drawn), (old, own) => copy.copyRecords(old, poolWithin(own)), model.records)
  await fc.assert(fc.asyncProperty(drawnRecords, compare), { numRuns: cases(30) })
})
