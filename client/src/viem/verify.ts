// Verifies the service's answers: reads the chain directly and compares. Null means "could not be read".
import { type Block, BlockNotFoundError, type Hash, parseEventLogs } from 'viem'
import { getBalance, getBlock, getLogs, getTransactionReceipt, readContract } from 'viem/actions'
import type { LedgerClient, NodeId } from '../client.ts'
import type { Cover, Distribution, Hex, NodeDetail, SingleTurn, Turn } from '../types.ts'
import { factoryAbi } from './factory.ts'
import { type ChainClient, placeOf, readAt, type VerifyOptions } from './place.ts'
import { addsUp, areApart, isAt, type RecomputedTurn, recomputeTurn, singlesOf } from './turns.ts'

export type { ChainClient, VerifyOptions } from './place.ts'

export interface Verified<Reported, Chain> {
  /** True if the chain agrees; null if the service reports that it could not read the chain itself. */
  matches: boolean | null
  /** Names of the fields that differ, and those of the place and the time of the service's reading that differ. */
  differences: string[]
  reported: Reported
  chain: Chain
  /** The block that we read: the same as the service, if the provider still has its state. */
  blockNumber: bigint
}

export interface NodeOnChain {
  owner: Hex
  balanceWei: bigint
  creditedWei: bigint
  withdrawnWei: bigint
  /** True if the contract's owner expelled the node, so it gets no more credits. */
  isExpelled: boolean
}

/**
 * Compares a node's record, and the chain readings in it, with the contract's `nodeInfo`. A reading of a block that is too old counts as a difference.
 * Throws the provider's error if it cannot be read.
 */
export async function verifyNode(
  ledger: LedgerClient,
  chain: ChainClient,
  id: NodeId,
  options: VerifyOptions = {},
): Promise<Verified<NodeDetail, NodeOnChain>> {
  const { factory, differences } = await placeOf(ledger, chain, options)
  const record = await ledger.getNode(id)
  const read = async (at: { blockNumber: bigint }) => {
    const call = {
      address: factory,
      abi: factoryAbi,
      functionName: 'nodeInfo',
      args: [BigInt(record.nodeId)],
      ...at,
    } as const
    const [owner, balanceWei, creditedWei, withdrawnWei, cohort] = await readContract(chain, call)
    return { owner: owner.toLowerCase() as Hex, balanceWei, creditedWei, withdrawnWei, isExpelled: cohort === 0n }
  }
  const reading = record.chain
  const { value, blockNumber, isOld } = await readAt(chain, reading ?? { blockNumber: null }, read, options)
  if (!isAskedFor(record, id)) differences.push('nodeId')
  const isElsewhere = differences.length > 0
  const comparison = compareFields(record, value, blockNumber, ['owner', 'balanceWei', 'creditedWei', 'withdrawnWei'])
  differences.push(...comparison.differences)
  if (isOld) differences.push('chain.blockNumber')
  if (reading !== null && BigInt(reading.blockNumber) === blockNumber) {
    const ofReading = compareFields(reading, value, blockNumber, ['owner', 'balanceWei', 'creditedWei', 'withdrawnWei'])
    differences.push(...ofReading.differences.map((field) => `chain.${field}`))
    if (reading.matchesLedger !== comparison.matches) differences.push('chain.matchesLedger')
  }
  if ((record.expelledAt !== null) !== value.isExpelled) differences.push('expelledAt')
  const matches = reading === null && !isElsewhere ? null : differences.length === 0
  return { ...comparison, matches, differences }
}

/** The row id of a node is this much more than the contract's id. */
const ROW_IDS_FROM = 1_000_000_000n

/** True if a record is the requested node, according to either of its two ids. One follows from the other, so that neither can name another node. */
function isAskedFor({ matchedBy, nodeId, id: rowId }: NodeDetail, id: NodeId): boolean {
  const isWhole = BigInt(rowId) === BigInt(nodeId) + ROW_IDS_FROM
  return isWhole && BigInt(matchedBy === 'nodeId' ? nodeId : rowId) === BigInt(id)
}

export interface CoverOnChain {
  contractBalanceWei: bigint
  outstandingWei: bigint
  /** Balance minus debt. */
  surplusWei: bigint
  /** floor(balance x 10000 / debt); null if nothing is owed. */
  coverBps: number | null
  isSolvent: boolean
}

