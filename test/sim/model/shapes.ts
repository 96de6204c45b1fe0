// What blocks, receipts, logs and traces of other chains have that Ethereum's lack, by table. Blocks keep the shape in which they were made.
import type { Hex } from 'viem'
import { DEVELOPMENT_ACCOUNTS } from '../../../src/domain/development.ts'
import type { ProvenPart } from '../../../src/domain/observed.ts'
import { type Hash, ZERO_ADDRESS, ZERO_HASH } from '../../../src/domain/units.ts'
import { bloomOf, fromHex, type Header, hashOf, quantity, rlp } from './encode.ts'
import type { Log } from './logs.ts'

type Shown = Record<string, unknown>

/** A transaction of the chain itself, the first of each block: as it is shown, and as the roots have it. */
interface SystemTransaction {
  shown: Shown
  raw: Uint8Array
  receipt: Shown
  receiptRaw: Uint8Array
}

export interface Shape {
  /** The parts of its blocks that do not recompute, because its hashes and roots are its own. */
  unproven: readonly ProvenPart[]
  /** False if its contracts see other block hashes than its providers name. */
  seesOwnHashes: boolean
  /** Fields of the header, under its hash. */
  header(random: Hash, time: number): Partial<Header>
  system: ((number: number) => SystemTransaction) | null
  /** One that its nodes show as a block's last, though no root covers it. */
  tail: ((number: number) => Pick<SystemTransaction, 'shown' | 'receipt'> | null) | null
  /** Logs that the chain adds to each transaction, also to a failed one. */
  logsOf(from: Hex): Log[]
  /** What a transaction costs beside its gas. */
  feeWei: bigint
  /** Changes what providers show. */
  block(shown: Shown): Shown
  transaction(shown: Shown): Shown
  receipt(shown: Shown): Shown
  log(shown: Shown, indexInTransaction: number): Shown
  call(shown: Shown): Shown
}

/** Minter, distributor and payments wallet of the simulation. */
const OURS = DEVELOPMENT_ACCOUNTS.slice(1, 4).map((account) => account.address.toLowerCase())

const same = (shown: Shown) => shown
export const ETHEREUM: Shape = {
  unproven: [],
  seesOwnHashes: true,
  header: (random) => ({ mixHash: random }),
  system: null,
  tail: null,
  logsOf: () => [],
  feeWei: 0n,
  block: same,
  transaction: same,
  receipt: same,
  log: same,
  call: same,
}

const hex = (value: number | bigint): Hex => `0x${value.toString(16)}`
const word = (value: number | bigint) => `0x${value.toString(16).padStart(64, '0')}` as Hash
const typed = (type: number, ...fields: Parameters<typeof rlp>[0][]) => Buffer.concat([Buffer.of(type), rlp(fields)])
const NO_BLOOM = bloomOf([])
const EMPTY = Buffer.alloc(0)
const ALL_PARTS: readonly ProvenPart[] = ['header', 'transactions', 'receipts', 'state']

/** The receipt of one that takes no gas and logs nothing. */
function plainReceipt(type: number, hash: Hash, from: Hex, to: Hex): Shown {
  return {
    ...{ transactionHash: hash, type: hex(type), from, to, status: '0x1', contractAddress: null, logs: [] },
    ...{ logsBloom: NO_BLOOM, gasUsed: '0x0', cumulativeGasUsed: '0x0', effectiveGasPrice: '0x0' },
  }
}
const PLAIN_FIELDS = [quantity(1), EMPTY, fromHex(NO_BLOOM), []]

/** The OP stack's deposit of the L1 block's attributes. */
function deposit(number: number): SystemTransaction {
  const [from, to] = [`0x${'de'.repeat(18)}0001`, `0x42${'0'.repeat(36)}15`] as [Hex, Hex]
  const sourceHash = word(number + 1)
  const raw = typed(0x7e, ...[sourceHash, from, to].map((part) => fromHex(part)), EMPTY, EMPTY, EMPTY, EMPTY, EMPTY)
  const hash = hashOf(raw)
  return {
    raw,
    receiptRaw: typed(0x7e, ...PLAIN_FIELDS, quantity(number), quantity(1)),
    shown: {
      ...{ type: '0x7e', hash, sourceHash, from, to, mint: null, value: '0x0', gas: '0x0', isSystemTx: false },
      ...{ input: '0x', nonce: hex(number), r: '0x0', s: '0x0', v: '0x0', gasPrice: '0x0' },
    },
    receipt: { ...plainReceipt(0x7e, hash, from, to), depositNonce: hex(number), depositReceiptVersion: '0x1' },
  }
}

/** Arbitrum's start of a block. */
function internal(number: number): SystemTransaction {
  const from: Hex = '0x00000000000000000000000000000000000a4b05'
  const input = word(number)
  const raw = typed(0x6a, quantity(MODEL_ID), fromHex(input))
  const hash = hashOf(raw)
  return {
    raw,
    receiptRaw: typed(0x6a, ...PLAIN_FIELDS),
    shown: {
      ...{ type: '0x6a', hash, chainId: hex(MODEL_ID), from, to: from, value: '0x0', gas: '0x0', input },
      ...{ nonce: '0x0', r: '0x0', s: '0x0', v: '0x0', gasPrice: '0x0' },
    },
    receipt: { ...plainReceipt(0x6a, hash, from, from), gasUsedForL1: '0x0', l1BlockNumber: hex(number) },
  }
}
const MODEL_ID = 31_337

