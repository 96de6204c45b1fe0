// Checks the settings against the chain at start-up: the chain, the factory, its minter and distributor, and its block hashes. It must never send
// anything, and never report an unreachable chain as the wrong one.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import { bytesToHex, hexToBytes, keccak256 } from 'viem/utils'
import { type Address, address, type Hash } from '../../domain/units.ts'
import { ChainFault } from '../../ports/faults.ts'
import { isRevert } from '../rpc/provider.ts'
import { ofEach, type Rpc, type RpcReads, resultOf } from '../rpc/rpc.ts'
import { bytes, count, header, quantity, safeNumber } from '../rpc/wire.ts'
import { factoryImmutables, factoryRuntimeHash } from './bytecode.ts'
import { readView, readViews, requestView, type ViewName, viewCall } from './calls.ts'

/**
 * How often we try to check the fork guard, and the pause between two tries. During a try the head may move, or the chain may have only just started.
 */
const GUARD_TRIES = 3
const GUARD_PAUSE_MS = 2_500

/** A setting that does not match the chain. */
export interface DeploymentProblem {
  setting:
    | 'CHAIN_ID'
    | 'RPC_URL'
    | 'FACTORY_ADDRESS'
    | 'MINTER_PRIVATE_KEY'
    | 'DISTRIBUTOR_PRIVATE_KEY'
    | 'PAYMENT_ADDRESS'
  problem: string
  remedy: string
  /** True if the chain did not answer. Once it does, there may be no problem. */
  transient: boolean
}

export interface DeploymentCheck {
  problems: DeploymentProblem[]
  /** True if the contract sees the same hashes of recent blocks as the provider reports. Only then can mints carry a fork guard. */
  guardUsable: boolean
  /** keccak256 of the code at the factory's address; null if there is no code, or the chain did not answer. */
  codeHash: Hash | null
  /** True if the code at the factory's address is byte for byte the factory that this service was built with. */
  knownCode: boolean
  /** Null if we could not read it. */
  maxPerWallet: number | null
  leastIntervalSec: number | null
}

export interface CheckDeploymentOptions {
  rpc: Rpc
  chainId: number
  factory: Address
  /** Addresses of the signer accounts; null if none is configured. */
  minter: Address | null
  distributor: Address | null
  paymentAddress: Address | null
  /** The hash of other code that we trust as well; null if there is none. If it is left out, any code is accepted. */
  trustedCodeHash?: Hash | null
  /**
   * The factory need not exist before this block. If the provider's head is below it, the provider lags. Leave it out if the factory exists at every
   * block.
   */
  startBlock?: number
  /** The pause between two tries to check the fork guard, for chains with faster blocks than usual. */
  guardPauseMs?: number
}

/** Checks the settings against the chain at start-up. Does not throw if the chain cannot be reached: that is reported as a problem like any other. */
export async function checkDeployment(options: CheckDeploymentOptions): Promise<DeploymentCheck> {
  const check: DeploymentCheck = {
    problems: [],
    guardUsable: false,
    codeHash: null,
    knownCode: false,
    maxPerWallet: null,
    leastIntervalSec: null,
  }
  try {
    await fillCheck(options, check)
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error
    check.problems.push({
      setting: 'RPC_URL',
      problem: `the chain did not answer: ${error.message}`,
      remedy: 'Set RPC_URL to a node that answers, and check that it is up.',
      transient: true,
    })
  }
  return check
}

async function fillCheck(options: CheckDeploymentOptions, check: DeploymentCheck): Promise<void> {
  const { rpc, factory } = options
  const report = (setting: DeploymentProblem['setting'], problem: string, remedy: string) =>
    check.problems.push({ setting, problem, remedy, transient: false })

  const chainId = await chainIdOf(rpc, options.chainId)
  if (chainId !== options.chainId) {
    report(
      'CHAIN_ID',
      `the provider is on chain ${chainId}, not ${options.chainId}`,
      `Set CHAIN_ID=${chainId}, or RPC_URL to a node of chain ${options.chainId}.`,
    )
    // This is the wrong chain, so further checks would tell us nothing.
    return
  }
  checkPaymentAddress(options, report)
  const code = bytes(await rpc.request('eth_getCode', [factory, 'latest']), 'code')
  if (code === '0x') {
    const { startBlock = 0 } = options
    const head = count(await rpc.request('eth_blockNumber', []), 'block number')
    if (head < startBlock)
      throw new ChainFault(`the provider lags: it is at block ${head}, the factory is from ${startBlock}`)
    report(
      'FACTORY_ADDRESS',
      `there is no contract at ${factory} on chain ${chainId}`,
      'Set FACTORY_ADDRESS to the factory, or deploy one with "node-ledger deploy", which prints its address.',
    )
    return
  }
  check.codeHash = keccak256(code)
  check.knownCode = isKnownCode(code)
  if (!(await checkRoles(options, check, report))) return
  const problem = unknownCode(options, check)
  if (problem) report('FACTORY_ADDRESS', problem.problem, problem.remedy)
  if (!(await runsCancun(rpc))) report('CHAIN_ID', ...BEFORE_CANCUN)
  check.guardUsable = await isGuardUsable(rpc, factory, options.guardPauseMs ?? GUARD_PAUSE_MS)
}

