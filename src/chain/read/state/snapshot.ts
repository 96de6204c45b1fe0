// Reads much of the state after one very block by a single call: the chain's id, balances, and the factory's figures. The call creates no
// contract: its code puts the answers together and returns them (a "deployless" eth_call). Null wherever that cannot be had, never a guess.
import { type Address, wei } from '../../../domain/units.ts'
import { orNull } from '../../faults.ts'
import type { BlockRef, ChainCounters, FactoryFigures, StateSnapshot } from '../../port.ts'
import type { RpcReads } from '../../rpc/rpc.ts'
import { bytes, safeNumber } from '../../rpc/wire.ts'
import { readView, type ViewArgs, type ViewName, type ViewResult, viewCall } from '../calls.ts'

/** The time for which a provider that refused such a call is not asked for one; single questions do meanwhile. */
const MUTE_MS = 600_000
const ONCE = { attempts: 1 }
const GWEI = 10n ** 9n

/** The views that are read, and the words that each answers. */
const VIEWS = {
  lastId: 1,
  round: 1,
  outstanding: 1,
  isSolvent: 1,
  paused: 1,
  budget: 2,
  lastCohort: 1,
  bounds: 2,
} as const
type Viewed = keyof typeof VIEWS

/** Reads snapshots of one factory's chain. Null: not to be had, or not like this. */
export function createSnapshots(
  rpc: RpcReads,
  factory: Address,
): (at: BlockRef, accounts: readonly Address[]) => Promise<StateSnapshot | null> {
  let muteUntil = 0
  return async (at, accounts) => {
    if (performance.now() < muteUntil) return null
    const named = [...new Set([factory, ...accounts])]
    // By its hash: a node that lacks the block, or has another one there, errs.
    const params = [{ data: programOf(factory, named) }, { blockHash: at.hash, requireCanonical: true }]
    const ask = async () => readAnswer(bytes(await rpc.request('eth_call', params, ONCE), 'snapshot'), named, at)
    const snapshot = await orNull(ask())
    if (!snapshot) muteUntil = performance.now() + MUTE_MS
    return snapshot
  }
}

const hex = (value: number, size: number) => value.toString(16).padStart(size * 2, '0')
const push = (value: number) => `61${hex(value, 2)}`
const store = (place: number) => `${push(place)}52`

/**
 * The code. Words of its answer: CHAINID, the BALANCE of each account, and for each view whether it answered in so many words, and these.
 */
function programOf(factory: Address, accounts: readonly Address[]): `0x${string}` {
  const views = Object.entries(VIEWS) as [Viewed, number][]
  const size = 32 * (1 + accounts.length + views.reduce((words, [, answered]) => words + 1 + answered, 0))
  let code = `46${store(0)}`
  let place = 32
  for (const account of accounts) {
    code += `73${account.slice(2)}31${store(place)}`
    place += 32
  }
  for (const [name, words] of views) {
    // The selector is put behind the answer: PUSH4, PUSH1 224, SHL.
    code += `63${selectorOf(factory, name)}60e01b${store(size)}`
    // STATICCALL(GAS, factory, size, 4, place + 32, words), and RETURNDATASIZE == words.
    code += `${push(words * 32)}${push(place + 32)}${push(4)}${push(size)}73${factory.slice(2)}5afa`
    code += `3d${push(words * 32)}1416${store(place)}`
    place += 32 * (1 + words)
  }
  return `0x${code}${push(size)}${push(0)}f3`
}

function selectorOf(factory: Address, name: Viewed): string {
  const [request] = viewCall(factory, 'latest', name, [] as ViewArgs<Viewed>).params as [{ data: string }]
  return request.data.slice(2, 10)
}

function readAnswer(answer: `0x${string}`, accounts: readonly Address[], at: BlockRef): StateSnapshot | null {
  const words = answer.slice(2).match(/.{64}/g) ?? []
  const viewed = Object.values(VIEWS).reduce<number>((sum, answered) => sum + 1 + answered, 0)
  if (answer.length !== 2 + 64 * (1 + accounts.length + viewed)) return null
  const numberAt = (place: number) => BigInt(`0x${words[place]}`)
  const chainId = numberAt(0)
  if (chainId > BigInt(Number.MAX_SAFE_INTEGER)) return null
  const balances = new Map(accounts.map((account, index) => [account, numberAt(1 + index)]))
  const figures = readFigures(words.slice(1 + accounts.length), { blockNumber: at.number, balanceWei: numberAt(1) })
  return { at: { number: at.number, hash: at.hash }, chainId: Number(chainId), balances, figures }
}

/** Null where one of the views did not answer: at the address is no factory, or not yet. */
function readFigures(
  words: readonly string[],
  { blockNumber, balanceWei }: { blockNumber: number; balanceWei: bigint },
): FactoryFigures | null {
  const answers = new Map<ViewName, string>()
  let place = 0
  for (const [name, count] of Object.entries(VIEWS) as [Viewed, number][]) {
    if (BigInt(`0x${words[place]}`) !== 1n) return null
    answers.set(name, words.slice(place + 1, place + 1 + count).join(''))
    place += 1 + count
  }
  const view = <Name extends Viewed>(name: Name): ViewResult<Name> => readView(name, `0x${answers.get(name)}`)
  const [nodes, cohorts] = view('budget')
  const [floorGwei, ceilingGwei] = view('bounds')
  const counters: ChainCounters = {
    blockNumber,
    lastNodeId: view('lastId'),
    round: safeNumber(view('round'), 'round'),
    outstandingWei: wei(view('outstanding')),
    contractBalanceWei: wei(balanceWei),
    isSolvent: view('isSolvent'),
    paused: view('paused'),
  }
  return {
    counters,
    budget: {
      nodes: safeNumber(nodes, 'nodes left'),
      cohorts: safeNumber(cohorts, 'cohorts left'),
      lastCohort: safeNumber(view('lastCohort'), 'last cohort'),
    },
    bounds: { floorWei: wei(floorGwei * GWEI), ceilingWei: wei(ceilingGwei * GWEI) },
  }
}
