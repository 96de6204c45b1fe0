// Deploys the contracts. No pass may use this file. It has a key only while a command runs, and each function sends only what it is named for.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { encodeDeployData, encodeFunctionData, getContractAddress, keccak256 } from 'viem/utils'
import { type Address, address, type Hash, hash } from '../../domain/units.ts'
import { silentLog } from '../../lib/log.ts'
import { ChainFault } from '../../ports/faults.ts'
import { createRpc, type Rpc, splitRpcUrls } from '../rpc/rpc.ts'
import { bytes, count, quantity, receipt, toQuantity, type WireReceipt } from '../rpc/wire.ts'
import { broadcast, currentFees, TX_GAS_MAX } from '../send/signer-account.ts'
import { demoTokenAbi, factoryAbi } from './abi.ts'
import { demoTokenBytecode, factoryBytecode } from './bytecode.ts'

/** How long we wait for a transaction of ours to be mined. On a busy chain that can take minutes. */
const MINED_WAIT_MS = 300_000
const POLL_FIRST_MS = 100
const POLL_MAX_MS = 2_000
/** Percent added to the gas estimate. */
const GAS_MARGIN = 20n

/** Reports the current step in a few words. */
export type OnProgress = (step: string) => void

export interface DeployedContract {
  address: Address
  blockNumber: number
  txHash: Hash
  /** keccak256 of the deployed code. */
  codeHash: Hash
}

interface SendingOptions {
  /** One URL or several, as in `RPC_URL`. */
  rpcUrl: string
  privateKey: Hex
  onProgress?: OnProgress
}

/** The arguments of the factory's constructor. */
export interface FactorySetup {
  readonly owner: Address
  readonly minter: Address
  /** The minter's first budget: how many nodes it may mint, and how many cohorts it may open, before the owner must refill it. */
  readonly nodes: number
  readonly cohorts: number
  readonly distributor: Address
  /** The least and the most that the distributor may credit a node for one turn. */
  readonly floorGwei: bigint
  readonly ceilingGwei: bigint
  /** How many nodes one wallet may hold, 1 to 256. It cannot be changed later. */
  readonly maxPerWallet: number
  /** The shortest time between two turns of any cohort. It cannot be changed later. */
  readonly leastIntervalSec: number
  /** How long after its mint a credited node can still be expelled, at most 7 days. It cannot be changed later. */
  readonly expulsionPeriodSec: number
}

/** The longest expulsion period that the contract accepts. */
export const EXPULSION_PERIOD_SEC_MAX = 7 * 86_400
/** The default for a contract's shortest interval. */
export const LEAST_INTERVAL_SEC = 3_600

/** Only the constructor's arguments, in the form that explorers expect, without `0x`. */
export function factoryConstructorArguments(setup: FactorySetup): string {
  return factoryDeployData(setup).slice(factoryBytecode.length)
}

/** The data of the transaction that deploys a factory. */
export function factoryDeployData({ nodes, cohorts, maxPerWallet, ...setup }: FactorySetup): Hex {
  const { owner, minter, distributor, floorGwei, ceilingGwei } = setup
  const args = {
    owner,
    minter,
    distributor,
    floorGwei,
    ceilingGwei,
    nodes: BigInt(nodes),
    cohorts: BigInt(cohorts),
    maxPerWallet: BigInt(maxPerWallet),
    leastInterval: BigInt(setup.leastIntervalSec),
    expulsionPeriod: BigInt(setup.expulsionPeriodSec),
  }
  return encodeDeployData({ abi: factoryAbi, bytecode: factoryBytecode, args: [args] })
}

/**
 * Deploys the factory and waits until it is mined. Throws a ChainFault if the deployment cannot be sent, reverts, or is not mined within five
 * minutes. In the last case the message names the transaction: look for it before you deploy again.
 */
export async function deployFactory(options: SendingOptions & FactorySetup): Promise<DeployedContract> {
  return await withHand(options, (hand) => deploy(hand, factoryDeployData(options), 'the node factory'))
}

/** Deploys the demo token. The deployer gets all tokens (1,000,000, with 18 decimals). */
export async function deployDemoToken(options: SendingOptions): Promise<DeployedContract> {
  const data = encodeDeployData({ abi: demoTokenAbi, bytecode: demoTokenBytecode })
  return await withHand(options, (hand) => deploy(hand, data, 'the demo token'))
}

