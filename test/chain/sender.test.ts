// Estimating, signing and broadcasting, on a real chain; and the meaning of each client's refusals.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeFunctionData, keccak256, parseTransaction } from 'viem'
import { factoryAbi } from '../../src/chain/factory/abi.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { classifySendError } from '../../src/chain/send/send-errors.ts'
import { localSigner } from '../../src/chain/send/signer.ts'
import { createSignerAccount, TX_GAS_MAX } from '../../src/chain/send/signer-account.ts'
import { type Hash, wei } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { FactoryCall, SendOutcome } from '../../src/ports/sending.ts'
import { FOREVER, oneTurn } from '../support/factory.ts'
import { startFalseProvider } from './false-provider.ts'
import { type Stage, startStage } from './stage.ts'

const ref = (digit: string) => `0x${digit.repeat(64)}` as Hash
let stage: Stage
before(async () => {
  stage = await startStage()
  const { time } = await stage.head()
  const openings = [{ tierNo: 1, firstDue: time + 10_000, intervalSec: 600 }]
  await stage.send(stage.minter, { kind: 'openCohorts', first: 1, openings, validUntil: FOREVER })
})
after(() => stage.close())

const mint = (digit: string, guard: { number: number; hash: Hash } | null = null): FactoryCall => ({
  kind: 'mint',
  orders: [{ to: stage.at(5), cohort: 1, ref: ref(digit) }],
  guard,
  validUntil: FOREVER,
})

test('a call guarded by the head is estimated, signed, accepted and mined on that fork', async () => {
  const call = mint('1', await stage.head())
  const txHash = await stage.send(stage.minter, call)
  const receipt = await stage.chain.rpc<{ status: string; gasUsed: string }>('eth_getTransactionReceipt', [txHash])
  assert.equal(receipt.status, '0x1')
})

test('on another fork the guard makes the call revert', async () => {
  await stage.chain.mine(2)
  const call = mint('2', await stage.head())
  const { minter } = stage
  const signed = await minter.sign(call, { nonce: await minter.nonce(), gasLimit: 300_000n, fees: await minter.fees() })
  await stage.chain.reorg(1)
  await minter.broadcast(signed.raw)
  await stage.chain.mine()
  const receipt = await stage.chain.rpc<{ status: string }>('eth_getTransactionReceipt', [signed.txHash])
  assert.equal(receipt.status, '0x0')
})

test('the signed transaction has the given call, guard and numbers, and the chain’s hash', async () => {
  const { minter, distributor, chain } = stage
  const guard = { number: 5, hash: ref('9') }
  const fees = { maxFeeWei: 7n, maxPriorityFeeWei: 3n }
  const credit: FactoryCall = {
    kind: 'credit',
    round: 4,
    credits: [{ cohort: 2, firstDue: 77, skipped: 3, paid: 2, amountPerNodeWei: wei(11n) }],
    valueWei: wei(22n),
    guard,
    validUntil: 999,
  }
  const signed = await distributor.sign(credit, { nonce: 9, gasLimit: 123_456n, fees })
  const tx = parseTransaction(signed.raw)
  assert.deepEqual(
    [tx.type, tx.chainId, tx.nonce, tx.to, tx.value, tx.gas, tx.maxFeePerGas, tx.maxPriorityFeePerGas],
    ['eip1559', chain.chainId, 9, stage.factory, 22n, 123_456n, 7n, 3n],
  )
  assert.deepEqual(decodeFunctionData({ abi: factoryAbi, data: tx.data ?? '0x' }), {
    functionName: 'credit',
    args: [4n, 5n, ref('9'), 999n, [{ cohort: 2n, firstDue: 77n, skipped: 3n, paid: 2n, amountPerNode: 11n }]],
  })
  assert.equal(signed.txHash, keccak256(signed.raw))
  assert.deepEqual(await distributor.sign(credit, { nonce: 9, gasLimit: 123_456n, fees }), signed)
  await assert.rejects(minter.sign(mint('3'), { nonce: 0, gasLimit: TX_GAS_MAX + 1n, fees }), RangeError)
})

