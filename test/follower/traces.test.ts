// Inner transfers of a block: every tracing method gives the same list for every kind of frame, on a real node. If an
// answer does not fit the block, there is no list.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { innerMovesOf } from '../../src/chain/evidence/trace/frames.ts'
import { readInnerTransfers } from '../../src/chain/evidence/trace/transaction.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { BlockTransfer } from '../../src/ports/chain.ts'
import { type FalseProvider, startFalseProvider } from '../chain/false-provider.ts'
import type { Hex } from '../support/anvil.ts'
import { FORWARD, forwardTo } from '../support/forwarder.ts'
import { startWorld, type World } from '../support/world.ts'

const FORWARDER = '0x0000000000000000000000000000000000000f01'
const AGENT = '0x0000000000000000000000000000000000000f02'
const PAYER = '0x0000000000000000000000000000000000000f03'

let world: World
let wallet: Address
let first: FalseProvider
let second: FalseProvider
before(async () => {
  world = await startWorld()
  wallet = world.at(3)
  first = await startFalseProvider(world.chain.rpcUrl)
  second = await startFalseProvider(world.chain.rpcUrl)
})
after(async () => {
  await Promise.all([first.close(), second.close()])
  await world.close()
})

const push20 = (address: string) => `73${address.slice(2)}`
/** CALL(GAS, `to`, value, 0, 0, 0, 0), with its result left on the stack. `value` is code that pushes one word. */
const callWith = (to: string, value: string, op = 'f1') => `5f5f5f5f${value}${push20(to)}5a${op}`
/** Creates a contract with all received value; `init` is shorter than a word. */
const createWith = (init: string) => {
  const size = init.length / 2
  return `${(0x5f + size).toString(16)}${init}5f5260${hex(size)}60${hex(32 - size)}34f0`
}
const hex = (byte: number) => byte.toString(16).padStart(2, '0')

interface Kind {
  name: string
  /** The code that the transaction calls with 6 wei; `null` means that `data` creates a contract. */
  code: (wallet: Address) => string | null
  data?: (wallet: Address) => Hex
  /** Values that arrive by inner transfers. */
  arrive: bigint[]
  /** The sender, if it is not the called contract. */
  by?: Address
}

const KINDS: Kind[] = [
  { name: 'a call', code: () => FORWARD.slice(2), data: forwardTo, arrive: [6n] },
  {
    name: 'a delegated call: its code pays for the caller',
    code: () => `365f5f375f5f365f${push20(FORWARDER)}5af4`,
    data: forwardTo,
    arrive: [6n],
  },
  { name: 'a delegated call to the wallet', code: (to) => `5f5f5f5f${push20(to)}5af4`, arrive: [] },
  { name: 'the code of the wallet, called', code: (to) => callWith(to, '34', 'f2'), arrive: [] },
  { name: 'a static call to the wallet', code: (to) => `5f5f5f5f${push20(to)}5afa`, arrive: [] },
  { name: 'a creation that pays inside', code: (to) => createWith(callWith(to, '34')), arrive: [6n] },
  { name: 'a creation with value', code: () => createWith('00'), arrive: [] },
  { name: 'a constructor that pays', code: () => null, data: (to) => `0x${callWith(to, '34')}`, arrive: [6n] },
  { name: 'a contract that ends and leaves what it has', code: (to) => `${push20(to)}ff`, arrive: [6n] },
  {
    name: 'a call that fails, and then one that does not',
    code: (to) => `${callWith(PAYER, '6002')}50${callWith(to, '6003')}`,
    arrive: [3n],
  },
  { name: 'a transaction that fails at last', code: (to) => `${callWith(to, '34')}5f5ffd`, arrive: [] },
  {
    name: 'several, in their order',
    code: (to) => [3, 1, 2].map((value) => `${callWith(to, `60${hex(value)}`)}50`).join(''),
    arrive: [3n, 1n, 2n],
  },
  { name: 'a call without value', code: (to) => callWith(to, '5f'), arrive: [] },
  { name: 'a plain transfer', code: () => null, arrive: [] },
]

/** Sends each kind, all in one block. */
async function mineAll(kinds: readonly Kind[]) {
  await world.chain.rpc('anvil_setCode', [FORWARDER, FORWARD])
  // Pays the wallet, then fails.
  await world.chain.rpc('anvil_setCode', [PAYER, `0x${callWith(wallet, '34')}5f5ffd`])
  const sent: { kind: Kind; txHash: Hash; to: string | null }[] = []
  for (const [place, kind] of kinds.entries()) {
    const code = kind.code(wallet)
    const to = code === null ? (kind.data ? null : wallet) : `0x00000000000000000000000000000000000e00${hex(place)}`
    if (code !== null) await world.chain.rpc('anvil_setCode', [to, `0x${code}`])
    const data = kind.data?.(wallet)
    const txHash = await world.chain.send({
      from: world.at(5 + place),
      gas: '0x60000',
      value: '0x6',
      ...(to !== null && { to }),
      ...(data && { data }),
    })
    sent.push({ kind, txHash, to })
  }
  const { number, hash } = await world.chain.mine()
  return { sent, at: { number: Number(number), hash: hash as Hash } }
}

