// The outbox: every statement of src/db/sends about intents, attempts and nonces, in random order on random rows, and the second reading agree.
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import * as outbox from '../../../src/db/sends/outbox.ts'
import * as lists from '../../../src/db/sends/transactions.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { type Act, act, inOrder, play, stepsOf } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './outbox.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const SENDERS = [account(1), account(2)] as const
const HEAD = 400
const FIRST_ID = 50
const timeOf = (block: number) => 10_000 + 12 * block
/** Blocks from which a guard is just good enough, just too old, or the same. */
const heights = fc.constantFrom(100, 143, 144, 145, 398, 399, 400)
const BLOCKS = [100, 143, 144, 145, 398, 399, 400].map((number) => ({
  ...{ number, hash: word(number), time: timeOf(number) },
}))
const REFS = [word(901), word(902), word(903)]

const sender = fc.constantFrom(SENDERS[0], SENDERS[0], SENDERS[0], SENDERS[1])
const guard = fc.oneof(
  fc.constant(null),
  fc.record({ number: heights, fork: fc.constantFrom(0, 0, 0, 1) }).map(({ number, fork }) => {
    return { number, hash: word(number + 5_000 * fork) }
  }),
)
const validUntil = fc.constantFrom(timeOf(HEAD) - 1, timeOf(HEAD), timeOf(HEAD) + 1, timeOf(399) - 1, timeOf(399))
const signed = fc.record({
  maxFeeWei: fc.constantFrom(10n, 11n),
  tipWei: fc.constantFrom(0n, 1n),
  signedAtBlock: fc.constantFrom(386, 387, 388, 399, 400, 401),
})
const called = {
  kind: fc.constantFrom('mint', 'mint', 'mint', 'credit', 'openCohorts'),
  refs: fc.subarray(REFS),
  guard,
  validUntil,
}
const drawnIntent = fc.record({
  ...called,
  sender,
  state: fc.constantFrom<model.Intent['state']>('pending', 'pending', 'mined', 'reverted', 'reverted', 'displaced'),
  isForeign: fc.constantFrom(false, false, false, true),
  block: heights,
  gasUsed: fc.constantFrom(0, 3, 7),
  feeWei: fc.constantFrom(6n, 7n, 8n),
  age: fc.constantFrom(10, 20, 30),
  attempts: fc.array(fc.record({ signed, outcome: fc.constantFrom(null, 'feeTooLow', 'known') }), {
    minLength: 1,
    maxLength: 3,
  }),
})
const drawnPayment = fc.record({
  state: fc.constantFrom('accepted', 'accepted', 'minted', 'held'),
  hasNode: fc.constantFrom(false, false, true),
  skippedAge: fc.constantFrom(null, null, 9, 10, 20, 21),
})
const drawn = fc.record({
  intents: fc.array(drawnIntent, { maxLength: 6 }),
  gaps: fc.array(fc.constantFrom(1, 1, 1, 2), { minLength: 6, maxLength: 6 }),
  bases: fc.array(fc.record({ sender, nonce: fc.constantFrom(3, 5, 6, 8), block: heights }), { maxLength: 2 }),
  payments: fc.array(fc.option(drawnPayment, { freq: 5 }), { minLength: 3, maxLength: 3 }),
  baseFees: fc.constantFrom<(bigint | null)[]>([], [5n], [5n, 6n], [5n, null]),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function ledgerOf({ intents, gaps, bases, payments, baseFees }: Drawn): model.Ledger {
  const ledger: model.Ledger = {
    ...{ intents: [], attempts: [], blocks: BLOCKS, baseFeeWei: baseFees, nextId: FIRST_ID },
    cursor: { number: HEAD, hash: word(HEAD), time: timeOf(HEAD) },
    bases: new Map(bases.map((one) => [one.sender, { nonce: one.nonce, block: one.block }])),
    payments: new Map(REFS.flatMap((ref, n) => (payments[n] == null ? [] : [[ref, payments[n]]]))),
  }
  const next = new Map<string, number>(SENDERS.map((one) => [one, 4]))
  for (const [n, { isForeign, attempts, block, gasUsed, feeWei, ...one }] of intents.entries()) {
    const nonce = (next.get(one.sender) ?? 0) + (gaps[n] ?? 1)
    next.set(one.sender, nonce)
    const { state, kind } = isForeign ? { state: 'displaced' as const, kind: 'foreign' } : one
    const place =
      state === 'pending'
        ? { block: null, blockHash: null, txHash: null, gasUsed: null, feeWei: null, valueWei: null, to: null }
        : { block, blockHash: word(block), txHash: word(100 + n), gasUsed, feeWei, valueWei: 1n, to: account(9) }
    const foreign = isForeign ? { refs: [], guard: null, validUntil: null } : {}
    ledger.intents.push({ ...one, ...place, ...foreign, id: 1 + n, nonce, state, kind, gasLimit: 99 })
    if (isForeign) continue
    for (const [m, { signed, outcome }] of attempts.entries()) {
      const sent = { sends: outcome === null ? 0 : 1, isSent: outcome !== null, outcome }
      const txHash = m === 0 && state !== 'displaced' ? word(100 + n) : word(200 + 10 * n + m)
      ledger.attempts.push({ ...signed, ...sent, txHash, outboxId: 1 + n, attempt: 1 + m })
    }
  }
  return ledger
}

const callOf = ({ kind, refs, guard }: Pick<model.Intent, 'kind' | 'refs' | 'guard'>) =>
  kind === 'foreign' ? {} : { orders: refs.map((ref) => ({ ref })), guard }

function rowsOf(ledger: model.Ledger): Rows {
  const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
  return {
    cursors: [{ name: 'follow', ...inBlock(HEAD), block_time: ledger.cursor.time }],
    blocks: ledger.blocks.map((one) => ({ ...one, parent_hash: word(one.number - 1), prevrandao: word(7) })),
    block_fees: ledger.baseFeeWei.map((base_fee_wei, n) => ({ number: HEAD - 9 + n, base_fee_wei })),
    sender_bases: [...ledger.bases].map(([sender, { nonce, block }]) => ({ sender, nonce, block_number: block })),
    outbox: ledger.intents.map((one) => ({
      ...{ id: one.id, kind: one.kind, sender: one.sender, nonce: one.nonce, call: JSON.stringify(callOf(one)) },
      ...{ gas_limit: one.gasLimit, guard_block: one.guard?.number ?? null, valid_until: one.validUntil },
      ...{ state: one.state, block_number: one.block, block_hash: one.blockHash, tx_hash: one.txHash },
      ...{ gas_used: one.gasUsed, fee_wei: one.feeWei, value_wei: one.valueWei, to_address: one.to },
    })),
    outbox_attempts: ledger.attempts.map((one) => ({
      ...{ tx_hash: one.txHash, outbox_id: one.outboxId, attempt: one.attempt, raw: '0x1', sends: one.sends },
      ...{ max_fee_wei: one.maxFeeWei, max_priority_fee_wei: one.tipWei, signed_at_block: one.signedAtBlock },
      ...{ last_outcome: one.outcome, last_sent_at: one.isSent ? at(1_000) : null },
    })),
    payments: [...ledger.payments].map(
      ([ref, { state }], n): Row => ({
        ...{ id: 1 + n, ref, tx_hash: ref, wallet: account(3), from_address: account(4), value_wei: 1n, state },
        ...{ succeeded: true, tier_id: 't', tier_version: 1, block_time: at(1_000), ...inBlock(390) },
        ...{ node_id: state === 'minted' ? 80 + n : null, reason: state === 'held' ? 'soldOut' : null },
      }),
    ),
    nodes: [...ledger.payments].flatMap(([ref, { hasNode }], n): Row[] => {
      if (!hasNode) return []
      const minted = { mint_tx_hash: word(8), minted_at: at(1_000), per_node_at_mint_wei: 0n, turns_at_mint: 0 }
      return [{ node_id: 80 + n, owner: account(4), cohort: 1, ref, ...minted, ...inBlock(390) }]
    }),
  }
}

/** What a row's own clock tells: when intents were made, and when the contract skipped a payment. */
async function setAges(sql: Sql, ledger: model.Ledger): Promise<void> {
  for (const { id, age } of ledger.intents)
    await sql`UPDATE outbox SET created_at = now() - make_interval(secs => ${age}) WHERE id = ${id}`
  for (const [n, { skippedAge }] of [...ledger.payments.values()].entries())
    if (skippedAge !== null)
      await sql`
        INSERT INTO payment_verdicts (payment_id, verdict, reason, evidence, decided_by, decided_at)
        VALUES (${1 + n}, 'held', 'walletLimit', '{"by": "contract"}', 'pass', now() - make_interval(secs => ${skippedAge}))`
}

const signedAs = (n: number, one: Omit<model.Signed, 'txHash'>): model.Signed => ({ ...one, txHash: word(7_000 + n) })
const attemptOf = ({ txHash, maxFeeWei, tipWei, signedAtBlock }: model.Signed) =>
  ({ txHash, raw: '0x1', maxFeeWei, maxPriorityFeeWei: tipWei, signedAtBlock }) as never
const hashes = fc.constantFrom(word(100), word(101), word(102), word(200), word(211), word(7_001), word(7_500))
type Machine = Act<model.Ledger>
const read = <Input>(
  draw: fc.Arbitrary<Input>,
  run: (sql: Sql, input: Input) => Promise<unknown>,
  expects: (state: model.Ledger, input: Input) => unknown,
): Machine => act({ draw, run, expects })

/** Another number for each, whatever shrinks. */
const another = fc.noShrink(fc.integer({ min: 0, max: 2 ** 40 }))
/** No two with one hash: a transaction of ours uses one nonce. */
const uniqueBy = <T extends { txHash: string }>(uses: fc.Arbitrary<T[]>) =>
  uses.map((all) => all.filter(({ txHash }, n) => all.findIndex((one) => one.txHash === txHash) === n))
const acts: Record<string, Machine> = {
  stored: act({
    draw: fc.record({ ...called, sender, signed, n: another }),
    run: async (sql, { signed, n, ...one }) => {
      const intent = {
        ...one,
        nonce: 20 + n,
        guardBlock: one.guard?.number ?? null,
        gasLimit: 77n,
        call: callOf(one),
      }
      return outbox.insertIntent(sql, intent as never, attemptOf(signedAs(n, signed)))
    },
    expects: (state: model.Ledger, { signed, n, ...one }) =>
      model.stored(state, { ...one, nonce: 20 + n, gasLimit: 77 }, signedAs(n, signed)),
  }),
  attempted: act({
    draw: fc.record({ id: fc.constantFrom(1, 2, 3), signed, n: another }),
    run: async (sql, { id, signed, n }) => {
      const known = await sql`SELECT FROM outbox WHERE id = ${id} AND kind <> 'foreign'`
      if (known.count > 0) await outbox.insertAttempt(sql, id, attemptOf(signedAs(n, signed)))
    },
    expects: (state: model.Ledger, { id, signed, n }) => {
      if (state.intents.some((one) => one.id === id && one.kind !== 'foreign'))
        model.attempted(state, id, signedAs(n, signed))
    },
  }),
  handedOver: act({
    draw: fc.record({ txHash: hashes, outcome: fc.constantFrom('known', 'x'.repeat(501)) }),
    run: (sql, { txHash, outcome }) => outbox.noteSend(sql, txHash as never, outcome),
    expects: (state: model.Ledger, { txHash, outcome }) => model.handedOver(state, txHash, outcome),
  }),
  mined: act({
    draw: fc.record({
      uses: uniqueBy(
        fc.uniqueArray(
          fc.record({
            ...{ sender, nonce: fc.constantFrom(5, 6, 7, 8, 9), txHash: hashes, succeeded: fc.boolean() },
            ...{ block: fc.constantFrom(399, 400), gasUsed: fc.constantFrom(1, 2), feeWei: fc.constantFrom(3n, 4n) },
            to: fc.constantFrom(null, account(9)),
          }),
          { maxLength: 3, selector: ({ sender, nonce }) => `${sender} ${nonce}` },
        ),
      ),
      signers: fc.subarray([...SENDERS]),
    }),
    run: async (sql, { uses, signers }) => {
      const sent = uses.map(({ block, ...one }) => ({
        ...{ ...one, valueWei: 1n, blockNumber: block, blockHash: word(block) },
      }))
      const { settled, foreign } = await outbox.recordMined(sql, sent as never, signers as never)
      return { settled: inOrder(settled.map((one) => ({ ...one }))), foreign: foreign.toSorted() }
    },
    expects: (state: model.Ledger, { uses, signers }) => {
      const sent = uses.map((one) => ({ ...one, valueWei: 1n, blockHash: word(one.block) }))
      const { settled, foreign } = model.mined(state, sent, signers)
      return { settled: inOrder(settled), foreign: foreign.toSorted() }
    },
  }),
  rewound: act({ draw: heights, run: outbox.rewindOutbox, expects: model.rewound }),
  based: act({
    draw: fc.record({ sender, nonce: fc.constantFrom(3, 6, 9), block: heights }),
    run: (sql, { sender, nonce, block }) => outbox.writeBase(sql, sender as never, { nonce, blockNumber: block }),
    expects: (state: model.Ledger, { sender, nonce, block }) => void state.bases.set(sender, { nonce, block }),
  }),
  displaced: act({
    draw: fc.record({ sender, nonce: fc.constantFrom(5, 6, 7, 8) }),
    run: async (sql, one) => {
      const ids = await outbox.displaceBelow(sql, { ...one, at: { number: 399, hash: word(399) } } as never)
      return ids.toSorted((a, b) => a - b)
    },
    expects: (state: model.Ledger, { sender, nonce }) =>
      model.displaced(state, sender, nonce, { number: 399, hash: word(399) }),
  }),
  pending: read(
    sender,
    async (sql, one) => {
      const rows = await outbox.readPending(sql, one as never)
      return rows.map(
        ({ id, nonce, guardBlock, validUntil, attempts, txHash, maxFeeWei, lastOutcome, signedAtBlock, call }) => {
          return { id, nonce, guardBlock, validUntil, attempts, txHash, maxFeeWei, lastOutcome, signedAtBlock, call }
        },
      )
    },
    (state, one) =>
      model.readPending(state, one).map(({ intent, last }) => ({
        ...{ id: intent.id, nonce: intent.nonce, guardBlock: intent.guard?.number, validUntil: intent.validUntil },
        ...{ attempts: last.attempt, txHash: last.txHash, maxFeeWei: last.maxFeeWei, lastOutcome: last.outcome },
        ...{ signedAtBlock: last.signedAtBlock, call: callOf(intent) },
      })),
  ),
  nonces: read(
    sender,
    async (sql, one) => [
      await outbox.readKnownNonces(sql, one as never),
      await outbox.freeNonceBelowPending(sql, one as never),
      await lists.hasPending(sql, one as never),
    ],
    (state, one) => [
      model.knownNonces(state, one),
      model.freeNonce(state, one),
      state.intents.some(({ sender, state }) => sender === one && state === 'pending'),
    ],
  ),
  reverts: read(
    fc.record({ sender, look: fc.constantFrom(1, 2, 3) }),
    async (sql, { sender, look }) => [
      await outbox.readReverts(sql, sender as never, look),
      await outbox.readStandingGuard(sql, sender as never),
    ],
    (state, { sender, look }) => [model.reverts(state, sender, look), model.standingGuard(state, sender)],
  ),
  mayMint: read(
    fc.constantFrom(...REFS),
    (sql, ref) => outbox.mayStillMint(sql, ref as never),
    (state, ref) => model.mayStillMint(state, ref),
  ),
  neverStored: read(
    fc.subarray([word(100), word(101), word(200), word(999)]),
    async (sql, all) => new Set(await outbox.neverStored(sql, all as never)),
    (state, all) => new Set(all.filter((hash) => !state.attempts.some(({ txHash }) => txHash === hash))),
  ),
  stuck: read(
    fc.constantFrom(1, 12, 13, 14),
    (sql, blocks) => lists.readStuck(sql, blocks),
    (state, blocks) => model.stuck(state, blocks),
  ),
  gasPrice: read(
    sender,
    (sql, one) => lists.readLastGasPrice(sql, one as never),
    (state, one) => model.lastGasPrice(state, one),
  ),
  listed: read(
    fc.record({
      sender: fc.constantFrom(null, null, ...SENDERS),
      status: fc.constantFrom(null, null, 'pending', 'displaced'),
      before: fc.constantFrom(null, null, 2, 3, 51),
      limit: fc.constantFrom(1, 2, 9),
    }),
    async (sql, asked) => {
      const rows = (await lists.readTransactions(sql, asked as never)) as unknown as Record<string, object[]>[]
      return rows.map(({ createdAt: _, distributionId: _d, openings: _o, payments, attempts, ...one }) => ({
        ...one,
        payments: (payments as { ref?: unknown; status?: unknown }[]).map(({ ref, status }) => ({ ref, status })),
        attempts: (attempts as { signedAt?: unknown; lastSentAt?: unknown }[]).map(
          ({ signedAt: _, lastSentAt: _s, ...each }) => each,
        ),
      }))
    },
    (state, asked) => model.listed(state, asked),
  ),
}

/** All rows of the two tables and the bases. */
async function readRows(sql: Sql) {
  const intents = await sql<object[]>`
    SELECT id, kind, sender, nonce, call, gas_limit, guard_block, valid_until, state, block_number, block_hash, tx_hash, gas_used, fee_wei, value_wei,
      to_address FROM outbox`
  const attempts = await sql<object[]>`
    SELECT tx_hash, outbox_id, attempt, max_fee_wei, max_priority_fee_wei, signed_at_block, sends, last_sent_at IS NOT NULL AS is_sent, last_outcome
    FROM outbox_attempts`
  const bases = await sql<object[]>`SELECT sender, nonce, block_number FROM sender_bases`
  return [intents, attempts, bases] as object[][]
}

const expectedRows = (ledger: model.Ledger) => {
  const { outbox = [], outbox_attempts = [], sender_bases = [] } = rowsOf(ledger)
  const intents = outbox.map((row) => ({ ...row, call: JSON.parse(String(row.call)) }))
  const attempts = outbox_attempts.map(({ raw: _, last_sent_at, last_outcome, ...row }) => ({
    ...{ ...row, is_sent: last_sent_at !== null, last_outcome },
  }))
  return [intents, attempts, sender_bases] as object[][]
}

test('intents, attempts and nonces are as signed, sent, mined and rewound, in every list of them', async () => {
  const compare = async (given: Drawn, steps: Parameters<typeof play<model.Ledger, unknown>>[1]['steps']) => {
    const ledger = ledgerOf(given)
    await tables.within(rowsOf(ledger), async (sql) => {
      await setAges(sql, ledger)
      await sql`SELECT setval(pg_get_serial_sequence('outbox', 'id'), ${FIRST_ID}, false)`
      const both = {
        read: async (sql: Sql) => (await readRows(sql)).map((rows) => inOrder(rows)),
        expected: (state: model.Ledger) => expectedRows(state).map((rows) => inOrder(rows)),
      }
      await play(sql, { steps, state: ledger }, both)
    })
  }
  const steps = stepsOf(acts, { least: 3, most: 9, weights: { reverts: 4, listed: 3, mined: 3, nonces: 3, stuck: 2 } })
  await fc.assert(fc.asyncProperty(drawn, steps, compare), { numRuns: cases(150) })
})
