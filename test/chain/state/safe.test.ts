// A real Safe 1.5.0, from the bytecode that its makers publish: made by its factory, it pays by an internal call, is told as its sender, is known
// by its code and singleton, and proves itself by the signature of its owner.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { privateKeyToAccount } from 'viem/accounts'
import {
  concatHex,
  decodeEventLog,
  encodeAbiParameters,
  encodeFunctionData,
  hashMessage,
  keccak256,
  pad,
  parseAbi,
} from 'viem/utils'
import { createChainReader } from '../../../src/chain/read/reader.ts'
import { createWalletProver } from '../../../src/chain/read/wallets.ts'
import { KNOWN_IMPLEMENTATIONS, knownWalletOf } from '../../../src/domain/payers/known-wallets.ts'
import { type Address, address, type Hash } from '../../../src/domain/units.ts'
import { type Stage, startStage } from '../stage.ts'

const abi = parseAbi([
  'function createProxyWithNonce(address singleton, bytes initializer, uint256 salt) returns (address proxy)',
  'event ProxyCreation(address indexed proxy, address singleton)',
  'function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)',
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool)',
])
const NONE = `0x${'0'.repeat(40)}` as Address
/** The hash of the singleton's code as @safe-global/safe-deployments 1.37.63 names it, v1.5.0/safe.json. */
const SINGLETON_CODE_HASH = '0xdda019cbd7c867a533a2a86e5c53434fdc50b13122b5a5ddb4a8df61b31c20f2'
const [singleton] = KNOWN_IMPLEMENTATIONS.filter(({ name, version }) => name === 'Safe' && version === '1.5.0')
assert.ok(singleton)

let stage: Stage
/** The Safe, whose one owner is account 5. */
let safe: Address

/** The published bytecode of a contract. */
function artifact(path: string): { bytecode: `0x${string}`; deployedBytecode: `0x${string}` } {
  const file = new URL(
    `../../../node_modules/@safe-global/safe-smart-account/build/artifacts/contracts/${path}`,
    import.meta.url,
  )
  return JSON.parse(readFileSync(file, 'utf8'))
}

async function send(from: number, tx: object) {
  const txHash = (await stage.chain.rpc('eth_sendTransaction', [
    { from: stage.at(from), gas: '0x800000', ...tx },
  ])) as Hash
  await stage.chain.mine()
  const receipt = (await stage.chain.rpc('eth_getTransactionReceipt', [txHash])) as {
    status: string
    contractAddress: Address
    logs: { data: `0x${string}`; topics: [`0x${string}`, ...`0x${string}`[]] }[]
  }
  assert.equal(receipt.status, '0x1')
  return { txHash, ...receipt }
}

before(async () => {
  stage = await startStage()
  const { deployedBytecode } = artifact('Safe.sol/Safe.json')
  assert.equal(keccak256(deployedBytecode), SINGLETON_CODE_HASH)
  await stage.chain.rpc('anvil_setCode', [singleton.address, deployedBytecode])
  const factory = await send(9, { data: artifact('proxies/SafeProxyFactory.sol/SafeProxyFactory.json').bytecode })
  const handler = await send(9, {
    data: artifact('handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json').bytecode,
  })
  const initializer = encodeFunctionData({
    ...{ abi, functionName: 'setup' },
    args: [[stage.at(5)], 1n, NONE, '0x', handler.contractAddress, NONE, 0n, NONE],
  })
  const data = encodeFunctionData({
    abi,
    functionName: 'createProxyWithNonce',
    args: [singleton.address, initializer, 0n],
  })
  const made = await send(9, { to: factory.contractAddress, data })
  const log = made.logs.at(-1) ?? assert.fail('the factory says nothing')
  safe = address(decodeEventLog({ abi, ...log, eventName: 'ProxyCreation' }).args.proxy)
  await send(9, { to: safe, value: '0x1000' })
})
after(() => stage.close())

test('a Safe’s payment is its own inner transfer, and the Safe is known by code and singleton', async () => {
  // The owner sends it: the signature that says so is its address, and 1.
  const signatures = concatHex([pad(stage.at(5)), pad('0x00'), '0x01'])
  const data = encodeFunctionData({
    ...{ abi, functionName: 'execTransaction' },
    args: [stage.at(3), 77n, '0x', 0, 0n, 0n, 0n, NONE, NONE, signatures],
  })
  const { txHash } = await send(5, { to: safe, data })
  const reader = createChainReader(stage.rpc, stage.watched)
  assert.deepEqual(await reader.innerTransfers(txHash, stage.at(3)), [{ index: 1, from: safe, valueWei: 77n }])
  const code = await reader.payerCode(safe, await stage.head())
  assert.ok(code?.kind === 'contract')
  const known = knownWalletOf(code)
  assert.deepEqual([known?.name, known?.version], ['Safe', '1.5.0'])
})

test('a Safe proves itself by the word of its owner, and not by another’s', async () => {
  const message = 'example.org wants you to sign in'
  const prove = createWalletProver(stage.rpc)
  /** The hash that a Safe's owners sign for a message: EIP-712, with the Safe as its domain. */
  const hash = encodeAbiParameters([{ type: 'bytes32' }], [hashMessage(message)])
  const typed = {
    domain: { chainId: stage.chain.chainId, verifyingContract: safe },
    types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
    primaryType: 'SafeMessage',
    message: { message: hash },
  } as const
  for (const [account, proof] of [
    [5, { deployed: true }],
    [6, null],
  ] as const) {
    const signature = await privateKeyToAccount(stage.keyOf(account)).signTypedData(typed)
    assert.deepEqual(await prove(safe, message, signature), proof)
  }
})
