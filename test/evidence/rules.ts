// The means to tell something else than the chain: of blocks, of receipts and logs, of accounts, of the contract. Lies
// about a block's contents are those of the simulation (test/sim/liars), told in every call that shows them.
import { toFunctionSelector } from 'viem'
import { factoryAbi } from '../../src/chain/factory/abi.ts'
import type { Answer, Call, Rule } from '../chain/false-provider.ts'
import type { Wire } from '../follower/lies.ts'
import { createLiar } from '../sim/liars/liar.ts'
import { LIES, type Lie } from '../sim/liars/lies.ts'
import { MADE_UP_NODE, type Scene, type Told } from './lines.ts'

export const NOT_THERE: Answer = { error: { code: -32601, message: 'the method is not there' } }
export const BAD_PARAMS: Answer = { error: { code: -32602, message: 'invalid argument 0' } }
export const SILENT: Answer = { error: { code: -32603, message: 'internal error' } }

export const hex = (value: bigint | number) => `0x${value.toString(16)}`

/** A lie of the simulation, or one in its form. */
export const lie =
  (told: Lie | string): Told =>
  ({ chain, fork, factory, at, from }) => {
    const known = typeof told === 'string' ? (LIES[told] as Lie) : told
    const around = { chain, fork: () => fork, depth: 1, at, factory, lastNode: async () => MADE_UP_NODE - 1n }
    const liar = createLiar(known, around)
    liar.lieFrom(from)
    // A lie about a block shows in these calls, and each look at another call costs two of the chain.
    const shows = ({ method }: Call) => 'other' in known || /^eth_get(Block|Transaction(By|Rec)|Logs)/.test(method)
    return async (call) => (shows(call) ? ((await liar.answer(call)) ?? undefined) : undefined)
  }

/** A fork of its own. Whatever we send is mined there, too. */
export const ownFork: Told = (scene) => {
  const tell = lie('a fork of its own')(scene)
  return async (call, forward) => {
    if (call.method === 'eth_sendRawTransaction') await scene.fork.rpc(call.method, call.params).catch(() => undefined)
    return await tell(call, forward)
  }
}

/** The same, and it has more blocks than the chain will have in this line. */
export const longerFork: Told = (scene) => {
  const tell = ownFork(scene)
  let mined: Promise<unknown> | undefined
  return async (call, forward) => {
    mined ??= scene.fork.mine(LONGER_BLOCKS)
    await mined
    return await tell(call, forward)
  }
}
const LONGER_BLOCKS = 60

/** Answers every call of a method with something else. */
export const instead =
  (methods: string | readonly string[], answer: Answer): Told =>
  () =>
  ({ method }) =>
    [methods].flat().includes(method) ? answer : undefined

type Change = (result: never, call: Call, scene: Scene) => unknown

/** Changes what a method answers. Null and errors stay. */
export const changed =
  (method: string, change: Change): Told =>
  (scene) =>
  async (call, forward) => {
    if (call.method !== method) return undefined
    const answer = await forward()
    if (!('result' in answer) || answer.result === null) return answer
    const result = await change(answer.result as never, call, scene)
    return isAnswer(result) ? result : { result }
  }
const isAnswer = (value: unknown): value is Answer => value === NOT_THERE || value === BAD_PARAMS || value === SILENT

/** Changes each block from the line's first one on, whichever way it is asked for. */
export const blocks =
  (change: (block: Wire & { transactions: unknown[] }, scene: Scene, call: Call) => unknown): Told =>
  (scene) =>
  async (call, forward) => {
    if (!call.method.startsWith('eth_getBlockBy')) return undefined
    const answer = await forward()
    const block = 'result' in answer ? (answer.result as (Wire & { transactions: unknown[] }) | null) : null
    if (!block || Number(block.number) < scene.from) return answer
    return { result: await change(block, scene, call) }
  }

/** Changes only full blocks: their lists. */
export const lists = (change: (transactions: Wire[]) => Wire[] | null | undefined): Told =>
  blocks((block, _, { params }) =>
    params[1] === true ? { ...block, transactions: change(block.transactions as Wire[]) } : block,
  )

/** Changes the receipts of each block that has some, all at once, from the line's first block on. */
export const wholeReceipts = (change: (receipts: Wire[]) => unknown): Told =>
  changed('eth_getBlockReceipts', (receipts: Wire[], _call, { from }) =>
    receipts.length === 0 || Number(receipts[0]?.blockNumber) < from ? receipts : change(receipts),
  )

/** Tells several things at once. The first that answers a call counts. */
export const all =
  (...told: readonly Told[]): Told =>
  (scene) => {
    const rules = told.map((one) => one(scene))
    return async (call, forward) => {
      for (const rule of rules) {
        const answer = await rule(call, forward)
        if (answer) return answer
      }
      return undefined
    }
  }

/** Changes a word of what a function of the contract answers. */
export const word = (name: string, change: (value: bigint, scene: Scene) => bigint, index = 0): Told =>
  view(name, (data, scene) => {
    const at = 2 + index * 64
    const value = BigInt.asUintN(256, change(BigInt(`0x${data.slice(at, at + 64)}`), scene))
    return `${data.slice(0, at)}${value.toString(16).padStart(64, '0')}${data.slice(at + 64)}`
  })

/** Changes what a function of the contract answers. */
export const view = (name: string, change: (data: string, scene: Scene) => unknown): Told => {
  const selectors = factoryAbi.flatMap((item) =>
    item.type === 'function' && item.name === name ? [toFunctionSelector(item)] : [],
  )
  return changed('eth_call', (data: string, { params }, scene) => {
    const { data: sent, input = sent } = params[0] as { data?: string; input?: string }
    return selectors.some((selector) => input?.startsWith(selector)) ? change(data, scene) : data
  })
}

/** Asks for the state of another block, or of another account. */
export const asked =
  (methods: readonly string[], change: (params: readonly unknown[], scene: Scene) => readonly unknown[]): Told =>
  (scene) =>
  async ({ method, params }) => {
    if (!methods.includes(method)) return undefined
    const result = await scene.chain.rpc(method, change(params, scene)).catch(() => null)
    return result === null ? SILENT : { result }
  }

/** A rule for the calls of one line whose answers the scene's blocks decide. */
export const when =
  (isIt: (call: Call, scene: Scene) => boolean, rule: (scene: Scene) => Rule): Told =>
  (scene) => {
    const own = rule(scene)
    return (call, forward) => (isIt(call, scene) ? own(call, forward) : undefined)
  }
