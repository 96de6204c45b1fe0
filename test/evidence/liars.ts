import { other, type Wire } from '../follower/lies.ts'
import { LIES, type Pair } from '../sim/liars/lies.ts'
import { LIARS_OF_STATE } from './liars-of-state.ts'
import { BESIDE, type Line, MORE, type Place, type Told, USUAL, WITHOUT_PROOFS } from './lines.ts'
import { all, BAD_PARAMS, blocks, changed, hex, instead, lie, NOT_THERE } from './rules.ts'
import { BASIC } from './stage.ts'

const EVERYWHERE: readonly Place[] = ['first', 'second', 'both', 'only', 'restart', 'later', 'three']

const header = (field: string, change: (value: unknown) => unknown = other) =>
  lie({ header: (block: Wire) => ({ [field]: change(block[field]) }) })
const hourMore = (value: unknown) => hex(Number(value) + 3_600)

/** Alters another field of those that only the hash covers in each answer. */
function eachInTurn(): Told {
  const fields = ['gasUsed', 'gasLimit', 'miner', 'withdrawalsRoot', 'blobGasUsed', 'extraData', 'nonce', 'sha3Uncles']
  return (scene) => {
    let asked = 0
    return blocks((block) => {
      const field = fields[asked++ % fields.length] as string
      return { ...block, [field]: other(block[field]) }
    })(scene)
  }
}

/** The fields of a header that the ledger uses, and some that only the hash covers. */
const HEADER: Line[] = [
  { name: 'another mixHash', tells: header('mixHash'), stands: EVERYWHERE },
  { name: 'another timestamp', tells: header('timestamp', hourMore), stands: [...BESIDE, ...WITHOUT_PROOFS] },
  { name: 'another stateRoot', tells: header('stateRoot'), stands: BESIDE },
  { name: 'another transactionsRoot', tells: header('transactionsRoot'), stands: BESIDE },
  { name: 'another receiptsRoot', tells: header('receiptsRoot'), stands: BESIDE },
  { name: 'another parentHash', tells: header('parentHash'), stands: BESIDE },
  { name: 'another hash', tells: header('hash'), stands: BESIDE },
  { name: 'another number', tells: header('number', (value) => hex(Number(value) + 1)), stands: BESIDE },
  { name: 'another bloom', tells: header('logsBloom', () => hex(0).padEnd(514, '0')), stands: BESIDE },
  { name: 'another baseFeePerGas', tells: header('baseFeePerGas'), stands: BESIDE, isTold: false },
  { name: 'each other field in turn', tells: eachInTurn(), stands: ['only'], isTold: false },
  {
    name: 'one field more',
    tells: lie({ header: ({ stateRoot }) => ({ slotNumber: stateRoot }) }),
    stands: BESIDE,
    isTold: false,
  },
  { name: 'a field more and a spoilt one', tells: lie('an unknown field'), stands: BESIDE, isTold: false },
  {
    name: 'a field more, another mixHash',
    tells: lie({ header: ({ mixHash }) => ({ slotNumber: '0x1', mixHash: other(mixHash) }) }),
    stands: ['both'],
  },
  { name: 'no mixHash', tells: lie({ header: () => ({ mixHash: undefined }) }), stands: USUAL },
  {
    name: 'no requestsHash',
    tells: lie({ header: () => ({ requestsHash: undefined }) }),
    stands: BESIDE,
    isTold: false,
  },
  {
    name: 'requestsHash renamed',
    tells: lie({ header: ({ requestsHash }) => ({ requestsHash: undefined, requests: requestsHash }) }),
    stands: BESIDE,
    isTold: false,
  },
  {
    name: 'receiptsRoot renamed',
    tells: lie({ header: ({ receiptsRoot }) => ({ receiptsRoot: undefined, receiptRoot: receiptsRoot }) }),
    stands: BESIDE,
    isTold: false,
  },
]

const isOurs = ({ tx }: Pair) => BigInt(String(tx.value)) >= BASIC
const isWrong = ({ tx }: Pair) => BigInt(String(tx.value)) === BASIC + 7n
const body = (
  change: (pairs: readonly Pair[], scene: { thief: string; wallet: string; stranger: string }) => Pair[] | null,
) => lie({ body: change })
const ofTx = (isIt: (pair: Pair) => boolean, change: (tx: Wire, scene: { thief: string; stranger: string }) => Wire) =>
  body((pairs, scene) =>
    pairs.map((pair) => (isIt(pair) ? { ...pair, tx: { ...pair.tx, ...change(pair.tx, scene) } } : pair)),
  )

/** What could prove or disprove a list. */
const REFUSED = ['eth_getBlockByHash', 'eth_getProof', 'eth_getBlockReceipts', 'eth_getTransactionReceipt']