test('the same bytes handed over twice are accepted twice, and mined once', async () => {
  const { minter } = stage
  const signed = await minter.sign(mint('4'), {
    nonce: await minter.nonce(),
    gasLimit: 300_000n,
    fees: await minter.fees(),
  })
  assert.deepEqual(await minter.broadcast(signed.raw), { kind: 'accepted' })
  assert.deepEqual(await minter.broadcast(signed.raw), { kind: 'accepted' })
  const before = await minter.nonce()
  await stage.chain.mine()
  assert.equal(await minter.nonce(), before + 1)
})

test('a used nonce, a dearer rival, a fee below base and too little ether each have their kind', async () => {
  const { minter } = stage
  const nonce = await minter.nonce()
  const fees = await minter.fees()
  const outcome = async (
    digit: string,
    options: { nonce?: number; maxFeeWei?: bigint; maxPriorityFeeWei?: bigint },
  ) => {
    const { nonce: own = nonce, ...changed } = options
    const signed = await minter.sign(mint(digit), { nonce: own, gasLimit: 300_000n, fees: { ...fees, ...changed } })
    return (await minter.broadcast(signed.raw)).kind
  }
  assert.equal(await outcome('5', { nonce: nonce - 1 }), 'nonceTooLow')
  assert.equal(await outcome('5', {}), 'accepted')
  assert.equal(await outcome('6', { maxFeeWei: fees.maxFeeWei - 1n, maxPriorityFeeWei: 1n }), 'underpriced')
  await stage.chain.mine()
  assert.equal(await outcome('6', { nonce: nonce + 1, maxFeeWei: 1n, maxPriorityFeeWei: 1n }), 'feeTooLow')
  assert.equal(
    await outcome('6', { nonce: nonce + 1, maxFeeWei: 10n ** 24n, maxPriorityFeeWei: 1n }),
    'insufficientFunds',
  )
})

test('an estimate names the contract’s own error', async () => {
  const { distributor, minter } = stage
  const credit: FactoryCall = {
    kind: 'credit',
    round: 9,
    credits: [oneTurn(1, 1, wei(1n))],
    valueWei: wei(0n),
    guard: null,
    validUntil: FOREVER,
  }
  assert.deepEqual(await distributor.estimate(credit), { kind: 'reverts', error: 'WrongRound' })
  assert.deepEqual(await minter.estimate(credit), { kind: 'reverts', error: 'NotDistributor' })
  await stage.act(0, 'pause', [])
  await stage.chain.mine()
  assert.deepEqual(await minter.estimate(mint('7')), { kind: 'reverts', error: 'IsPaused' })
  await stage.act(0, 'unpause', [])
  await stage.chain.mine()
})

test('an estimate reports too little money, and a size that no transaction may have', async () => {
  const { distributor, minter } = stage
  const credit: FactoryCall = {
    kind: 'credit',
    round: 1,
    credits: [oneTurn(1, 1, wei(10n ** 23n))],
    valueWei: wei(10n ** 23n),
    guard: null,
    validUntil: FOREVER,
  }
  assert.deepEqual(await distributor.estimate(credit), { kind: 'insufficientFunds' })
  const orders = Array.from({ length: 400 }, (_, index) => ({
    to: `0x${(index + 1_000).toString(16).padStart(40, '0')}` as const,
    cohort: 1,
    ref: `0x${(index + 1_000).toString(16).padStart(64, '0')}` as const,
  }))
  assert.deepEqual(await minter.estimate({ kind: 'mint', orders, guard: null, validUntil: FOREVER }), {
    kind: 'overGasCap',
  })
})

test('an estimate leaves room for the guard and colder storage, within the cap and a block', async () => {
  const provider = await startFalseProvider()
  const rpc = createRpc({ urls: [provider.url], log: silentLog })
  const sender = createSignerAccount({ rpc, signer: localSigner(stage.keyOf(1)), chainId: 1, factory: stage.factory })
  const guard = { number: 5, hash: ref('7') }
  const estimate = async (gas: bigint, gasLimit = 2n * TX_GAS_MAX) => {
    provider.rule = ({ method }) => ({
      result: method === 'eth_estimateGas' ? `0x${gas.toString(16)}` : { gasLimit: `0x${gasLimit.toString(16)}` },
    })
    return await sender.estimate(mint('8', guard))
  }
  assert.deepEqual(await estimate(193_000n), { kind: 'ok', gas: 220_000n })
  // An order that the contract would skip now may succeed once it is mined.
  assert.deepEqual(await estimate(30_000n), { kind: 'ok', gas: 120_000n })
  // A guard on the head cannot be checked at the head, so the estimate leaves it out.
  assert.doesNotMatch(JSON.stringify(provider.seen), new RegExp(guard.hash.slice(2)))
  assert.deepEqual(await estimate(TX_GAS_MAX - 7_000n), { kind: 'ok', gas: TX_GAS_MAX })
  assert.deepEqual(await estimate(TX_GAS_MAX - 6_999n), { kind: 'overGasCap' })
  assert.deepEqual(await estimate(93_000n, 105_000n), { kind: 'ok', gas: 105_000n })
  assert.deepEqual(await estimate(93_000n, 99_999n), { kind: 'overGasCap' })
  provider.rule = () => ({ error: { code: -32000, message: 'something new' } })
  await assert.rejects(sender.estimate(mint('8')), { retryable: true })
  await rpc.close()
  await provider.close()
})

