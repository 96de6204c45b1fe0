// Turns the factory's logs, and the withdraw calls sent to it, into the ledger's events. It must never drop a log. If a log does not decode, that is
// a retryable fault: a provider that garbled it once may return it correctly the next time.
import type { AbiParameter } from 'viem'
import { concatHex, decodeAbiParameters, decodeFunctionData } from 'viem/utils'
import { type FactoryEvent, OWNER_ACTS, type Position } from '../../domain/observed.ts'
import { type Address, address, type Hash, hash, type Wei, wei } from '../../domain/units.ts'
import { ChainFault } from '../../ports/faults.ts'
import type { WireLog } from '../rpc/wire.ts'
import { factoryDecodeAbi, factorySelectors, factoryTopics } from './abi.ts'
import { figure, figureNumber } from './figures.ts'

/** The most ids that we read from a withdrawAll that reverted. No wallet holds more than 256 nodes, so a longer list cannot be an honest mistake. */
const FAILED_IDS_MAX = 1_024

/** The arguments of a log, by their names in the contract. */
type Args = Readonly<Record<string, unknown>>
type Words<Event = FactoryEvent> = Event extends unknown ? Omit<Event, keyof Position | 'logIndex'> : never
type Kind = Exclude<FactoryEvent['kind'], 'ownerAct'>
type Fields<Event> = Omit<Event, keyof Position | 'logIndex' | 'kind'>
type Reads<Event> = { readonly [Field in keyof Fields<Event>]: (args: Args) => Fields<Event>[Field] }

const id = (name: string) => (args: Args) => figure(args[name] as bigint, 'nodeId')
const account = (name: string) => (args: Args) => address(args[name] as string)
const word = (name: string) => (args: Args) => hash(args[name] as string)
const amount = (name: string) => (args: Args) => wei(args[name] as bigint)
const perNode = (name: string) => (args: Args) => wei(figure(args[name] as bigint, 'perNode'))
const number =
  (name: string, kind = name as Parameters<typeof figureNumber>[1]) =>
  (args: Args) =>
    figureNumber(args[name] as bigint, kind)

/** The events that the ledger stores, beside the owner's acts: the contract's name of each, and which argument each field is. */
const STORED: {
  readonly [K in Kind]: readonly [keyof typeof factoryTopics, Reads<Extract<FactoryEvent, { kind: K }>>]
} = {
  nodeMinted: [
    'NodeMinted',
    { nodeId: id('nodeId'), owner: account('owner'), ref: word('ref'), cohort: number('cohort') },
  ],
  mintSkipped: ['MintSkipped', { ref: word('ref'), reason: number('reason', 'skipReason') }],
  refTaken: ['RefTaken', { ref: word('ref'), nodeId: id('nodeId'), to: account('to') }],
  nodeExpelled: [
    'NodeExpelled',
    { nodeId: id('nodeId'), ref: word('ref'), cohort: number('cohort'), creditedWei: perNode('credited') },
  ],
  transfer: ['Transfer', { nodeId: id('id'), from: account('from'), to: account('to') }],
  cohortOpened: [
    'CohortOpened',
    {
      cohort: number('cohort'),
      tierNo: number('tier'),
      firstDue: number('firstDue', 'due'),
      intervalSec: number('interval'),
    },
  ],
  intervalSet: ['IntervalSet', { cohort: number('cohort'), intervalSec: number('interval') }],
  credited: [
    'Credited',
    {
      round: number('round'),
      cohort: number('cohort'),
      due: number('due'),
      turns: number('turns'),
      amountPerNodeWei: perNode('amountPerNode'),
      nodeCount: number('nodeCount', 'nodes'),
    },
  ],
  turnsSkipped: [
    'TurnsSkipped',
    { round: number('round'), cohort: number('cohort'), due: number('due'), turns: number('turns') },
  ],
  surplusSpent: [
    'SurplusSpent',
    { round: number('round'), amountWei: amount('amount'), allowanceWei: amount('allowance') },
  ],
  withdrawn: [
    'Withdrawn',
    {
      nodeId: id('nodeId'),
      owner: account('owner'),
      to: account('to'),
      amountWei: amount('amount'),
      withdrawnTotalWei: amount('withdrawnTotal'),
    },
  ],
}
const READS = new Map<string, { kind: string; fields: [string, (args: Args) => unknown][] }>(
  Object.entries(STORED).map(([kind, [name, fields]]) => [name, { kind, fields: Object.entries(fields) }]),
)