const LIST: Line[] = [
  { name: 'a payment added', tells: lie('a payment added'), stands: BESIDE },
  { name: 'a payment left out', tells: lie('a payment left out'), stands: EVERYWHERE },
  {
    name: 'a payment left out, all else refused',
    tells: all(instead(REFUSED, BAD_PARAMS), lie('a payment left out')),
    stands: BESIDE,
  },
  { name: 'a wrong amount left out', tells: body((pairs) => pairs.filter((pair) => !isWrong(pair))), stands: BESIDE },
  { name: 'a mint left out', tells: lie('a mint left out'), stands: BESIDE },
  {
    name: 'a failed call left out',
    tells: body((pairs, { thief }) => pairs.filter(({ tx, receipt }) => receipt.status === '0x1' || tx.from === thief)),
    stands: BESIDE,
  },
  { name: 'the list reversed', tells: body((pairs) => pairs.toReversed()), stands: BESIDE },
  // A list that is empty, or that cannot be encoded, is no answer. It is counted by host, and reported only once it lasts.
  { name: 'an empty list', tells: body(() => []), stands: BESIDE, isTold: false },
  { name: 'the list of another block', tells: ofAnotherBlock(), stands: BESIDE },
  {
    name: 'a payment of an unknown type',
    tells: ofTx(isOurs, () => ({ type: '0x55' })),
    stands: BESIDE,
    isTold: false,
  },
  {
    name: 'the exact price from another sender',
    tells: ofTx(
      (pair) => isOurs(pair) && !isWrong(pair),
      (_, { thief }) => ({ from: thief }),
    ),
    stands: BESIDE,
  },
  {
    name: 'a wrong amount from another sender',
    tells: ofTx(isWrong, (_, { thief }) => ({ from: thief })),
    stands: MORE,
  },
  {
    name: 'a wrong amount from another sender, of an unknown type',
    tells: ofTx(isWrong, (_, { thief }) => ({ from: thief, type: '0x55' })),
    stands: ['both'],
    isTold: false,
  },
  { name: 'a payment to somebody else', tells: ofTx(isOurs, (_, { stranger }) => ({ to: stranger })), stands: BESIDE },
  {
    name: 'a stranger’s transfer to our wallet',
    tells: body((pairs, { wallet }) =>
      pairs.map((pair) => (pair.tx.value === '0x1' ? { ...pair, tx: { ...pair.tx, to: wallet } } : pair)),
    ),
    stands: BESIDE,
  },
  { name: 'a wrong amount told as a price', tells: ofTx(isWrong, () => ({ value: hex(BASIC) })), stands: BESIDE },
  { name: 'a price told as a wrong amount', tells: ofTx(isOurs, () => ({ value: hex(BASIC + 9n) })), stands: BESIDE },
  { name: 'a wrong amount told as another', tells: ofTx(isWrong, () => ({ value: hex(BASIC + 9n) })), stands: BESIDE },
  { name: 'payments told as dust', tells: ofTx(isOurs, () => ({ value: '0x1' })), stands: BESIDE },
  { name: 'payments with another hash', tells: ofTx(isOurs, ({ hash }) => ({ hash: other(hash) })), stands: BESIDE },
  {
    name: 'a wrong amount with another hash',
    tells: ofTx(isWrong, ({ hash }) => ({ hash: other(hash) })),
    stands: USUAL,
  },
]

/** Each block has the list of the chain's first one. */
function ofAnotherBlock(): Told {
  return blocks(async (block, { chain }, { params }) => {
    if (params[1] !== true) return block
    const { transactions } = await chain.rpc<Wire>('eth_getBlockByNumber', [hex(1), true])
    return { ...block, transactions }
  })
}

const ofReceipt = (isIt: (pair: Pair) => boolean, change: (receipt: Wire) => Wire) =>
  body((pairs) =>
    pairs.map((pair) =>
      isIt(pair) ? { ...pair, receipt: { ...pair.receipt, ...change(pair.receipt) } as Pair['receipt'] } : pair,
    ),
  )
const hasLogs = ({ receipt }: Pair) => receipt.logs.length > 0
const turned = (status: unknown) => (status === '0x1' ? '0x0' : '0x1')

/** A log of a mint in a transaction that succeeded: a receipt of a failed one with logs is no receipt. */
const logMore = lie({
  body(pairs, scene) {
    const end = pairs.findLastIndex(({ receipt }) => receipt.status === '0x1') + 1
    const { body: add } = LIES['a log added'] as { body: (pairs: readonly Pair[], scene: unknown) => Pair[] | null }
    const told = end > 0 ? add(pairs.slice(0, end), scene) : null
    return told && [...told, ...pairs.slice(end)]
  },
})