/**
 * The provider's chain id. If it is not `expectedId`, but another provider has that id, returns `expectedId` and moves the providers on other chains
 * to the end of the order.
 */
async function chainIdOf(rpc: Rpc, expectedId: number): Promise<number> {
  const chainId = count(await rpc.request('eth_chainId', []), 'chain id')
  if (chainId === expectedId) return chainId
  const ids = await ofEach(rpc, async (provider) => count(await provider.request('eth_chainId', []), 'chain id'))
  if (!ids.includes(expectedId)) return chainId
  for (const [index, provider] of rpc.providers.entries()) {
    const id = ids[index] ?? null
    if (id !== null && id !== expectedId) provider.distrust()
  }
  return expectedId
}

type Report = (setting: DeploymentProblem['setting'], problem: string, remedy: string) => void

function checkPaymentAddress({ paymentAddress, factory }: CheckDeploymentOptions, report: Report): void {
  if (paymentAddress === null || (paymentAddress !== factory && BigInt(paymentAddress) !== 0n)) return
  report(
    'PAYMENT_ADDRESS',
    `${paymentAddress} is ${paymentAddress === factory ? 'the factory itself' : 'the zero address'}`,
    'Set PAYMENT_ADDRESS to a wallet of your own that accepts plain transfers.',
  )
}

const ROLE_VIEWS = ['maxPerWallet', 'minter', 'distributor', 'leastInterval'] as const satisfies readonly ViewName[]

type RoleAnswers = Record<(typeof ROLE_VIEWS)[number], unknown>

/** What the contract's views return for its roles; null if the contract is not a factory. */
async function askRoles(rpc: Rpc, factory: Address): Promise<RoleAnswers | null> {
  const replies = await rpc.batch(ROLE_VIEWS.map((name) => viewCall(factory, 'latest', name, [])))
  const answers = replies.map((reply) => {
    if (reply.ok) return reply.result === '0x' ? null : reply.result
    // Only a revert shows that the contract is not a factory. A rate limit or an internal error comes from the provider.
    return isRevert(reply.error) ? null : resultOf('eth_call', reply)
  })
  if (answers.includes(null)) return null
  return Object.fromEntries(ROLE_VIEWS.map((name, index) => [name, answers[index]])) as RoleAnswers
}

/** Checks the contract's roles. False if the contract does not answer as a factory would. */
async function checkRoles(options: CheckDeploymentOptions, check: DeploymentCheck, report: Report): Promise<boolean> {
  const { rpc, factory } = options
  const answers = await askRoles(rpc, factory)
  if (answers === null) {
    report(
      'FACTORY_ADDRESS',
      `the contract at ${factory} is not a node factory`,
      'Set FACTORY_ADDRESS to the address that "node-ledger deploy" printed.',
    )
    return false
  }
  check.maxPerWallet = safeNumber(readView('maxPerWallet', answers.maxPerWallet), 'cap per wallet')
  check.leastIntervalSec = safeNumber(readView('leastInterval', answers.leastInterval), 'least interval')
  const roles = [
    ['MINTER_PRIVATE_KEY', 'minter', 'setMinter', options.minter, readView('minter', answers.minter)],
    [
      'DISTRIBUTOR_PRIVATE_KEY',
      'distributor',
      'setDistributor',
      options.distributor,
      readView('distributor', answers.distributor),
    ],
  ] as const
  for (const [setting, role, setter, ours, onChain] of roles) {
    if (ours === null || ours === address(onChain)) continue
    report(
      setting,
      `the key's address ${ours} is not the factory's ${role}, ${address(onChain)}`,
      `Set ${setting} (or its key file or signer) to the ${role}'s key, or have the factory's owner call ${setter} with ${ours}.`,
    )
  }
  return true
}

/**
 * The problem with code that is neither this version's nor trusted by its hash. Null if the code is this version's or trusted, or if any code is
 * accepted.
 */
