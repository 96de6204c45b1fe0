// Random ledgers with payments to pay back, as rows and as the model has them, and the providers beside them.
import fc from 'fast-check'
import { account, at, fromNow, type Row, type Rows, word } from '../../db/direct-rows.ts'
import type * as model from './prepared.ts'

export const [WALLET, MINTER, CHAIN_ID] = [account(1), account(8), 7]
const HEAD = 200
/** Beyond the ids that the database gives to the others. */
const MINT = 10 ** 9
/** Blocks are half an hour apart, so that what a lost ledger signed ends two blocks after its last one. */
const timeOf = (number: number) => 1_800 * number
const LOST_FOR = 3_600

/** What providers say of finality, and which block is final by it. */
const FINALS = {
  named: 150,
  lone: 136,
  silent: null,
  other: null,
  depth: 136,
  deeper: 130,
  short: null,
  noCursor: null,
} as const
type Final = keyof typeof FINALS

const state = fc.constantFrom<model.Payment['state']>(
  ...(['seen', 'accepted', 'minting', 'held', 'held', 'held', 'held', 'dismissed', 'minted', 'refunded'] as const),
  'orphaned',
)
const drawnPayment = fc.record({
  state,
  reason: fc.constantFrom('soldOut', 'soldOut', 'wrongAmount', 'refunding', 'refunding'),
  heldBefore: fc.constantFrom('soldOut', 'soldOut', 'wrongAmount'),
  kind: fc.constantFrom(
    'payer',
    'payer',
    'payer',
    'payer',
    'ours',
    'minter',
    'failed',
    'zero',
    'zero',
    'residue',
    'nobody',
  ),
  valueWei: fc.constantFrom(5n, 6n),
  /** Beside the final block. */
  above: fc.constantFrom(-3, -2, -1, -1, 0, 0, 0, 1),
  proof: fc.constantFrom<model.Payment['proof']>('proven', 'proven', 'agreed', 'believed', 'believed'),
  isConfirmed: fc.constantFrom(true, true, false),
  /** The ends of its mints beside the final block's time. */
  mints: fc.constantFrom<number[]>([], [], [], [], [-1], [-900, -1], [0], [1], [0, 900], [-1, 900]),
  isExpelled: fc.constantFrom(false, false, false, false, false, true),
  isSpent: fc.boolean(),
  files: fc.constantFrom<number[]>([], [], [], [500], [900, 300]),
  tierId: fc.constantFrom(null, 'basic'),
})
export const drawnWorld = fc.record({
  payments: fc.array(drawnPayment, { minLength: 1, maxLength: 6 }),
  /** Whether the first two came in one transaction. */
  isTogether: fc.constantFrom(false, false, false, true),
  final: fc.constantFrom<Final>(
    'named',
    'named',
    'named',
    'named',
    'lone',
    'lone',
    'silent',
    'other',
    'depth',
    'deeper',
    'short',
    'noCursor',
  ),
  mode: fc.constantFrom('agreed', 'agreed', null),
  trusts: fc.constantFrom(true, true, false),
  /** The last block of a ledger that was lost, beside the final block, and who still has it. */
  lost: fc.option(
    fc.record({ above: fc.constantFrom(-3, -2, -2, -1, 0), shown: fc.constantFrom('own', 'provider', 'none') }),
    { freq: 2, nil: null },
  ),
})
export type World = typeof drawnWorld extends fc.Arbitrary<infer T> ? T : never

const baseOf = ({ final }: World) => FINALS[final] ?? 150
function lostBlock(given: World): number | null {
  if (given.lost === null) return null
  const { above, shown } = given.lost
  // The chain may have less than the lost ledger had, and the ledger has the final block.
  if (shown === 'none') return HEAD + 1
  return baseOf(given) + (shown === 'provider' ? Math.min(above, -1) : above)
}