const RECEIPTS: Line[] = [
  {
    name: 'payments that failed',
    tells: ofReceipt(isOurs, ({ status }) => ({ status: turned(status) })),
    stands: ['first', 'later'],
  },
  {
    name: 'a wrong amount that failed',
    tells: ofReceipt(isWrong, ({ status }) => ({ status: turned(status) })),
    stands: BESIDE,
  },
  {
    name: 'a failed call that succeeded',
    tells: ofReceipt(
      ({ receipt }) => receipt.status === '0x0',
      () => ({ status: '0x1' }),
    ),
    stands: BESIDE,
  },
  { name: 'a mint that failed', tells: ofReceipt(hasLogs, () => ({ status: '0x0' })), stands: BESIDE },
  {
    name: 'less gas',
    tells: ofReceipt(
      () => true,
      () => ({ gasUsed: '0x1', cumulativeGasUsed: '0x1' }),
    ),
    stands: BESIDE,
  },
  {
    name: 'the receipts of another block',
    tells: changed(
      'eth_getBlockReceipts',
      async (_: unknown, _call, { chain }) => await chain.rpc('eth_getBlockReceipts', [hex(1)]),
    ),
    stands: USUAL,
  },
  {
    name: 'a single receipt of another transaction',
    tells: all(
      instead('eth_getBlockReceipts', NOT_THERE),
      changed('eth_getTransactionReceipt', (receipt: Wire) => ({
        ...receipt,
        transactionHash: other(receipt.transactionHash),
      })),
    ),
    stands: USUAL,
    isTold: false,
  },
  { name: 'receipts with a higher price', tells: price((wei) => wei * 2n), stands: MORE, isTold: false },
  { name: 'receipts with a lower price', tells: price((wei) => wei / 2n), stands: MORE, isTold: false },
  { name: 'no logs of a mint', tells: lie('the logs of a mint left out'), stands: BESIDE },
  { name: 'each log twice', tells: logs((own) => [...own, ...own]), stands: BESIDE },
  { name: 'one log more', tells: logMore, stands: BESIDE },
  {
    name: 'logs of another address',
    tells: logs((own) => own.map((log) => ({ ...log, address: other(log.address) }))),
    stands: BESIDE,
  },
  {
    name: 'logs with other topics',
    tells: logs((own) =>
      own.map((log) => ({
        ...log,
        topics: (log.topics as string[]).map((topic, at) => (at === 2 ? other(topic) : topic)),
      })),
    ),
    stands: BESIDE,
  },
  {
    name: 'logs with other data',
    tells: logs((own) => own.map((log) => ({ ...log, data: other(log.data) }))),
    stands: BESIDE,
  },
  // A header hashes without a field that its form does not know. Avalanche's headers have this one.
  {
    name: 'settledHeight and a log more',
    tells: all(
      header('settledHeight', () => '0x1'),
      logMore,
    ),
    stands: MORE,
  },
  {
    name: 'settledHeight and no logs of a mint',
    tells: all(
      header('settledHeight', () => '0x1'),
      lie('the logs of a mint left out'),
    ),
    stands: BESIDE,
  },
  {
    name: 'settledHeight and payments that failed',
    tells: all(
      header('settledHeight', () => '0x1'),
      lie('another status'),
    ),
    stands: MORE,
  },
  {
    name: 'no bloom and no logs',
    tells: all(
      header('logsBloom', () => hex(0).padEnd(514, '0')),
      logs(() => []),
    ),
    stands: ['both'],
  },
]

/** In whole receipts as in single ones. No hash covers it. */
function price(change: (wei: bigint) => bigint) {
  return ofReceipt(
    () => true,
    ({ effectiveGasPrice }) => ({ effectiveGasPrice: hex(change(BigInt(String(effectiveGasPrice)))) }),
  )
}

function logs(change: (own: Wire[]) => Wire[]) {
  return ofReceipt(hasLogs, ({ logs: own }) => ({ logs: change(own as Wire[]) }))
}

/** Every lie, by what it is about. */
/** Without proofs nothing asks for these receipts, and nothing shows that a stranger's failed call is missing. No node and no ether depends on it. */
const FOR_PROOFS = ['the receipts of another block', 'a failed call left out']
/** The line also by a provider beside an honest one on a ledger that requires no proofs. */
const inBothModes = (line: Line): Line =>
  FOR_PROOFS.includes(line.name) ? line : { ...line, stands: [...line.stands, ...WITHOUT_PROOFS] }

export const LIARS: Readonly<Record<string, readonly Line[]>> = {
  'the header': HEADER,
  'the list': LIST.map(inBothModes),
  'receipts and logs': RECEIPTS.map(inBothModes),
  ...LIARS_OF_STATE,
}
