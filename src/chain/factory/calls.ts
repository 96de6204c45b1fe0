// The factory's view functions as JSON-RPC calls: encodes a call and decodes its answer. It must never return a value for an answer that does not
// decode, such as the empty answer of an address without code.
import type { Abi, ContractFunctionArgs, ContractFunctionName, ContractFunctionReturnType } from 'viem'
import { decodeErrorResult, decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import { type Address, UINT256_MAX } from '../../domain/units.ts'
import { ChainFault } from '../../ports/faults.ts'
import type { ReadOptions, RpcCall, RpcReads } from '../rpc/rpc.ts'
import { type byHash, bytes, toQuantity } from '../rpc/wire.ts'
import { factoryAbi } from './abi.ts'
import { MOST } from './figures.ts'

type Reads = 'view' | 'pure'
export type ViewName = ContractFunctionName<typeof factoryAbi, Reads>
export type ViewArgs<Name extends ViewName> = ContractFunctionArgs<typeof factoryAbi, Reads, Name>
export type ViewResult<Name extends ViewName> = ContractFunctionReturnType<typeof factoryAbi, Reads, Name>

/** factoryAbi without its literal types, which do not work with a name that is a type parameter. */
const abi: Abi = factoryAbi

/** A block in a form that calls accept: its number, its hash (EIP-1898), or `latest`. */
type CalledAt = number | 'latest' | ReturnType<typeof byHash>

/** An eth_call of one view function at a block. */
export function viewCall<Name extends ViewName>(
  factory: Address,
  at: CalledAt,
  name: Name,
  args: ViewArgs<Name>,
): RpcCall {
  const data = encodeFunctionData({ abi, functionName: name as string, args: args as readonly unknown[] })
  const block = typeof at === 'number' ? toQuantity(at) : at
  return { method: 'eth_call', params: [{ to: factory, data }, block], isPlausible: plausible(name) }
}

/** Figures above these are impossible, by the contract's own types, or too large for a number. */
const MOST_OF: Partial<Record<ViewName, bigint>> = {
  lastId: MOST.nodeId,
  lastCohort: MOST.cohort,
  round: MOST.round,
  leastInterval: MOST.interval,
  tierSupply: MOST.nodes,
  budget: MOST.nodes,
  bounds: 2n ** 48n - 1n,
  nodeOfRef: MOST.nodeId,
  maxPerWallet: BigInt(Number.MAX_SAFE_INTEGER),
}

/** Tells whether an answer to a function decodes to possible figures. No code at the address is an answer, too. */
const plausible = (name: ViewName) => (result: unknown) => {
  if (result === '0x') return true
  try {
    const figures = [readView(name, result)].flat()
    return figures.every((figure) => typeof figure !== 'bigint' || figure <= (MOST_OF[name] ?? UINT256_MAX))
  } catch (error) {
    if (error instanceof ChainFault) return false
    throw error
  }
}

/** What the function returned. Throws a retryable ChainFault if the bytes do not decode. */
export function readView<Name extends ViewName>(name: Name, answer: unknown): ViewResult<Name> {
  const data = bytes(answer, `answer of ${name}`)
  if (data === '0x') throw new ChainFault(`there is no code at the factory's address (${name})`)
  try {
    return decodeFunctionResult({ abi, functionName: name as string, data }) as ViewResult<Name>
  } catch {
    throw new ChainFault(`the factory's answer to ${name} does not decode`)
  }
}

/** What one view function returned. If a provider's answer is impossible, asks another; throws a retryable ChainFault if each answer is. */
export async function requestView<Name extends ViewName>(
  rpc: RpcReads,
  { factory, at, name, args }: { factory: Address; at: CalledAt; name: Name; args: ViewArgs<Name> },
  options?: ReadOptions,
): Promise<ViewResult<Name>> {
  const { method, params, isPlausible } = viewCall(factory, at, name, args)
  const answer = await rpc.request(method, params, { ...options, isPlausible })
  if (!isPlausible?.(answer)) throw new ChainFault(`a provider answered an impossible figure for ${name}`)
  return readView(name, answer)
}

/** What functions without arguments returned as of one block, all in one request. */
export async function readViews<const Names extends readonly ViewName[]>(
  rpc: RpcReads,
  factory: Address,
  at: CalledAt,
  names: Names,
): Promise<{ -readonly [Index in keyof Names]: ViewResult<Names[Index]> }> {
  const calls = names.map((name) => viewCall(factory, at, name, [] as never))
  const answers = await rpc.requestAll(calls)
  return answers.map((answer, index) => readView(names[index] as ViewName, answer)) as never
}

/** The name of the contract's error in revert data; the selector if we do not know the error, and null if there is no data. */
export function revertName(data: `0x${string}` | null): string | null {
  if (data === null) return null
  try {
    const { errorName, args } = decodeErrorResult({ abi, data })
    // For Error(string), its message.
    return errorName === 'Error' ? String(args?.[0]) : errorName
  } catch {
    return data.slice(0, 10)
  }
}
