// One signer account on the chain: estimates, signs, broadcasts. Signing does not send, and broadcasting does not sign, so that the caller can store
// the bytes in between. It must never retry, never encode a call that moves a node's money (factoryAbi has none), and never report that a send failed
// if a provider may have accepted it.
import { encodeFunctionData, keccak256 } from 'viem/utils'
import { type FeeLimits, type Fees, offerFees } from '../../domain/fees.ts'
import { canAgree } from '../../domain/finality.ts'
import { leastGas } from '../../domain/send.ts'
import { type Address, type Hash, hash, wei, ZERO_HASH } from '../../domain/units.ts'
import { ChainFault } from '../../ports/faults.ts'
import type { EstimateOutcome, FactoryCall, SendOutcome, SignerAccount } from '../../ports/sending.ts'
import { factoryAbi } from '../factory/abi.ts'
import { readView, revertName, viewCall } from '../factory/calls.ts'
import { isOfKind } from '../rpc/kinds.ts'
import { isLimit, isRevert, revertData } from '../rpc/provider.ts'
import { askEach, ofEach, type Rpc, type RpcReads, type RpcReply, resultOf, type SendReply } from '../rpc/rpc.ts'
import { byHash, count, header, quantity } from '../rpc/wire.ts'
import { classifyEstimateError, classifySendError } from './send-errors.ts'
import type { Signer } from './signer.ts'

/** EIP-7825: no transaction may use more gas than this, whatever the block's limit. */
export const TX_GAS_MAX = 2n ** 24n
/** Gas for the fork guard, which the estimate leaves out. The most that it takes is a call to the chain's contract with old block hashes. */
const GUARD_GAS = 7_000n
/** An estimate is true for one block. By the time the call is mined, a cohort or a wallet may need storage that was not written in the estimate. */
const MARGIN_PERCENT = 10n
/** The tip if the provider suggests none. On Mainnet this has been enough most of the time. */
const TIP_FALLBACK_WEI = 1_000_000_000n

export interface SignerAccountOptions {
  rpc: Rpc
  signer: Signer
  chainId: number
  factory: Address
}

/** Creates a signer account from its signer. */
export function createSignerAccount({ rpc, signer, chainId, factory }: SignerAccountOptions): SignerAccount {
  const self = signer.address
  const nonceBy = async (reads: RpcReads) =>
    count(await reads.request('eth_getTransactionCount', [self, 'latest']), 'nonce')
  return {
    address: self,

    nonce: () => nonceBy(rpc),

    nonces: () => ofEach(rpc, nonceBy),

    noncesAt: (blockHash) => ofEach(rpc, (provider) => nonceAt(provider, self, blockHash)),

    guardsAt: (block, at) => ofEach(rpc, (provider) => guardAt(provider, factory, { block, at })),

    async balance() {
      const read = async (reads: RpcReads) =>
        quantity(await reads.request('eth_getBalance', [self, 'latest']), 'balance')
      // The chain refuses what an account cannot pay, so one provider's low figure stops nothing.
      const balances = await askEach(rpc, read)
      return wei(balances.reduce((most, one) => (one > most ? one : most)))
    },

    fees: (capWei) => currentFees(rpc, capWei),

    async estimate(call) {
      const first = await estimateBy(rpc, { self, factory }, call)
      if (first.kind === 'ok' || !canAgree(rpc)) return first
      // The contract refuses what is wrong, so we try a yes of any provider, and a no counts only if all agree on it.
      const others = await ofEach(rpc, (one) => estimateBy(one, { self, factory }, call))
      return others.find((one) => one?.kind === 'ok') ?? first
    },

    async sign(call, { nonce, gasLimit, fees }) {
      if (gasLimit > TX_GAS_MAX) throw new RangeError(`gas limit ${gasLimit} is over the cap of ${TX_GAS_MAX}`)
      const { data, valueWei } = encodeCall(call, { withGuard: true })
      const raw = await signer.sign({ chainId, nonce, to: factory, data, valueWei, gasLimit, ...fees })
      return { txHash: hash(keccak256(raw)), raw, nonce, fees }
    },

    broadcast: (raw) => broadcast(rpc, raw),
  }
}

