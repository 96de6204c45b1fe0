// The guard of a call and the proof of a payment: src/passes/steps/guard.ts over all that one to three providers may say, and prove-released.ts over what two
// say of a transaction. They agree with the second reading about each answer, and about what is told.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { recordIdentity } from '../../../src/db/core/state.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { refuseGuard } from '../../../src/passes/steps/guard.ts'
import { agree } from '../../../src/passes/steps/prove-released.ts'
import { ChainFault, ProofFault } from '../../../src/ports/faults.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './guards.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [SENDER, GUARD, CHAIN_ID, GENESIS] = [account(8), 100, 7, word(1_000)]
const provider = fc.record({
  said: fc.constantFrom<model.Said>('same', 'same', 'same', 'other', 'other', 'none', 'silent', 'false'),
  chain: fc.constantFrom<model.Provider['chain']>('ours', 'ours', 'ours', 'otherId', 'otherGenesis', 'silent'),
})
const drawn = fc.record({
  providers: fc.array(provider, { minLength: 1, maxLength: 3 }),
  asked: fc.record({
    kind: fc.constantFrom<model.Asked['kind']>('mint', 'mint', 'mint', 'mint', 'openCohorts'),
    guard: fc.constantFrom(true, true, true, true, false),
    aboveAgreed: fc.constantFrom<model.Asked['aboveAgreed']>(null, null, null, -1, 0, 1),
    last: fc.constantFrom<model.Asked['last']>('none', 'mined', 'reverted', 'refused', 'refused', 'refusedAndNoted'),
  }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const silent = () => {
  throw new ChainFault('no answer')
}

function readerOf({ said, chain }: model.Provider, n: number) {
  const block = async (number: number) => {
    if (number === 0)
      return chain === 'silent' ? silent() : { number, hash: chain === 'otherGenesis' ? word(666) : GENESIS }
    if (said === 'silent') return silent()
    if (said === 'false') throw new ProofFault('header', number, 'it is not that of its hash')
    return said === 'none' ? null : { number, hash: said === 'same' ? word(GUARD) : word(600 + n), time: 1_000 }
  }
  const chainId = async () => (chain === 'silent' ? silent() : chain === 'otherId' ? 8 : CHAIN_ID)
  return { host: `host ${n}`, block, chainId }
}

function rowsOf({ asked: { last } }: Drawn): Rows {
  const call = JSON.stringify({ guard: { number: 90, hash: word(90) } })
  const state = last === 'mined' ? 'mined' : 'reverted'
  const intent = {
    id: 1,
    kind: 'mint',
    sender: SENDER,
    nonce: 1,
    call,
    gas_limit: 1,
    valid_until: 5_000,
    guard_block: 90,
  }
  const done = { state, tx_hash: word(9), block_number: 95, block_hash: word(95), gas_used: 1, fee_wei: 1 }
  const block = (number: number) => ({
    number,
    hash: word(number),
    parent_hash: word(number - 1),
    time: number,
    prevrandao: word(1),
  })
  return {
    blocks: [block(90), block(95)],
    outbox: last === 'none' ? [] : [{ ...intent, ...done }],
  }
}

async function note(sql: Sql, last: string): Promise<void> {
  await recordIdentity(sql, { chainId: CHAIN_ID, genesisHash: GENESIS, factory: account(2), startBlock: 1 })
  if (last === 'refusedAndNoted')
    await sql`INSERT INTO troubles (name, value) VALUES (${`guardRefused ${SENDER}`}, '{"outboxId": 1}')`
}

/** What is told: once each, that an answer is not its hash's, and that the contract saw another block. */
function toldOf({ providers, asked }: Drawn) {
  const isAsked = asked.kind === 'mint' && asked.guard && asked.aboveAgreed !== 1
  const lies = providers.findIndex(({ said }) => said === 'false')
  const says = 'it is not that of its hash'
  const failed = {
    action: 'proofFailed',
    subject: String(GUARD),
    detail: { part: 'header', host: `host ${lies}`, says },
  }
  const detail = { why: 'staleFork', guardBlock: 90, guardHash: word(90), txHash: word(9), gasUsed: 1, feeWei: '1' }
  const refused = { action: 'guardRefused', subject: SENDER, detail }
  return [
    ...(isAsked && lies >= 0 ? [failed] : []),
    ...(asked.last === 'refused' && model.looksBack(providers, asked) ? [refused] : []),
  ].map((one) => ({ actor: 'pass', ...one }))
}

function askedOf({ kind, guard, aboveAgreed, last }: model.Asked) {
  // Without a refusal the contract saw the ledger's block, or had none any longer.
  const sees = last.startsWith('refused') ? word(666) : word(90)
  const looks: number[][] = []
  const guardsAt = async (...at: number[]) => {
    looks.push(at)
    return [null, sees]
  }
  const run = { agreed: aboveAgreed === null ? null : { number: GUARD - aboveAgreed } }
  const block = guard ? { number: GUARD, hash: word(GUARD) } : null
  const call = kind === 'mint' ? { kind, guard: block } : { kind }
  return { call, sender: { address: SENDER, guardsAt }, run, looks }
}

const WORDS: [string, model.Why][] = [
  ['histories differ', 'differ'],
  ['do not agree', 'disagree'],
  ['no provider shows', 'none'],
  ['the contract refused', 'refused'],
]

test('a call is signed only if no provider has another block there, or two have the guard’s', async () => {
  const compare = async (given: Drawn) => {
    const { providers, asked } = given
    await tables.within(rowsOf(given), async (sql) => {
      await note(sql, asked.last)
      const chain = { providers: providers.map(readerOf) }
      const ctx = { pool: poolWithin(sql), log: silentLog, chain }
      const { call, sender, run, looks } = askedOf(asked)
      const found = await refuseGuard(ctx as never, { sender, run } as never, call as never)
      const why = WORDS.find(([words]) => found?.includes(words))?.[1] ?? found
      assert.equal(why, model.whyRefused(providers, asked))
      assert.deepEqual([...(await sql`SELECT actor, action, subject, detail FROM audit ORDER BY id`)], toldOf(given))
      // What is on record is not looked up again.
      const isOpen = asked.last === 'reverted' || asked.last === 'refused'
      assert.deepEqual(looks, isOpen && model.looksBack(providers, asked) ? [[90, 95]] : [])
      const isNoted = asked.last === 'refusedAndNoted' || toldOf(given).some(({ action }) => action === 'guardRefused')
      const noted = await sql`SELECT value FROM troubles WHERE name = ${`guardRefused ${SENDER}`}`
      assert.deepEqual([...noted], isNoted ? [{ value: { outboxId: 1 } }] : [])
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(300) })
})

const usually = fc.constantFrom(true, true, true, true, true, true, false)
const mined = fc.record({
  ...{ isSameSender: usually, isSameWallet: usually, isSameValue: usually, isSameBlock: usually, isSameEnd: usually },
  isSameTime: usually,
})
const age = fc.constantFrom(119, 120, 121)

function minedAs(said: model.Mined, succeeded: boolean) {
  return {
    ...{ from: said.isSameSender ? account(5) : account(6), to: said.isSameWallet ? account(1) : account(2) },
    ...{ valueWei: said.isSameValue ? 10n : 11n, blockHash: said.isSameBlock ? word(50) : word(51) },
    ...{ blockNumber: said.isSameBlock ? 50 : 51, blockTime: said.isSameTime ? 1_000 : 990 },
    succeeded: said.isSameEnd ? succeeded : !succeeded,
  }
}

test('only two providers with the same answer in the ledger’s block prove a payment', async () => {
  const compare = async (said: model.Mined | null, providers: number, succeeded: boolean, seconds: number) => {
    const payment = { txHash: word(1), from: account(5), wallet: account(1), valueWei: 10n, succeeded }
    const place = { blockNumber: 50, blockHash: word(50), blockTime: 1_000 }
    const row = { id: 1, ref: word(1), tx_hash: word(1), wallet: account(1), from_address: account(5), value_wei: 10 }
    const inBlock = { state: 'seen', proof: 'believed', block_number: 50, block_hash: word(50), block_time: at(1_000) }
    const minedTransaction = async () => said && minedAs(said, succeeded)
    const chain = { providers: Array.from({ length: providers }), minedTransaction }
    await tables.within({ payments: [{ ...row, ...inBlock, succeeded }] }, async (sql) => {
      const ctx = { pool: poolWithin(sql), log: silentLog, chain }
      const found = await agree(ctx as never, { ...payment, ...place } as never, 1_000 + seconds)
      const expected = model.proves(said, providers)
      assert.equal(found, expected)
      const [stored] = await sql<{ proof: string }[]>`SELECT proof FROM payments`
      assert.equal(stored?.proof, expected ? 'agreed' : 'believed')
      const told = await sql`SELECT actor, action, subject, detail - 'says' AS detail FROM audit`
      const failed = { part: 'transactions', host: null }
      const row = { actor: 'pass', action: 'proofFailed', subject: '50', detail: failed }
      assert.deepEqual([...told], !expected && seconds >= 120 ? [row] : [])
    })
  }
  const property = fc.asyncProperty(
    fc.option(mined, { freq: 8 }),
    fc.constantFrom(1, 2, 2, 2, 3),
    fc.boolean(),
    age,
    compare,
  )
  await fc.assert(property, { numRuns: cases(120) })
})