/** Sends `amount` (in the token's smallest units) to each address, and waits until all transfers are mined. */
export async function transferToken(
  options: SendingOptions & { token: Address; to: readonly Address[]; amount: bigint },
): Promise<void> {
  await withHand(options, async (hand) => {
    const txHashes: Hash[] = []
    for (const to of options.to) {
      const data = encodeFunctionData({ abi: demoTokenAbi, functionName: 'transfer', args: [to, options.amount] })
      txHashes.push(await send(hand, { to: options.token, data }))
    }
    for (const txHash of txHashes) await awaitReceipt(hand.rpc, txHash)
    options.onProgress?.(`sent tokens to ${txHashes.length} accounts`)
  })
}

/** Sends ether and waits until the transaction is mined. Returns its hash. Throws a ChainFault in the same cases as deployFactory. */
export async function payFrom(options: SendingOptions & { to: Address; valueWei: bigint }): Promise<Hash> {
  return await withHand(options, async (hand) => {
    const txHash = await send(hand, { to: options.to, value: options.valueWei })
    await awaitReceipt(hand.rpc, txHash)
    return txHash
  })
}

interface Hand {
  rpc: Rpc
  account: PrivateKeyAccount
  chainId: number
  nonce: number
  onProgress: OnProgress
}

async function withHand<T>(options: SendingOptions, act: (hand: Hand) => Promise<T>): Promise<T> {
  const rpc = createRpc({ urls: splitRpcUrls(options.rpcUrl), log: silentLog })
  try {
    const account = privateKeyToAccount(options.privateKey)
    const chainId = count(await rpc.request('eth_chainId', []), 'chain id')
    const nonce = count(await rpc.request('eth_getTransactionCount', [account.address, 'latest']), 'nonce')
    return await act({ rpc, account, chainId, nonce, onProgress: options.onProgress ?? (() => {}) })
  } finally {
    await rpc.close()
  }
}

async function deploy(hand: Hand, data: Hex, what: string): Promise<DeployedContract> {
  const expectedAddress = address(getContractAddress({ from: hand.account.address, nonce: BigInt(hand.nonce) }))
  hand.onProgress(`deploying ${what} to ${expectedAddress}`)
  const txHash = await send(hand, { data })
  hand.onProgress(`sent ${txHash}, waiting for its block`)
  const { contractAddress, blockNumber } = await awaitReceipt(hand.rpc, txHash)
  const code = bytes(await hand.rpc.request('eth_getCode', [expectedAddress, toQuantity(blockNumber)]), 'code')
  if (contractAddress !== expectedAddress || code === '0x')
    throw new ChainFault(`${what} is not where ${txHash} should have put it`, { retryable: false })
  hand.onProgress(`${what} is at ${expectedAddress}, block ${blockNumber}`)
  return { address: expectedAddress, blockNumber, txHash, codeHash: keccak256(code) }
}

/** Signs and sends one transaction with the next nonce of this signer account. */
async function send(hand: Hand, tx: { to?: Address; data?: Hex; value?: bigint }): Promise<Hash> {
  const { rpc, account, chainId } = hand
  const call = { from: account.address, ...tx, ...(tx.value === undefined ? {} : { value: toQuantity(tx.value) }) }
  const gas = quantity(await rpc.request('eth_estimateGas', [call]), 'gas estimate')
  const roomy = (gas * (100n + GAS_MARGIN)) / 100n
  const { maxFeeWei, maxPriorityFeeWei } = await currentFees(rpc)
  const raw = await account.signTransaction({
    ...tx,
    type: 'eip1559',
    chainId,
    nonce: hand.nonce,
    gas: roomy < TX_GAS_MAX ? roomy : TX_GAS_MAX,
    maxFeePerGas: maxFeeWei,
    maxPriorityFeePerGas: maxPriorityFeeWei,
  })
  const outcome = await broadcast(rpc, raw)
  const txHash = hash(keccak256(raw))
  // If the outcome is `unknown`, a provider may still have the transaction; the receipt will show.
  if (outcome.kind !== 'accepted' && outcome.kind !== 'unknown') {
    throw new ChainFault(`${txHash} was rejected: ${outcome.kind}`, { retryable: false })
  }
  hand.nonce++
  return txHash
}

async function awaitReceipt(rpc: Rpc, txHash: Hash): Promise<WireReceipt> {
  const until = performance.now() + MINED_WAIT_MS
  for (let pause = POLL_FIRST_MS; performance.now() < until; pause = Math.min(pause * 2, POLL_MAX_MS)) {
    const answer = await rpc.request('eth_getTransactionReceipt', [txHash])
    if (answer != null) {
      const minedReceipt = receipt(answer)
      if (!minedReceipt.succeeded) throw new ChainFault(`${txHash} reverted`, { retryable: false })
      return minedReceipt
    }
    await sleep(pause)
  }
  throw new ChainFault(`${txHash} was not mined in ${MINED_WAIT_MS / 1000} seconds`)
}
