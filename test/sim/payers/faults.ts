// Providers that trace badly: they refuse, leave something out, name another sender, or have pruned the states. Each
// fault returns null if it would change nothing, so we count only faults that really happened.
import { keccak256, toHex } from 'viem'
import type { TestChain } from '../../support/anvil.ts'
import { alter, callsInside } from '../../support/faults/calls.ts'
import type { Dice } from '../../support/faults/dice.ts'
import type { Answer, Call } from '../../support/faults/names.ts'

export const TRACE_FAULTS = [
  'noTraces',
  'shortTrace',
  'falseSender', // a trace names other senders, and others each time: for seeds with two providers, of which none is believed alone
  'prunedStates', // states of blocks below the latest are gone, and with them their traces
] as const
export type TraceFault = (typeof TRACE_FAULTS)[number]

export interface BadTraces {
  /** One of them hits a request. */
  faults: readonly TraceFault[]
  /** Share of the requests that it hits. */
  rate: number
  dice: Dice
}

const TRACES = ['debug_traceBlockByHash']
const OF_STATES = [...TRACES, 'eth_getBalance', 'eth_getCode', 'eth_getStorageAt']
/** Providers keep the states of at least so many blocks. */
const KEPT = 2

/** A provider's answer under a fault, and the fault; null for the truth. It keeps states from before `firstBlock`. */
export async function traceBadly(
  { faults, rate, dice }: BadTraces,
  call: Call,
  { chain, firstBlock }: { chain: TestChain; firstBlock: number },
): Promise<{ fault: TraceFault; answer: Answer } | null> {
  const fault = dice.pick(`fault of ${call.method}`, faults)
  const methods = fault === 'prunedStates' ? OF_STATES : TRACES
  if (!methods.includes(call.method) || dice.roll(`bad ${call.method}`) >= rate) return null
  const truth = async ({ method, params }: Call): Promise<Answer> => ({ result: await chain.rpc(method, params) })
  const answer =
    fault === 'prunedStates'
      ? await pruned(chain, call, firstBlock)
      : await (fault === 'falseSender' ? byOthers(call, truth, dice) : alter(fault, call, truth, dice))
  return answer && { fault, answer }
}

/** A trace in which someone else makes every call. */
async function byOthers(call: Call, truth: (call: Call) => Promise<Answer>, dice: Dice): Promise<Answer | null> {
  const answer = await truth(call)
  const traced = 'result' in answer ? answer.result : null
  const inside = callsInside(traced)
  for (const one of inside) one.from = keccak256(toHex(dice.between('someone', 1, 2 ** 40))).slice(0, 42)
  return inside.length > 0 ? { result: traced } : null
}

/** Null if the requested state is kept: the books of the wallet begin with the state before the first block. */
async function pruned(chain: TestChain, { method, params }: Call, firstBlock: number): Promise<Answer | null> {
  const asked = (TRACES.includes(method) ? params[0] : params.at(-1)) as string | { blockHash: string }
  const number = await numberOf(chain, asked)
  const head = Number((await chain.block()).number)
  if (number === null || number < firstBlock || number > head - KEPT) return null
  return { error: { code: -32000, message: 'missing trie node' } }
}

/** The number of the block that a call names; null for a tag, and for a missing block. */
async function numberOf(chain: TestChain, asked: string | { blockHash: string }): Promise<number | null> {
  const hash = typeof asked === 'object' ? asked.blockHash : asked.length === 66 ? asked : null
  if (hash === null) return typeof asked === 'string' && asked.startsWith('0x') ? Number(asked) : null
  const block = await chain.rpc<{ number: string } | null>('eth_getBlockByHash', [hash, false])
  return block && Number(block.number)
}
