// Reads the fields of an operator's input, whether they came as JSON or from the command line. Every mistake is collected, so that
// one answer names them all. The fields that are asked for are those that an act takes; `refuseOthers` refuses the rest. Numbers may be numbers or decimal strings; amounts of wei are strings, since a JSON number loses digits.
import { checksum } from '../chain/digest.ts'
import { type Address, type Hash, UINT256_MAX, type Wei, wei } from '../domain/units.ts'
import { type Fields, type OperatorRefusal, refuseAct } from './act.ts'

/** Longest text that is kept: a sentence or two. */
const TEXT_MAX = 500
/** A body of 16 KiB holds thousands of unknown names; the first few tell enough. */
const UNKNOWN_MAX = 5
const NAME_CHARS_MAX = 40

/** Readers of one input. A reader of a missing or wrong field answers a placeholder and notes the mistake: ask `refusal` last. */
export interface FieldReader {
  text(name: string, options?: { max?: number; pattern?: RegExp; form?: string }): string
  textOrNull(name: string, options?: { max?: number; pattern?: RegExp; form?: string }): string | null
  /** A whole number between the bounds, both included. */
  whole(name: string, min: number, max: number): number
  wholeOrNull(name: string, min: number, max: number): number | null
  wei(name: string): Wei
  weiOrNull(name: string): Wei | null
  address(name: string): Address
  addressOrNull(name: string): Address | null
  hash(name: string): Hash
  hashOrNull(name: string): Hash | null
  flag(name: string): boolean
  /** Null where it is missing. */
  flagOrNull(name: string): boolean | null
  /** One of the words. */
  word<T extends string>(name: string, words: readonly [T, ...T[]]): T
  wordOrNull<T extends string>(name: string, words: readonly T[]): T | null
  /** A value of the caller's own form; `parse` answers undefined if it cannot read one. */
  value<T>(name: string, form: string, placeholder: T, parse: (value: unknown) => T | undefined): T
  /** True if the field has a value. Counts as asking for it. */
  isGiven(name: string): boolean
  /** Notes a mistake of the caller's own finding. */
  complain(problem: string): void
  /** Notes as a mistake each field that no reader was asked for. Call it after all readers. */
  refuseOthers(): void
  /** All mistakes as one refusal; null when there were none. */
  readonly refusal: OperatorRefusal | null
}

/** Begins reading an input. */
export function readFields(input: Fields): FieldReader {
  const problems: string[] = []
  const taken = new Set<string>()

  /** `parse` answers undefined for what it cannot read. A field that is absent, null or an empty text is missing. */
  function read<T>(name: string, form: string, parse: (value: unknown) => T | undefined): T | null | undefined {
    taken.add(name)
    const value = Object.hasOwn(input, name) ? input[name] : undefined
    if (value === undefined || value === null || value === '') return null
    const parsed = parse(value)
    if (parsed === undefined) problems.push(`${name} must be ${form}`)
    return parsed
  }
  function required<T>(name: string, form: string, placeholder: T, parse: (value: unknown) => T | undefined): T {
    const value = read(name, form, parse)
    if (value === null) problems.push(`${name} is required: ${form}`)
    return value ?? placeholder
  }
  const optional = <T>(name: string, form: string, parse: (value: unknown) => T | undefined): T | null =>
    read(name, form, parse) ?? null

  return {
    text: (name, options) => required(name, textForm(options), '', parseText(options)),
    textOrNull: (name, options) => optional(name, textForm(options), parseText(options)),
    whole: (name, min, max) => required(name, wholeForm(min, max), min, parseWhole(min, max)),
    wholeOrNull: (name, min, max) => optional(name, wholeForm(min, max), parseWhole(min, max)),
    wei: (name) => required(name, weiForm, wei(0n), parseWei),
    weiOrNull: (name) => optional(name, weiForm, parseWei),
    address: (name) => required(name, addressForm, '0x' as Address, parseAddress),
    addressOrNull: (name) => optional(name, addressForm, parseAddress),
    hash: (name) => required(name, hashForm, '0x' as Hash, parseHash),
    hashOrNull: (name) => optional(name, hashForm, parseHash),
    flag: (name) => required(name, flagForm, false, parseFlag),
    flagOrNull: (name) => optional(name, flagForm, parseFlag),
    word: (name, words) => required(name, wordForm(words), words[0], parseWord(words)),
    wordOrNull: (name, words) => optional(name, wordForm(words), parseWord(words)),
    value: required,
    isGiven: (name) => read(name, '', () => true) === true,
    complain: (problem) => void problems.push(problem),
    refuseOthers() {
      const unknown = Object.keys(input).filter((name) => !taken.has(name))
      if (unknown.length > 0) problems.push(unknownFields(unknown, [...taken]))
    },
    get refusal() {
      return problems.length === 0 ? null : refuseAct('invalid', `${problems.join('; ')}.`)
    },
  }
}

