// We decode the factory's logs word by word, as viem does, and reject incomplete ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeEventLog } from 'viem/utils'
import { factoryDecodeAbi, factoryTopics } from '../../../src/chain/factory/abi.ts'
import { ledgerTopics, toEvent } from '../../../src/chain/factory/events.ts'
import type { WireLog } from '../../../src/chain/rpc/wire.ts'
import type { Position } from '../../../src/domain/observed.ts'
import type { Hash } from '../../../src/domain/units.ts'

type Name = keyof typeof factoryTopics

const AT: Position = { blockNumber: 1, blockHash: '0x01' as Hash, blockTime: 1, txHash: '0x02' as Hash, txIndex: 0 }
const events = factoryDecodeAbi
  .filter((item) => item.type === 'event')
  .filter(({ name }) => ledgerTopics.includes(factoryTopics[name]))

/** The log of an event whose nth parameter is n, with so many topics and words of data missing. */
function logOf(name: Name, missing = { topics: 0, words: 0 }): WireLog {
  const { inputs } = events.find((event) => event.name === name) ?? { inputs: [] }
  const word = (_: unknown, index: number) => `${index + 1}`.padStart(64, '0')
  const inTopics = inputs.filter(({ indexed }) => indexed).map(word)
  const inData = inputs.filter(({ indexed }) => !indexed).map((_, index) => word(_, inTopics.length + index))
  const topics = inTopics.slice(missing.topics).map((text) => `0x${text}` as Hash)
  return {
    ...AT,
    logIndex: 0,
    address: '0x' as never,
    topics: [factoryTopics[name], ...topics],
    data: `0x${inData.slice(missing.words).join('')}`,
  }
}

for (const { name, inputs } of events) {
  test(`${name} has the values that viem finds in it`, () => {
    const log = logOf(name)
    const { args } = decodeEventLog({ abi: factoryDecodeAbi, data: log.data, topics: log.topics as [Hash] })
    const { kind, ...event } = toEvent(log, AT)
    const said = kind === 'ownerAct' ? (event as unknown as { detail: object }).detail : event
    for (const [key, value] of Object.entries(said)) {
      if (key in AT || key === 'logIndex') continue
      // The ledger's name may be longer than the contract's.
      const named = Object.keys(args ?? {}).filter((word) => key.toLowerCase().includes(word.toLowerCase()))
      const longest = named.reduce((best, word) => (word.length > best.length ? word : best))
      assert.equal(Number(value), Number((args as unknown as Record<string, unknown>)[longest]), key)
    }
  })

  test(`${name} without one of its words is a fault`, () => {
    const indexed = inputs.filter((input) => input.indexed).length
    if (indexed > 0) assert.throws(() => toEvent(logOf(name, { topics: 1, words: 0 }), AT), /does not decode/)
    if (inputs.length > indexed)
      assert.throws(() => toEvent(logOf(name, { topics: 0, words: 1 }), AT), /does not decode/)
  })
}

test('a log with a figure that the contract’s own types cannot hold is a fault', () => {
  const TOO_MUCH: Partial<Record<Name, number[]>> = {
    NodeMinted: [0, 3],
    MintSkipped: [1],
    Transfer: [2],
    CohortOpened: [0, 1, 2, 3],
    Credited: [0, 1, 2, 3, 4, 5],
    Withdrawn: [0],
  }
  for (const [name, places] of Object.entries(TOO_MUCH))
    for (const place of places) {
      const log = logOf(name as Name)
      const inTopics = log.topics.length - 1
      const huge = 'f'.repeat(64)
      const from = 2 + 64 * (place - inTopics)
      const changed =
        place < inTopics
          ? { ...log, topics: log.topics.with(place + 1, `0x${huge}` as Hash) }
          : { ...log, data: `${log.data.slice(0, from)}${huge}${log.data.slice(from + 64)}` as `0x${string}` }
      assert.throws(() => toEvent(changed, AT), { name: 'ChainFault', kind: 'retryable' }, `${name} ${place}`)
    }
})