function paymentOf(given: World, one: World['payments'][number], n: number): model.Payment {
  const { kind, above, mints, files, isSpent, isExpelled, isConfirmed, valueWei } = one
  const id = 1 + n
  const hasHash = kind !== 'residue'
  const from = { ours: WALLET, minter: MINTER, residue: null, nobody: null }[kind as 'ours'] ?? null
  const payer = ['residue', 'nobody', 'ours', 'minter'].includes(kind) ? from : account(100 + id)
  // Without a payer nothing is judged, and without a tier nothing is accepted.
  const state = payer === null && !['refunded', 'dismissed', 'orphaned'].includes(one.state) ? 'held' : one.state
  const tierId = state === 'accepted' || state === 'minting' ? 'basic' : one.tierId
  const reason = state === 'held' ? one.reason : null
  const isInner = !hasHash || payer === null
  return {
    ...{
      id,
      ref: word(1_000 + id),
      txHash: hasHash ? word(given.isTogether && n < 2 ? 51 : 50 + id) : null,
      from: payer,
    },
    ...{ valueWei: kind === 'zero' ? 0n : valueWei, succeeded: kind !== 'failed', state, reason, tierId },
    heldBefore: reason === 'refunding' ? one.heldBefore : null,
    block: state === 'orphaned' ? null : baseOf(given) + above,
    // Two payments of one transaction are inner ones.
    proof: isInner || (given.isTogether && n < 2) ? null : one.proof,
    mintsUntil: mints.map((by) => timeOf(baseOf(given)) + by),
    isExpelled: isExpelled && payer !== null,
    isSpent: isSpent && kind === 'residue',
    ...{ isConfirmed, files: [...files] },
  }
}

export function ledgerOf(given: World): model.Ledger {
  const final = FINALS[given.final]
  const upTo = lostBlock(given)
  const canAsk = given.final !== 'lone'
  const shown = { own: timeOf(upTo ?? 0), provider: timeOf(upTo ?? 0) - 900, none: timeOf(HEAD) + 7 }
  const lost = upTo === null ? null : { upTo, until: shown[given.lost?.shown ?? 'own'] + LOST_FOR }
  const notes = { silent: 'waits', other: 'waits', lone: 'lone' } as const
  return {
    payments: given.payments.map((one, n) => paymentOf(given, one, n)),
    horizon: {
      final: final === null ? null : { number: final, time: timeOf(final) },
      note: notes[given.final as 'lone'] ?? null,
      ...{ lost, canAsk, follows: given.final !== 'noCursor' },
      trustsOne: !canAsk && given.mode === 'agreed' && given.trusts,
    },
    ...{ wallets: [WALLET], signers: [MINTER], log: [], verdicts: [], unproven: null },
  }
}

const inBlock = (number: number | null) => ({
  block_number: number,
  block_hash: number === null ? null : word(number),
})
const payRow = (one: model.Payment): Row => ({
  ...{ id: one.id, ref: one.ref, tx_hash: one.txHash, wallet: WALLET, from_address: one.from, value_wei: one.valueWei },
  ...{ succeeded: one.succeeded, state: one.state, reason: one.reason, proof: one.proof, tier_id: one.tierId },
  ...{ tier_version: one.tierId === null ? null : 1, inner_index: one.proof === null ? one.id : 0 },
  ...{ node_id: one.state === 'minted' ? one.id : null, outbox_id: one.state === 'minting' ? MINT : null },
  ...{ block_time: at(blockTime(one)), ...inBlock(one.block) },
})
/** Residues are of blocks of their own, so that only their own parts are in them. */
export const blockTime = ({ block, txHash, id }: model.Payment) => timeOf(block ?? 100) + (txHash === null ? id : 0)

const mintRow = ({ ref }: model.Payment, nonce: number, until: number): Row => {
  const call = JSON.stringify({ orders: [{ ref: word(9) }, { ref }], guard: null })
  const done = { state: 'mined', tx_hash: word(800 + nonce), ...inBlock(90), gas_used: 1, fee_wei: 1 }
  return { kind: 'mint', sender: MINTER, nonce, call, gas_limit: 1, valid_until: until, ...done }
}
const nodeRow = (ref: string, id: number, payment_id: number | null): Row => ({
  ...{ node_id: id, owner: account(5), cohort: null, ref, payment_id, mint_tx_hash: word(9), minted_at: at(1_000) },
  ...{ per_node_at_mint_wei: 0n, turns_at_mint: 0, ...inBlock(90) },
})
/** A part of a residue that has its node. */
const partRow = (one: model.Payment): Row => ({
  ...payRow({ ...one, id: 500 + one.id, ref: word(1_500 + one.id), txHash: word(600), state: 'orphaned', proof: null }),
  ...{ from_address: account(5), ...inBlock(null), block_time: at(blockTime(one)), reason: null, inner_index: one.id },
})
const fileRow = ({ ref }: model.Payment, ago: number): Row => {
  const detail = JSON.stringify({ after: { ref, valueWei: '1' } })
  return { at: fromNow(-ago), actor: 'eve', action: 'refundFileMade', subject: 'before', detail }
}
const earlierVerdict = ({ id, heldBefore }: model.Payment): Row => {
  const evidence = JSON.stringify({ rule: 'refunding', heldFor: heldBefore })
  return { payment_id: id, verdict: 'held', reason: 'refunding', evidence, decided_by: 'eve' }
}