/**
 * Compares the cover with the contract's balance and `outstanding()`, the figures that follow from them, and `isSolvent()`, all at one block. That block
 * must be recent, and `checkedAt` a time at which it was the newest.
 */
export async function verifyCover(
  ledger: LedgerClient,
  chain: ChainClient,
  options: VerifyOptions = {},
): Promise<Verified<Cover, CoverOnChain>> {
  const { factory: address, differences: ofPlace } = await placeOf(ledger, chain, options)
  const cover = await ledger.getCover()
  const read = async (at: { blockNumber: bigint }) => {
    const [contractBalanceWei, outstandingWei, isSolvent] = await Promise.all([
      getBalance(chain, { address, ...at }),
      readContract(chain, { address, abi: factoryAbi, functionName: 'outstanding', ...at }),
      readContract(chain, { address, abi: factoryAbi, functionName: 'isSolvent', ...at }),
    ])
    const surplusWei = contractBalanceWei - outstandingWei
    const coverBps = outstandingWei === 0n ? null : Number((contractBalanceWei * 10_000n) / outstandingWei)
    return { contractBalanceWei, outstandingWei, surplusWei, coverBps, isSolvent }
  }
  const { value, blockNumber, isOld, isInTime } = await readAt(chain, cover, read, options)
  const unread = { matches: ofPlace.length > 0 ? false : null, differences: ofPlace, reported: cover }
  if (cover.blockNumber === null) return { ...unread, chain: value, blockNumber }
  const fields = ['contractBalanceWei', 'outstandingWei', 'surplusWei', 'coverBps', 'isSolvent'] as const
  const comparison = compareFields(cover, value, blockNumber, [...fields])
  const ofTime = [...(isOld ? ['blockNumber'] : []), ...(isInTime ? [] : ['checkedAt'])]
  const differences = [...ofPlace, ...comparison.differences, ...ofTime]
  return { ...comparison, matches: differences.length === 0, differences }
}

export interface VerifiedTurn extends RecomputedTurn {
  turn: Turn
  /** True if each seed comes from the chain: it is the randomness of the first block at or after `due`. Null without a chain. */
  seedMatches: boolean | null
  /** True if the contract's own `Credited` event agrees. Null if no chain was given. */
  creditedMatches: boolean | null
  /**
   * True if several turns are the contract's interval apart, as it was at the round's block. Null without a chain, or if
   * your provider does not serve it.
   */
  intervalMatches: boolean | null
}

export interface VerifiedRound {
  /** True if nothing differs. A check that could not be made is `null` in its turn, and does not count as equal. */
  matches: boolean
  turns: VerifiedTurn[]
  /** True if the amounts add up to the round's total. */
  totalMatches: boolean
  /** Names of the round's other fields that contradict its turns or, if one was given, the chain. */
  differences: string[]
  /** True if the listed turns are exactly those that the round's transaction credited. Null without a chain. */
  allListed: boolean | null
}

/**
 * Recomputes each amount of a round from its published seed and terms, turn by turn. If a chain is given, also checks
 * that the seeds are the chain's and that the round's transaction credited exactly these amounts. Otherwise it checks
 * only the arithmetic.
 */
export async function verifyRound(
  ledger: LedgerClient,
  round: Distribution | number,
  chain?: ChainClient,
  options: VerifyOptions = {},
): Promise<VerifiedRound> {
  const distribution = typeof round === 'number' ? await findRound(ledger, round) : round
  const facts = chain ? await askChain(ledger, chain, distribution, options) : null
  const singles = await singlesOf(ledger, distribution)
  const turns: VerifiedTurn[] = []
  for (const turn of distribution.turns) turns.push(await verifyTurn(turn, singles, facts))
  const totalMatches = addsUp(distribution)
  const allListed = facts && areJustThose(facts.paidRound.events, distribution.turns)
  const differences = [...(facts?.differences ?? []), ...differencesOf(distribution, facts?.paidRound ?? null)]
  const isRight = ({ amountMatches, seedMatches, creditedMatches, intervalMatches }: VerifiedTurn) =>
    amountMatches === true && (!chain || (seedMatches === true && creditedMatches === true && intervalMatches === true))
  // The service does not list rounds that credit no node, so a round without turns is hiding them.
  const isWhole = turns.length > 0 && totalMatches && allListed !== false && differences.length === 0
  return { matches: isWhole && turns.every(isRight), turns, totalMatches, differences, allListed }
}