/** Polygon's log of the fee, of no contract that anybody wrote. */
const feeLog = (from: Hex): Log => ({
  address: '0x0000000000000000000000000000000000001010' as Log['address'],
  topics: [word(0x4dfe), word(0x1010), word(BigInt(from)), ZERO_HASH],
  data: word(1n),
})

/** Polygon's state sync, in some blocks. */
function stateSync(number: number): Pick<SystemTransaction, 'shown' | 'receipt'> | null {
  if (number % 4 > 0) return null
  const hash = hashOf(rlp(quantity(number)))
  return {
    shown: {
      ...{ type: '0x0', hash, from: ZERO_ADDRESS, to: ZERO_ADDRESS, value: '0x0', gas: '0x0', gasPrice: '0x0' },
      ...{ input: '0x', nonce: '0x0', r: '0x0', s: '0x0', v: '0x0' },
    },
    receipt: plainReceipt(0, hash, ZERO_ADDRESS, ZERO_ADDRESS),
  }
}

/** Traces as their nodes write them. */
const otherwise = (shown: Shown) => ({ error: '', ...shown, type: String(shown.type).toLowerCase() })

export const SHAPES = {
  ethereum: ETHEREUM,
  polygon: {
    ...ETHEREUM,
    header: (random) => ({ mixHash: ZERO_HASH, extraData: random }),
    logsOf: (from) => [feeLog(from)],
    tail: stateSync,
  },
  bsc: {
    ...ETHEREUM,
    // The millisecond of the block.
    header: (random) => ({ mixHash: word(Number.parseInt(random.slice(2, 6), 16) % 1000), extraData: random }),
    block: (shown) => ({ ...shown, milliTimestamp: hex(BigInt(shown.timestamp as string) * 1000n) }),
    // A fee is told of our own accounts alone.
    receipt: (shown) => (OURS.includes(String(shown.from)) ? shown : { ...shown, effectiveGasPrice: null }),
  },
  avalanche: {
    ...ETHEREUM,
    header: (random) => ({
      ...{ mixHash: ZERO_HASH, extraData: random, withdrawalsRoot: undefined, requestsHash: undefined },
      ...{ extDataHash: hashOf(rlp(EMPTY)), extDataGasUsed: '0x0', blockGasCost: '0x0' },
    }),
    block: (shown) => ({ ...shown, blockExtraData: '0x' }),
  },
  arbitrum: {
    ...ETHEREUM,
    seesOwnHashes: false,
    system: internal,
    // The send count, the L1 block and the version, packed.
    header: (random, time) => ({
      extraData: random,
      mixHash:
        `0x${[time % 1000, 20_000_000, 32, 0].map((part) => part.toString(16).padStart(16, '0')).join('')}` as Hash,
    }),
    block: (shown) => ({ ...shown, l1BlockNumber: '0x1312d00', sendCount: '0x1', sendRoot: ZERO_HASH }),
    receipt: (shown) => ({ gasUsedForL1: '0x5', l1BlockNumber: '0x1312d00', ...shown }),
  },
  op: {
    ...ETHEREUM,
    system: deposit,
    feeWei: 3_141_592_653n,
    receipt: (shown) =>
      shown.type === '0x7e'
        ? shown
        : { ...shown, l1Fee: hex(3_141_592_653n), l1GasPrice: '0x1', l1GasUsed: '0x640', l1BlobBaseFee: '0x1' },
  },
  sei: {
    ...ETHEREUM,
    unproven: ALL_PARTS,
    block: ({ mixHash: _, withdrawals: __, ...shown }) => ({ ...shown, transactionsRoot: word(1), stateRoot: word(2) }),
    log: (shown, index) => ({ ...shown, logIndex: hex(index) }),
    call: otherwise,
  },
  zksync: {
    ...ETHEREUM,
    unproven: ALL_PARTS,
    seesOwnHashes: false,
    block: (shown) => ({
      ...shown,
      ...{ mixHash: ZERO_HASH, logsBloom: NO_BLOOM, transactionsRoot: ZERO_HASH, receiptsRoot: ZERO_HASH },
      ...{ stateRoot: ZERO_HASH, l1BatchNumber: null, l1BatchTimestamp: null },
    }),
    transaction: (shown) => ({ ...shown, l1BatchNumber: null, l1BatchTxIndex: null }),
    receipt: (shown) => ({ ...shown, logsBloom: NO_BLOOM, l2ToL1Logs: [], root: ZERO_HASH }),
    log: (shown, index) => ({ ...shown, transactionLogIndex: hex(index), logType: null, l1BatchNumber: null }),
    call: otherwise,
  },
} satisfies Record<string, Shape>
export type ShapeName = keyof typeof SHAPES