async function estimateBy(
  rpc: RpcReads,
  { self, factory }: { self: Address; factory: Address },
  call: FactoryCall,
): Promise<EstimateOutcome> {
  const { data, valueWei } = encodeCall(call, { withGuard: false })
  const [reply, latest] = await rpc.batch([
    { method: 'eth_estimateGas', params: [{ from: self, to: factory, data, value: `0x${valueWei.toString(16)}` }] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ])
  if (!reply || !latest) throw new ChainFault('the provider gave no estimate')
  if (reply.ok) {
    const gasMax = gasMaxIn(latest)
    return withMargin(quantity(reply.result, 'gas estimate'), gasMax, leastGas(call.kind, itemsOf(call)))
  }
  const { error } = reply
  if (isRevert(error)) return { kind: 'reverts', error: revertName(revertData(error)) ?? error.message }
  const kind = isLimit(error) ? null : classifyEstimateError(error)
  if (kind === 'insufficientFunds' || kind === 'overGasCap') return { kind }
  return resultOf('eth_estimateGas', reply) as never
}

/** An account's next nonce as of one block. Null if the provider returns an error, for example because the block is not canonical. */
export async function nonceAt(rpc: RpcReads, account: Address, blockHash: Hash): Promise<number | null> {
  const reply = await rpc.call('eth_getTransactionCount', [account, byHash(blockHash)])
  return reply.ok ? count(reply.result, 'nonce') : null
}

async function guardAt(
  rpc: RpcReads,
  factory: Address,
  { block, at }: { block: number; at: number },
): Promise<Hash | null> {
  const { method, params } = viewCall(factory, at, 'hashOf', [BigInt(block)])
  const reply = await rpc.call(method, params)
  return reply.ok ? hash(readView('hashOf', reply.result)) : null
}

/** Reads the fees in the provider's latest block, and computes what to offer within the limits (domain/fees.ts). */
export async function currentFees(rpc: Rpc, limits?: FeeLimits): Promise<Fees> {
  const [latest, tip] = await rpc.batch([
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
  ])
  if (!latest || !tip) throw new ChainFault('the provider gave no fees')
  const baseFeeWei = header(resultOf('eth_getBlockByNumber', latest)).baseFeeWei ?? (await baseFeeOfAny(rpc))
  if (baseFeeWei === null) throw new ChainFault('this chain has no EIP-1559 fees', { retryable: false })
  const isTold = tip.ok && isOfKind('eth_maxPriorityFeePerGas', tip.result)
  const tipWei = isTold ? quantity(tip.result, 'priority fee') : TIP_FALLBACK_WEI
  return offerFees({ baseFeeWei, tipWei }, limits)
}

/** The base fee that another provider shows if the first one leaves it out; null if none shows one. */
async function baseFeeOfAny(rpc: Rpc): Promise<bigint | null> {
  const fees = await ofEach(
    rpc,
    async (provider) => header(await provider.request('eth_getBlockByNumber', ['latest', false])).baseFeeWei,
  )
  return fees.find((fee) => fee !== null) ?? null
}

function itemsOf(call: FactoryCall): number {
  return (call.kind === 'mint' ? call.orders : call.kind === 'credit' ? call.credits : call.openings).length
}

function withMargin(gas: bigint, gasMax: bigint, least: bigint): EstimateOutcome {
  const gasWithGuard = gas + GUARD_GAS
  if (gasWithGuard > gasMax) return { kind: 'overGasCap' }
  const roomy = (gasWithGuard * (100n + MARGIN_PERCENT)) / 100n
  const gasLimit = roomy > least ? roomy : least
  return { kind: 'ok', gas: gasLimit < gasMax ? gasLimit : gasMax }
}

/** The most gas that a transaction may have in a block like this: the cap, or the block's own limit if that is lower and the provider reports it. */
function gasMaxIn(latest: RpcReply): bigint {
  const { gasLimit }: { gasLimit?: unknown } = Object(latest.ok ? latest.result : null)
  const limit = isOfKind('eth_estimateGas', gasLimit) ? quantity(gasLimit, 'gas limit') : TX_GAS_MAX
  return limit < TX_GAS_MAX ? limit : TX_GAS_MAX
}

/** The calldata and the value of a call. For an estimate the guard is left out, because eth_call cannot check a guard on the head. */
export function encodeCall(call: FactoryCall, { withGuard }: { withGuard: boolean }) {
  const [abi, validUntil] = [factoryAbi, BigInt(call.validUntil)]
  switch (call.kind) {
    case 'openCohorts': {
      const openings = call.openings.map(({ tierNo, firstDue, intervalSec }) => ({
        tier: BigInt(tierNo),
        firstDue: BigInt(firstDue),
        interval: BigInt(intervalSec),
      }))
      const args = [BigInt(call.first), openings, validUntil] as const
      return { data: encodeFunctionData({ abi, functionName: call.kind, args }), valueWei: 0n }
    }
    case 'mint': {
      const orders = call.orders.map(({ to, cohort, ref }) => ({ to, cohort: BigInt(cohort), ref }))
      const args = [orders, ...guardOf(call, withGuard), validUntil] as const
      return { data: encodeFunctionData({ abi, functionName: call.kind, args }), valueWei: 0n }
    }
    case 'credit': {
      const credits = call.credits.map(({ cohort, firstDue, skipped, paid, amountPerNodeWei }) => ({
        cohort: BigInt(cohort),
        firstDue: BigInt(firstDue),
        skipped: BigInt(skipped),
        paid: BigInt(paid),
        amountPerNode: amountPerNodeWei,
      }))
      const args = [BigInt(call.round), ...guardOf(call, withGuard), validUntil, credits] as const
      return { data: encodeFunctionData({ abi, functionName: call.kind, args }), valueWei: call.valueWei }
    }
  }
}

function guardOf(call: { guard: { number: number; hash: Hash } | null }, withGuard: boolean): [bigint, Hash] {
  return withGuard && call.guard ? [BigInt(call.guard.number), call.guard.hash] : [0n, ZERO_HASH]
}

/**
 * Sends signed bytes to every provider once. If one of them accepts the bytes, the outcome is `accepted`. Otherwise a definite answer about the nonce
 * or the fees counts most. Next comes `unknown`: a provider may have accepted the bytes. It counts more than rejections after which the nonce would
 * be free.
 */
export async function broadcast(rpc: Rpc, raw: `0x${string}`): Promise<SendOutcome> {
  const txHash = keccak256(raw)
  const outcomes = (await rpc.sendToAll('eth_sendRawTransaction', [raw])).map((reply) => outcomeOf(reply, txHash))
  for (const kind of PRECEDENCE) {
    const outcome = outcomes.find((candidate) => candidate.kind === kind)
    if (outcome) return outcome
  }
  return { kind: 'unknown', detail: 'no provider' }
}

const PRECEDENCE: readonly SendOutcome['kind'][] = [
  'accepted',
  'nonceTooLow',
  'underpriced',
  'feeTooLow',
  'unknown',
  'insufficientFunds',
  'overGasCap',
]

function outcomeOf(reply: SendReply, txHash: string): SendOutcome {
  if (reply.ok === null) return { kind: 'unknown', detail: reply.fault.message }
  if (reply.ok) {
    const same = typeof reply.result === 'string' && reply.result.toLowerCase() === txHash
    return same ? { kind: 'accepted' } : { kind: 'unknown', detail: `${reply.host}: answered another hash` }
  }
  const kind = classifySendError(reply.error)
  if (kind !== 'unknown') return { kind }
  return { kind, detail: `${reply.host}: ${reply.error.message} (${reply.error.code})` }
}
