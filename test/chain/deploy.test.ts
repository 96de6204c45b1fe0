// Deploying on a real chain, and what start-up says of settings that do not fit it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { toFunctionSelector } from 'viem'
import { type CheckDeploymentOptions, checkDeployment } from '../../src/chain/check-deployment.ts'
import { createContractReader } from '../../src/chain/contract.ts'
import { deployDemoToken, deployFactory, transferToken } from '../../src/chain/deploy.ts'
import { createChainReader } from '../../src/chain/follow.ts'
import { createRpc } from '../../src/chain/rpc.ts'
import { ZERO_ADDRESS } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { ROOMY_SETUP } from '../support/factory.ts'
import { type Stage, startStage } from './stage.ts'

let stage: Stage
let settings: CheckDeploymentOptions
before(async () => {
  stage = await startStage()
  settings = {
    rpc: stage.rpc,
    chainId: stage.chain.chainId,
    factory: stage.factory,
    minter: stage.at(1),
    distributor: stage.at(2),
    paymentAddress: stage.at(3),
  }
})
after(() => stage.close())

/** Runs what waits for blocks while blocks are mined. */
async function whileMining<T>(act: () => Promise<T>): Promise<T> {
  const mining = setInterval(() => void stage.chain.mine(), 50)
  try {
    return await act()
  } finally {
    clearInterval(mining)
  }
}

test('a factory is deployed with its roles, where and when it says', async () => {
  const { at, keyOf, chain } = stage
  const steps: string[] = []
  const deployed = await whileMining(() =>
    deployFactory({
      rpcUrl: chain.rpcUrl,
      privateKey: keyOf(10),
      owner: at(11),
      minter: at(12),
      distributor: at(13),
      ...{ ...ROOMY_SETUP, maxPerWallet: 7, leastIntervalSec: 60 },
      onProgress: (step) => steps.push(step),
    }),
  )
  const receipt = await chain.rpc<{ contractAddress: string; blockNumber: string }>('eth_getTransactionReceipt', [
    deployed.txHash,
  ])
  assert.equal(deployed.address, receipt.contractAddress)
  assert.equal(deployed.blockNumber, Number(receipt.blockNumber))
  assert.equal(await createContractReader(stage.rpc, deployed.address).maxPerWallet(), 7)
  const check = await checkDeployment({ ...settings, factory: deployed.address, minter: at(12), distributor: at(13) })
  assert.deepEqual(check, { problems: [], guardUsable: true, knownCode: true, maxPerWallet: 7, leastIntervalSec: 60 })
  assert.ok(steps.length >= 3 && steps.every((step) => !step.includes(keyOf(10).slice(2))))
})

test('a deployment that the contract refuses is a fault', async () => {
  const { at, keyOf, chain } = stage
  const options = {
    rpcUrl: chain.rpcUrl,
    privateKey: keyOf(10),
    owner: ZERO_ADDRESS,
    minter: at(1),
    distributor: at(2),
  }
  await assert.rejects(deployFactory({ ...options, ...ROOMY_SETUP, maxPerWallet: 7 }), /revert/i)
})

test('the demo token is deployed and handed out', async () => {
  const { at, keyOf, chain } = stage
  const options = { rpcUrl: chain.rpcUrl, privateKey: keyOf(4) }
  await whileMining(async () => {
    const { address: token } = await deployDemoToken(options)
    await transferToken({ ...options, token, to: [at(5), at(6)], amount: 10_000n })
    const reader = createChainReader(stage.rpc, stage.watched)
    const head = await reader.head()
    const holdings = [5, 6, 7, 4].map((account) => reader.holding(token, at(account), head))
    assert.deepEqual(await Promise.all(holdings), [10_000n, 10_000n, 0n, 10n ** 24n - 20_000n])
  })
})

