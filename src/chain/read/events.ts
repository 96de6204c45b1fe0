// Turns the factory's logs, and the withdraw calls sent to it, into the ledger's events. It must never drop a log. If a log does not decode, that is
// a retryable fault: a provider that garbled it once may return it correctly the next time.
import type { AbiParameter } from 'viem'
import { concatHex, type DecodeEventLogReturnType, decodeAbiParameters, decodeFunctionData } from 'viem/utils'
import { type FactoryEvent, OWNER_ACTS, type Position } from '../../domain/observed.ts'
import { type Address, address, type Hash, hash, type Wei, wei } from '../../domain/units.ts'
import { factoryDecodeAbi, factorySelectors, factoryTopics } from '../factory/abi.ts'
import { ChainFault } from '../faults.ts'
import { safeNumber, type WireLog } from '../rpc/wire.ts'

/** The most ids that we read from a withdrawAll that reverted. No wallet holds more than 256 nodes, so a longer list cannot be an honest mistake. */
const FAILED_IDS_MAX = 1_024

/** The events that the ledger stores. The factory's other events (approvals, declined gifts) do not change the ledger. */
export const ledgerTopics: readonly Hash[] = [
  factoryTopics.NodeMinted,
  factoryTopics.MintSkipped,
  factoryTopics.RefTaken,
  factoryTopics.NodeExpelled,
  factoryTopics.Transfer,
  factoryTopics.CohortOpened,
  factoryTopics.IntervalSet,
  factoryTopics.Credited,
  factoryTopics.TurnsSkipped,
  factoryTopics.SurplusSpent,
  factoryTopics.Withdrawn,
  ...OWNER_ACTS.map((name) => factoryTopics[name]),
]

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

type Decoded = DecodeEventLogReturnType<typeof factoryDecodeAbi>

function decode(log: WireLog): Decoded {
  try {
    const shape = shapes.get(log.topics[0])
    if (log.topics.length - 1 !== shape?.inTopics) throw new RangeError('not as many topics as the event has')
    const words = concatHex([...(log.topics.slice(1) as Hash[]), log.data])
    const values = decodeAbiParameters(shape.parameters, words)
    const args = Object.fromEntries(shape.parameters.map(({ name }, index) => [name, values[index]]))
    return { eventName: shape.name, args } as Decoded
  } catch {
    throw new ChainFault(`a log of the factory in block ${log.blockNumber} does not decode`, { retryable: true })
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

type Words<Event = FactoryEvent> = Event extends unknown ? Omit<Event, keyof Position | 'logIndex'> : never

function wordsOf(event: Decoded): Words {
  switch (event.eventName) {
    case 'NodeMinted': {
      const { nodeId, owner, ref, cohort } = event.args
      return { kind: 'nodeMinted', nodeId, owner: address(owner), ref: hash(ref), cohort: safeNumber(cohort, 'cohort') }
    }
    case 'MintSkipped':
      return { kind: 'mintSkipped', ref: hash(event.args.ref), reason: safeNumber(event.args.reason, 'skip reason') }
    case 'RefTaken': {
      const { ref, nodeId, to } = event.args
      return { kind: 'refTaken', ref: hash(ref), nodeId, to: address(to) }
    }
    case 'NodeExpelled': {
      const { nodeId, ref, cohort, credited: paid } = event.args
      return { kind: 'nodeExpelled', nodeId, ...leftWith(ref, cohort, paid) }
    }
    case 'Transfer': {
      const { from, to, id } = event.args
      return { kind: 'transfer', nodeId: id, from: address(from), to: address(to) }
    }
    case 'CohortOpened': {
      const { cohort, tier, firstDue, interval } = event.args
      return {
        kind: 'cohortOpened',
        cohort: safeNumber(cohort, 'cohort'),
        tierNo: safeNumber(tier, 'tier'),
        firstDue: safeNumber(firstDue, 'first due'),
        intervalSec: safeNumber(interval, 'interval'),
      }
    }
    case 'IntervalSet': {
      const { cohort, interval } = event.args
      return {
        kind: 'intervalSet',
        cohort: safeNumber(cohort, 'cohort'),
        intervalSec: safeNumber(interval, 'interval'),
      }
    }
    case 'Credited': {
      const { round, cohort, due, turns, amountPerNode, nodeCount } = event.args
      return {
        kind: 'credited',
        round: safeNumber(round, 'round'),
        cohort: safeNumber(cohort, 'cohort'),
        due: safeNumber(due, 'due'),
        turns: safeNumber(turns, 'turns'),
        amountPerNodeWei: wei(amountPerNode),
        nodeCount: safeNumber(nodeCount, 'node count'),
      }
    }
    case 'TurnsSkipped': {
      const { round, cohort, due, turns } = event.args
      return {
        kind: 'turnsSkipped',
        round: safeNumber(round, 'round'),
        cohort: safeNumber(cohort, 'cohort'),
        due: safeNumber(due, 'due'),
        turns: safeNumber(turns, 'turns'),
      }
    }
    case 'SurplusSpent': {
      const { round, amount, allowance } = event.args
      return {
        kind: 'surplusSpent',
        round: safeNumber(round, 'round'),
        amountWei: wei(amount),
        allowanceWei: wei(allowance),
      }
    }
    case 'Withdrawn': {
      const { nodeId, owner, to, amount, withdrawnTotal } = event.args
      return {
        kind: 'withdrawn',
        nodeId,
        owner: address(owner),
        to: address(to),
        amountWei: wei(amount),
        withdrawnTotalWei: wei(withdrawnTotal),
      }
    }
    case 'Approval':
    case 'ApprovalForAll':
    case 'GiftsDeclined':
    case undefined:
      throw new ChainFault(`the factory logged ${event.eventName}, which was not asked for`, { retryable: true })
    default:
      return { kind: 'ownerAct', name: event.eventName, detail: detailOf(event.args) }
  }
}

const leftWith = (ref: string, cohort: bigint, credited: bigint) => ({
  ref: hash(ref),
  cohort: safeNumber(cohort, 'cohort'),
  creditedWei: wei(credited),
})

function detailOf(args: object | readonly unknown[] | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(args ?? {}).map(([name, value]) => [name, String(value).toLowerCase()]))
}

/** True if calldata is a call of withdraw or withdrawAll. */
export function isWithdrawCall(input: string): boolean {
  const selector = input.slice(0, 10).toLowerCase()
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