function unknownCode(
  { factory, trustedCodeHash }: Pick<CheckDeploymentOptions, 'factory' | 'trustedCodeHash'>,
  { knownCode, codeHash }: Pick<DeploymentCheck, 'knownCode' | 'codeHash'>,
): { problem: string; remedy: string } | null {
  if (knownCode || trustedCodeHash === undefined || codeHash === trustedCodeHash) return null
  return {
    problem: `the code at ${factory} is not this version's factory: its hash is ${codeHash}`,
    remedy: `Set FACTORY_ADDRESS to the address that "node-ledger deploy" printed. If you know this code and trust it, set FACTORY_CODE_HASH=${codeHash}.`,
  }
}

/**
 * Refuses code at the address that is neither this version's nor trusted, before anything changes. Null if the code is fine, or if there is no code
 * (yet).
 */
export async function refuseCode(
  rpc: Rpc,
  factory: Address,
  trustedCodeHash: Hash | null,
): Promise<{ problem: string; remedy: string } | null> {
  const code = bytes(await rpc.request('eth_getCode', [factory, 'latest']), 'code')
  if (code === '0x' || isKnownCode(code)) return null
  return unknownCode({ factory, trustedCodeHash }, { knownCode: false, codeHash: keccak256(code) })
}

const BEFORE_CANCUN = [
  'the chain does not run the contract’s code: it lacks instructions of the Cancun hardfork',
  'Use a chain with Cancun (docs/CONTRACT.md has a table of chains).',
] as const
/** Code that runs PUSH0, MCOPY, TLOAD and TSTORE, and returns a word of zeros. */
const CANCUN_PROBE = '0x5f5f5f5e5f5f5d5f5c5f5260205ff3'

/** True if the chain supports the instructions that the contract compiles to. False only if the error is about an instruction. */
async function runsCancun(rpc: Rpc): Promise<boolean> {
  const [reply] = await rpc.batch([{ method: 'eth_call', params: [{ data: CANCUN_PROBE }, 'latest'] }])
  if (!reply || reply.ok) return true
  return !/opcode|instruction|not activated|notactivated/i.test(reply.error.message)
}

function isKnownCode(code: Hex): boolean {
  const runtime = hexToBytes(code)
  for (const { start, length } of factoryImmutables) runtime.fill(0, start, start + length)
  return keccak256(bytesToHex(runtime)) === factoryRuntimeHash
}

/** True if the hash that the contract sees for the block before the head is the head's parent hash. */
export async function isGuardUsable(rpc: Rpc, factory: Address, pauseMs: number): Promise<boolean> {
  for (let attempt = 0; attempt < GUARD_TRIES; attempt++) {
    if (attempt > 0) await sleep(pauseMs)
    // The contract refuses a guard that is wrong, so the yes of one provider is enough.
    const answers = await Promise.allSettled(rpc.providers.map((provider) => seesParent(provider, factory)))
    if (answers.some((one) => one.status === 'fulfilled' && one.value)) return true
    const rejection = answers.find((one) => one.status === 'rejected')
    if (rejection && !answers.some((one) => one.status === 'fulfilled')) throw rejection.reason
  }
  return false
}

/** True if the factory sees the same parent of the newest block as the block itself names. */
async function seesParent(rpc: RpcReads, factory: Address): Promise<boolean> {
  const head = header(await rpc.request('eth_getBlockByNumber', ['latest', false]))
  if (head.number === 0) return false
  const parentHash = await requestView(rpc, {
    factory,
    at: head.number,
    name: 'hashOf',
    args: [BigInt(head.number - 1)],
  })
  return parentHash === head.parentHash
}

/** True if a factory has neither minted a node nor paid a round yet. */
export async function isNewFactory(rpc: Rpc, factory: Address): Promise<boolean> {
  const [lastId, round] = await readViews(rpc, factory, 'latest', ['lastId', 'round'])
  return lastId === 0n && round === 0n
}

/** True if a wallet holds ether or has sent a transaction. A nonce of 1 does not count for a contract, because a contract's nonce starts at 1. */
export async function isUsed(rpc: Rpc, wallet: Address): Promise<boolean> {
  const [balance, nonce, code] = await rpc.requestAll([
    { method: 'eth_getBalance', params: [wallet, 'latest'] },
    { method: 'eth_getTransactionCount', params: [wallet, 'latest'] },
    { method: 'eth_getCode', params: [wallet, 'latest'] },
  ])
  const nonces = count(nonce, 'nonce') - (bytes(code, 'code') === '0x' ? 0 : 1)
  return quantity(balance, 'balance') > 0n || nonces > 0
}
