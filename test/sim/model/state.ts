// Possessions of the model's accounts, and the effect of one transaction on them: plain transfers, calls of the factory, of the
// demo token and of the small contracts, their creation, and internal calls. It must never keep anything of a reverted call.
import {
  decodeAbiParameters,
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionResult,
  getContractAddress,
  type Hex,
  toFunctionSelector,
} from 'viem'
import { factoryFullAbi } from '../../../contracts/factory.full.abi.ts'
import { demoTokenAbi } from '../../../src/chain/factory/abi.ts'
import { demoTokenBytecode, factoryBytecode } from '../../../src/chain/factory/bytecode.ts'
import { type Address, type Hash, ZERO_ADDRESS, ZERO_HASH } from '../../../src/domain/units.ts'
import { contractOf, creationIn, DELEGATION, IMPLEMENTATION_SLOT, PROXY } from './contracts.ts'
import { copyFactory, type FactoryState, type Frame, FUNCTIONS, newFactory, Reverted, type Setup } from './factory.ts'
import { encodeLog, type Log, receiveStray, transferLog } from './logs.ts'

export interface State {
  balances: Map<Address, bigint>
  nonces: Map<Address, number>
  /** The code of the small contracts (contracts.ts), of delegating accounts, and codes that a test has set. */
  codes: Map<Address, Hex>
  /** Words of storage that a test has set, by the address and the slot. */
  slots: Map<string, Hex>
  /** Earlier states share the contracts' storage, so copy it before a change. */
  factories: Map<Address, FactoryState>
  tokens: Map<Address, Map<Address, bigint>>
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

/** A call of a transaction, with its internal calls, in order of execution. */
export interface Call {
  type: 'CALL' | 'CREATE' | 'SELFDESTRUCT'
  from: Address
  to: Address | null
  value: bigint
  failed: boolean
  calls: Call[]
}

export interface Result {
  /** The state afterwards; unchanged if the call reverted. */
  state: State
  succeeded: boolean
  /** The answer of the call, or the bytes of its revert. */
  output: Hex
  logs: Log[]
  gas: bigint
  created: Address | null
  /** The transaction itself as a call. */
  trace: Call
}

const PAYABLE = ['credit', 'transferFrom', 'approve', 'safeTransferFrom']
const TOKEN_SUPPLY = 1_000_000n * 10n ** 18n

/** Gas, roughly as the contract's own tests measure it; no test compares it. */
const GAS = {
  plain: 21_000n,
  /** To a contract: its code runs, even if only to accept the value. */
  plainToCode: 21_100n,
  call: 50_000n,
  mintEach: 76_000n,
  creditEach: 9_500n,
  openEach: 50_000n,
  create: 2_500_000n,
  createSmall: 100_000n,
}
/** Shorter creation code is a small contract's. */
const SMALL_CODE = 1_000

export function newState(): State {
  return {
    balances: new Map(),
    nonces: new Map(),
    codes: new Map(),
    slots: new Map(),
    factories: new Map(),
    tokens: new Map(),
  }
}

export function copyState(state: State): State {
  return {
    balances: new Map(state.balances),
    nonces: new Map(state.nonces),
    codes: new Map(state.codes),
    slots: new Map(state.slots),
    factories: new Map(state.factories),
    tokens: new Map(state.tokens),
  }
}

export const slotKey = (of: Address, slot: Hex) => `${of} ${slot}`
export const wordAt = ({ slots }: State, of: Address, slot: Hex): Hex => slots.get(slotKey(of, slot)) ?? ZERO_HASH

export const balanceOf = (state: State, of: Address): bigint => state.balances.get(of) ?? 0n
export const nonceOf = (state: State, of: Address): number => state.nonces.get(of) ?? 0

/** The code at an address, as far as the model has it: the factory's and the token's are only distinguished from none. */
export function codeAt({ codes, factories, tokens }: State, at: Address): Hex {
  return codes.get(at) ?? (factories.has(at) || tokens.has(at) ? '0xfe' : '0x')
}

/** Runs a message on a copy of the state; the chain handles fees and nonces. */
export function execute(before: State, environment: Environment, message: Message): Result {
  const state = copyState(before)
  const logs: Log[] = []
  const { from, to, value } = message
  const trace: Call = { type: to === null ? 'CREATE' : 'CALL', from, to, value, failed: false, calls: [] }
  try {
    const output = run(state, environment, message, { logs, trace })
    const created = to === null ? (`0x${output.slice(-40)}` as Address) : null
    return { state, succeeded: true, output, logs, gas: gasOf(before, message), created, trace }
  } catch (error) {
    if (!(error instanceof Reverted)) throw error
    const output = error.error === '' ? '0x' : revertBytes(error.error)
    const failed = { ...trace, failed: true }
    return {
      state: before,
      succeeded: false,
      output,
      logs: [],
      gas: gasOf(before, message),
      created: null,
      trace: failed,
    }
  }
}

function revertBytes(error: string): Hex {
  const abi = error === 'InsufficientBalance' ? demoTokenAbi : factoryFullAbi
  return encodeErrorResult({ abi, errorName: error } as never)
}

function gasOf(state: State, { to, data }: Message): bigint {
  if (to === null) return data.length < SMALL_CODE ? GAS.createSmall : GAS.create
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

const hasCode = (state: State, at: Address) => codeAt(state, at) !== '0x'

/** Records of a running message. */
interface Records {
  logs: Log[]
  trace: Call
}

function run(state: State, environment: Environment, message: Message, records: Records): Hex {
  const { from, to, value } = message
  if (to === null) return create(state, environment, message, records)
  move(state, from, to, value)
  if (state.factories.has(to)) return callFactory(state, environment, { ...message, to }, records)
  if (state.tokens.has(to)) return callToken(state, { ...message, to }, records.logs)
  runCode(state, records, { self: to, value, data: message.data })
  return '0x'
}

/** Runs a small contract's code in the call `trace`; throws if it refuses. */
function runCode(
  state: State,
  records: Records,
  { self, value, data }: { self: Address; value: bigint; data: Hex },
): void {
  const own = state.codes.get(self)
  if (own === undefined) return
  const implementation = own === PROXY ? wordAt(state, self, IMPLEMENTATION_SLOT).slice(26) : undefined
  const delegate = DELEGATION.exec(own)?.[1] ?? implementation
  const code = delegate === undefined ? own : state.codes.get(`0x${delegate}` as Address)
  // An account that delegates to one without code does nothing.
  if (code === undefined) return
  const contract = contractOf(code)
  if (contract.kind === 'refusing') throw new Reverted('')
  if (contract.kind === 'ending') {
    const left = balanceOf(state, self)
    move(state, self, contract.heir, left)
    records.trace.calls.push({
      type: 'SELFDESTRUCT',
      from: self,
      to: contract.heir,
      value: left,
      failed: false,
      calls: [],
    })
  }
  // Refused value stays, because none of these checks the result of its calls.
  if (contract.kind === 'forwarder') callInside(state, records, { from: self, to: addressIn(data, 0), value })
  if (contract.kind === 'leaking')
    callInside(state, records, { from: self, to: addressIn(data, 0), value: contract.amount })
  if (contract.kind === 'splitter')
    for (let word = 0; word * 32 < (data.length - 2) / 2; word += 2)
      callInside(state, records, { from: self, to: addressIn(data, word), value: wordIn(data, word + 1) })
}

const wordIn = (data: Hex, word: number) => BigInt(`0x${data.slice(2 + 64 * word, 66 + 64 * word).padEnd(64, '0')}`)
const addressIn = (data: Hex, word: number) =>
  `0x${wordIn(data, word).toString(16).padStart(64, '0').slice(24)}` as Address

/** A call without data by a contract; false if it failed, and had no effect. */
function callInside(
  state: State,
  { logs, trace: within }: Records,
  { from, to, value }: { from: Address; to: Address; value: bigint },
): boolean {
  const trace: Call = { type: 'CALL', from, to, value, failed: false, calls: [] }
  within.calls.push(trace)
  const balances = new Map(state.balances)
  const logged = logs.length
  try {
    move(state, from, to, value)
    if (state.factories.has(to)) receiveStray(logs, to, from, value)
    if (state.tokens.has(to)) throw new Reverted('')
    runCode(state, { logs, trace }, { self: to, value, data: '0x' })
    return true
  } catch (error) {
    if (!(error instanceof Reverted)) throw error
    state.balances = balances
    logs.length = logged
    trace.failed = true
    return false
  }
}

function create(state: State, environment: Environment, message: Message, { logs, trace }: Records): Hex {
  const { from, nonce, data, value } = message
  const self = getContractAddress({ from, nonce: BigInt(nonce) }).toLowerCase() as Address
  trace.to = self
  if (data.startsWith(factoryBytecode)) {
    const words = `0x${data.slice(factoryBytecode.length)}` as Hex
    const [setup] = decodeAbiParameters(CONSTRUCTOR_INPUTS, words) as unknown as [Setup]
    const lower = (text: string) => text.toLowerCase() as Address
    const { owner, minter, distributor } = setup
    const roles = { owner: lower(owner), minter: lower(minter), distributor: lower(distributor) }
    const frame = frameOf(state, environment, { ...message, to: self }, { logs, trace })
    state.factories.set(self, newFactory({ ...setup, ...roles }, frame))
    return self
  }
  const small = creationIn(data)
  if (small) {
    move(state, from, self, value)
    if (small.kind === 'code') state.codes.set(self, small.code)
    else if (small.kind === 'pays') callInside(state, { logs, trace }, { from: self, to: small.to, value })
    else {
      move(state, self, small.heir, value)
      trace.calls.push({ type: 'SELFDESTRUCT', from: self, to: small.heir, value, failed: false, calls: [] })
    }
    return self
  }
  if (data !== demoTokenBytecode) throw new Reverted('')
  state.tokens.set(self, new Map([[from, TOKEN_SUPPLY]]))
  transferLog(logs, self, ZERO_ADDRESS, from, TOKEN_SUPPLY)
  return self
}

function frameOf(state: State, environment: Environment, message: Message, { logs, trace }: Records): Frame {
  const self = message.to as Address
  return {
    self,
    sender: message.from,
    value: message.value,
    number: environment.number,
    time: BigInt(environment.time),
    blockHash: environment.blockHash,
    balance: () => balanceOf(state, self),
    pay: (to, amount) => callInside(state, { logs, trace }, { from: self, to, value: amount }),
    emit: (event) => void logs.push(encodeLog(self, event)),
  }
}

interface AbiFunction {
  type: 'function'
  name: string
  inputs: readonly { name: string; type: string }[]
}

/** Functions by their selectors, because viem would hash every signature of the ABI for every call. */
function bySelector(abi: readonly { type: string }[]): Map<string, AbiFunction> {
  const functions = abi.filter((item) => item.type === 'function') as unknown as AbiFunction[]
  return new Map(functions.map((item) => [toFunctionSelector(item as never), item]))
}
const FACTORY_CALLS = bySelector(factoryFullAbi)
const CONSTRUCTOR_INPUTS = factoryFullAbi.find((item) => item.type === 'constructor')?.inputs ?? []
const TOKEN_CALLS = bySelector(demoTokenAbi)

/** The call in the calldata; null if it is none of these functions, or malformed. */
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

type CallMessage = Message & { to: Address }

function callFactory(state: State, environment: Environment, message: CallMessage, records: Records): Hex {
  const { to, value, data } = message
  if (data === '0x') {
    receiveStray(records.logs, to, message.from, value)
    return '0x'
  }
  const call = decode(FACTORY_CALLS, data)
  const act = call && FUNCTIONS[call.item.name]
  // The contract accepts ether with a round (and, as Solady has it, with a transfer); it refuses other calls with ether.
  if (!call || !act || (value > 0n && !PAYABLE.includes(call.item.name))) throw new Reverted('')
  const frame = frameOf(state, environment, message, records)
  const factory = copyFactory(state.factories.get(to) as FactoryState)
  state.factories.set(to, factory)
  const result = act(factory, frame, call.args as never)
  return encodeFunctionResult({ abi: [call.item], functionName: call.item.name, result } as never)
}

function callToken(state: State, { from, to, value, data }: CallMessage, logs: Log[]): Hex {
  const call = decode(TOKEN_CALLS, data)
  if (!call || value > 0n) throw new Reverted('')
  const { name } = call.item
  const [first, second] = call.args as [string, bigint]
  const holders = new Map(state.tokens.get(to))
  const held = (of: string) => holders.get(of.toLowerCase() as Address) ?? 0n
  if (name === 'balanceOf') return encodeAbiParameters([{ type: 'uint256' }], [held(first)])
  if (name !== 'transfer') throw new Reverted('')
  if (held(from) < second) throw new Reverted('InsufficientBalance')
  const recipient = first.toLowerCase() as Address
  holders.set(from, held(from) - second)
  holders.set(recipient, held(recipient) + second)
  state.tokens.set(to, holders)
  transferLog(logs, to, from, recipient, second)
  return encodeAbiParameters([{ type: 'bool' }], [true])
}