/** True if each listed turn has its own event, and no event is left over. */
function areJustThose(events: readonly CreditedEvent[], turns: readonly Turn[]): boolean {
  const cohorts = new Set(turns.map(({ cohort }) => BigInt(cohort)))
  return (
    events.length === turns.length &&
    cohorts.size === turns.length &&
    events.every(({ args }) => cohorts.has(args.cohort))
  )
}

/** Names of a round's own fields that are wrong. A field that is null (`mode`, `createdAt`) claims nothing. */
function differencesOf(round: Distribution, paidRound: PaidRound | null): string[] {
  const { nodeCount, mode, blockNumber, createdAt, turns } = round
  const nodes = turns.reduce((sum, turn) => sum + turn.nodeCount, 0)
  return [
    ...(nodeCount === nodes ? [] : ['nodeCount']),
    ...(!paidRound || mode === null || mode === paidRound.mode ? [] : ['mode']),
    ...(!paidRound || blockNumber === paidRound.blockNumber ? [] : ['blockNumber']),
    ...(!paidRound || createdAt === null || isAt(createdAt, paidRound.timeSec) ? [] : ['createdAt']),
  ]
}

type PaidRound = Awaited<ReturnType<typeof readPaid>>
type CreditedEvent = PaidRound['events'][number]

/** The chain's side of a round. `differences`: the fields in which the service differs about the place. */
interface ChainFacts {
  isChains: (turn: SingleTurn) => Promise<boolean | null>
  paidRound: PaidRound
  differences: readonly string[]
}

async function askChain(
  ledger: LedgerClient,
  chain: ChainClient,
  round: Distribution,
  options: VerifyOptions,
): Promise<ChainFacts> {
  const { factory, differences } = await placeOf(ledger, chain, options)
  return { isChains: seedsOf(chain), paidRound: await readPaid(chain, factory, round), differences }
}

async function verifyTurn(turn: Turn, ofRound: readonly SingleTurn[], facts: ChainFacts | null): Promise<VerifiedTurn> {
  const recomputation = recomputeTurn(turn, ofRound)
  if (!facts) return { turn, ...recomputation, seedMatches: null, creditedMatches: null, intervalMatches: null }
  const { isChains, paidRound } = facts
  const { singles } = recomputation
  let seedMatches: boolean | null = true
  for (const single of singles) seedMatches = allOf([seedMatches, await isChains(single)])
  const event = paidRound.events.find(({ args }) => args.cohort === BigInt(turn.cohort))
  return {
    turn,
    ...recomputation,
    seedMatches,
    creditedMatches: isSameTurn(event, turn),
    intervalMatches: turn.count === 1 || (await areIntervalsApart(turn, singles, paidRound)),
  }
}

/** Whether several turns are the contract's interval apart; null if the provider does not serve it. */
async function areIntervalsApart(
  turn: Turn,
  singles: readonly SingleTurn[],
  paidRound: PaidRound,
): Promise<boolean | null> {
  const interval = await paidRound.intervalOf(turn.cohort)
  return interval === null ? null : singles.length === turn.count && areApart(singles, turn.dueSec, Number(interval))
}

/** True if all are true, false if one is false, and null if one could not be checked. */
function allOf(answers: readonly (boolean | null)[]): boolean | null {
  if (answers.includes(false)) return false
  return answers.includes(null) ? null : true
}

function isSameTurn(event: CreditedEvent | undefined, turn: Turn): boolean {
  return (
    event?.args.due === BigInt(turn.dueSec) &&
    event.args.turns === BigInt(turn.count) &&
    event.args.amountPerNode === turn.amountWei &&
    event.args.nodeCount === BigInt(turn.nodeCount)
  )
}

/** Reads a block; null if the provider does not have it. */
type ReadBlock = (number: number) => Promise<Block | null>

/** Compares seeds with the chain. Fetches each block once, because turns of several cohorts may share their seed. */
function seedsOf(chain: ChainClient): (turn: SingleTurn) => Promise<boolean | null> {
  const blocks = new Map<number, Promise<Block | null>>()
  const read = (number: number) => {
    const block = blocks.get(number) ?? blockAt(chain, BigInt(number))
    blocks.set(number, block)
    return block
  }
  return (turn) => seedIsTheChains(turn, read)
}

