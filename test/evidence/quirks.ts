// Honest providers that answer as some clients and services do: late, short, in other spelling, or not at all. None of it
// may stop a sale, or send a person to look.
import type { Wire } from '../follower/lies.ts'
import type { Line, Place, Told } from './lines.ts'
import {
  all,
  BAD_PARAMS,
  blocks,
  changed,
  hex,
  instead,
  lie,
  lists,
  NOT_THERE,
  SILENT,
  when,
  wholeReceipts,
} from './rules.ts'

const ANYWHERE: readonly Place[] = ['first', 'only']
const BESIDE: readonly Place[] = ['first']

const noWhole = instead('eth_getBlockReceipts', NOT_THERE)
const optional = (change: (tx: Wire) => Wire) => lists((transactions) => transactions.map(change))
const upper = (value: unknown) =>
  typeof value === 'string' && value.startsWith('0x') ? `0x${value.slice(2).toUpperCase()}` : value
const capitals = (entry: Wire): Wire =>
  Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, upper(value)]))

const RECEIPTS: Line[] = [
  { name: 'whole receipts unknown', tells: noWhole, stands: ['only'] },
  { name: 'whole receipts empty', tells: wholeReceipts(() => []), stands: ANYWHERE },
  { name: 'whole receipts null', tells: wholeReceipts(() => null), stands: ['only'] },
  { name: 'whole receipts short by one', tells: wholeReceipts((receipts) => receipts.slice(0, -1)), stands: ANYWHERE },
  { name: 'whole receipts reversed', tells: wholeReceipts((receipts) => receipts.toReversed()), stands: ['only'] },
  {
    name: 'whole receipts with a null entry',
    tells: wholeReceipts((receipts) => [null, ...receipts.slice(1)]),
    stands: ['only'],
  },
  {
    name: 'whole receipts with an entry without logs',
    tells: wholeReceipts(([first, ...rest]) => [{ ...first, logs: undefined }, ...rest]),
    stands: ['only'],
  },
  {
    name: 'whole receipts refused by parameters',
    tells: instead('eth_getBlockReceipts', BAD_PARAMS),
    stands: ['only'],
  },
  {
    name: 'single receipts missing for a while',
    tells: all(noWhole, forAWhile('eth_getTransactionReceipt', 3)),
    stands: ANYWHERE,
  },
  {
    name: 'single receipts with capitals',
    tells: all(noWhole, changed('eth_getTransactionReceipt', capitals)),
    stands: ['only'],
  },
  {
    name: 'whole receipts with capitals',
    tells: wholeReceipts((receipts) => receipts.map(capitals)),
    stands: ['only'],
  },
  {
    name: 'receipts without optional parts',
    tells: wholeReceipts((receipts) =>
      receipts.map(({ effectiveGasPrice: _, contractAddress: __, type: ___, ...rest }) => rest),
    ),
    stands: ['only'],
  },
]

/** Answers null so many times, as a node does that has not indexed a block yet. */
function forAWhile(method: string, times: number) {
  return when(
    ({ method: asked }) => asked === method,
    () => {
      let left = times
      return () => (left-- > 0 ? { result: null } : undefined)
    },
  )
}

const field = (name: string, value: unknown = hex(1)) => lie({ header: () => ({ [name]: value }) })
const BLOCKS: Line[] = [
  { name: 'a header field of any name', tells: field('somethingNew'), stands: ['only'] },
  {
    name: 'a header field of a coming fork',
    tells: field('blockAccessListHash', `0x${'ab'.repeat(32)}`),
    stands: ['only'],
  },
  {
    name: 'headers without size',
    tells: blocks(({ size: _, ...rest }) => rest),
    stands: ['only'],
  },
  {
    name: 'headers in capitals',
    tells: blocks((block) => ({ ...capitals(block), transactions: block.transactions })),
    stands: ['only'],
  },
  {
    name: 'headers with null for what later forks add',
    tells: blocks((block) => ({ ...block, slotNumber: null })),
    stands: ['only'],
  },
  {
    name: 'headers without uncles and withdrawals',
    tells: blocks(({ uncles: _, withdrawals: __, ...rest }) => rest),
    stands: ['only'],
  },
  { name: 'a block once without its list', tells: once((block) => ({ ...block, transactions: [] })), stands: ANYWHERE },
  { name: 'a block once null', tells: once(() => null), stands: ANYWHERE },
  { name: 'transactions in capitals', tells: optional(capitals), stands: ['only'] },
  { name: 'transactions without yParity', tells: optional(({ yParity: _, ...rest }) => rest), stands: ['only'] },
  { name: 'transactions without v', tells: optional(({ v: _, ...rest }) => rest), stands: ['only'] },
  { name: 'transactions without chainId', tells: optional(({ chainId: _, ...rest }) => rest), stands: ['only'] },
  { name: 'transactions without accessList', tells: optional(({ accessList: _, ...rest }) => rest), stands: ['only'] },
  {
    name: 'transactions with null for accessList',
    tells: optional((tx) => ({ ...tx, accessList: null })),
    stands: ['only'],
  },
  { name: 'transactions without gasPrice', tells: optional(({ gasPrice: _, ...rest }) => rest), stands: ['only'] },
  {
    name: 'transactions with data for input',
    tells: optional(({ input, ...rest }) => ({ ...rest, data: input })),
    stands: ['only'],
  },
  {
    name: 'a list with a malformed entry',
    tells: lists(([first, ...rest]) => (first ? [{ hash: first.hash }, ...rest] : [])),
    stands: BESIDE,
  },
]