test('settings that fit give no problem, and the fork guard is usable', async () => {
  assert.deepEqual(await checkDeployment(settings), {
    problems: [],
    guardUsable: true,
    knownCode: true,
    maxPerWallet: 3,
    leastIntervalSec: 1,
  })
  const readOnly = await checkDeployment({ ...settings, minter: null, distributor: null, paymentAddress: null })
  assert.deepEqual(readOnly.problems, [])
})

const misfits: [sentence: string, change: () => Partial<CheckDeploymentOptions>, setting: string, remedy: RegExp][] = [
  ['another chain id', () => ({ chainId: 1 }), 'CHAIN_ID', /CHAIN_ID=31337/],
  ['no code at the factory', () => ({ factory: stage.at(9) }), 'FACTORY_ADDRESS', /node-ledger deploy/],
  ['another contract at the factory', () => ({ factory: stage.token }), 'FACTORY_ADDRESS', /FACTORY_ADDRESS/],
  ['a minter without the role', () => ({ minter: stage.at(9) }), 'MINTER_PRIVATE_KEY', /setMinter/],
  ['a distributor without the role', () => ({ distributor: stage.at(9) }), 'DISTRIBUTOR_PRIVATE_KEY', /setDistributor/],
  ['turns closer than the factory takes', () => ({ intervalSec: 0 }), 'CREDIT_INTERVAL_SEC', /to 1 or more/],
  ['payments to the factory', () => ({ paymentAddress: stage.factory }), 'PAYMENT_ADDRESS', /PAYMENT_ADDRESS/],
  ['payments to nobody', () => ({ paymentAddress: ZERO_ADDRESS }), 'PAYMENT_ADDRESS', /PAYMENT_ADDRESS/],
]
for (const [sentence, change, setting, remedy] of misfits) {
  test(`${sentence}: named with its remedy`, async () => {
    const { problems } = await checkDeployment({ ...settings, ...change() })
    assert.deepEqual(
      problems.map((problem) => [problem.setting, problem.transient]),
      [[setting, false]],
    )
    assert.match(problems[0]?.remedy ?? '', remedy)
  })
}

test('a factory of the first version is told apart from other contracts', async () => {
  const { rpc, provider } = await stage.behind()
  const leastInterval = toFunctionSelector('leastInterval()')
  provider.rule = ({ method, params }) => {
    const [call] = params as [{ data?: string }]
    const asked = method === 'eth_call' && call.data?.startsWith(leastInterval)
    return asked ? { error: { code: 3, message: 'execution reverted', data: '0x' } } : undefined
  }
  const { problems } = await checkDeployment({ ...settings, rpc })
  assert.deepEqual(
    problems.map(({ setting, transient }) => [setting, transient]),
    [['FACTORY_ADDRESS', false]],
  )
  assert.match(problems[0]?.problem ?? '', /of the first version/)
})

test('a chain that cannot be asked is a passing problem of RPC_URL', async () => {
  const rpc = createRpc({ urls: ['http://127.0.0.1:9/secretkey1'], log: silentLog })
  const { problems, guardUsable } = await checkDeployment({ ...settings, rpc })
  assert.deepEqual(
    problems.map((problem) => [problem.setting, problem.transient]),
    [['RPC_URL', true]],
  )
  assert.equal(guardUsable, false)
  assert.doesNotMatch(JSON.stringify(problems), /secretkey1/)
  await rpc.close()
})

test('where the contract knows blocks by other hashes than the provider, the guard is not usable', async () => {
  const { rpc, provider } = await stage.behind()
  const wrong = `0x${'1'.repeat(64)}`
  provider.rule = async ({ method }, forward) => {
    if (method !== 'eth_getBlockByNumber') return undefined
    const { result } = (await forward()) as { result: object }
    return { result: { ...result, parentHash: wrong } }
  }
  const check = await checkDeployment({ ...settings, rpc, guardPauseMs: 20 })
  assert.deepEqual([check.problems, check.guardUsable, check.knownCode], [[], false, true])
})
