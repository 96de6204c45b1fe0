// Random histories of a sale in a real database, and the judge's run over them: several payments of one wallet, replaced payments wallets, graced
// versions, lists and supplies.
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../src/db/core/sql.ts'
import { KNOWN_IMPLEMENTATIONS, KNOWN_PROXIES } from '../../src/domain/payers/known-wallets.ts'
import { silentLog } from '../../src/lib/log.ts'
import { type JudgeResult, judge } from '../../src/passes/steps/judge.ts'
import { type History, histories } from '../models/histories.ts'
import type * as model from '../models/runs/judging.ts'
import { choose, type Version } from '../models/sale.ts'
import { treeOf } from '../models/verified/allowlisted.ts'
import type { Wallet } from '../models/wallets.ts'
import { account, at, type Row, type Rows, word } from './direct-rows.ts'

export const MINTER = account(90)
const [TOKEN, RETRY_SEC, HEIGHT] = [account(91), 600, 1_000]
const BUYERS = [account(5), account(6), account(7)]
const WALLETS = [account(1), account(2), account(3)]
export const LISTS = ['0xaa', '0xbb', '0xcc']
/** The tree of a list, which has one more wallet, so that no two are the same. */
export const treeIn = ({ lists }: model.Ledger, list: string) =>
  treeOf(
    [...(lists.get(list) ?? []), [account(200 + Number(list)), 1] as const].map(([address, allocation]) => ({
      address,
      allocation,
    })),
  )
export const tierNo = (tierId: string) => 1 + Number(tierId.slice(1))

/** What a second provider says of a payment that only one told of: nothing, or another word for just one field. */
const DOUBTS = ['missing', 'from', 'to', 'valueWei', 'blockHash', 'succeeded'] as const
type Payment = model.Payment & {
  doubt: 'none' | (typeof DOUBTS)[number] | null
  /** The block of which the ledger has the payer's code: its own, one of a fork that is gone, or none. */
  stored: 'own' | 'forked' | null
  /** What the chain says is at its address in that block, if it says it, and what was there on the fork. */
  isTold: boolean
  code: CodeName
  forkedCode: CodeName
}
export type Ledger = Omit<model.Ledger, 'payments'> & { payments: Payment[] }

/** What may be at the address of an inner transfer's payer. */
const CODES = {
  none: { kind: 'none' },
  delegation: { kind: 'delegation', to: account(77) },
  contract: { kind: 'contract', codeHash: word(77), implementation: null },
  known: knownSafe(),
} as const
type CodeName = keyof typeof CODES

function knownSafe() {
  const proxy = KNOWN_PROXIES.find(({ at }) => at === 'slot0')
  const implementation = KNOWN_IMPLEMENTATIONS.find(({ at }) => at === 'slot0')
  return { kind: 'contract', codeHash: proxy?.codeHash, implementation } as const
}

const drawnPayer = fc.record({
  code: fc.constantFrom<CodeName>('none', 'delegation', 'contract', 'contract', 'known', 'known'),
  stored: fc.constantFrom('own' as const, 'forked' as const, 'forked' as const, null),
  isReadable: fc.constantFrom(true, true, true, false),
  forkedCode: fc.constantFrom<CodeName>('none', 'delegation', 'contract', 'known'),
})
const drawnMode = fc.record({
  mode: fc.constantFrom('hold' as const, 'proven' as const, 'proven' as const, 'all' as const),
  fromBlock: fc.constantFrom(0, 10, 20, 30, 1_000, 1_001),
})

