// Agreement of providers: src/chain/evidence/agreed.ts and state/agreement.ts, over one to four providers that agree, lie, are silent or tied, and a
// signer’s balance and the search for a block by its time agree with the second reading.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { agreedReads } from '../../../src/chain/evidence/agreed.ts'
import { agreedHashes } from '../../../src/chain/evidence/state/agreement.ts'
import { createSignerAccount } from '../../../src/chain/send/signer-account.ts'
import { ChainFault, ProofFault } from '../../../src/ports/faults.ts'
import { word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './agreed.ts'

/** What one provider says: a word, nothing, or a fault. */
const said = fc.constantFrom('a', 'a', 'a', 'b', 'b', 'c', null, 'fault')
const everyone = fc.array(said, { minLength: 1, maxLength: 4 })
const heard = (one: string | null) => (one === 'fault' ? null : one)

const given = async <T>(word: string | null, answer: (word: string) => T): Promise<T | null> => {
  if (word === 'fault') throw new Error('no answer')
  return word === null ? null : answer(word)
}

test('an answer counts if two of several give it, and more than give any other', async () => {
  const compare = async (all: (string | null)[]) => {
    const transaction = (word: string) => ({ txHash: word, valueWei: 5n, index: 1 })
    const providers = all.map((one) => ({
      minedTransaction: () => given(one, transaction),
      innerTransfers: () => given(one, (word) => [{ to: word, valueWei: 7n }]),
    }))
    const reads = agreedReads(providers as never)
    const isSilent = all.every((one) => one === 'fault')
    const expected = model.agreed(all.map(heard))
    const asked = [
      () => reads.minedTransaction('0x' as never),
      () => reads.innerTransfers('0x' as never, '0x' as never),
    ]
    const answers = [expected && transaction(expected), expected && [{ to: expected, valueWei: 7n }]]
    for (const [n, ask] of asked.entries())
      if (isSilent) await assert.rejects(ask, /no answer/)
      else assert.deepEqual(await ask(), answers[n])
  }
  await fc.assert(fc.asyncProperty(everyone, compare), { numRuns: cases(300) })
})

test('the oldest block that one calls final counts, with who does not contradict it', async () => {
  const final = fc.record({ number: fc.constantFrom(5, 6, 6, 7), hash: fc.constantFrom('a', 'a', 'b') })
  const all = fc.array(fc.oneof({ weight: 4, arbitrary: final }, fc.constantFrom(null, 'fault' as const)), {
    minLength: 1,
    maxLength: 4,
  })
  const compare = async (words: (model.Final | null | 'fault')[]) => {
    const providers = words.map((one) => ({
      finalized: async () => (one === 'fault' ? assert.fail('no answer') : one),
    }))
    const asked = agreedReads(providers as never).finalized()
    if (words.every((one) => one === 'fault')) return assert.rejects(asked, /no answer/)
    assert.deepEqual(await asked, model.lowest(words.map((one) => (one === 'fault' ? null : one))))
  }
  await fc.assert(fc.asyncProperty(all, compare), { numRuns: cases(300) })
})

test('two confirm a transaction, and two with another answer contradict it', async () => {
  const drawn = fc.nat(3).chain((count) =>
    fc.record({
      told: fc.array(fc.record({ words: fc.constantFrom('a', 'a', 'b'), isOwn: fc.boolean() }), {
        minLength: count,
        maxLength: count,
      }),
      /** The voices whose answers are of another block. */
      elsewhere: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      answers: fc.array(fc.option(fc.array(said, { minLength: count, maxLength: count }), { freq: 6 }), {
        maxLength: 4,
      }),
    }),
  )
  const compare = async ({ told, answers, elsewhere }: typeof drawn extends fc.Arbitrary<infer T> ? T : never) => {
    const [there, other] = [word(4) as never, word(5) as never]
    const voices = answers.map((all, voice) => ({
      batch: async (calls: { params: [string] }[]) => {
        assert.deepEqual(
          calls,
          told.map((_, n) => ({ method: 'ask', params: [word(n)] })),
        )
        if (all === null) throw new ChainFault('no answer')
        return all.map((one) =>
          one === 'fault' ? { ok: false } : { ok: true, result: one === null ? null : [one, elsewhere[voice]] },
        )
      },
    }))
    const question = {
      ...{ part: 'transactions' as const, what: 'value of' },
      ask: ({ hash }: { hash: unknown }) => ({ method: 'ask', params: [hash] }),
      // A form that is not known cannot be read.
      read: (answer: unknown) => {
        const [words, isElsewhere] = answer as [string, boolean]
        if (words === 'c') throw new ChainFault('another form')
        return { words, blockHash: isElsewhere ? other : there }
      },
    }
    const asked = told.map((one, n) => ({ hash: word(n) as never, blockNumber: 4, blockHash: there, ...one }))
    const readable = answers.map((all, voice) =>
      told.map((_, n) => ({
        words: all?.[n] === 'c' ? null : heard(all?.[n] ?? null),
        isThere: !elsewhere[voice],
      })),
    )
    const expected = model.confirmed(told, readable)
    const found = agreedHashes(voices as never, asked, question)
    if (expected === 'otherwise') return assert.rejects(found, ProofFault)
    if (expected === 'contradicted') return assert.rejects(found, { name: 'ChainFault' })
    assert.deepEqual([...(await found)], [...expected].map(word))
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(400) })
})

