// The code of a payer at a block, read from a real chain: none, a delegation, a contract, and the implementation of each kind of proxy.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { concatHex, keccak256, pad } from 'viem/utils'
import { createChainReader } from '../../../src/chain/evidence/reader.ts'
import { createRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { type FalseProvider, startFalseProvider } from '../false-provider.ts'
import { type Stage, startStage } from '../stage.ts'

/** The slot of EIP-1967, and the runtime code of a proxy that reads it (Solady's LibClone). */
const SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const BY_SLOT =
  '0x363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3'
/** Init code that writes a word to a slot and leaves runtime code: PUSH32 word, PUSH32 slot, SSTORE, CODECOPY, RETURN. */
const HEAD_BYTES = 33 + 33 + 1 + 12
const initCode = (runtime: `0x${string}`, slot: `0x${string}`, word: `0x${string}`): `0x${string}` => {
  const size = ((runtime.length - 2) / 2).toString(16).padStart(2, '0')
  const copy = `0x60${size}60${HEAD_BYTES.toString(16)}5f3960${size}5ff3` as const
  return concatHex(['0x7f', pad(word), '0x7f', pad(slot), '0x55', pad(copy, { size: 12, dir: 'right' }), runtime])
}
/** Init code that only leaves runtime code. */
const plainInit = (runtime: `0x${string}`): `0x${string}` =>
  concatHex([`0x60${((runtime.length - 2) / 2).toString(16).padStart(2, '0')}80600a5f395ff3`, '0x00', runtime])

const IMPLEMENTATION = `0x${'ab'.repeat(20)}` as Address
const OTHER = `0x${'cd'.repeat(20)}` as Address

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(() => stage.close())

const reader = () => createChainReader(stage.rpc, stage.watched)
const codeOf = async (payer: Address) => reader().payerCode(payer, await stage.head())

/** Creates a contract in its own transaction, as anyone would. */
async function deploy(data: `0x${string}`): Promise<Address> {
  const txHash = (await stage.chain.rpc('eth_sendTransaction', [{ from: stage.at(9), data, gas: '0x100000' }])) as Hash
  await stage.chain.mine()
  const made = (await stage.chain.rpc('eth_getTransactionReceipt', [txHash])) as { contractAddress: Address }
  return made.contractAddress.toLowerCase() as Address
}

test('an account without code has none, a delegating one reports its delegate', async () => {
  assert.deepEqual(await codeOf(stage.at(6)), { kind: 'none' })
  await stage.chain.rpc('anvil_setCode', [stage.at(6), `0xef0100${IMPLEMENTATION.slice(2)}`])
  await stage.chain.mine()
  assert.deepEqual(await codeOf(stage.at(6)), { kind: 'delegation', to: IMPLEMENTATION })
})

test('a contract has its code’s hash, and a minimal proxy’s code holds its implementation', async () => {
  const runtime = '0x6000600060006000346000355af100'
  const plain = await deploy(plainInit(runtime))
  assert.deepEqual(await codeOf(plain), { kind: 'contract', codeHash: keccak256(runtime), implementation: null })
  const minimal = `0x363d3d373d3d3d363d73${IMPLEMENTATION.slice(2)}5af43d82803e903d91602b57fd5bf3` as const
  assert.deepEqual(await codeOf(await deploy(plainInit(minimal))), {
    kind: 'contract',
    codeHash: keccak256(minimal),
    implementation: { at: 'eip1167', address: IMPLEMENTATION },
  })
})

test('a proxy holds its implementation in the slot of EIP-1967, or a Safe in its first slot', async () => {
  const bySlot = await deploy(initCode(BY_SLOT, SLOT, IMPLEMENTATION))
  assert.deepEqual(await codeOf(bySlot), {
    kind: 'contract',
    codeHash: keccak256(BY_SLOT),
    implementation: { at: 'eip1967', address: IMPLEMENTATION },
  })
  const runtime = '0x5f545f5260205ff3'
  const byFirst = await codeOf(await deploy(initCode(runtime, '0x00', OTHER)))
  assert.deepEqual(byFirst, {
    kind: 'contract',
    codeHash: keccak256(runtime),
    implementation: { at: 'slot0', address: OTHER },
  })
  // If a first slot holds more than an address, it names none.
  const filled = await codeOf(await deploy(initCode(runtime, '0x00', `0x${'f'.repeat(64)}`)))
  assert.equal(filled?.kind === 'contract' && filled.implementation, null)
})

test('T41: the code after that very block counts, not an implementation that changes later', async () => {
  const proxy = await deploy(initCode(BY_SLOT, SLOT, IMPLEMENTATION))
  const then = await stage.head()
  // A change takes effect at the block that is the head.
  await stage.chain.mine()
  await stage.chain.rpc('anvil_setStorageAt', [proxy, SLOT, pad(OTHER)])
  await stage.chain.mine()
  const [before_, now] = [await reader().payerCode(proxy, then), await codeOf(proxy)]
  assert.equal(before_?.kind === 'contract' && before_.implementation?.address, IMPLEMENTATION)
  assert.equal(now?.kind === 'contract' && now.implementation?.address, OTHER)
})

test('a block that the provider lacks by that hash is unknown, not "no code"', async () => {
  const head = await stage.head()
  assert.equal(await reader().payerCode(stage.at(7), { ...head, hash: `0x${'1'.repeat(64)}` as Hash }), null)
})

test('a state that is gone is unknown, not "no code"', async () => {
  const { rpc, provider } = await stage.behind()
  const at = await stage.head()
  for (const gone of ['eth_getStorageAt', 'eth_getCode']) {
    provider.rule = ({ method }) =>
      method === gone ? { error: { code: -32000, message: 'missing trie node' } } : undefined
    assert.equal(await createChainReader(rpc, stage.watched).payerCode(stage.at(7), at), null, gone)
  }
})

test('T44: of two providers both must report the same code, of three two', async () => {
  const providers: FalseProvider[] = []
  const rpcs: Rpc[] = []
  try {
    for (let i = 0; i < 3; i++) providers.push(await startFalseProvider(stage.chain.rpcUrl))
    const [first, second] = providers as [FalseProvider, FalseProvider, FalseProvider]
    const through = (count: number) => {
      const rpc = createRpc({ urls: providers.slice(0, count).map(({ url }) => url), log: silentLog })
      rpcs.push(rpc)
      return createChainReader(rpc, stage.watched)
    }
    const at = await stage.head()
    const liar: FalseProvider['rule'] = ({ method }) =>
      method === 'eth_getCode' ? { result: '0x60006000' } : undefined
    assert.deepEqual(await through(2).payerCode(stage.at(8), at), { kind: 'none' })
    second.rule = liar
    assert.equal(await through(2).payerCode(stage.at(8), at), null, 'one against one')
    assert.deepEqual(await through(3).payerCode(stage.at(8), at), { kind: 'none' }, 'two against one')
    first.rule = () => ({ error: { code: -32000, message: 'missing trie node' } })
    assert.equal(await through(3).payerCode(stage.at(8), at), null, 'one silent, one against one')
  } finally {
    for (const rpc of rpcs) await rpc.close()
    for (const provider of providers) await provider.close()
  }
})

test('T27: one proof of the code suffices if headers recompute, and a false provider is reported', async () => {
  const providers: FalseProvider[] = []
  for (let i = 0; i < 3; i++) providers.push(await startFalseProvider(stage.chain.rpcUrl))
  const [first] = providers as [FalseProvider]
  const proxy = await deploy(initCode(BY_SLOT, SLOT, IMPLEMENTATION))
  const delegating = stage.at(6)
  const at = await stage.head()
  const word =
    (value: string): FalseProvider['rule'] =>
    async (call, forward) => {
      const answer = await forward()
      if (call.method !== 'eth_getProof' || !('result' in answer)) return answer
      const proof = answer.result as { storageProof: { value: string }[] }
      return { result: { ...proof, storageProof: proof.storageProof.map((slot) => ({ ...slot, value, proof: [] })) } }
    }
  const LIES: Record<string, { payer: Address; rule: FalseProvider['rule'] }> = {
    'no code': { payer: proxy, rule: ({ method }) => (method === 'eth_getCode' ? { result: '0x' } : undefined) },
    'another delegate': {
      payer: delegating,
      rule: ({ method }) => (method === 'eth_getCode' ? { result: `0xef0100${OTHER.slice(2)}` } : undefined),
    },
    'another implementation': { payer: proxy, rule: word(pad(OTHER)) },
  }
  try {
    for (const [name, { payer, rule }] of Object.entries(LIES))
      for (const count of [1, 2, 3]) {
        const rpc = createRpc({ urls: providers.slice(0, count).map(({ url }) => url), log: silentLog })
        const chain = createChainReader(rpc, stage.watched)
        chain.proofs.require('proven')
        for (const each of providers) each.rule = () => undefined
        const truth = await chain.payerCode(payer, at)
        assert.notEqual(truth, null, name)
        first.rule = rule
        assert.deepEqual(await chain.payerCode(payer, at), count === 1 ? null : truth, name)
        // We do not believe two providers that tell the same lie, either.
        for (const each of providers) each.rule = rule
        assert.equal(await chain.payerCode(payer, at), null, name)
        await rpc.close()
      }
  } finally {
    for (const provider of providers) await provider.close()
  }
})

test('a proof that fails once, perhaps at a busy provider, is retried and is no lie', async () => {
  const { rpc, provider } = await stage.behind()
  const at = await stage.head()
  let proofs = 0
  provider.rule = async ({ method }, forward) => {
    if (method !== 'eth_getProof' || proofs++ > 0) return undefined
    const answer = (await forward()) as { result: { accountProof: string[] } }
    const accountProof = answer.result.accountProof.map((node) => node.replace(/..$/, '00'))
    return { result: { ...answer.result, accountProof } }
  }
  const chain = createChainReader(rpc, stage.watched)
  chain.proofs.require('proven')
  assert.deepEqual(await chain.payerCode(stage.at(7), at), { kind: 'none' })
  assert.equal(proofs, 2)
})