const drawnPayment = fc.record({
  pick: fc.nat(999),
  from: fc.constantFrom(...BUYERS, account(5), account(5), account(5), MINTER, account(1)),
  wallet: fc.constantFrom(...WALLETS, account(1), account(1)),
  txIndex: fc.nat(2),
  succeeded: fc.constantFrom(true, true, true, true, true, false),
  heldWei: fc.constantFrom(null, 4n, 5n, 9n, 10n),
  isFull: fc.constantFrom(false, false, false, true),
  doubt: fc.constantFrom(null, null, null, 'none', 'none', 'none', ...DOUBTS),
  fails: fc.constantFrom(false, false, false, false, false, true),
  payer: fc.option(drawnPayer, { freq: 2 }),
})
export const drawn = fc.record({
  history: histories(),
  payments: fc.array(drawnPayment, { minLength: 1, maxLength: 9 }),
  nodes: fc.array(fc.record({ owner: fc.constantFrom(...BUYERS), tierId: fc.constantFrom('t0', 't1') }), {
    maxLength: 3,
  }),
  denied: fc.constantFrom([], [], [account(7)]),
  modes: fc.uniqueArray(drawnMode, { selector: ({ fromBlock }) => fromBlock, minLength: 1, maxLength: 3 }),
  signedIn: fc.subarray(BUYERS),
  allowed: fc.subarray(BUYERS),
  // A wallet is replaced so that its grace ends one second before, at or after the time of a payment.
  replaced: fc.array(
    fc.record({
      pick: fc.nat(9),
      graceSec: fc.constantFrom(0, 1, 900),
      off: fc.constantFrom(-1, 0, 1),
      blocks: fc.constantFrom(0, 0, 1),
      stolen: fc.constantFrom(false, false, false, true),
    }),
    { maxLength: 2 },
  ),
  entries: fc.array(fc.tuple(fc.nat(2), fc.nat(2), fc.constantFrom(1, 1, 2)), { maxLength: 6 }),
  walletCap: fc.constantFrom(1, 2, 3, 9),
  age: fc.constantFrom(0, 1, 599, 599, 600, 601, 3_599, 3_600),
  page: fc.constantFrom(1, 2, 3, 500),
  settled: fc.constantFrom(0, 0, 0, 1),
  /** Whether all come for one tier that asks for nothing else, which of the tiers that sell it is. */
  crowd: fc.constantFrom(null, null, 0, 1, 2),
  /** Whether a crowd’s tier asks for a holding after all. */
  asksHolding: fc.boolean(),
  /** So many places of each tier, if it is in short supply. */
  scarce: fc.tuple(fc.constantFrom(null, 1, 2, 3), fc.constantFrom(null, 1, 2), fc.constantFrom(null, null, 1)),
})
export type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/**
 * A wallet's cap is judged only once a payment no longer rests on one provider's word. While it does, it keeps its place for an hour, and from no
 * later payment that comes after its tier's supply was raised. So which of two comes first then depends on when the second provider is asked. A
 * payment that is held for its wallet's cap keeps no place while it waits for an earlier one of the wallet. The same goes for an inner payer's code.
 */
function mayRead({ from }: Drawn['payments'][number], given: Drawn): boolean {
  const { versions } = given.history.sale
  const most = (supply: number | null) => supply ?? Number.POSITIVE_INFINITY
  const isRaised = versions.some((one) =>
    versions.some(
      ({ tierId, version, supply }) =>
        tierId === one.tierId && version > one.version && most(supply) > most(one.supply),
    ),
  )
  const hasFull = given.payments.some((one) => one.isFull && one.from === from)
  return !hasFull && !isRaised
}

/** Whether a holding that cannot be read is all that this payment may wait for. */
const waitsForHolding = ({ pick }: Drawn['payments'][number], given: Drawn) => asksHolding(given) && pick % 2 === 0
/** Whether a crowd comes for a tier that asks for a holding, and for which there are places enough. */
const asksHolding = (given: Drawn) => given.crowd !== null && given.asksHolding

function doubtOf(one: Drawn['payments'][number], given: Drawn): Payment['doubt'] {
  // Of an inner transfer two providers have told the trace.
  const { doubt, payer } = one
  if (payer !== null) return null
  if (waitsForHolding(one, given)) return null
  if (doubt === 'none' && given.age >= 3_599) return null
  return mayRead(one, given) ? doubt : null
}

/** What the run can read of a payment. A verdict fails to be stored only if the payment may buy something. */
function knownOf(one: Drawn['payments'][number], given: Drawn, maySell: boolean) {
  const waits = waitsForHolding(one, given)
  const doubt = doubtOf(one, given)
  const restsOnOne = doubt !== null && doubt !== 'none'
  return { heldWei: waits ? null : one.heldWei, doubt, restsOnOne, fails: one.fails && maySell && !waits }
}