/** Answers the line's block once in another way, as a node does that has not stored all of it yet. */
function once(change: (block: Wire) => unknown): Told {
  return (scene) => {
    let isDone = false
    return blocks((block, { from }, { params }) => {
      if (isDone || params[1] !== true || Number(block.number) !== from) return block
      isDone = true
      return change(block)
    })(scene)
  }
}

const isByHash = (tag: unknown) => typeof tag === 'object' || String(tag).length === 66
const NODES: Line[] = [
  { name: 'no eth_getProof', tells: instead('eth_getProof', NOT_THERE), stands: ['only'] },
  { name: 'eth_getProof refused by parameters', tells: instead('eth_getProof', BAD_PARAMS), stands: ['only'] },
  {
    name: 'eth_getProof by number only',
    tells: when(
      ({ method, params }) => method === 'eth_getProof' && isByHash(params[2]),
      () => () => BAD_PARAMS,
    ),
    stands: ['only'],
  },
  {
    name: 'calls refused by parameters at a hash',
    tells: when(
      ({ method, params }) => method === 'eth_call' && isByHash(params[1]),
      () => () => BAD_PARAMS,
    ),
    stands: ['only'],
  },
  { name: 'no eth_maxPriorityFeePerGas', tells: instead('eth_maxPriorityFeePerGas', NOT_THERE), stands: ['only'] },
  {
    name: 'no finalized',
    tells: when(
      ({ params }) => params[0] === 'finalized',
      () => () => BAD_PARAMS,
    ),
    stands: ['only'],
  },
  { name: 'a block by hash refused by parameters', tells: instead('eth_getBlockByHash', BAD_PARAMS), stands: BESIDE },
  {
    name: 'a block by number refused by parameters',
    tells: when(
      ({ method, params }) => method === 'eth_getBlockByNumber' && params[1] === true,
      () => () => BAD_PARAMS,
    ),
    stands: BESIDE,
  },
  { name: 'a balancer whose nodes are two blocks apart', tells: twoApart(), stands: ANYWHERE },
  { name: 'batches answered in part', tells: inPart(), stands: ANYWHERE },
]

/** Each second call goes to a node that does not have the newest two blocks yet. */
function twoApart() {
  return when(
    () => true,
    ({ chain }) => {
      let calls = 0
      return async ({ method, params }) => {
        if (++calls % 2 === 0 || method === 'eth_sendRawTransaction') return undefined
        const head = Number((await chain.block()).number) - 2
        const tag = params.at(-1) === 'latest' ? params.length - 1 : params.indexOf('latest')
        if (tag >= 0) return { result: await chain.rpc(method, params.with(tag, hex(head))) }
        const number = params.map(Number).find((value) => value > head && value < head + 3)
        if (number === undefined) return undefined
        return method === 'eth_getBlockByNumber'
          ? { result: null }
          : { error: { code: -32000, message: 'header not found' } }
      }
    },
  )
}

/** Every fifth call of those that the service puts into batches has no answer. */
function inPart() {
  return when(
    ({ method }) =>
      method === 'eth_call' || method === 'eth_getTransactionReceipt' || method === 'eth_getBlockByNumber',
    () => {
      let calls = 0
      return () => (++calls % 5 === 0 ? SILENT : undefined)
    },
  )
}

export const QUIRKS: Readonly<Record<string, readonly Line[]>> = {
  receipts: RECEIPTS,
  blocks: BLOCKS,
  'calls and nodes': NODES,
}
