// What a header's hash commits to: a second reading of the yellow paper (4.4), of the EIPs that added fields (1559, 4895, 4844, 4788, 7685, 7928, 7843),
// of avalanchego and subnet-evm (customtypes), and of docs/THREATS.md (Providers that lie). It tries everything that the rules allow, and remembers nothing.
import {
  type Hex,
  hashOf,
  isData,
  isObject,
  itemsOf,
  numberBytes,
  numberOf,
  orName,
  orNothing,
  rlp,
  sameHex,
  type Told,
  toldOf,
  Unread,
  type Wire,
} from './items.ts'

// Choices in what the documents leave open:
// - No field says which form a header has: the hash does, among Ethereum's and those of which the answer has a field of their own.
// - The two fields of Amsterdam count among the five that may be added, because nodes show them in older headers, too.
// - A field that one form knows is not unknown in another. A form that the answer has a field of comes before Ethereum's.

const FIRST =
  'parentHash:32 sha3Uncles:32 miner:20 stateRoot:32 transactionsRoot:32 receiptsRoot:32 logsBloom:256 difficulty:number number:number ' +
  'gasLimit:number gasUsed:number timestamp:number extraData:bytes mixHash:32 nonce:8'
const CANCUN = 'blobGasUsed:number excessBlobGas:number parentBeaconBlockRoot:32'
const GRANITE = 'timestampMilliseconds:number minDelayExcess:number'
const HELICON =
  'targetExponent:number minPriceExponent:number settledHeight:number settledGasUnix:number settledGasNumerator:number settledExcess:number'

/** `added`: what forks added in turn. A header ends with any of them, and with nothing in place of one that it lacks before its end. */
const FORMS = {
  ethereum: { first: FIRST, added: `baseFeePerGas:number withdrawalsRoot:32 ${CANCUN} requestsHash:32` },
  avalanche: {
    first: `${FIRST} extDataHash:32`,
    added: `baseFeePerGas:number extDataGasUsed:number blockGasCost:number ${CANCUN} ${GRANITE} ${HELICON}`,
  },
  subnet: { first: FIRST, added: `baseFeePerGas:number blockGasCost:number ${CANCUN} ${GRANITE}` },
} as const
export type FormName = keyof typeof FORMS
export const FORM_NAMES = Object.keys(FORMS) as FormName[]

/** The fields of a header of a form, those that forks added as well. */
export const formOf = (name: FormName): string => `${FORMS[name].first} ${FORMS[name].added}`

const namesIn = (form: string) => form.split(' ').map((word) => word.split(':')[0] as string)
/** What answers have beside a header's fields. */
const BESIDE =
  'hash size totalDifficulty transactions uncles withdrawals author sealFields l1BlockNumber sendCount sendRoot milliTimestamp blockExtraData'
const KNOWN = [...FORM_NAMES.flatMap((name) => namesIn(formOf(name))), ...BESIDE.split(' ')]
const AMSTERDAM = ['blockAccessListHash', 'slotNumber']
export const ADDED_MAX = 5

export const unknownIn = (block: Wire): string[] =>
  Object.keys(block).filter((name) => block[name] != null && !KNOWN.includes(name))

/** A header's hash by a form, with unknown fields behind the known ones; null if it has none. */
export function headerHash(block: Wire, name: FormName, behind: readonly string[] = []): Hex | null {
  return orNothing(() => hashBy(block, name, behind))
}

function hashBy(block: unknown, name: FormName, behind: readonly string[] = []): Hex {
  if (!isObject(block)) throw new Unread('block')
  const added = FORMS[name].added.split(' ')
  while (added.length > 0 && block[namesIn(added.at(-1) as string)[0] as string] == null) added.pop()
  return hashOf(
    rlp([
      ...itemsOf(FORMS[name].first, block),
      ...added.map((word) =>
        block[namesIn(word)[0] as string] == null ? new Uint8Array() : (itemsOf(word, block)[0] as Uint8Array),
      ),
      ...behind.map((field) => unknownItem(block[field])),
    ]),
  )
}

/** What must be said of a header that is not proven: by the form that it has most fields of. Avalanche's needs a field that no other has. */
export function toldOfHeader(block: unknown): Told & { beside?: string } {
  const fields = Object(block) as Wire
  const isOf = { avalanche: fields.extDataHash != null, subnet: hasOwnField(fields, 'subnet') }
  const form = (['avalanche', 'subnet'] as const).find((name) => isOf[name]) ?? 'ethereum'
  const told = toldOf(
    fields.hash,
    orName(() => hashBy(block, form)),
  )
  const unknown = unknownIn(fields)
  if (told.kind !== 'contradicted' || unknown.length === 0) return told
  return { ...told, beside: `unknown fields: ${unknown.join(', ').slice(0, 200)}` }
}

/** Data has whole bytes. A quantity without leading zeros may have half of one; zero is `0x0`. */
function unknownItem(value: unknown): Uint8Array {
  if (isData(value)) return (itemsOf('it:bytes', { it: value }) as [Uint8Array])[0]
  return numberBytes(numberOf(value, 'unknown'))
}

/** The form that gives a block's hash, and the names of fields that no fork that we know added; null if the header is not proven. */
export function provenHeader(block: unknown): { form: FormName; added: string[] } | null {
  if (!isObject(block)) return null
  for (const form of FORM_NAMES.toReversed().filter((name) => name === 'ethereum' || hasOwnField(block, name)))
    for (const behind of [[], ...ordersOf(mayBeAdded(block))]) {
      const hash = headerHash(block, form, behind)
      if (hash && sameHex(block.hash, hash)) return { form, added: behind.filter((name) => !AMSTERDAM.includes(name)) }
    }
  return null
}

const hasOwnField = (block: Wire, name: FormName): boolean =>
  namesIn(formOf(name))
    .filter((field) => !namesIn(formOf('ethereum')).includes(field))
    .some((field) => block[field] != null)

/** The fields that may stand behind the known ones. Forks add fields since the base fee. */
function mayBeAdded(block: Wire): string[] {
  const unknown = unknownIn(block)
  return unknown.length > ADDED_MAX || block.baseFeePerGas == null ? [] : unknown
}

/** Every order of every subset that is not empty. */
function ordersOf(names: readonly string[]): string[][] {
  return names.flatMap((first) => {
    const rest = ordersOf(names.filter((name) => name !== first))
    return [[first], ...rest.map((order) => [first, ...order])]
  })
}
