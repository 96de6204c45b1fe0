// Computes a block header's hash from its JSON-RPC fields: keccak256 of their RLP, in a form that depends on chain and fork. Only what the hash
// commits to counts as proven, whatever else the provider added. Sources: yellow paper, 4.4; EIPs 1559 (London), 4895 (Shanghai), 4844 and 4788
// (Cancun), 7685 (Prague), 7928 and 7843 (Amsterdam; ethereum/execution-specs, forks/amsterdam/blocks.py has the order). These chains use Ethereum's fields: Arbitrum, the OP stack (since Isthmus with the message passer's storage root as
// `withdrawalsRoot`), Celo since it moved to the OP stack, Polygon, BSC and Linea. The forms of Avalanche are below. zkSync, Celo before its move, and
// chains of authority round hash something else. Their headers cannot be proven.
import {
  addressOf,
  attempted,
  bytesOf,
  digestOf,
  EMPTY,
  encoded,
  type Fields,
  fieldsOf,
  hashOf,
  type Item,
  quantityOf,
  rlp,
} from './items.ts'
import { compared, unprovable, type Verdict } from './verdict.ts'

type Read = (value: unknown, what: string) => Uint8Array
type Field = readonly [name: string, read: Read]

const bytes =
  (length?: number): Read =>
  (value, what) =>
    bytesOf(value, what, length)

/** The fields with which every form begins. */
const HEAD: readonly Field[] = [
  ['parentHash', digestOf],
  ['sha3Uncles', digestOf],
  ['miner', addressOf],
  ['stateRoot', digestOf],
  ['transactionsRoot', digestOf],
  ['receiptsRoot', digestOf],
  ['logsBloom', bytes(256)],
  ['difficulty', quantityOf],
  ['number', quantityOf],
  ['gasLimit', quantityOf],
  ['gasUsed', quantityOf],
  ['timestamp', quantityOf],
  ['extraData', bytes()],
]
const SEAL: readonly Field[] = [
  ['mixHash', digestOf],
  ['nonce', bytes(8)],
]

/** A form of header: the fields after HEAD, in order. The fields in `must` are required; those in `may` were added by forks. */
interface Form {
  readonly must: readonly Field[]
  readonly may: readonly Field[]
}

const CANCUN: readonly Field[] = [
  ['blobGasUsed', quantityOf],
  ['excessBlobGas', quantityOf],
  ['parentBeaconBlockRoot', digestOf],
]
/** What Amsterdam adds. Nodes show these in older headers, too, so we treat them as any field that a fork adds. */
const AMSTERDAM: readonly string[] = ['blockAccessListHash', 'slotNumber']
const ETHEREUM: Form = {
  must: SEAL,
  may: [['baseFeePerGas', quantityOf], ['withdrawalsRoot', digestOf], ...CANCUN, ['requestsHash', digestOf]],
}
/** Two more fields since Granite, and six more since Helicon (avalanchego, graft/coreth/plugin/evm/customtypes). */
const GRANITE: readonly Field[] = [
  ['timestampMilliseconds', quantityOf],
  ['minDelayExcess', quantityOf],
]
const HELICON: readonly Field[] = [
  ['targetExponent', quantityOf],
  ['minPriceExponent', quantityOf],
  ['settledHeight', quantityOf],
  ['settledGasUnix', quantityOf],
  ['settledGasNumerator', quantityOf],
  ['settledExcess', quantityOf],
]
const AVALANCHE: Form = {
  must: [...SEAL, ['extDataHash', digestOf]],
  may: [
    ...([
      ['baseFeePerGas', quantityOf],
      ['extDataGasUsed', quantityOf],
      ['blockGasCost', quantityOf],
    ] as const),
    ...[...CANCUN, ...GRANITE, ...HELICON],
  ],
}
/** Chains of Avalanche's subnet-evm. */
const SUBNET: Form = {
  must: SEAL,
  may: [['baseFeePerGas', quantityOf], ['blockGasCost', quantityOf], ...CANCUN, ...GRANITE],
}
const FORMS = [ETHEREUM, AVALANCHE, SUBNET]

/** Fields of an answer that are not part of any header. A field that is neither here nor in FORMS may belong to a form that we do not know. */
const BESIDE = new Set([
  ...['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals', 'author', 'sealFields'],
  // Additional fields of Arbitrum, BSC and Avalanche.
  ...['l1BlockNumber', 'sendCount', 'sendRoot', 'milliTimestamp', 'blockExtraData'],
])
const KNOWN = new Set([
  ...BESIDE,
  ...[...HEAD, ...FORMS.flatMap(({ must, may }) => [...must, ...may])].map(([name]) => name),
])