/** What is known of an inner payer before the run. If nothing may have to be read, it is known of the payment's own block. */
function payerOf(one: Drawn['payments'][number], given: Drawn) {
  const { payer } = one
  const [code, forkedCode] = [payer?.code ?? 'none', payer?.forkedCode ?? 'none']
  if (payer === null) return { payer: null, stored: null, innerIndex: 0, isTold: false, code, forkedCode }
  const stored = mayRead(one, given) && given.age < 3_599 ? payer.stored : 'own'
  const shown = { code: code === 'known' ? ('contract' as const) : code, isKnown: code === 'known' }
  const told = { isTold: payer.isReadable, code, forkedCode }
  return { payer: { ...shown, isReadable: payer.isReadable }, stored, innerIndex: 1, ...told }
}

/** Payments of one wallet in one block have the same holding, and their payer the same code. */
function settleFacts(payments: Payment[]): void {
  const ofPlace = Map.groupBy(payments, ({ from, block: height }) => `${from} ${height}`)
  for (const some of ofPlace.values()) {
    const inner = some.find(({ payer }) => payer !== null)
    for (const one of some) {
      one.heldWei = some[0]?.heldWei ?? null
      if (one.payer === null || !inner?.payer) continue
      one.code = inner.code
      one.isTold = inner.isTold
      one.payer = { ...inner.payer, isReadable: one.stored === 'own' || inner.isTold }
    }
  }
}

/** The code that the chain tells of a wallet in a block. */
const codeIn =
  (payments: Payment[]) =>
  async (wallet: string, { number }: { number: number }) => {
    const one = payments.find(
      ({ from, block: height, payer }) => from === wallet && height === number && payer !== null,
    )
    return one?.isTold ? CODES[one.code] : null
  }

function paymentsOf({ sale, payments }: History, given: Drawn): Payment[] {
  const bought = payments.filter(({ valueWei, block }) => choose(sale, valueWei, block).kind === 'sells')
  const tierOf = ({ valueWei, block }: History['payments'][number]) => {
    const choice = choose(sale, valueWei, block)
    return choice.kind === 'sells' ? choice.tierId : null
  }
  const [wanted] = given.crowd === null ? [] : bought.slice(given.crowd)
  const crowd = wanted && bought.filter((one) => tierOf(one) === tierOf(wanted))
  const places = new Set<string>()
  return given.payments.flatMap((drawnOne, n): Payment[] => {
    const { pick, from, isFull, ...one } = drawnOne
    const among = crowd ?? (pick % 6 === 0 || bought.length === 0 ? payments : bought)
    const { valueWei, block } = among[pick % among.length] ?? { valueWei: 11n, block: { number: 10, time: 1_000 } }
    const place = `${block.number} ${one.txIndex}`
    // A transaction is at one place, and a block has one time.
    if (places.has(place)) return []
    places.add(place)
    const sender = from === MINTER ? 'operator' : WALLETS.includes(from) ? 'paymentsWallet' : 'buyer'
    const isSale = choose(sale, valueWei, block).kind === 'sells' && sender === 'buyer' && one.succeeded
    const state = isFull && isSale ? ('held' as const) : ('seen' as const)
    const reason = state === 'held' ? 'walletLimit' : null
    const inner = payerOf(drawnOne, given)
    const at = { block: block.number, time: block.time, ...inner }
    const known = knownOf(drawnOne, given, isSale && !isFull)
    return [{ id: 1 + n, ...one, ...at, ...known, from, sender, valueWei, state, reason, tierId: null, versions: [] }]
  })
}

function walletsOf(given: Drawn, payments: Payment[]): Wallet[] {
  const first = { wallet: account(1), fromBlock: 0, fromTime: 0, stolen: false, graceSec: 900 }
  const later = given.replaced.flatMap(({ pick, graceSec, off, blocks, stolen }, n): Wallet[] => {
    const pivot = payments[pick % Math.max(1, payments.length)]
    if (pivot === undefined) return []
    const fromTime = Math.max(0, pivot.time - graceSec + off)
    return [{ wallet: WALLETS[1 + n] as string, fromBlock: pivot.block + blocks, fromTime, stolen, graceSec }]
  })
  return [first, ...later]
}

