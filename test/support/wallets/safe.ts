// A real Safe 1.5.0, from its authors' published bytecode, created by its own factory.
import assert from 'node:assert/strict'
import { concatHex, decodeEventLog, encodeFunctionData, keccak256, pad, parseAbi } from 'viem/utils'
import { KNOWN_IMPLEMENTATIONS } from '../../../src/domain/payers/known-wallets.ts'
import { type Address, address } from '../../../src/domain/units.ts'
import type { Hex, TestChain } from '../anvil.ts'
import { artifact, mined } from './deploy.ts'

const abi = parseAbi([
  'function createProxyWithNonce(address singleton, bytes initializer, uint256 salt) returns (address proxy)',
  'event ProxyCreation(address indexed proxy, address singleton)',
  'function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)',
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool)',
])
const NONE = `0x${'0'.repeat(40)}` as Address
const PACKAGE = '@safe-global/safe-smart-account/build/artifacts/contracts'
/** The singleton's code hash, according to @safe-global/safe-deployments 1.37.63, v1.5.0/safe.json. */
const SINGLETON_CODE_HASH = '0xdda019cbd7c867a533a2a86e5c53434fdc50b13122b5a5ddb4a8df61b31c20f2'

/** Creates a Safe with one owner, and gives it some ether. */
export async function makeSafe(chain: TestChain, owner: string, valueWei: bigint): Promise<Address> {
  const singleton = KNOWN_IMPLEMENTATIONS.find(({ name, version }) => name === 'Safe' && version === '1.5.0')
  assert.ok(singleton)
  const from = chain.accounts[9]?.address ?? ''
  const deploy = async (path: string) =>
    (await mined(chain, { from, data: artifact(`${PACKAGE}/${path}`).bytecode })).created
  const { deployedBytecode } = artifact(`${PACKAGE}/Safe.sol/Safe.json`)
  assert.equal(keccak256(deployedBytecode), SINGLETON_CODE_HASH)
  await chain.rpc('anvil_setCode', [singleton.address, deployedBytecode])
  const factory = await deploy('proxies/SafeProxyFactory.sol/SafeProxyFactory.json')
  const handler = await deploy('handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json')
  const initializer = encodeFunctionData({
    abi,
    functionName: 'setup',
    args: [[owner as Address], 1n, NONE, '0x', handler, NONE, 0n, NONE],
  })
  const made = await mined(chain, {
    from,
    to: factory,
    data: encodeFunctionData({ abi, functionName: 'createProxyWithNonce', args: [singleton.address, initializer, 0n] }),
  })
  const log = made.logs.at(-1) ?? assert.fail('the factory says nothing')
  const safe = address(decodeEventLog({ abi, ...log, eventName: 'ProxyCreation' }).args.proxy)
  await mined(chain, { from, to: safe, value: `0x${valueWei.toString(16)}` })
  return safe
}

/** The calldata with which the owner, who sends the transaction, makes a Safe pay. */
export function paySafely(owner: Address, to: Address, valueWei: bigint): Hex {
  // If the owner sends the transaction, the signature is their address, and 1.
  const signatures = concatHex([pad(owner), pad('0x00'), '0x01'])
  return encodeFunctionData({
    abi,
    functionName: 'execTransaction',
    args: [to, valueWei, '0x', 0, 0n, 0n, 0n, NONE, NONE, signatures],
  })
}