const has = (block: Fields, name: string) => block[name] != null

/** The forms that a block may have: those of which it has a field of their own, and Ethereum's. */
function formsOf(block: Fields): readonly Form[] {
  const isSubnet = ['blockGasCost', ...GRANITE.map(([name]) => name)].some((name) => has(block, name))
  return [...(has(block, 'extDataHash') ? [AVALANCHE] : []), ...(isSubnet ? [SUBNET] : []), ETHEREUM]
}

/** The items of the header's RLP in a form, as far as we know them. `block` is a JSON-RPC block. Throws an Unencodable. */
function itemsOf(block: Fields, { must, may }: Form): Item[] {
  const last = may.findLastIndex(([name]) => has(block, name))
  const items = [...HEAD, ...must].map(([name, read]): Item => read(block[name], name))
  // If a field is missing but a later one is there, the missing one counts as empty, as with geth's optional fields.
  const later = may.slice(0, last + 1).map(([name, read]): Item => (has(block, name) ? read(block[name], name) : EMPTY))
  return [...items, ...later]
}

/** As many fields as a fork may add without a new version of the service. */
const ADDED_MAX = 5

/** `added`: the fields that the hash covers and that no known fork adds. */
type HeaderVerdict = Verdict & { readonly added?: readonly string[] }

/**
 * Whether a block's hash is the hash of its header. A field of another form may stand beside a header, so the hash decides which form it has. If none
 * gives the hash, the verdict is that of the first form.
 */
export function proveHeader(block: unknown): HeaderVerdict {
  const verdicts: HeaderVerdict[] = []
  for (const form of formsOf(Object(block))) {
    const verdict = proveBy(form, block)
    if (verdict.kind === 'proven') return verdict
    verdicts.push(verdict)
  }
  return verdicts[0] as HeaderVerdict
}

/**
 * Whether a block's hash is the hash of its header in a form. A fork may add fields that we do not know. Nodes show fields in any order, so we try up
 * to five of them behind the known ones, in every order of every subset.
 */
function proveBy(form: Form, block: unknown): HeaderVerdict {
  const basis = attempted(() => ({ items: itemsOf(fieldsOf(block, 'block'), form) }))
  if ('why' in basis) return unprovable('header', basis.why)
  const fields = block as Fields
  const verdict = compared('header', fields.hash, hashOf(rlp(basis.items)))
  if (verdict.kind !== 'contradicted') return verdict
  const unknown = Object.keys(fields).filter((name) => has(fields, name) && !KNOWN.has(name))
  if (unknown.length === 0) return verdict
  const none = { ...verdict, beside: `unknown fields: ${unknown.join(', ').slice(0, 200)}` }
  // Forks add fields behind the base fee, so an unknown field cannot stand for it.
  if (unknown.length > ADDED_MAX || !has(fields, 'baseFeePerGas')) return none
  const hash = String(fields.hash).toLowerCase()
  const isRight = (order: readonly string[]) => {
    const bytes = encoded(() => rlp([...basis.items, ...order.map((name) => addedOf(fields[name], name))]))
    return 'bytes' in bytes && hashOf(bytes.bytes) === hash
  }
  const order = ordersOf(unknown).find(isRight)
  if (!order) return none
  const addedFields = order.filter((name) => !AMSTERDAM.includes(name))
  return { kind: 'proven', part: 'header', ...(addedFields.length > 0 && { added: addedFields }) }
}

/** Every order of every subset of the names. */
function ordersOf(names: readonly string[]): string[][] {
  return [
    [],
    ...names.flatMap((name) => ordersOf(names.filter((other) => other !== name)).map((rest) => [name, ...rest])),
  ]
}

/** The bytes of a field that we do not know: bytes as they are, a quantity without leading zeros. */
const addedOf = (value: unknown, what: string): Item =>
  String(value).length % 2 === 1 ? quantityOf(value, what) : bytesOf(value, what)

/**
 * True if this header has the receipts root and the bloom of other blocks, which it settles: Avalanche since Helicon (avalanchego#5761). Nothing then
 * proves the block's own receipts. In the forms of other chains no hash covers the field, so there it shows nothing.
 */
export function settlesOthers(block: Fields): boolean {
  if (!has(block, 'settledHeight') || !has(block, 'extDataHash')) return false
  return ![ETHEREUM, SUBNET].some((form) => proveBy(form, block).kind === 'proven')
}