/** A reader through one provider, or two. */
async function reading<T>(
  providers: readonly FalseProvider[],
  read: (reader: ReturnType<typeof createChainReader>, rpc: ReturnType<typeof createRpc>) => Promise<T>,
): Promise<T> {
  const rpc = createRpc({ urls: providers.map(({ url }) => url), log: silentLog, timeoutMs: 5_000 })
  try {
    return await read(createChainReader(rpc, { factory: world.factory, wallets: [], signers: [] }), rpc)
  } finally {
    await rpc.close()
    for (const provider of providers) provider.rule = () => undefined
  }
}

describe('inner transfers of a block', () => {
  it('are those of every kind of frame, and the same by the trace of one transaction', async () => {
    const { sent, at } = await mineAll(KINDS)
    const found = await reading([first], ({ blockTransfers }) => blockTransfers(at, [wallet]))
    const { transactions } = await world.chain.block(at.number)
    for (const { kind, txHash, to } of sent) {
      const own: BlockTransfer[] = found?.filter((transfer) => transfer.txHash === txHash) ?? assert.fail('not traced')
      const values = own.map(({ direction, index, valueWei }) => [direction, index, valueWei])
      const expected = kind.arrive.map((value, place) => ['in', place + 1, value])
      assert.deepEqual(values, expected, kind.name)
      for (const { txIndex, other: from } of own) {
        assert.equal(transactions[txIndex], txHash, kind.name)
        if (to !== null && !kind.name.startsWith('a creation')) assert.equal(from, to, kind.name)
      }
      const alone = await readInnerTransfers(world.rpc, txHash, wallet)
      const told = own.map(({ index, other: from, valueWei }) => ({ index, from, valueWei }))
      assert.deepEqual(alone, told, kind.name)
    }
  })

  it('have an index of their own for each wallet and direction', async () => {
    const code = [wallet, world.at(12), wallet].map((to) => `${callWith(to, '6002')}50`).join('')
    await world.chain.rpc('anvil_setCode', [AGENT, `0x${code}`])
    await world.call(9, AGENT as Address, '0x', 6n)
    const { number, hash } = await world.chain.block()
    const at = { number: Number(number), hash: hash as Hash }
    const watched = [wallet, world.at(12), AGENT as Address]
    const found = await reading([first], ({ blockTransfers }) => blockTransfers(at, watched))
    assert.deepEqual(
      found?.map(({ direction, wallet: of, index }) => [direction, of, index]),
      [
        ['in', wallet, 1],
        ['out', AGENT, 1],
        ['in', world.at(12), 1],
        ['out', AGENT, 2],
        ['in', wallet, 2],
        ['out', AGENT, 3],
      ],
    )
  })

  it('are unknown if no method serves, two providers differ, or one of two has none', async () => {
    const { at } = await mineAll(KINDS.slice(0, 1))
    const read = () => reading([first, second], ({ blockTransfers }) => blockTransfers(at, [wallet]))
    assert.equal((await read())?.length, 1)
    first.rule = (call) => (call.method.includes('trace') ? { error: { code: -32601, message: 'no' } } : undefined)
    assert.equal(await read(), null)
    first.rule = async (call, forward) => {
      if (call.method !== 'debug_traceBlockByHash') return undefined
      return JSON.parse(JSON.stringify(await forward()).replaceAll('"value":"0x6"', '"value":"0x5"'))
    }
    assert.equal(await read(), null)
    assert.equal((await reading([first], ({ blockTransfers }) => blockTransfers(at, [wallet])))?.length, 1)
  })

  it('do not come from a trace of another block', async () => {
    const { at } = await mineAll(KINDS.slice(0, 1))
    const elsewhere = { ...at, hash: `0x${'ab'.repeat(32)}` as Hash }
    assert.equal(await reading([first], ({ blockTransfers }) => blockTransfers(elsewhere, [wallet])), null)
  })
})