const blockAt = (chain: ChainClient, blockNumber: bigint): Promise<Block | null> =>
  getBlock(chain, { blockNumber }).catch((error: unknown) => {
    if (error instanceof BlockNotFoundError) return null
    throw error
  })

/** Matches if none of the four 64-bit words is below 2^32, because chains without randomness put counters and times there. */
const DRAWN = /0x(?:(?!0{8})[0-9a-fA-F]{16}){4}/

async function seedIsTheChains({ seed, seedBlock, dueSec }: SingleTurn, read: ReadBlock): Promise<boolean | null> {
  if (seed === null || seedBlock === null) return null
  const [block, parent] = await Promise.all([read(seedBlock), seedBlock === 0 ? null : read(seedBlock - 1)])
  if (block === null || (parent === null && seedBlock > 0)) return null
  const due = BigInt(dueSec)
  const isFirst = block.timestamp >= due && (parent === null || parent.timestamp < due)
  // If the mixHash is not random, the block's hash is the seed instead.
  const isRandom = DRAWN.test(block.mixHash) && block.mixHash !== parent?.mixHash
  return isFirst && seed === (isRandom ? block.mixHash : block.hash)
}

/** The round's transaction as it is on chain. */
async function readPaid(chain: ChainClient, factory: Hex, { id, txHash }: Distribution) {
  const { logs, blockNumber } = await getTransactionReceipt(chain, { hash: txHash as Hash })
  const { timestamp } = await getBlock(chain, { blockNumber })
  const ours = logs.filter(({ address }) => address.toLowerCase() === factory)
  const events = parseEventLogs({ abi: factoryAbi, eventName: ['Credited', 'SurplusSpent'], logs: ours })
  const ofRound = events.filter(({ args }) => args.round === BigInt(id))
  const credits = ofRound.filter((event) => event.eventName === 'Credited')
  return {
    events: credits,
    mode: ofRound.some((event) => event.eventName === 'SurplusSpent') ? 'swaps' : 'treasury',
    blockNumber: Number(blockNumber),
    timeSec: Number(timestamp),
    intervalOf: async (cohort: number) => (credits[0] ? intervalAt(chain, factory, BigInt(cohort), credits[0]) : null),
  }
}

/** Finds a round among the newest 200, which the API lists. */
async function findRound(ledger: LedgerClient, id: number): Promise<Distribution> {
  const match = (await ledger.getDistributions({ limit: 200 })).find((round) => round.id === id)
  if (!match) throw new RangeError(`Round ${id} is not among the newest 200 that the service lists.`)
  return match
}

function compareFields<Reported extends object, Chain extends object>(
  answer: Reported,
  chain: Chain,
  blockNumber: bigint,
  fields: (keyof Reported & keyof Chain & string)[],
): Verified<Reported, Chain> {
  const differences = fields.filter((field) => (answer[field] as unknown) !== chain[field])
  return { matches: differences.length === 0, differences, reported: answer, chain, blockNumber }
}

/** A change of an interval, as viem parses its log. */
interface Change {
  blockNumber: bigint
  logIndex: number
  args: { former: bigint }
}

/**
 * A cohort's interval when a log was written, in seconds: it follows from the interval at the end of that block and from the changes behind the log. If
 * the provider no longer has that state, from the interval now and from all later changes. Null if the provider serves neither.
 */
async function intervalAt(
  chain: ChainClient,
  address: Hex,
  cohort: bigint,
  { blockNumber, logIndex }: { blockNumber: bigint; logIndex: number },
): Promise<bigint | null> {
  const call = { address, abi: factoryAbi, functionName: 'cohort', args: [cohort] } as const
  const event = factoryAbi.find((item) => 'name' in item && item.name === 'IntervalSet')
  const read = async (until: { blockNumber?: bigint }) => {
    const toBlock = until.blockNumber ?? 'latest'
    const [[, , , interval], logs] = await Promise.all([
      readContract(chain, { ...call, ...until }),
      getLogs(chain, { address, event, args: { cohort }, fromBlock: blockNumber, toBlock } as never),
    ])
    const changes = logs as unknown as readonly Change[]
    const first = changes.find((change) => change.blockNumber > blockNumber || change.logIndex > logIndex)
    return first?.args.former ?? interval
  }
  // Full nodes keep the states of the last 128 blocks or so.
  return read({ blockNumber })
    .catch(() => read({}))
    .catch(() => null)
}