/** Reads the one field of an act that takes nothing but the operator's reason. */
export const readReason = (fields: FieldReader) => ({ reason: fields.textOrNull('reason') })

function unknownFields(unknown: readonly string[], taken: readonly string[]): string {
  const named = unknown.slice(0, UNKNOWN_MAX).map((name) => JSON.stringify(name.slice(0, NAME_CHARS_MAX)))
  const more = unknown.length > UNKNOWN_MAX ? ` and ${unknown.length - UNKNOWN_MAX} more` : ''
  const takes = taken.length === 0 ? 'no fields' : taken.join(', ')
  return `unknown field${unknown.length > 1 ? 's' : ''} ${named.join(', ')}${more}: this act takes ${takes}`
}

const textForm = ({ max = TEXT_MAX, form }: { max?: number; form?: string } = {}) =>
  form ?? `a text of at most ${max} characters, without line breaks or other control characters`
const parseText =
  ({ max = TEXT_MAX, pattern }: { max?: number; pattern?: RegExp } = {}) =>
  (value: unknown) =>
    typeof value === 'string' && value.length <= max && isPlain(value) && (pattern?.test(value) ?? true)
      ? value
      : undefined
const wholeForm = (min: number, max: number) => `a whole number from ${min} to ${max}`
const parseWhole = (min: number, max: number) => (value: unknown) => {
  const number = typeof value === 'string' && /^(0|[1-9][0-9]{0,15})$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= min && number <= max
    ? number
    : undefined
}
const weiForm = 'an amount of wei as a decimal string'
const addressForm = 'an address: 0x and 40 hex digits, with a right checksum where the case is mixed'
const hashForm = 'a hash: 0x and 64 hex digits'
const flagForm = 'true or false'
const wordForm = (words: readonly string[]) => `one of ${words.join(', ')}`
const parseWord =
  <T extends string>(words: readonly T[]) =>
  (value: unknown) =>
    words.find((word) => word === value)

/** No control characters: what an operator writes is shown in terminals and logs. */
const isPlain = (text: string) => !/[\p{Cc}\p{Cs}]/u.test(text)

function parseWei(value: unknown): Wei | undefined {
  if (typeof value !== 'string' || !/^(0|[1-9][0-9]{0,77})$/.test(value)) return undefined
  const amount = BigInt(value)
  return amount <= UINT256_MAX ? wei(amount) : undefined
}

function parseAddress(value: unknown): Address | undefined {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) return undefined
  const lower = value.toLowerCase() as Address
  const digits = value.slice(2)
  const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  return mixed && checksum(lower) !== value ? undefined : lower
}

const parseHash = (value: unknown): Hash | undefined =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value) ? (value.toLowerCase() as Hash) : undefined

function parseFlag(value: unknown): boolean | undefined {
  if (value === 'true') return true
  if (value === 'false') return false
  return typeof value === 'boolean' ? value : undefined
}
