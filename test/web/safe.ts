// Real Safes (1.5.0, from their makers' published bytecode) on a service's chain, each with one owner, whose key signs
// here; and a wallet for pages under test that acts for one.
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import {
  concatHex,
  createPublicClient,
  createWalletClient,
  decodeEventLog,
  encodeFunctionData,
  encodePacked,
  hashMessage,
  http,
  pad,
  parseAbi,
  zeroAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import { KNOWN_IMPLEMENTATIONS } from '../../src/domain/payers/known-wallets.ts'
import { type Asked, announceWallet } from '../support/browser-wallet.ts'
import { HANGING_MS, untilMined } from '../support/until.ts'

type Hex = `0x${string}`

const abi = parseAbi([
  'function createProxyWithNonce(address singleton, bytes initializer, uint256 salt) returns (address proxy)',
  'event ProxyCreation(address indexed proxy, address singleton)',
  'function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)',
  'function multiSend(bytes transactions) payable',
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool)',
])
const [KNOWN_SINGLETON] = KNOWN_IMPLEMENTATIONS.filter(({ name, version }) => name === 'Safe' && version === '1.5.0')
/** The same code at an unlisted address: a contract wallet of an unknown kind. */
const OTHER_SINGLETON = '0x00000000000000000000000000000000005afe02'
const FACTORY = '0x00000000000000000000000000000000005afe03'
const HANDLER = '0x00000000000000000000000000000000005afe04'
const MULTI_SEND = '0x00000000000000000000000000000000005afe05'

export interface Call {
  to: Hex
  value?: string
  data?: Hex
}

export interface TestSafe {
  address: Hex
  /** Has the owner execute a call, or several in one transaction, and mines it. @returns the transaction's hash. */
  execute(...calls: readonly [Call, ...Call[]]): Promise<Hex>
  /** The owner's signature of a message in the Safe's name (ERC-1271). */
  sign(message: { raw: Hex }): Promise<Hex>
  /** Asks the chain. */
  read(method: string, params: unknown): Promise<unknown>
}

/** Creates a Safe with an ether, owned by a development account. `known` is false for one with an unlisted singleton. */
export async function makeSafe(rpcUrl: string, owner: number, known = true): Promise<TestSafe> {
  const account = privateKeyToAccount(DEVELOPMENT_ACCOUNTS[owner]?.privateKey ?? '0x')
  const transport = http(rpcUrl, { timeout: HANGING_MS })
  const signer = createWalletClient({ account, chain: anvil, transport })
  const reader = createPublicClient({ chain: anvil, transport, cacheTime: 0 })
  const read = (method: string, params: unknown) => reader.request({ method, params } as never) as Promise<unknown>
  const singleton = (known ? KNOWN_SINGLETON?.address : OTHER_SINGLETON) as Hex
  for (const [address, path] of [
    [singleton, 'Safe.sol/Safe.json'],
    [FACTORY, 'proxies/SafeProxyFactory.sol/SafeProxyFactory.json'],
    [HANDLER, 'handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json'],
    [MULTI_SEND, 'libraries/MultiSendCallOnly.sol/MultiSendCallOnly.json'],
  ] as const)
    await read('anvil_setCode', [address, codeOf(path)])
  const mined = async (call: { to: Hex; data: Hex }) => {
    const receipt = await untilMined(reader, await signer.sendTransaction(call))
    if (receipt.status !== 'success') throw new Error(`${receipt.transactionHash} failed`)
    return receipt
  }
  const parts = [[account.address], 1n, zeroAddress, '0x', HANDLER, zeroAddress, 0n, zeroAddress] as const
  const initializer = encodeFunctionData({ abi, functionName: 'setup', args: parts })
  const args = [singleton, initializer, BigInt(owner)] as const
  const { logs } = await mined({
    to: FACTORY,
    data: encodeFunctionData({ abi, functionName: 'createProxyWithNonce', args }),
  })
  const made = logs.at(-1)
  if (!made) throw new Error('the factory says nothing')
  const { proxy: address } = decodeEventLog({ abi, ...made, eventName: 'ProxyCreation' }).args
  await read('anvil_setBalance', [address, '0xde0b6b3a7640000'])
  await read('anvil_mine', ['0x1'])
  return {
    address,
    execute: async (...calls) => {
      // The owner sends it, so the signature is its address, and 1.
      const signatures = concatHex([pad(account.address), pad('0x00'), '0x01'])
      const [{ to, value = '0x0', data = '0x' }, ...others] = calls
      // Several go through Safe's own library, by a delegate call.
      const [target, wei, given, operation] =
        others.length > 0 ? ([MULTI_SEND, 0n, multiSend(calls), 1] as const) : ([to, BigInt(value), data, 0] as const)
      const call = [target, wei, given, operation, 0n, 0n, 0n, zeroAddress, zeroAddress, signatures] as const
      const executed = encodeFunctionData({ abi, functionName: 'execTransaction', args: call })
      return (await mined({ to: address, data: executed })).transactionHash
    },
    sign: (message) =>
      account.signTypedData({
        domain: { chainId: anvil.id, verifyingContract: address },
        types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
        primaryType: 'SafeMessage',
        message: { message: hashMessage(message) },
      }),
    read,
  }
}

function multiSend(calls: readonly Call[]): Hex {
  const each = calls.map(({ to, value = '0x0', data = '0x' }) =>
    encodePacked(
      ['uint8', 'address', 'uint256', 'uint256', 'bytes'],
      [0, to, BigInt(value), BigInt(data.length / 2 - 1), data],
    ),
  )
  return encodeFunctionData({ abi, functionName: 'multiSend', args: [concatHex(each)] })
}

function codeOf(path: string): Hex {
  const file = `../../node_modules/@safe-global/safe-smart-account/build/artifacts/contracts/${path}`
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')).deployedBytecode
}

/** What a wallet offers a page: calls by EIP-5792, plain transactions, or neither. */
export type Offers = 'calls' | 'calls without receipts' | 'transactions' | 'nothing'

/** Installs a wallet that acts for a Safe in every page that `page` loads from now on. @returns the acting methods called on it. */
export async function installSafe(page: Page, safe: TestSafe, offers: Offers): Promise<string[]> {
  const asked: string[] = []
  let connected = false
  const refuse = () => Promise.reject({ code: -32601, message: 'the method does not exist' })
  const answers: Record<string, (params: never) => unknown> = {
    eth_requestAccounts: () => {
      connected = true
      return [safe.address]
    },
    eth_accounts: () => (connected ? [safe.address] : []),
    personal_sign: ([raw]: [Hex]) => safe.sign({ raw }),
    eth_sendTransaction: ([call]: [Call]) => (offers === 'nothing' ? refuse() : safe.execute(call)),
    wallet_sendCalls: async ([{ calls }]: [{ calls: [Call] }]) =>
      offers.startsWith('calls') ? { id: await safe.execute(...calls) } : refuse(),
    wallet_getCallsStatus: async ([id]: [Hex]) => {
      const receipt = await safe.read('eth_getTransactionReceipt', [id])
      return {
        version: '2.0.0',
        id,
        chainId: '0x7a69',
        status: 200,
        atomic: true,
        ...(offers === 'calls' && { receipts: [receipt] }),
      }
    },
  }
  await announceWallet(page, async ({ method, params = [] }: Asked) => {
    if (/^(personal_sign|eth_sendTransaction|wallet_sendCalls)$/.test(method)) asked.push(method)
    const answer = answers[method]
    return answer ? answer(params as never) : safe.read(method, params)
  })
  return asked
}