export function ledgerOf(given: Drawn): Ledger {
  const versions = given.history.sale.versions.map((one): Version => {
    const places = given.scarce[tierNo(one.tierId) - 1] ?? null
    const open =
      given.crowd === null
        ? {}
        : { allowlist: null, holdingWei: asksHolding(given) ? one.holdingWei || 5n : 0n, maxPerWallet: 9 }
    return { ...one, ...open, opensAfter: null, supply: asksHolding(given) ? null : (places ?? one.supply) }
  })
  const history = { ...given.history, sale: { versions, openings: [] } }
  const payments = paymentsOf(history, given)
  settleFacts(payments)
  const lists = new Map(LISTS.map((list) => [list, new Map<string, number>()]))
  for (const [list, buyer, allocation] of given.entries)
    lists.get(LISTS[list] as string)?.set(BUYERS[buyer] as string, allocation)
  // Nothing but places, caps, holdings and payers is in the way of a crowd.
  const isCrowd = given.crowd !== null
  const wallets = walletsOf(isCrowd ? { ...given, replaced: [] } : given, payments)
  const last = payments.map((one) => one.block).toSorted((a, b) => b - a)
  return {
    sale: history.sale,
    ...{ modes: [...given.modes], signedIn: given.signedIn, allowed: given.allowed, height: HEIGHT },
    ...{
      wallets,
      lists,
      denied: isCrowd ? [] : [...given.denied],
      nodes: given.nodes,
      payments,
      walletCap: given.walletCap,
    },
    now: Math.max(...payments.map(({ time }) => time), 1_000) + given.age,
    upTo: (last[0] ?? 10) - given.settled,
    retrySec: RETRY_SEC,
  }
}

const block = (number: number) => ({ block_number: number, block_hash: word(number) })

const tierRows = (ledger: model.Ledger): Row[] =>
  ledger.sale.versions.map((one) => ({
    ...{ tier_id: one.tierId, version: one.version, tier_no: tierNo(one.tierId), label: one.tierId },
    ...{ price_wei: one.priceWei, max_per_wallet: one.maxPerWallet, payout_bps: 10_000, on_sale: one.onSale },
    ...{ holding_wei: one.holdingWei, holding_token: one.holdingWei === 0n ? null : TOKEN },
    ...{ holding_retry_sec: RETRY_SEC, grace_sec: one.graceSec, supply: one.supply },
    ...{ opens_at: one.opensAt, closes_at: one.closesAt },
    ...{ allowlist: one.allowlist === null ? null : treeIn(ledger, one.allowlist).root },
    live: !ledger.sale.versions.some((other) => other.tierId === one.tierId && other.version > one.version),
    ...{ from_block: one.fromBlock, from_time: one.fromTime, entered_by: 'test' },
  }))

const nodeRows = ({ nodes }: model.Ledger): Rows => ({
  cohorts: ['t0', 't1', 't2'].map((tierId) => ({
    ...{ cohort: tierNo(tierId), tier_no: tierNo(tierId), interval_sec: 60, next_due: 0, ...block(1) },
    size: nodes.filter((one) => one.tierId === tierId).length,
  })),
  nodes: nodes.map(({ owner, tierId }, n) => ({
    ...{ node_id: 1 + n, owner, cohort: tierNo(tierId), ref: word(500 + n), payment_id: null },
    ...{ per_node_at_mint_wei: 0n, turns_at_mint: 0, mint_tx_hash: word(600 + n), minted_at: at(1_000), ...block(1) },
  })),
  owners: [...new Set(nodes.map(({ owner }) => owner))].map((owner) => {
    return { owner, nodes: nodes.filter((one) => one.owner === owner).length }
  }),
})

