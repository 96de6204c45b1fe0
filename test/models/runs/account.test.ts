// Nonces and pending transactions: follower, outbox and send step agree with the second reading over random histories of an account, in which forks,
// lagging providers and other users of the key come together.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Cursor } from '../../../src/db/blocks/blocks.ts'
import { type Pool, poolWithin } from '../../../src/db/core/sql.ts'
import { readWatching } from '../../../src/db/sale/payment-wallets.ts'
import { readNonceAhead, writeNonceAhead } from '../../../src/db/sends/nonce-ahead.ts'
import type { ObservedRange, SenderTransaction } from '../../../src/domain/observed.ts'
import type { Address } from '../../../src/domain/units.ts'
import { rewindTo } from '../../../src/follower/rewind.ts'
import { storeRange } from '../../../src/follower/store.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { resolvePending, send } from '../../../src/passes/steps/send.ts'
import type { FactoryCall, SignerAccount } from '../../../src/ports/sending.ts'
import { openTables, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './account.ts'
import { Chain, HAPPENS, type Happens, SENDER } from './chain.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const GWEI = 10n ** 9n
const VALID_SEC = 200
const FEES = { maxFeeWei: GWEI, maxPriorityFeeWei: GWEI }
const RULES = { startBlock: 100, validForSec: VALID_SEC, feeCapWei: 10n ** 40n, tipMaxWei: GWEI }

const happens = fc.constantFrom<Happens>(...HAPPENS, 'ours', 'ours', 'foreign')
const plan = fc.array(happens, { maxLength: 3 })
const isSwallowed = fc.constantFrom(false, false, false, true)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('run' as const), between: plan, isSwallowed }) },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ kind: fc.constant('mine' as const), plan, count: fc.constantFrom(1, 1, 2, 11, 12, 13, 63, 64) },
      sec: fc.constantFrom(12, 12, 100, 899),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ kind: fc.constant('fork' as const), depth: fc.constantFrom(1, 2, 3, 5, 14), returns: fc.boolean() },
      plan,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{
        kind: fc.constant('providers' as const),
        lags: fc.tuple(fc.constantFrom(0, 1, 2, 6), fc.constantFrom(0, 1, 6)),
      },
      lies: fc.tuple(fc.constantFrom(0, 0, 0, 1, 900, -1), fc.constantFrom(0, 0, 0, 1, 900, -1, null)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('free' as const, 'evict' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The ledger of an account beside its model, on one chain. */
class Pair {
  readonly chain: Chain
  readonly #pool: Pool
  readonly ledger: model.Ledger = { followed: [], stored: [], base: null, doubt: null }
  readonly rules: model.Rules = { validForSec: VALID_SEC, hashOf: (nth) => word(1 + nth), signed: 0 }
  readonly foreign = new Set<string>()
  isSwallowed = false
  #signed: model.Run['signs'] = []
  #sent: string[] = []
  #nonces = new Map<string, number>()
  /** How often a provider was sent each transaction, and its last answer. */
  #heard = new Map<string, { sends: number; last: string }>()

  constructor(pool: Pool, chain: Chain) {
    this.#pool = pool
    this.chain = chain
  }

  get #cursor(): Cursor | null {
    return (this.ledger.followed.at(-1) as Cursor | undefined) ?? null
  }

  /** What a provider answers of the account, and what is signed with its key. */
  get #sender(): SignerAccount {
    const answers = () => this.chain.answers(this.ledger.followed.at(-1) as model.Block)
    const sender: Partial<SignerAccount> = {
      address: SENDER as Address,
      nonce: async () => answers().latest.find((one) => one !== null) as number,
      nonces: async () => answers().latest,
      noncesAt: async () => answers().atFollowed,
      balance: async () => (10n ** 30n) as never,
      fees: async () => FEES,
      estimate: async () => ({ kind: 'ok', gas: 1n }),
      sign: async (call, { nonce, fees }) => {
        const txHash = word(1 + this.#signed.length) as never
        this.#signed.push({ nonce, isEmpty: (call as { orders: unknown[] }).orders.length === 0, txHash })
        this.#nonces.set(txHash, nonce)
        return { txHash, raw: txHash, nonce, fees }
      },
      broadcast: async (raw) => {
        this.#sent.push(raw)
        const stored = await this.#pool`SELECT FROM outbox_attempts WHERE raw = ${raw}`
        assert.equal(stored.count, 1, 'it is stored before a provider sees it')
        const answer = this.#receive(raw)
        const sends = (this.#heard.get(raw)?.sends ?? 0) + 1
        this.#heard.set(raw, { sends, last: answer.kind === 'unknown' ? 'unknown: no answer' : answer.kind })
        return answer
      },
    }
    return sender as SignerAccount
  }

  #receive(raw: `0x${string}`): Awaited<ReturnType<SignerAccount['broadcast']>> {
    if (this.isSwallowed) return { kind: 'unknown', detail: 'no answer' }
    return this.chain.receive(raw, this.#nonces.get(raw) as number) ? { kind: 'accepted' } : { kind: 'nonceTooLow' }
  }

  get #context() {
    const accounts = { minter: { address: SENDER as Address }, distributor: null }
    return { pool: this.#pool, chain: null as never, log: silentLog, rules: RULES, ...accounts }
  }

  async follow(): Promise<void> {
    const { followed } = this.ledger
    const fork = followed.findLast(({ hash }) => this.chain.blocks.some((one) => one.hash === hash))
    if (fork !== followed.at(-1)) {
      const block = { ...fork, parentHash: word(0), prevrandao: word(0) }
      assert.ok(await rewindTo(this.#context as never, block as never, this.#cursor as Cursor))
      this.ledger.followed = followed.slice(0, followed.indexOf(fork as model.Block) + 1)
    }
    const above = this.#cursor?.number ?? 0
    const blocks = this.chain.blocks.filter(({ number }) => number > above && number <= this.chain.heightOf(0))
    if (blocks.length === 0) return
    const range = await this.#observe(blocks)
    assert.ok(await storeRange(this.#context as never, range, this.#cursor, this.chain.head.number))
    this.ledger.followed = [...this.ledger.followed, ...blocks]
    for (const { txHash } of model.foreignOf({ ...this.ledger, followed: blocks })) this.foreign.add(txHash)
  }

  async #observe(blocks: model.Block[]): Promise<ObservedRange> {
    const sent: SenderTransaction[] = []
    for (const block of blocks)
      for (const { use, txIndex } of this.chain.shown.get(block.hash) ?? []) {
        const place = { blockNumber: block.number, blockHash: block.hash, blockTime: block.time, txIndex }
        const whole = { ...use, ...place, sender: SENDER, gasUsed: 1n, feeWei: 1n, valueWei: 0n, to: null, type: 2 }
        sent.push({ ...whole, proof: 'proven' } as never)
      }
    const headers = blocks.map(({ number, hash, time }) => ({
      number,
      hash,
      time,
      parentHash: word(0),
      prevrandao: word(0),
    }))
    const nothing = { fees: [], transfers: [], outflows: [], failedWithdrawals: [], events: [] }
    return { watching: await readWatching(this.#pool), blocks: headers as never, ...nothing, sent }
  }

  async run(between: Happens[]): Promise<void> {
    await this.follow()
    if (between.length > 0) this.chain.mine(between, 12)
    const cursor = this.ledger.followed.at(-1) as model.Block
    const expected = model.run(this.ledger, this.chain.answers(cursor), this.rules)
    const before = this.#signed.length
    this.#sent = []
    const sending = { run: { checkLock: () => undefined }, sender: this.#sender, cursor } as never
    const call = {
      kind: 'mint',
      orders: [{}],
      guard: null,
      validUntil: cursor.time + VALID_SEC,
    } as unknown as FactoryCall
    const isPending = await resolvePending(this.#context as never, sending)
    const sent = isPending ? null : await send(this.#context as never, sending, call, async () => undefined)
    const refused = sent?.kind === 'refused' ? sent.why : null
    assert.deepEqual({ signs: this.#signed.slice(before), sends: this.#sent, refused }, expected)
    await this.compare()
  }

  async compare(): Promise<void> {
    const sql = this.#pool
    const rows =
      await sql`SELECT nonce, kind = 'foreign' AS "isForeign", state, block_hash AS block, tx_hash AS "txHash",
        (SELECT string_agg(a.tx_hash, ' ' ORDER BY attempt) FROM outbox_attempts a WHERE outbox_id = o.id) AS attempts
      FROM outbox o ORDER BY nonce`
    const stored = this.ledger.stored.map((one) => {
      const { state, block, txHash } = model.fateOf(this.ledger, one)
      const attempts = one.attempts.map((attempt) => attempt.txHash).join(' ')
      return { nonce: one.nonce, isForeign: false, state, block: block?.hash ?? null, txHash, attempts }
    })
    const own = new Set(stored.map(({ nonce }) => nonce))
    const foreign = this.ledger.followed.flatMap((block) =>
      model.foreignOf({ ...this.ledger, followed: [block] }).flatMap(({ nonce, txHash }) => {
        const row = { nonce, isForeign: true, state: 'displaced' as const, block: block.hash, txHash, attempts: null }
        return own.has(nonce) ? [] : [row]
      }),
    )
    assert.deepEqual(
      [...rows],
      [...stored, ...foreign].toSorted((a, b) => a.nonce - b.nonce),
    )
    const heard = await sql`SELECT raw, sends, last_outcome AS last FROM outbox_attempts WHERE sends > 0 ORDER BY raw`
    assert.deepEqual(
      [...heard],
      [...this.#heard].map(([raw, one]) => ({ raw, ...one })).toSorted((a, b) => (a.raw < b.raw ? -1 : 1)),
      'what providers said',
    )
    const told = await sql`SELECT DISTINCT subject FROM audit WHERE action = 'foreignTransaction' ORDER BY subject`
    assert.deepEqual(
      told.map(({ subject }) => subject),
      [...this.foreign].toSorted(),
      'uses of the key that were told',
    )
    const doubt = await readNonceAhead(sql, SENDER as Address)
    assert.deepEqual(doubt && { since: doubt.sinceBlock, takeOver: doubt.takeOver }, this.ledger.doubt)
  }

  async take(one: Step): Promise<void> {
    switch (one.kind) {
      case 'run':
        this.isSwallowed = one.isSwallowed
        return await this.run(one.between)
      case 'mine':
        this.chain.mine(one.plan, one.sec)
        for (let more = 1; more < one.count; more++) this.chain.mine([], one.sec)
        return
      case 'fork':
        this.chain.drop(one.depth, one.returns)
        for (let more = 0; more <= one.depth; more++) this.chain.mine(more === 1 ? one.plan : [], 12)
        return
      case 'providers':
        this.chain.lags = one.lags.slice(0, this.chain.lags.length)
        this.chain.lies = one.lies.slice(0, this.chain.lags.length)
        return
      case 'evict':
        this.chain.pool.clear()
        return
      case 'free': {
        const doubt = await readNonceAhead(this.#pool, SENDER as Address)
        if (doubt === null) return
        await writeNonceAhead(this.#pool, SENDER as Address, { ...doubt, takeOver: true })
        if (this.ledger.doubt) this.ledger.doubt.takeOver = true
      }
    }
  }

  /** Everything is in order again, and blocks take what they are sent. */
  async rest(): Promise<void> {
    this.isSwallowed = false
    this.chain.lags = this.chain.lags.map(() => 0)
    this.chain.lies = this.chain.lags.map(() => 0)
    for (let round = 0; round < 8; round++) {
      this.chain.mine(['ours', 'ours', 'ours', 'ours'], 450)
      // A doubt takes 64 blocks.
      for (let more = 0; more < (this.ledger.doubt === null ? 0 : 65); more++) this.chain.mine([], 12)
      await this.run([])
    }
    const nonce = this.chain.nonceAt(this.chain.head.number)
    const pending = this.ledger.stored.filter((one) => model.fateOf(this.ledger, one).state === 'pending')
    assert.deepEqual(
      pending.map((one) => one.nonce),
      [nonce],
      'one transaction is under way, with the next nonce',
    )
  }
}

test('nonces stay right through forks, lag and other uses of the key, and sending continues', async () => {
  const compare = (steps: Step[], providers: number, hides: boolean) =>
    tables.within({}, async (sql) => {
      const pair = new Pair(poolWithin(sql), new Chain(providers, hides))
      await pair.run([])
      for (const one of steps) await pair.take(one)
      await pair.rest()
    })
  const history = fc.array(step, { minLength: 4, maxLength: 14 })
  await fc.assert(fc.asyncProperty(history, fc.constantFrom(1, 2), fc.boolean(), compare), { numRuns: cases(20) })
})

test('a nonce that was used unseen is not free, although a lagging provider has not seen its use', async () => {
  const taken: Step[] = [
    { kind: 'mine', plan: ['ours'], count: 1, sec: 12 },
    { kind: 'run', between: [], isSwallowed: false },
    { kind: 'evict' },
    { kind: 'mine', plan: ['hidden'], count: 1, sec: 12 },
    { kind: 'mine', plan: ['hidden'], count: 1, sec: 12 },
    { kind: 'run', between: [], isSwallowed: false },
    { kind: 'free' },
    { kind: 'run', between: [], isSwallowed: false },
    { kind: 'run', between: [], isSwallowed: false },
  ]
  await tables.within({}, async (sql) => {
    const pair = new Pair(poolWithin(sql), new Chain(1, true))
    await pair.run([])
    for (const step of taken) await pair.take(step)
    assert.equal(pair.ledger.base?.nonce, 6, 'the nonce was adopted')
    // A provider that lags by one block has seen the first of the two uses.
    for (const lag of [1, 2]) {
      pair.chain.lags = [lag]
      await pair.run([])
    }
    await pair.rest()
  })
})

test('a nonce below ours that became free after a use that was hidden is filled', async () => {
  const taken: Step[] = [
    { kind: 'mine', plan: ['ours', 'foreign', 'foreign'], count: 1, sec: 12 },
    { kind: 'run', between: [], isSwallowed: false },
    { kind: 'fork', depth: 1, returns: false, plan: ['foreign', 'hidden'] },
  ]
  await tables.within({}, async (sql) => {
    const pair = new Pair(poolWithin(sql), new Chain(1, true))
    await pair.run([])
    for (const step of taken) await pair.take(step)
    await pair.rest()
  })
})