/** The events that the ledger stores. The factory's other events (approvals, declined gifts) do not change the ledger. */
export const ledgerTopics: readonly Hash[] = [...READS.keys(), ...OWNER_ACTS].map(
  (name) => factoryTopics[name as keyof typeof factoryTopics],
)

/** An event's parameters in the order in which a log has them: first the parameters in topics, then those in the data. Each takes one word. */
interface EventShape {
  name: string
  inTopics: number
  parameters: readonly AbiParameter[]
}

/** The shapes by topic. viem's own decoder hashes the event's signature for each log, which takes longer than all other work on the log. */
const shapes = new Map<string | undefined, EventShape>(
  factoryDecodeAbi
    .filter((item) => item.type === 'event')
    .map(({ name, inputs }) => {
      const inTopics = inputs.filter(({ indexed }) => indexed)
      const inData = inputs.filter(({ indexed }) => !indexed)
      return [factoryTopics[name], { name, inTopics: inTopics.length, parameters: [...inTopics, ...inData] }]
    }),
)

interface Decoded {
  name: string
  args: Args
}

function decode(log: WireLog): Decoded {
  try {
    const shape = shapes.get(log.topics[0])
    if (log.topics.length - 1 !== shape?.inTopics) throw new RangeError('not as many topics as the event has')
    const words = concatHex([...(log.topics.slice(1) as Hash[]), log.data])
    const values = decodeAbiParameters(shape.parameters, words)
    const args = Object.fromEntries(shape.parameters.map(({ name }, index) => [name, values[index]]))
    return { name: shape.name, args }
  } catch {
    throw new ChainFault(`a log of the factory in block ${log.blockNumber} does not decode`)
  }
}

/** The ledger's event for a log. The log must have one of `ledgerTopics`. */
export function toEvent(log: WireLog, at: Position): FactoryEvent {
  return { ...at, logIndex: log.logIndex, ...wordsOf(decode(log)) }
}

/** The node that a log minted, and its first owner; null if the log is not a mint. The log must have one of `ledgerTopics`. */
export function mintOf(log: WireLog): { nodeId: bigint; mintedTo: Address } | null {
  if (log.topics[0] !== factoryTopics.NodeMinted) return null
  const words = wordsOf(decode(log))
  return words.kind === 'nodeMinted' ? { nodeId: words.nodeId, mintedTo: words.owner } : null
}

function wordsOf({ name, args }: Decoded): Words {
  const reading = READS.get(name)
  if (reading)
    return {
      kind: reading.kind,
      ...Object.fromEntries(reading.fields.map(([field, read]) => [field, read(args)])),
    } as Words
  const act = OWNER_ACTS.find((one) => one === name)
  if (act) return { kind: 'ownerAct', name: act, detail: detailOf(args) }
  throw new ChainFault(`the provider returned an unrequested ${name}`)
}

function detailOf(args: Args): Record<string, string> {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, String(value).toLowerCase()]))
}

/** True if calldata calls withdraw or withdrawAll. */
export function isWithdrawCall(input: string): boolean {
  const selector = input.slice(0, 10)
  return selector === factorySelectors.withdraw || selector === factorySelectors.withdrawAll
}

/** The arguments of a withdraw call. Null if the calldata is malformed, because it then names no node. */
export function readWithdrawCall(
  input: `0x${string}`,
): { nodeIds: bigint[]; to: Address; amountWei: Wei | null } | null {
  try {
    const call = decodeFunctionData({ abi: factoryDecodeAbi, data: input })
    if (call.functionName === 'withdraw') {
      const [id, to, amount] = call.args
      return { nodeIds: [id], to: address(to), amountWei: wei(amount) }
    }
    if (call.functionName !== 'withdrawAll') return null
    const [ids, to] = call.args
    return { nodeIds: [...new Set(ids)].slice(0, FAILED_IDS_MAX), to: address(to), amountWei: null }
  } catch {
    return null
  }
}
