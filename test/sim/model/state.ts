// Possessions of accounts of the model, and the effect of one transaction on them: plain transfers, calls of the factory and of the demo
// token, their creation. It must never keep anything of a call that was refused.
import {
  decodeAbiParameters,
  encodeAbiParameters,
  encodeErrorResult,
  encodeEventTopics,
  encodeFunctionResult,
  getContractAddress,
  type Hex,
  toEventSelector,
  toFunctionSelector,
} from 'viem'
import { factoryFullAbi } from '../../../contracts/factory.full.abi.ts'
import { demoTokenAbi } from '../../../src/chain/factory/abi.ts'
import { demoTokenBytecode, factoryBytecode } from '../../../src/chain/factory/bytecode.ts'
import { type Address, type Hash, ZERO_ADDRESS } from '../../../src/domain/units.ts'
import {
  copyFactory,
  type Event,
  type FactoryState,
  type Frame,
  FUNCTIONS,
  newFactory,
  Reverted,
  type Setup,
} from './factory.ts'

export interface State {
  balances: Map<Address, bigint>
  nonces: Map<Address, number>
  /** Addresses whose code refuses everything: set by a test. */
  refusing: Set<Address>
  factories: Map<Address, FactoryState>
  tokens: Map<Address, Map<Address, bigint>>
  /** Contracts that hand what they are sent on to the address in their calldata. */
  forwarders: Set<Address>
}

export interface Log {
  address: Address
  topics: Hash[]
  data: Hex
}

export interface Message {
  from: Address
  /** Null: a creation. */
  to: Address | null
  value: bigint
  data: Hex
  nonce: number
}

export interface Environment {
  number: number
  time: number
  blockHash(number: bigint): Hash
}

export interface Result {
  /** The state afterwards; as before, where the call was refused. */
  state: State
  succeeded: boolean
  /** The answer of the call, or the bytes of its revert. */
  output: Hex
  logs: Log[]
  gas: bigint
  created: Address | null
}

/** Creation code of a contract of ten bytes: CALL(gas, calldata[0:32], value). */
export const FORWARDER_BYTECODE = '0x695f5f5f5f345f355af1005f52600a6016f3'
const PAYABLE = ['credit', 'transferFrom', 'approve', 'safeTransferFrom']
const TOKEN_SUPPLY = 1_000_000n * 10n ** 18n

/** Gas, roughly as the contract's own tests measure it; nothing compares it. */
const GAS = {
  plain: 21_000n,
  /** To a contract: its code runs, be it only to take what came. */
  plainToCode: 21_100n,
  call: 50_000n,
  mintEach: 76_000n,
  creditEach: 9_500n,
  openEach: 50_000n,
  create: 2_500_000n,
}

export function newState(): State {
  return {
    balances: new Map(),
    nonces: new Map(),
    refusing: new Set(),
    factories: new Map(),
    tokens: new Map(),
    forwarders: new Set(),
  }
}

export function copyState(state: State): State {
  return {
    balances: new Map(state.balances),
    nonces: new Map(state.nonces),
    refusing: new Set(state.refusing),
    factories: new Map([...state.factories].map(([at, factory]) => [at, copyFactory(factory)])),
    tokens: new Map([...state.tokens].map(([at, holders]) => [at, new Map(holders)])),
    forwarders: new Set(state.forwarders),
  }
}

export const balanceOf = (state: State, of: Address): bigint => state.balances.get(of) ?? 0n
export const nonceOf = (state: State, of: Address): number => state.nonces.get(of) ?? 0

/** Runs a message on a copy of the state; fees and nonces are the chain's affair. */
export function execute(before: State, environment: Environment, message: Message): Result {
  const state = copyState(before)
  const logs: Log[] = []
  try {
    const output = run(state, environment, message, logs)
    const created = message.to === null ? (`0x${output.slice(-40)}` as Address) : null
    return { state, succeeded: true, output, logs, gas: gasOf(before, message), created }
  } catch (error) {
    if (!(error instanceof Reverted)) throw error
    const output = error.error === '' ? '0x' : revertBytes(error.error)
    return { state: before, succeeded: false, output, logs: [], gas: gasOf(before, message), created: null }
  }
}