test('two agreeing providers find the first block at a time, however uneven the times', async () => {
  const step = fc.constantFrom(0, 0, 1, 1, 2, 12, 1_000)
  const drawn = fc.record({
    steps: fc.array(step, { minLength: 1, maxLength: 40 }),
    offset: fc.constantFrom(0, -1, 1),
    at: fc.nat(40),
    notAfter: fc.nat(40),
    liars: fc.array(fc.constantFrom('silent', 'other', 'earlier'), { maxLength: 2 }),
    isAlone: fc.constantFrom(false, false, true),
  })
  const compare = async ({ steps, ...one }: typeof drawn extends fc.Arbitrary<infer T> ? T : never) => {
    let time = 1_000
    const blocks = [time, ...steps.map((step) => (time += step))].map((time, number) => {
      return { number, time, hash: word(number), parentHash: word(number - 1 < 0 ? 999 : number - 1) }
    })
    const last = Math.min(one.notAfter, blocks.length - 1)
    const target = (blocks[Math.min(one.at, blocks.length - 1)]?.time ?? 0) + one.offset
    const honest = { block: async (number: number) => blocks[number] ?? null }
    const lies = {
      silent: async () => assert.fail('no answer'),
      other: async (number: number) => ({ ...blocks[number], hash: word(7_777) }),
      earlier: async (number: number) => ({ ...blocks[number], time: 5 }),
    }
    const liars = one.liars.map((how, n) => ({ block: n === 0 ? lies[how as 'other'] : lies.silent }))
    const providers = one.isAlone ? [honest] : [...liars.slice(0, 1), honest, honest, ...liars.slice(1)]
    const found = await agreedReads(providers as never).agreedFirstBlockAt(target, last)
    const expected = model.firstAt(blocks, target, last)
    assert.equal(found?.block.number ?? null, expected?.number ?? null)
    if (expected !== null)
      assert.equal(found?.parent?.number ?? null, expected.number === 0 ? null : expected.number - 1)
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(300) })
})

test('a signer uses the highest number that a provider reports', async () => {
  const balances = fc.array(fc.constantFrom(0n, 1n, 5n, 5n, 6n, 10n ** 24n, null), { minLength: 1, maxLength: 4 })
  const compare = async (each: (bigint | null)[]) => {
    const asking = (wei: bigint | null) => ({
      request: async (method: string) => {
        assert.equal(method, 'eth_getBalance')
        if (wei === null) throw new ChainFault('no answer')
        return `0x${wei.toString(16)}`
      },
    })
    // The usual order begins with the first provider that answers.
    const rpc = { ...asking(each.find((one) => one !== null) ?? null), providers: each.map(asking) }
    const signer = { address: word(1) }
    const { balance } = createSignerAccount({ rpc, signer, chainId: 1, factory: word(2) } as never)
    const expected = model.most(each)
    if (expected === null) await assert.rejects(balance(), /no answer/)
    else assert.equal(await balance(), expected)
  }
  await fc.assert(fc.asyncProperty(balances, compare), { numRuns: cases(100) })
})