export const rowsOf = (ledger: Ledger): Rows => ({
  cursors: [{ name: 'follow', block_time: ledger.now, ...block(1_000) }],
  credit_terms: [
    { from_time: 0, payouts: true, min_wei: 1n, max_wei: 2n, interval_sec: 60, slot_sec: 60, entered_by: 'test' },
  ],
  tiers: tierRows(ledger),
  allowlists: LISTS.map((list, n) => {
    return { id: 1 + n, root: treeIn(ledger, list).root, label: list, entries: 1, allocated: 1, entered_by: 'test' }
  }),
  allowlist_entries: LISTS.flatMap((list, n) =>
    [...(ledger.lists.get(list) ?? [])].map(([address, allocation], leaf) => ({
      ...{ list: 1 + n, address, allocation, leaf },
    })),
  ),
  senders: ledger.denied.map((address) => ({ address, label: 'a', reason: 'b', added_by: 'test' })),
  payment_wallets: ledger.wallets.map((one, n) => ({
    ...{ id: 1 + n, wallet: one.wallet, from_block: one.fromBlock, from_time: one.fromTime, stolen: one.stolen },
    ...{ grace_sec: one.graceSec, watched_from: 0, entered_by: 'test' },
  })),
  ...nodeRows(ledger),
  contract_wallet_modes: ledger.modes.map(({ fromBlock, mode }) => {
    return { from_block: fromBlock, mode, entered_by: 'test' }
  }),
  proven_wallets: ledger.signedIn.map((address) => ({ address, deployed: true })),
  allowed_wallets: ledger.allowed.map((address) => ({ address, label: 'a', reason: 'b', added_by: 'test' })),
  payer_codes: ledger.payments.flatMap(({ id, block: height, stored, code, forkedCode }): Row[] => {
    if (stored === null) return []
    const isOwn = stored === 'own'
    const found = CODES[isOwn ? code : forkedCode]
    return [{ payment_id: id, block_hash: word(isOwn ? height : 666), code: JSON.stringify(found) }]
  }),
  payments: ledger.payments.map((one) => ({
    ...{ id: one.id, ref: word(one.id), tx_hash: word(one.id), wallet: one.wallet, from_address: one.from },
    ...{ value_wei: one.valueWei, succeeded: one.succeeded, inner_index: one.innerIndex },
    ...{ state: one.state, reason: one.reason },
    proof: one.payer !== null ? 'agreed' : one.doubt === null ? 'proven' : 'believed',
    ...{ tx_index: one.txIndex, block_time: at(one.time), ...block(one.block) },
  })),
})

/** What two of the providers say together about a payment's transaction. */
function minedOf({ payments }: Ledger, txHash: string): object | null {
  const one = payments.find(({ id }) => word(id) === txHash)
  if (one === undefined || one.doubt === 'missing') return null
  const { from, wallet: to, valueWei, succeeded } = one
  const told = { from, to, valueWei, blockHash: word(one.block), blockTime: one.time, succeeded }
  const others = {
    from: account(77),
    to: account(77),
    valueWei: valueWei + 1n,
    blockHash: word(77),
    succeeded: !succeeded,
  }
  return one.doubt === 'none' || one.doubt === null ? told : { ...told, [one.doubt]: others[one.doubt] }
}

/** From now on no verdict on these payments can be stored. */
export async function failFor(sql: Sql, payments: Payment[]): Promise<void> {
  const ids = payments.filter(({ fails }) => fails).map(({ id }) => id)
  if (ids.length > 0)
    await sql.unsafe(`
      CREATE FUNCTION fail_to_judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cannot be judged'; END $$;
      CREATE TRIGGER fail_to_judge BEFORE UPDATE OF state ON payments
        FOR EACH ROW WHEN (OLD.id IN (${ids})) EXECUTE FUNCTION fail_to_judge()`)
}

export async function runOnce(sql: Sql, ledger: Ledger, page: number): Promise<JudgeResult> {
  const held = async (_token: string, from: string, { number }: { number: number }) =>
    ledger.payments.find((one) => one.from === from && one.block === number)?.heldWei ?? null
  const context = {
    ...{ pool: poolWithin(sql), log: silentLog, rules: { trustsProvider: false } },
    chain: {
      providers: ['one', 'two'],
      holding: held,
      payerCode: codeIn(ledger.payments),
      minedTransaction: async (hash: string) => minedOf(ledger, hash),
    },
    contract: { maxPerWallet: async () => ledger.walletCap },
    ...{ minter: { address: MINTER }, distributor: null },
  }
  const cursor = { number: 1_000, hash: word(1_000), time: ledger.now }
  const run = { checkLock: () => undefined, outOfTime: () => false, page }
  return await judge(context as never, cursor as never, ledger.upTo, run)
}