function revertBytes(error: string): Hex {
  const abi = error === 'InsufficientBalance' ? demoTokenAbi : factoryFullAbi
  return encodeErrorResult({ abi, errorName: error } as never)
}

function gasOf(state: State, { to, data }: Message): bigint {
  if (to === null) return GAS.create
  if (data === '0x') return hasCode(state, to) ? GAS.plainToCode : GAS.plain
  const call = decode(FACTORY_CALLS, data)
  if (!call) return GAS.call
  const [first, second, , , fifth] = call.args
  if (call.item.name === 'mint') return GAS.call + GAS.mintEach * BigInt((first as unknown[]).length)
  if (call.item.name === 'openCohorts') return GAS.call + GAS.openEach * BigInt((second as unknown[]).length)
  if (call.item.name === 'credit') return GAS.call + GAS.creditEach * BigInt((fifth as unknown[]).length)
  return GAS.call
}

function move(state: State, from: Address, to: Address, amount: bigint): void {
  if (balanceOf(state, from) < amount) throw new Reverted('')
  state.balances.set(from, balanceOf(state, from) - amount)
  state.balances.set(to, balanceOf(state, to) + amount)
}

function hasCode(state: State, at: Address): boolean {
  return [state.refusing, state.factories, state.tokens, state.forwarders].some((contracts) => contracts.has(at))
}

/** True if a plain transfer to this address is taken. */
function takes(state: State, to: Address): boolean {
  return !state.refusing.has(to) && !state.tokens.has(to)
}

function run(state: State, environment: Environment, message: Message, logs: Log[]): Hex {
  const { from, to, value } = message
  if (to === null) return create(state, environment, message, logs)
  move(state, from, to, value)
  const factory = state.factories.get(to)
  if (factory) return callFactory(state, factory, environment, message, logs)
  const token = state.tokens.get(to)
  if (token) return callToken(token, message, logs)
  if (state.refusing.has(to)) throw new Reverted('')
  if (state.forwarders.has(to)) forward(state, message)
  return '0x'
}

/** Pays the account that the calldata names; a payment that it does not take stays. */
function forward(state: State, { to, value, data }: Message): void {
  const recipient = `0x${data.slice(2).padEnd(64, '0').slice(24, 64)}` as Address
  if (takes(state, recipient)) move(state, to as Address, recipient, value)
}

function create(state: State, environment: Environment, message: Message, logs: Log[]): Hex {
  const { from, nonce, data } = message
  const self = getContractAddress({ from, nonce: BigInt(nonce) }).toLowerCase() as Address
  if (data.startsWith(factoryBytecode)) {
    const words = `0x${data.slice(factoryBytecode.length)}` as Hex
    const [setup] = decodeAbiParameters(CONSTRUCTOR_INPUTS, words) as unknown as [Setup]
    const lower = (text: string) => text.toLowerCase() as Address
    const { owner, minter, distributor } = setup
    const roles = { owner: lower(owner), minter: lower(minter), distributor: lower(distributor) }
    const frame = frameOf(state, environment, { ...message, to: self }, self, logs)
    state.factories.set(self, newFactory({ ...setup, ...roles }, frame))
    return self
  }
  if (data === FORWARDER_BYTECODE) {
    state.forwarders.add(self)
    return self
  }
  if (data !== demoTokenBytecode) throw new Reverted('')
  state.tokens.set(self, new Map([[from, TOKEN_SUPPLY]]))
  transferLog(logs, self, ZERO_ADDRESS, from, TOKEN_SUPPLY)
  return self
}

function frameOf(state: State, environment: Environment, message: Message, self: Address, logs: Log[]): Frame {
  return {
    ...{ self, sender: message.from, value: message.value, number: environment.number },
    time: BigInt(environment.time),
    blockHash: environment.blockHash,
    balance: () => balanceOf(state, self),
    pay(to, amount) {
      if (!takes(state, to)) return false
      move(state, self, to, amount)
      return true
    },
    emit: (event) => void logs.push(encodeLog(self, event)),
  }
}