export function rowsOf(given: World, { payments }: model.Ledger): Rows {
  const lost = lostBlock(given)
  const kept = [HEAD, 150, 136, 130].filter((number) => number !== lost)
  const headers = lost !== null && given.lost?.shown === 'own' ? [...kept, lost] : kept
  const refunding = payments.filter(({ reason }) => reason === 'refunding')
  const spent = payments.filter(({ isSpent }) => isSpent)
  return {
    cursors: given.final === 'noCursor' ? [] : [{ name: 'follow', block_time: timeOf(HEAD), ...inBlock(HEAD) }],
    blocks: headers.map((number) => ({
      ...{ number, hash: word(number), parent_hash: word(number - 1), time: timeOf(number), prevrandao: word(1) },
    })),
    ledger_state: [
      {
        recheck_up_to: lost,
        chain_id: CHAIN_ID,
        genesis_hash: word(3),
        factory: account(2),
        start_block: 1,
        started_at: at(1_000),
      },
    ],
    evidence_modes: given.mode === null ? [] : [{ from_block: 0, mode: given.mode, set_by: 'test' }],
    payment_wallets: [{ id: 1, wallet: WALLET, from_block: 0, from_time: 0, watched_from: 0, entered_by: 'eve' }],
    payments: [...payments.map(payRow), ...spent.map(partRow)],
    payment_verdicts: refunding.map(earlierVerdict),
    outbox: [
      { ...mintRow({ ref: word(8) } as model.Payment, 5, 0), id: MINT },
      ...payments.flatMap((one) => one.mintsUntil.map((until, n) => mintRow(one, 10 * one.id + n, until))),
    ],
    tiers: [
      {
        ...{ tier_id: 'basic', version: 1, tier_no: 1, label: 'B', price_wei: 5n, max_per_wallet: 9, payout_bps: 1 },
        ...{ on_sale: true, live: true, from_block: 0, from_time: 0, entered_by: 'eve' },
      },
    ],
    nodes: [
      ...payments.flatMap(({ isExpelled, ref, id }) => (isExpelled ? [nodeRow(ref, id, id)] : [])),
      ...spent.map(({ id }) => nodeRow(word(1_500 + id), 50 + id, 500 + id)),
    ],
    audit: payments.flatMap((one) => one.files.map((ago) => fileRow(one, ago))),
  }
}

const silent = async () => null

/** The providers: which are there, what they call final, and what they say of the payments. */
export function chainOf(given: World, { payments }: model.Ledger) {
  const lost = lostBlock(given)
  const block = async (number: number) => {
    if (number === lost && given.lost?.shown !== 'own')
      return given.lost?.shown === 'none' ? null : { number, hash: word(number), time: timeOf(number) - 900 }
    return { number, hash: word(number), time: timeOf(number) }
  }
  const other = async (number: number) => ({ number, hash: word(66), time: timeOf(number) })
  const reader = (host: string, read: (number: number) => Promise<unknown> = block) => ({ host, block: read })
  const second = { silent, other }[given.final as 'other'] ?? block
  const isLone = given.final === 'lone'
  const isNone = ['depth', 'deeper', 'short'].includes(given.final)
  const finalized = async () => (isNone ? null : { number: 150, hash: word(150), voices: isLone ? 1 : 2 })
  const minedTransaction = async (txHash: string) => {
    const one = payments.find((payment) => payment.txHash === txHash && payment.block !== null)
    if (one === undefined) return silent()
    const told = { txHash, from: one.isConfirmed ? one.from : account(66), to: WALLET, valueWei: one.valueWei }
    const { block: number, succeeded } = one
    return { ...told, succeeded, blockNumber: number, blockHash: word(number ?? 0), blockTime: blockTime(one) }
  }
  const chain = {
    ...{ block, finalized, minedTransaction, head: async () => ({ number: HEAD, time: timeOf(HEAD) + 7 }) },
    providers: isLone ? [] : [reader('a'), reader('b', second)],
  }
  const finality = { deeper: 70, short: HEAD + 1, depth: 5 }[given.final as 'depth'] ?? 'finalized'
  return { chain, rules: { finality, trustsProvider: given.trusts, rewindsToShorterChain: false, startBlock: 1 } }
}
