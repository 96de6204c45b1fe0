// Changes answers as a liar, an odd client or a fork may: one field at any depth, or one item of a list.
import { isData, isObject, type Wire } from '../../models/proofs/items.ts'

export type Dice = (bound: number) => number
export const one = <T>(dice: Dice, of: readonly T[]): T => of[dice(of.length)] as T

const digits = (dice: Dice, length: number): string => Array.from({ length }, () => dice(16).toString(16)).join('')
/** Names that mean something somewhere, for fields that are added and renamed. */
const NAMES = [
  ...[
    'extDataHash',
    'blockGasCost',
    'timestampMilliseconds',
    'settledHeight',
    'extDataGasUsed',
    'requestsHash',
    'slotNumber',
    'blockAccessListHash',
  ],
  ...[
    'baseFeePerGas',
    'withdrawalsRoot',
    'blobGasUsed',
    'mixHash',
    'sendRoot',
    'l1BlockNumber',
    'fieldOfAFork',
    'another',
    'third',
    '__proto__',
  ],
  ...[
    'type',
    'v',
    'yParity',
    'chainId',
    'data',
    'input',
    'maxFeePerGas',
    'accessList',
    'mint',
    'feeCurrency',
    'status',
    'root',
    'baseFee',
  ],
  ...['depositNonce', 'depositReceiptVersion', 'logs', 'from', 'gas', 'gasUsed', 'constructor'],
]
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const ODD: readonly unknown[] = [
  '',
  '0x',
  '0x0',
  '0X0',
  '0xzz',
  '0x1 ',
  0,
  1,
  -1,
  1.5,
  true,
  false,
  [],
  {},
  [null],
  [{}],
  ['0x'],
  ['0x1'],
  '1',
  'null',
]

/** Another value for a field. */
function changed(dice: Dice, value: unknown): unknown {
  if (typeof value !== 'string' || dice(6) === 0)
    return one(dice, [...ODD, `0x${digits(dice, dice(80))}`, `0x${'f'.repeat(64)}`])
  const at = 2 + dice(Math.max(1, value.length - 2))
  const body = value.slice(2)
  const bit = (Number.parseInt(value[at] ?? '0', 16) ^ (1 << dice(4))).toString(16)
  return one(dice, [
    ...[`${value.slice(0, at)}${bit}${value.slice(at + 1)}`, `${value.slice(0, at)}${value.slice(at + 1)}`],
    ...[
      `0x${body.toUpperCase()}`,
      value.toUpperCase(),
      `0x0${body}`,
      `0x00${body}`,
      body,
      `0x1${body}`,
      `${value}00`,
      `${value}0`,
      `x${value}`,
      value,
    ],
  ])
}

/** A value of a kind, as the forms of the second reading name them. */
function valueBy(dice: Dice, kind: string): unknown {
  const data = (length: number) => `0x${digits(dice, 2 * length)}`
  const listOf = (item: () => unknown) => Array.from({ length: dice(3) }, item)
  const number = () => one(dice, ['0x0', '0x1', '0x7f', `0x1${digits(dice, dice(40))}`, `0x${'f'.repeat(64)}`])
  if (kind === 'number') return number()
  if (kind === 'maybeNumber') return dice(2) ? number() : null
  if (kind === 'maybe20') return dice(3) ? data(20) : null
  if (kind === 'bytes') return data(dice(40))
  if (kind === 'flag') return dice(2) === 0
  if (kind === 'hashes') return listOf(() => data(32))
  if (kind === 'accesses') return listOf(() => objectBy(dice, 'address:20 storageKeys:hashes'))
  if (kind === 'logs') return listOf(() => objectBy(dice, 'address:20 topics:hashes data:bytes'))
  const authorization = 'chainId:number address:20 nonce:number yParity:number r:number s:number'
  if (kind === 'authorizations') return [objectBy(dice, authorization), ...listOf(() => objectBy(dice, authorization))]
  return data(Number(kind))
}

/** An object by a form of the second reading. */
export const objectBy = (dice: Dice, form: string): Wire =>
  Object.fromEntries(
    form.split(' ').map((word) => {
      const [name, kind] = word.split(':') as [string, string]
      return [name, valueBy(dice, kind)]
    }),
  )

/** An object with each of its fields in turn as no answer should have it, and changed at any depth. */
export function* withEachField(dice: Dice, given: Wire): Generator<Wire> {
  for (const name of Object.keys(given)) {
    const { [name]: value, ...rest } = given
    yield rest
    for (const odd of [null, 7, '', '0xzz', `0x${'1'.repeat(65)}`, ['0x1'], changed(dice, value)])
      yield { ...given, [name]: odd }
    if (isObject(value) || Array.isArray(value))
      for (let left = 6; left > 0; left--) yield { ...given, [name]: mutated(dice, value, [given]) }
  }
}

/** A copy of an object with one of its fields changed, at any depth. `others` has objects like it. */
export function withMutatedField(dice: Dice, given: Wire, others: readonly Wire[]): Wire {
  const names = Object.keys(given)
  const name = one(dice, names)
  const value = given[name]
  if ((isObject(value) || Array.isArray(value)) && dice(4) > 0)
    return { ...given, [name]: mutated(dice, value, others) }
  const { [name]: _, ...rest } = given
  const other = one(dice, names)
  return one<() => Wire>(dice, [
    () => ({ ...given, [name]: changed(dice, value) }),
    () => ({ ...given, [name]: changed(dice, value) }),
    () => rest,
    () => ({ ...given, [name]: null }),
    () => ({ ...rest, [dice(2) ? one(dice, NAMES) : `${name}s`]: value }),
    () => ({ ...given, [one(dice, NAMES)]: `0x${digits(dice, one(dice, [1, 2, 3, 8, 40, 64]))}` }),
    () => ({ ...given, [name]: given[other], [other]: value }),
    () => ({ ...given, [name]: one(dice, others)[name] }),
  ])()
}

