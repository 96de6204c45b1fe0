// The lies that a provider tells in the simulation. Each changes the chain's true answer, in every call that shows it,
// and returns null if a block has nothing to lie about.
import { encodeAbiParameters, encodeEventTopics, type Hex, parseAbi } from 'viem'
import type { Address, Hash } from '../../../src/domain/units.ts'
import { other, type Wire } from '../../follower/lies.ts'
import { ETHER } from '../../support/world.ts'

export const hex = (value: bigint | number): Hex => `0x${value.toString(16)}`

/** The price of the tier that is always on sale to anyone. */
export const PLUS = ETHER / 40n

export interface Log extends Wire {
  address: string
  topics: readonly Hex[]
}
export interface Receipt extends Wire {
  logs: readonly Log[]
}
/** A transaction in its block, and its receipt. */
export interface Pair {
  tx: Wire
  receipt: Receipt
}

/** The accounts and the block around a lie. */
export interface Scene {
  blockHash: Hash
  wallet: Address
  factory: Address
  minter: Address
  /** Gets what they never paid for. */
  thief: Address
  /** Receives something that has nothing to do with the sale. */
  stranger: Address
  nextNode: bigint
  /** The lie begins with this block. */
  isFirst: boolean
}

/** The replacement for a block's transactions. */
type BodyLie = (pairs: readonly Pair[], scene: Scene) => Pair[] | null
/** The replacement for a header's fields. */
type HeaderLie = (header: Wire) => Wire
/** The replacement for states, or for the final block; or a whole false chain. */
export type OtherLie =
  | 'balances of another block'
  | 'balances made up'
  | 'finalized too high'
  | 'no block known to the contract'
  | 'a fork of its own'

export type Lie = { body: BodyLie } | { header: HeaderLie } | { other: OtherLie }

type IsIt = (pair: Pair, scene: Scene) => boolean

const isPayment: IsIt = ({ tx }, { wallet }) => tx.to === wallet && BigInt(String(tx.value)) > 0n
const isOfMinter: IsIt = ({ tx }, { minter }) => tx.from === minter
const hasLogsOf: IsIt = ({ receipt }, { factory }) => receipt.logs.some((log) => log.address.toLowerCase() === factory)
const isWithdrawal: IsIt = (pair, scene) => hasLogsOf(pair, scene) && !isOfMinter(pair, scene)

const retold =
  (isIt: IsIt, change: (pair: Pair, scene: Scene) => Partial<Pair>): BodyLie =>
  (pairs, scene) =>
    pairs.some((pair) => isIt(pair, scene))
      ? pairs.map((pair) => (isIt(pair, scene) ? { ...pair, ...change(pair, scene) } : pair))
      : null

const leftOut =
  (isIt: IsIt): BodyLie =>
  (pairs, scene) =>
    // A list without anything is no answer.
    pairs.some((pair) => isIt(pair, scene)) && pairs.some((pair) => !isIt(pair, scene))
      ? pairs.filter((pair) => !isIt(pair, scene))
      : null

const withTx =
  (fields: (tx: Wire, scene: Scene) => Wire) =>
  ({ tx }: Pair, scene: Scene) => ({ tx: { ...tx, ...fields(tx, scene) } })

/** A transaction that no one signed, as a template if a block has none. */
const BLANK: Pair = {
  tx: {
    type: '0x2',
    chainId: '0x7a69',
    nonce: '0x0',
    gas: '0x5208',
    maxFeePerGas: '0x2',
    maxPriorityFeePerGas: '0x1',
    accessList: [],
    r: '0x1',
    s: '0x1',
    yParity: '0x0',
    v: '0x0',
    input: '0x',
  },
  receipt: {
    type: '0x2',
    status: '0x1',
    gasUsed: '0x5208',
    cumulativeGasUsed: '0x5208',
    effectiveGasPrice: '0x1',
    logsBloom: `0x${'0'.repeat(512)}`,
    contractAddress: null,
    logs: [],
  },
}

const paymentAdded: BodyLie = (pairs, { isFirst, blockHash, thief, wallet }) => {
  if (!isFirst) return null
  const { tx, receipt } = pairs.at(-1) ?? BLANK
  const made = { hash: other(blockHash), from: thief, to: wallet, value: hex(PLUS), input: '0x' }
  return [...pairs, { tx: { ...tx, ...made }, receipt: { ...receipt, status: '0x1', logs: [] } }]
}

const mintedAbi = parseAbi([
  'event NodeMinted(uint256 indexed nodeId, address indexed owner, bytes32 indexed ref, uint256 cohort)',
])