test('one acceptance is enough, and a possible one outranks refusals that free the nonce', async () => {
  const providers = await Promise.all([startFalseProvider(), startFalseProvider()])
  const rpc = createRpc({ urls: providers.map(({ url }) => url), log: silentLog, timeoutMs: 500 })
  const sender = createSignerAccount({ rpc, signer: localSigner(stage.keyOf(1)), chainId: 1, factory: stage.factory })
  const { raw, txHash } = await sender.sign(mint('9'), {
    nonce: 0,
    gasLimit: 90_000n,
    fees: { maxFeeWei: 1n, maxPriorityFeeWei: 1n },
  })
  const answers: Record<string, object> = {
    taken: { result: txHash },
    otherHash: { result: ref('0') },
    busy: { error: { code: -32005, message: 'limit exceeded' } },
    mined: { error: { code: -32000, message: 'nonce too low: next nonce 5, tx nonce 4' } },
    poor: { error: { code: -32000, message: 'insufficient funds for gas * price + value' } },
    cheap: { error: { code: -32000, message: 'max fee per gas less than block base fee: address 0x0' } },
  }
  const table: [string, string, SendOutcome['kind']][] = [
    ['poor', 'taken', 'accepted'],
    ['mined', 'taken', 'accepted'],
    ['busy', 'mined', 'nonceTooLow'],
    ['busy', 'cheap', 'feeTooLow'],
    ['busy', 'poor', 'unknown'],
    ['poor', 'poor', 'insufficientFunds'],
    ['otherHash', 'otherHash', 'unknown'],
  ]
  for (const [first, second, expected] of table) {
    for (const [index, name] of [first, second].entries()) {
      const provider = providers[index]
      if (provider) provider.rule = () => answers[name] as { result: unknown }
    }
    assert.equal((await sender.broadcast(raw)).kind, expected, `${first} and ${second}`)
  }
  for (const provider of providers) provider.http = () => ({ status: 502, body: '' })
  assert.equal((await sender.broadcast(raw)).kind, 'unknown')
  assert.deepEqual(
    providers.map(({ requests }) => requests),
    [8, 8],
  )
  await rpc.close()
  await Promise.all(providers.map((provider) => provider.close()))
})