/** The transfers to the wallet that a simulation of a block's own transactions shows, without the transactions' own values. */
async function simulate(at: { number: number }): Promise<Map<Hash, bigint[]>> {
  const block = await world.chain.rpc<SimulatedBlock>('eth_getBlockByNumber', [hexOf(at.number), true])
  const calls = block.transactions.map(
    ({ from, to, value, input, gas, nonce, maxFeePerGas, maxPriorityFeePerGas }) => ({
      from,
      value,
      input,
      gas,
      nonce,
      maxFeePerGas,
      maxPriorityFeePerGas,
      ...(to && { to }),
    }),
  )
  const { number, timestamp: time, gasLimit, baseFeePerGas, miner: feeRecipient, mixHash: prevRandao } = block
  const blockOverrides = { number, time, gasLimit, baseFeePerGas, feeRecipient, prevRandao }
  const asked = { blockStateCalls: [{ blockOverrides, calls }], traceTransfers: true, validation: true }
  const [simulated] = await world.chain.rpc<[{ calls: { logs: SimulatedLog[] }[] }]>('eth_simulateV1', [
    asked,
    hexOf(at.number - 1),
  ])
  return new Map(
    block.transactions.map(({ hash, to, value }, place) => {
      const transfers = (simulated.calls[place]?.logs ?? []).filter(
        ({ address, topics }) => address === ETHER_LOGS && topics[2]?.endsWith(wallet.slice(2)),
      )
      const isPlain = to === wallet && BigInt(value) > 0n
      return [hash, transfers.slice(isPlain ? 1 : 0).map(({ data }) => BigInt(data))]
    }),
  )
}

/** The address under which a simulation logs transfers of ether (ERC-7528). */
const ETHER_LOGS = `0x${'ee'.repeat(20)}`
const hexOf = (number: number) => `0x${number.toString(16)}`

interface SimulatedLog {
  address: string
  topics: string[]
  data: Hex
}
interface SimulatedBlock {
  number: Hex
  timestamp: Hex
  gasLimit: Hex
  baseFeePerGas: Hex
  miner: string
  mixHash: Hex
  transactions: (Record<TransactionField, string> & { hash: Hash })[]
}
type TransactionField = 'from' | 'to' | 'value' | 'input' | 'gas' | 'nonce' | 'maxFeePerGas' | 'maxPriorityFeePerGas'

describe('a simulation of the block’s own transactions (eth_simulateV1)', () => {
  it('rejects contract creations and lists other transfers than traces, which rules it out', async () => {
    const { at: withCreation } = await mineAll(KINDS)
    await assert.rejects(simulate(withCreation))
    // The codes exist before the simulated block.
    const { sent, at } = await mineAll(KINDS.filter(({ name }) => name !== 'a constructor that pays'))
    const simulated = await simulate(at)
    const differing = sent.filter(({ kind, txHash }) => String(simulated.get(txHash)) !== String(kind.arrive))
    assert.deepEqual(
      differing.map(({ kind }) => kind.name),
      ['a contract that ends and leaves what it has'],
    )
  })
})

describe('the frames of a trace', () => {
  const [a, b] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`] as [Address, Address]
  it('in a call that failed are undone, those beside it are not', () => {
    const call = (more = {}) => ({ type: 'CALL', from: b, to: a, value: '0x1', ...more })
    const failed = call({ error: 'Reverted', calls: [call({ calls: [call()] })] })
    assert.deepEqual(
      innerMovesOf({ ...call(), calls: [failed, call()] }, [a]).map(({ index }) => index),
      [1],
    )
  })

  it('are recognised in every spelling that nodes have', () => {
    const calls = (spelt: (type: string) => string, error: unknown) => [
      { type: spelt('CALL'), from: b, to: a, value: '0x5', error },
      { type: spelt('STATICCALL'), from: b, to: a, value: '0x6', error },
      { type: spelt('SELFDESTRUCT'), from: b, to: a, value: '0x7', error },
      { type: spelt('CALL'), from: b, to: a, value: '0x8', error: 'out of gas' },
    ]
    const valuesOf = (moves: ReturnType<typeof innerMovesOf>) => moves.map(({ valueWei }) => valueWei)
    const spellings = [
      (type: string) => type,
      (type: string) => type.toLowerCase(),
      (type: string) => type.charAt(0) + type.slice(1).toLowerCase(),
    ]
    for (const spelt of spellings)
      for (const error of [undefined, null, '']) {
        const top = { type: spelt('CALL'), from: b, to: b, value: '0x0', error, calls: calls(spelt, error) }
        assert.deepEqual(valuesOf(innerMovesOf(top, [a])), [5n, 7n], `${spelt('CALL')} ${error}`)
      }
  })

  it('are read however deep they are', () => {
    let deep: object = { type: 'CALL', from: b, to: a, value: '0x1' }
    for (let i = 0; i < 50_000; i++) deep = { type: 'CALL', from: b, to: b, value: '0x0', calls: [deep] }
    assert.equal(innerMovesOf(deep, [a]).length, 1)
  })
})
