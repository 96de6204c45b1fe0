// Deploying on a real chain, and a start's messages if its settings do not fit the chain.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { keccak256 } from 'viem'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { type CheckDeploymentOptions, checkDeployment, refuseCode } from '../../src/chain/factory/check-deployment.ts'
import { createContractReader } from '../../src/chain/factory/contract.ts'
import { deployDemoToken, deployFactory, transferToken } from '../../src/chain/factory/deploy.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { ZERO_ADDRESS } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { whileMining } from '../support/anvil.ts'
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

test('a factory is deployed with its roles, and the answer gives its address and block', async () => {
  const { at, keyOf, chain } = stage
  const steps: string[] = []
  const deployed = await whileMining(stage.chain, () =>
    deployFactory({
      rpcUrl: chain.rpcUrl,
      privateKey: keyOf(10),
      owner: at(11),
      minter: at(12),
      distributor: at(13),
      ...ROOMY_SETUP,
      maxPerWallet: 7,
      leastIntervalSec: 60,
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
  const { problems, guardUsable, knownCode, codeHash, maxPerWallet, leastIntervalSec } = check
  assert.deepEqual([problems, guardUsable, knownCode, maxPerWallet, leastIntervalSec], [[], true, true, 7, 60])
  assert.equal(codeHash, deployed.codeHash)
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
  await whileMining(stage.chain, async () => {
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
    codeHash: keccak256(await stage.chain.rpc<`0x${string}`>('eth_getCode', [stage.factory, 'latest'])),
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
  ['payments to the factory', () => ({ paymentAddress: stage.factory }), 'PAYMENT_ADDRESS', /PAYMENT_ADDRESS/],
  ['payments to the zero address', () => ({ paymentAddress: ZERO_ADDRESS }), 'PAYMENT_ADDRESS', /PAYMENT_ADDRESS/],
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

test('a chain without Cancun’s instructions is refused, one that cannot show them is not', async () => {
  const { rpc, provider } = await stage.behind()
  const probing = (message: string) => {
    provider.rule = ({ method, params }) => {
      const [call] = params as [{ to?: string }]
      return method === 'eth_call' && call.to === undefined ? { error: { code: -32_000, message } } : undefined
    }
  }
  probing('EVM error: NotActivated')
  const { problems } = await checkDeployment({ ...settings, rpc })
  assert.deepEqual(
    problems.map(({ setting }) => setting),
    ['CHAIN_ID'],
  )
  assert.match(problems[0]?.remedy ?? '', /Cancun/)
  probing('invalid opcode: MCOPY')
  assert.equal((await checkDeployment({ ...settings, rpc })).problems.length, 1)
  probing('internal error')
  assert.deepEqual((await checkDeployment({ ...settings, rpc })).problems, [])
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

test('the guard is not usable if the contract sees other block hashes than the provider', async () => {
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

test('code that is not this version’s is refused unless its hash is trusted by name', async () => {
  const code = await stage.chain.rpc<`0x${string}`>('eth_getCode', [stage.factory, 'latest'])
  const patched: `0x${string}` = `0x${code.slice(2, -2)}${code.endsWith('00') ? '01' : '00'}`
  await stage.chain.rpc('anvil_setCode', [stage.factory, patched])
  try {
    const refused = await checkDeployment({ ...settings, trustedCodeHash: null })
    assert.equal(refused.codeHash, keccak256(patched))
    assert.deepEqual(
      refused.problems.map(({ setting }) => setting),
      ['FACTORY_ADDRESS'],
    )
    assert.ok(refused.problems[0]?.remedy.includes(`FACTORY_CODE_HASH=${keccak256(patched)}`))
    const trusted = await checkDeployment({ ...settings, trustedCodeHash: keccak256(patched) })
    assert.deepEqual([trusted.problems, trusted.knownCode], [[], false])
    assert.match((await refuseCode(stage.rpc, stage.factory, null))?.remedy ?? '', /FACTORY_CODE_HASH/)
    assert.equal(await refuseCode(stage.rpc, stage.factory, keccak256(patched)), null)
  } finally {
    await stage.chain.rpc('anvil_setCode', [stage.factory, code])
  }
  assert.equal(await refuseCode(stage.rpc, stage.factory, null), null)
})