const texts: [text: string, kind: SendOutcome['kind'], code?: number][] = [
  ['already known', 'accepted'],
  ['AlreadyKnown', 'accepted'],
  ['ALREADY_EXISTS: already known', 'accepted'],
  ['Known transaction', 'accepted'],
  ['transaction already imported', 'accepted', -32003],
  ['INTERNAL_ERROR: existing tx with same hash', 'accepted'],
  ['nonce too low: next nonce 7, tx nonce 6', 'nonceTooLow', -32003],
  ['Nonce too low', 'nonceTooLow', -32001],
  ['OldNonce, Current nonce: 7, nonce of rejected tx: 6', 'nonceTooLow'],
  ['whatever this client says', 'nonceTooLow', -38010],
  ['authority nonce too low', 'unknown'],
  ['replacement transaction underpriced', 'underpriced'],
  ['Replacement transaction underpriced', 'underpriced'],
  ['INTERNAL_ERROR: could not replace existing tx', 'underpriced'],
  ['transaction underpriced: gas tip cap 1, minimum needed 1000000', 'feeTooLow'],
  ['FeeTooLow, MaxFeePerGas too low', 'feeTooLow'],
  ['Gas price below current base fee', 'feeTooLow', -32009],
  ['max fee per gas less than block base fee', 'feeTooLow', -32003],
  ['insufficient funds for gas * price + value: balance 0, tx cost 1', 'insufficientFunds'],
  ['Insufficient funds for gas * price + value', 'insufficientFunds', -32003],
  ['Upfront cost exceeds account balance', 'insufficientFunds', -32004],
  ['transaction gas limit too high (cap: 16777216, tx: 21000000)', 'overGasCap'],
  ['Transaction gas limit exceeds block gas limit', 'overGasCap', -32005],
  ['TxGasLimitCapExceeded: Gas limit 21000000 exceeded cap of 16777216.', 'overGasCap'],
  ['exceeds block gas limit', 'overGasCap'],
  ['gas limit is too high', 'overGasCap'],
  ['Transaction gas limit is greater than the block gas limit, gas_limit: 2, cap: 1', 'overGasCap', -32003],
  ['daily request limit exceeded', 'unknown', -32005],
  ['nonce too low', 'unknown', 429],
  ['txpool is full', 'unknown'],
  ['future transaction tries to replace pending', 'unknown'],
  ['the transaction was already known to be bad', 'unknown'],
  ['', 'unknown'],
]
test('a refusal is classified by a clear code, else by a listed text, else as unknown', () => {
  for (const [message, kind, code = -32000] of texts) {
    assert.equal(classifySendError({ code, message, data: null }), kind, `${code} ${message}`)
  }
})

test('a key that is none is refused without being shown', () => {
  for (const key of ['0x1234secret', `0x${'0'.repeat(64)}`, `0x${'f'.repeat(64)}`] as `0x${string}`[]) {
    assert.throws(
      () => localSigner(key),
      (error: Error) => !String(error.stack).includes(key.slice(2)),
    )
  }
})

test('without EIP-1559 there are no fees to offer, and that is no passing fault', async () => {
  const { rpc, provider } = await stage.behind()
  provider.rule = async ({ method }, forward) => {
    if (method !== 'eth_getBlockByNumber') return undefined
    const { baseFeePerGas, ...block } = ((await forward()) as { result: Record<string, unknown> }).result
    return { result: block }
  }
  const sender = createSignerAccount({ rpc, signer: localSigner(stage.keyOf(1)), chainId: 1, factory: stage.factory })
  await assert.rejects(sender.fees(), { retryable: false })
  provider.rule = ({ method }) =>
    method === 'eth_maxPriorityFeePerGas' ? { error: { code: -32601, message: 'not here' } } : undefined
  const fees = await sender.fees()
  assert.ok(fees.maxFeeWei > fees.maxPriorityFeeWei && fees.maxPriorityFeeWei > 0n)
})

/** Limits of which only the cap can apply. */
const under = (capWei: bigint) => ({ capWei, tipMaxWei: 10n ** 12n, baseFeeMaxWei: null })

test('tip and base fee of a provider are believed up to their limits', async () => {
  const { minter, chain } = stage
  await chain.rpc('anvil_setNextBlockBaseFeePerGas', ['0x3e8'])
  await chain.mine()
  const limits = { capWei: 10n ** 12n, tipMaxWei: 7n, baseFeeMaxWei: 100n }
  assert.deepEqual(await minter.fees(limits), { maxFeeWei: 207n, maxPriorityFeeWei: 7n })
})

test('fees leave room for the base fee to double, or for the next block under a tight cap', async () => {
  const { minter, chain } = stage
  await chain.rpc('anvil_setNextBlockBaseFeePerGas', ['0x3e8'])
  await chain.mine()
  const { maxFeeWei, maxPriorityFeeWei: tip } = await minter.fees()
  assert.equal(maxFeeWei, 2_000n + tip)
  assert.deepEqual(await minter.fees(under(2_000n + tip)), { maxFeeWei, maxPriorityFeeWei: tip })
  assert.deepEqual(await minter.fees(under(1_999n + tip)), { maxFeeWei: 1_999n + tip, maxPriorityFeeWei: tip })
  assert.deepEqual(await minter.fees(under(1_126n + tip)), { maxFeeWei: 1_126n + tip, maxPriorityFeeWei: tip })
  // No fee within the cap is sure of the next block.
  assert.deepEqual(await minter.fees(under(1_125n + tip)), { maxFeeWei, maxPriorityFeeWei: tip })
})