const logAdded: BodyLie = (pairs, { factory, thief, nextNode, blockHash }) => {
  const last = pairs.at(-1)
  if (!last) return null
  const args = { nodeId: nextNode, owner: thief, ref: blockHash }
  const topics = encodeEventTopics({ abi: mintedAbi, eventName: 'NodeMinted', args }) as Hex[]
  const data = encodeAbiParameters([{ type: 'uint256' }], [1n])
  const log = { address: factory, topics, data, removed: false }
  return [...pairs.slice(0, -1), { ...last, receipt: { ...last.receipt, logs: [...last.receipt.logs, log] } }]
}

const withoutLogs =
  (isIt: IsIt): BodyLie =>
  (pairs, scene) => {
    const ofOthers = ({ address }: Log) => address.toLowerCase() !== scene.factory
    return retold(
      (pair) => hasLogsOf(pair, scene) && isIt(pair, scene),
      ({ receipt }) => ({ receipt: { ...receipt, logs: receipt.logs.filter(ofOthers) } }),
    )(pairs, scene)
  }

/** Every lie by its name. */
export const LIES: Record<string, Lie> = {
  'a payment added': { body: paymentAdded },
  'another sender': {
    body: retold(
      isPayment,
      withTx((_, { thief }) => ({ from: thief })),
    ),
  },
  'another recipient': {
    body: retold(
      ({ tx }, { stranger }) => tx.to === stranger,
      withTx((_, { wallet }) => ({ to: wallet })),
    ),
  },
  'a payment to somebody else': {
    body: retold(
      isPayment,
      withTx((_, { stranger }) => ({ to: stranger })),
    ),
  },
  'another value': {
    body: retold(
      (pair, scene) => isPayment(pair, scene) && pair.tx.value === '0x1',
      withTx(() => ({ value: hex(PLUS) })),
    ),
  },
  'a payment of dust': {
    body: retold(
      isPayment,
      withTx(() => ({ value: '0x1' })),
    ),
  },
  'another hash': {
    body: retold(
      isPayment,
      withTx(({ hash }) => ({ hash: other(hash) })),
    ),
  },
  'another type': {
    body: retold(
      isPayment,
      withTx(() => ({ type: '0x1', gasPrice: '0x1' })),
    ),
  },
  // If two providers agree on such a block, the ledger requires less of it, so everything except the type must be true.
  'an unknown type': {
    body: retold(
      isPayment,
      withTx(() => ({ type: '0x55' })),
    ),
  },
  'another status': {
    body: retold(isPayment, ({ receipt }) => ({
      receipt: { ...receipt, status: receipt.status === '0x1' ? '0x0' : '0x1' },
    })),
  },
  'a payment left out': { body: leftOut(isPayment) },
  'a mint left out': { body: leftOut(isOfMinter) },
  'a withdrawal left out': { body: leftOut(isWithdrawal) },
  'the logs of a mint left out': { body: withoutLogs(isOfMinter) },
  'the log of a withdrawal left out': { body: withoutLogs(isWithdrawal) },
  'a log added': { body: logAdded },
  'another mixHash': { header: ({ mixHash }) => ({ mixHash: other(mixHash) }) },
  'an hour more': { header: ({ timestamp }) => ({ timestamp: hex(Number(timestamp) + 3_600) }) },
  'another parentHash': { header: ({ parentHash }) => ({ parentHash: other(parentHash) }) },
  'another number': { header: ({ number }) => ({ number: hex(Number(number) + 1) }) },
  'no bloom': { header: () => ({ logsBloom: `0x${'0'.repeat(512)}` }) },
  // As above: the only false part changes nothing.
  'an unknown field': {
    header: ({ stateRoot, gasLimit }) => ({ blockAccessListHash: stateRoot, gasLimit: other(gasLimit) }),
  },
  'balances of another block': { other: 'balances of another block' },
  'balances made up': { other: 'balances made up' },
  'finalized too high': { other: 'finalized too high' },
  'no block known to the contract': { other: 'no block known to the contract' },
  'a fork of its own': { other: 'a fork of its own' },
}

export const FORK = 'a fork of its own'
export const MADE_UP = 'balances made up'
export const NO_HASHES = 'no block known to the contract'
/** Nothing reveals these unless another provider contradicts them; and a list that cannot be encoded is no answer. */
export const UNTOLD: readonly string[] = ['finalized too high', MADE_UP, NO_HASHES, FORK, 'an unknown type']
/** The acts by which the service reports the others. */
export const TELLING = ['proofFailed', 'guardRefused', 'leftOut', 'residueWithdrawn', 'halted']
