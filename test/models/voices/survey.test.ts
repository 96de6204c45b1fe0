// The reads of a survey: src/chain/evidence/survey/reader.ts, over one to four providers that have other blocks in one place, or do not answer, finds what
// the second reading finds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createSurveyReader } from '../../../src/chain/evidence/survey/reader.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { account, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './survey.ts'

const silent = () => {
  throw new ChainFault('no answer')
}
const FIRST = 40
const hashOf = (name: string, n: number) => word(1_000 * (name === 'a' ? 1 : 2) + n)

/** Blocks of one fork, one of which may be another, be missing, or have another height. The edges of a request's 16 come often. */
const apart = fc.option(
  fc.record({
    at: fc.constantFrom(0, 0, 1, 14, 15, 16, 17, -1, -1),
    name: fc.constantFrom('b', 'b', null, 'elsewhere'),
  }),
)
const knows = fc.record({
  fork: fc.constantFrom('a', 'a', 'a', 'a', 'b'),
  apart,
  isSilent: fc.constantFrom(false, false, false, true),
})
const provider = fc.record({
  shows: knows,
  /** Null: those that it shows. */
  names: fc.option(knows, { freq: 2 }),
})
const drawn = fc.record({
  count: fc.constantFrom(1, 2, 3, 16, 17, 18, 33),
  providers: fc.array(provider, { minLength: 1, maxLength: 4 }),
})
type Knows = typeof knows extends fc.Arbitrary<infer T> ? T : never

function namesOf({ fork, apart: one, isSilent }: Knows, count: number): (string | null)[] | null {
  if (isSilent) return null
  const at = one && (one.at < 0 ? count - 1 : one.at)
  return Array.from({ length: count }, (_, n) => (one !== null && n === at ? one.name : fork))
}

function headerOf(call: { method: string; params: unknown[] }, names: (string | null)[]) {
  assert.equal(call.method, 'eth_getBlockByNumber')
  assert.equal(call.params[1], false)
  const number = Number(call.params[0])
  const name = names[(number - FIRST) / 2] ?? null
  if (name === null) return null
  const shown = name === 'elsewhere' ? number + 1 : number
  return {
    ...{ number: `0x${shown.toString(16)}`, hash: hashOf(name === 'elsewhere' ? 'a' : name, number) },
    ...{ parentHash: word(0), timestamp: '0x1', stateRoot: word(3) },
  }
}

const plainly = (names: (string | null)[] | null) => names?.map((name) => (name === 'elsewhere' ? null : name)) ?? null

test('what one provider shows of old blocks counts if another has every one of them', async () => {
  const met = { believed: 0, later: 0, none: 0 }
  const compare = async ({ count, providers }: typeof drawn extends fc.Arbitrary<infer T> ? T : never) => {
    const numbers = Array.from({ length: count }, (_, n) => FIRST + 2 * n)
    const logged = [
      { number: FIRST, logs: [{ n: 1 }, { n: 2 }] },
      { number: FIRST + 2, logs: [{ n: 3 }] },
    ]
    const said = providers.map(({ shows, names }) => {
      // A provider shows no block that it lacks: it then gives no answer.
      const shown = namesOf(shows, count)
      return {
        shows: shown?.every((name) => name === 'a' || name === 'b') ? (shown as string[]) : null,
        names: namesOf(names ?? shows, count),
      }
    })
    const readers = said.map(({ shows, names }, index) => ({
      rpc: {
        requestAll: async (calls: never[]) => (names === null ? silent() : calls.map((call) => headerOf(call, names))),
      },
      observer: {
        observeBlocks: async (asked: number[], logs: unknown[], watching: unknown) => {
          assert.deepEqual([asked, logs, watching], [numbers, [{ n: 1 }, { n: 2 }, { n: 3 }], 'wallets'])
          if (shows === null) return silent()
          return { blocks: shows.map((name, n) => ({ hash: hashOf(name, FIRST + 2 * n) })), by: index }
        },
      },
    }))
    const reader = createSurveyReader(readers as never, account(9) as never)
    const found = (await reader.observeBlocks(numbers, logged as never, 'wallets' as never)) as { by: number } | null
    const expected = model.believed(said.map(({ shows, names }) => ({ shows, names: plainly(names) })))
    assert.equal(found?.by ?? null, expected)
    met[expected === null ? 'none' : expected === 0 ? 'believed' : 'later'] += 1
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(500) })
  assert.ok(Math.min(...Object.values(met)) >= cases(20), JSON.stringify(met))
})

test('the last answering provider places transactions, the same one for a whole request', async () => {
  const answers = fc.array(fc.constantFrom('places', 'others', 'pending', 'silent'), { minLength: 1, maxLength: 4 })
  const compare = async (count: number, said: string[], second: string[]) => {
    const hashes = Array.from({ length: count }, (_, n) => word(10 + n))
    const placeOf = (how: string, provider: number, n: number) =>
      how === 'pending' ? null : how === 'others' && n % 2 === 1 ? null : 100 * (1 + provider) + n
    const readers = said.map((_, index) => ({
      rpc: {
        requestAll: async (calls: { params: [string] }[]) => {
          const first = Number(calls[0]?.params[0]) - 10
          const how = (first === 0 ? said : second)[index % second.length] ?? 'silent'
          if (how === 'silent') return silent()
          return calls.map((_call, n) => txOf(placeOf(how, index, first + n), first + n))
        },
      },
      observer: {},
    }))
    const found = await createSurveyReader(readers as never, account(9) as never).blocksOf(hashes as never)
    const expected = [0, 50, 100].flatMap((from) => {
      const size = Math.max(0, Math.min(50, count - from))
      const told = said.map((_, index) => {
        const how = (from === 0 ? said : second)[index % second.length] ?? 'silent'
        return how === 'silent' ? null : Array.from({ length: size }, (_, n) => placeOf(how, index, from + n))
      })
      return model.placed(told, size)
    })
    assert.deepEqual(found, expected)
  }
  const counts = fc.constantFrom(0, 1, 2, 49, 50, 51, 101)
  await fc.assert(fc.asyncProperty(counts, answers, answers, compare), { numRuns: cases(150) })
})

/** A transaction as a node shows it: in a block, pending or (an odd one) not there. */
function txOf(block: number | null, n: number) {
  if (block === null && n % 3 === 0) return null
  return {
    ...{ hash: word(10 + n), transactionIndex: block === null ? null : '0x0', from: account(1), to: account(2) },
    ...{ blockHash: block === null ? null : word(block), value: '0x1', nonce: '0x1', input: '0x' },
    blockNumber: block === null ? null : `0x${block.toString(16)}`,
  }
}