interface AbiFunction {
  type: 'function'
  name: string
  inputs: readonly { name: string; type: string }[]
}

/** Functions by their selectors: viem would hash every signature of the ABI for every call. */
function bySelector(abi: readonly { type: string }[]): Map<string, AbiFunction> {
  const functions = abi.filter((item) => item.type === 'function') as unknown as AbiFunction[]
  return new Map(functions.map((item) => [toFunctionSelector(item as never), item]))
}
const FACTORY_CALLS = bySelector(factoryFullAbi)
const CONSTRUCTOR_INPUTS = factoryFullAbi.find((item) => item.type === 'constructor')?.inputs ?? []
const TOKEN_CALLS = bySelector(demoTokenAbi)

/** The call in the calldata; null where it is none of these functions, or not well formed. */
function decode(
  functions: Map<string, AbiFunction>,
  data: Hex,
): { item: AbiFunction; args: readonly unknown[] } | null {
  const item = functions.get(data.slice(0, 10))
  if (!item) return null
  try {
    const words = `0x${data.slice(10)}` as Hex
    return {
      item,
      args: item.inputs.length === 0 ? [] : (decodeAbiParameters(item.inputs, words) as readonly unknown[]),
    }
  } catch {
    return null
  }
}

function callFactory(
  state: State,
  factory: FactoryState,
  environment: Environment,
  message: Message,
  logs: Log[],
): Hex {
  const { to, value, data } = message
  if (data === '0x') return '0x'
  const call = decode(FACTORY_CALLS, data)
  const act = call && FUNCTIONS[call.item.name]
  // The contract takes ether with a round (and, as Solady has it, with a transfer); other calls with ether it refuses.
  if (!call || !act || (value > 0n && !PAYABLE.includes(call.item.name))) throw new Reverted('')
  const frame = frameOf(state, environment, message, to as Address, logs)
  const result = act(factory, frame, call.args as never)
  return encodeFunctionResult({ abi: [call.item], functionName: call.item.name, result } as never)
}

function callToken(holders: Map<Address, bigint>, { from, to, value, data }: Message, logs: Log[]): Hex {
  const call = decode(TOKEN_CALLS, data)
  if (!call || value > 0n) throw new Reverted('')
  const { name } = call.item
  const [first, second] = call.args as [string, bigint]
  const held = (of: string) => holders.get(of.toLowerCase() as Address) ?? 0n
  if (name === 'balanceOf') return encodeAbiParameters([{ type: 'uint256' }], [held(first)])
  if (name !== 'transfer') throw new Reverted('')
  if (held(from) < second) throw new Reverted('InsufficientBalance')
  const recipient = first.toLowerCase() as Address
  holders.set(from, held(from) - second)
  holders.set(recipient, held(recipient) + second)
  transferLog(logs, to as Address, from, recipient, second)
  return encodeAbiParameters([{ type: 'bool' }], [true])
}

interface AbiEvent {
  type: 'event'
  name: string
  inputs: readonly { name: string; type: string; indexed?: boolean }[]
}
const EVENTS = new Map(
  (factoryFullAbi.filter((item) => item.type === 'event') as unknown as AbiEvent[]).map((item) => [
    item.name,
    { item, topic: toEventSelector(item as never) as Hash },
  ]),
)

function encodeLog(self: Address, { name, args }: Event): Log {
  const event = EVENTS.get(name)
  if (!event) throw new Error(`the factory has no event ${name}`)
  const { inputs } = event.item
  const indexed = inputs.filter((input) => input.indexed)
  const plain = inputs.filter((input) => !input.indexed)
  const topics = indexed.map((input) => encodeAbiParameters([input], [args[input.name]] as never) as Hash)
  const data = encodeAbiParameters(plain, plain.map((input) => args[input.name]) as never)
  return { address: self, topics: [event.topic, ...topics], data }
}

function transferLog(logs: Log[], token: Address, from: Address, to: Address, amount: bigint): void {
  const topics = encodeEventTopics({ abi: demoTokenAbi, eventName: 'Transfer', args: { from, to } }) as Hash[]
  logs.push({ address: token, topics, data: encodeAbiParameters([{ type: 'uint256' }], [amount]) })
}