/** A copy of a list with one item dropped, doubled, moved, taken from elsewhere or changed. */
export function withMutatedItem(dice: Dice, given: readonly unknown[], others: readonly unknown[]): unknown[] {
  const at = dice(given.length)
  const item = given[at]
  const elsewhere = others.length > 0 ? one(dice, others) : null
  if (given.length === 0) return [elsewhere]
  return one<() => unknown[]>(dice, [
    () => given.toSpliced(at, 1),
    () => given.toSpliced(at, 0, item),
    () => given.with(at, one(dice, given)).with(dice(given.length), item),
    () => given.with(at, elsewhere),
    () => given.toSpliced(one(dice, [at, given.length]), 0, elsewhere),
    () => given.with(at, one(dice, ODD)),
    ...Array.from(
      { length: 6 },
      () => () =>
        given.with(
          at,
          isObject(item) || Array.isArray(item) ? mutated(dice, item, objectsIn(others)) : changed(dice, item),
        ),
    ),
  ])()
}

const objectsIn = (list: readonly unknown[]): Wire[] => (list.some(isObject) ? list.filter(isObject) : [{}])

export const mutated = (dice: Dice, value: Wire | readonly unknown[], others: readonly unknown[]): unknown =>
  isObject(value) ? withMutatedField(dice, value, objectsIn(others)) : withMutatedItem(dice, value as unknown[], others)

/** A transaction with another type, or a signature that was altered in a way that leaves it one. */
export function withMutatedSignature(dice: Dice, tx: Wire, types: readonly number[]): Wire {
  const word = (value: bigint) => `0x${value.toString(16)}`
  const number = (value: unknown) =>
    isData(value) || typeof value === 'string' ? BigInt(/^0x[0-9a-f]+$/i.test(value) ? value : 0) : 0n
  const parity = number(tx.v) > 34n ? (number(tx.v) - 35n) % 2n : number(tx.v) % 27n
  return one<() => Wire>(dice, [
    () => ({ ...tx, type: word(BigInt(one(dice, [...types, 0x55, 0x7f, 0x80, 0xf8, 0x100 + one(dice, types)]))) }),
    () => ({
      ...tx,
      s: word(ORDER - number(tx.s)),
      v: word(number(tx.v) ^ 1n),
      yParity: word(1n - (number(tx.yParity) % 2n)),
    }),
    () => ({ ...tx, v: word(parity) }),
    () => ({ ...tx, v: word(BigInt(one(dice, [2, 26, 27, 28, 29, 34, 35, 36]))) }),
    () => ({ ...tx, r: one(dice, ['0x0', '0x00', '0x', tx.r]), s: one(dice, ['0x0', '0x00', '0x', tx.s]) }),
    () => ({ ...tx, v: word(parity), chainId: null }),
    () => ({ ...tx, v: word(parity + 27n), yParity: null }),
    () => ({ ...tx, yParity: word(parity + 27n) }),
    () => ({ ...tx, r: one(dice, ['0x0', word(ORDER), word(ORDER + 1n), word(number(tx.r) ^ 1n)]) }),
    () => ({ ...tx, s: one(dice, ['0x0', word(ORDER), word(ORDER / 2n), word(number(tx.s) ^ 1n)]) }),
    () => ({ ...tx, r: null, s: null, v: null }),
  ])()
}

const numberIn = (value: unknown): number =>
  isData(value) || /^0x[0-9a-f]{1,6}$/i.test(String(value)) ? Number(value) % 256 : 0

/** A receipt with another type or outcome. */
export function withMutatedOutcome(dice: Dice, receipt: Wire, types: readonly number[]): Wire {
  const { status, root, ...rest } = receipt
  return one<() => Wire>(dice, [
    () => ({
      ...receipt,
      type: `0x${(one(dice, [0, 256, 512]) + one(dice, [numberIn(receipt.type), one(dice, [...types, 0x55, 0x78, 0x80])])).toString(16)}`,
    }),
    () => ({ ...rest, status: one(dice, [root, '0x2', '0x01', '0x00', null]), root: one(dice, [root, status, null]) }),
    () => ({ ...receipt, depositNonce: '0x7', depositReceiptVersion: one(dice, ['0x1', null]), type: '0x7e' }),
    () => ({ ...receipt, baseFee: one(dice, ['0x7', '0x0', null]), type: '0x7b' }),
  ])()
}

export const STATE_SYNC: Wire = {
  ...{
    from: `0x${'0'.repeat(40)}`,
    to: `0x${'0'.repeat(40)}`,
    gas: '0x0',
    gasPrice: '0x0',
    value: '0x0',
    nonce: '0x0',
  },
  ...{ input: '0x', type: '0x0', v: '0x0', r: '0x0', s: '0x0' },
}
export const STATE_SYNC_RECEIPT: Wire = {
  ...{
    from: STATE_SYNC.from,
    to: STATE_SYNC.to,
    gasUsed: '0x0',
    cumulativeGasUsed: '0x0',
    status: '0x1',
    type: '0x0',
    logs: [],
  },
}
