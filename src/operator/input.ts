// The kinds of fields that acts and readings take, and how to parse an input with them, whether it came as JSON or from the command line. Each field
// has its form, its purpose and its schema in one place; routes, commands and documents are made from it. We collect every mistake, so that one
// answer names them all. Numbers may be numbers or decimal strings; amounts of wei are strings, because a JSON number loses digits.
import { parseAddress } from '../chain/digest.ts'
import { type Address, type Hash, UINT256_MAX, type Wei, wei as weiOf } from '../domain/units.ts'
import { readTime } from '../lib/times.ts'
import { type Fields, type OperatorRefusal, type Problem, refuseFields } from './act.ts'

/** Longest text that we store: a sentence or two. */
const TEXT_MAX = 500
/** A body of 16 KiB can hold thousands of unknown names; the first few are enough. */
const UNKNOWN_MAX = 5
const NAME_CHARS_MAX = 40

/** A field whose value is parsed as a `T`. */
export interface Field<T = unknown> {
  /** What the field is for, in a line without a full stop. */
  readonly help: string
  /** What the value must be, in words. */
  readonly form: string
  /** Its schema in api/admin.yaml: the name of a component, or the whole schema. */
  readonly schema: string | object
  /** Placeholder of its value on the command line; null for a flag. */
  readonly value: string | null
  /** The only allowed values. */
  readonly words?: readonly string[]
  readonly required: boolean
  /** The value to use if the field is missing or wrong. */
  readonly otherwise: T
  /** Parses a value; undefined if it does not have the form. */
  readonly parse: (value: unknown) => T | undefined
  /** What exactly is wrong with a value; appended to "must be <form>". */
  readonly why?: (value: unknown) => string
}

/** The fields of an act or a reading, by name. */
export type Shape = Readonly<Record<string, Field>>

/** The parsed values of such fields. */
export type Read<S extends Shape> = { readonly [Name in keyof S]: S[Name] extends Field<infer T> ? T : never }

/** What a check across several fields may read and report. */
export interface Checking {
  readonly isGiven: (name: string) => boolean
  /** Reports a mistake. If `field` is given, `text` continues a sentence that begins with its name. Otherwise `text` is a sentence of its own. */
  readonly complain: (field: string | null, text: string, code?: Problem['code']) => void
}
export type Check<S extends Shape> = (request: Read<S>, checking: Checking) => void

/** Parses an input. A field that is absent, null or an empty text counts as missing. */
export function readInput<S extends Shape>(
  shape: S,
  input: Fields,
  { check, refuseOthers }: { check?: Check<S> | undefined; refuseOthers: boolean },
): Read<S> | OperatorRefusal {
  const problems: Problem[] = []
  const complain: Checking['complain'] = (field, text, code = 'malformed') => void problems.push({ field, code, text })
  const isGiven = (name: string) => Object.hasOwn(input, name) && input[name] != null && input[name] !== ''
  const readField = ([name, { form, required, otherwise, parse, why }]: [string, Field]) => {
    const isFit = isStorable(input[name])
    const value = isGiven(name) && isFit ? parse(input[name]) : undefined
    if (value === undefined && isGiven(name))
      complain(name, `must be ${form}${isFit ? (why?.(input[name]) ?? '') : UNFIT}`)
    if (required && !isGiven(name)) complain(name, `is required: ${form}`, 'missing')
    return [name, value === undefined ? otherwise : value]
  }
  const request = Object.fromEntries(Object.entries(shape).map(readField)) as Read<S>
  check?.(request, { isGiven, complain })
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(shape, name))
  if (refuseOthers && unknown.length > 0) complain(null, unknownFields(unknown, Object.keys(shape)), 'unknownField')
  return problems.length === 0 ? request : refuseFields(problems)
}

const UNFIT = ', without NUL characters, unpaired surrogates or members like toString'

/** False if PostgreSQL would refuse a text in it, or String() would throw. A body is shallow, so this ends. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !/[\0\p{Cs}]/u.test(value)
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return members.every(([name, inner]) => !(name in Object.prototype) && isStorable(name) && isStorable(inner))
}

function unknownFields(unknown: readonly string[], names: readonly string[]): string {
  const examples = unknown.slice(0, UNKNOWN_MAX).map((name) => JSON.stringify(name.slice(0, NAME_CHARS_MAX)))
  const more = unknown.length > UNKNOWN_MAX ? ` and ${unknown.length - UNKNOWN_MAX} more` : ''
  const takes = names.length === 0 ? 'no fields' : names.join(', ')
  return `unknown field${unknown.length > 1 ? 's' : ''} ${examples.join(', ')}${more}: this action takes ${takes}`
}

/** A field that may be left out; its value is then `otherwise`. */
export const orElse = <T, O>(field: Field<T>, otherwise: O): Field<T | O> => ({ ...field, required: false, otherwise })
export const orNull = <T>(field: Field<T>): Field<T | null> => orElse(field, null)

/** A field whose form the caller defines. */
export const ofForm = <T>(help: string, of: Omit<Field<T>, 'help' | 'required'>): Field<T> => ({
  ...of,
  help,
  required: true,
})

interface TextBounds {
  max?: number
  pattern?: RegExp
  form?: string
  schema?: string | object
  value?: string
}

/** A text without control characters, because terminals and logs show what an operator writes. */
export const text = (
  help: string,
  { max = TEXT_MAX, pattern, form, schema = { type: 'string', maxLength: max }, value = 'text' }: TextBounds = {},
): Field<string> =>
  ofForm(help, {
    schema,
    value,
    otherwise: '',
    form: form ?? `a text of at most ${max} characters, without line breaks or other control characters`,
    parse: (input) => {
      const isText = typeof input === 'string' && input.length <= max && !/[\p{Cc}\p{Cs}]/u.test(input)
      return isText && (pattern?.test(input) ?? true) ? input : undefined
    },
  })

/** A whole number between the bounds, both included. */
export const whole = (help: string, min: number, max: number, value = 'n'): Field<number> =>
  ofForm(help, {
    schema: 'WholeInput',
    value,
    otherwise: min,
    form: `a whole number from ${min} to ${max}`,
    parse: (input) => {
      const number = typeof input === 'string' && /^(0|[1-9][0-9]{0,15})$/.test(input) ? Number(input) : input
      return Number.isSafeInteger(number) && Number(number) >= min && Number(number) <= max ? Number(number) : undefined
    },
  })

/** A time, in unix seconds once it is parsed, from `least` on. */
export const time = (help: string, least = 1): Field<number> =>
  ofForm(help, {
    schema: 'TimeInput',
    value: 'time',
    otherwise: 0,
    form: 'a time like "2026-12-01 12:00", in UTC unless it has a zone, "in 2h", or unix seconds',
    parse: (input) => {
      const seconds = readTime(input, Date.now() / 1000)
      return seconds === undefined || seconds < least ? undefined : seconds
    },
  })

/** An input with its times in unix seconds, so that `in 2h` still means the same time when the input is parsed again. */
export const withTimes = (shape: Shape, input: Fields): Fields =>
  Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      const isTime = Object.hasOwn(shape, name) && shape[name]?.value === 'time'
      return [name, (isTime ? shape[name]?.parse(value) : undefined) ?? value]
    }),
  )

/** A row id, or any other number without special bounds. */
export const id = (help: string): Field<number> => ({
  ...whole(help, 1, Number.MAX_SAFE_INTEGER, 'id'),
  schema: 'Id',
})

export const wei = (help: string, value = 'wei'): Field<Wei> =>
  ofForm(help, {
    schema: 'Wei',
    value,
    otherwise: weiOf(0n),
    form: 'an amount of wei as a decimal string',
    parse: (input) => {
      if (typeof input !== 'string' || !/^(0|[1-9][0-9]{0,77})$/.test(input)) return undefined
      const amount = BigInt(input)
      return amount <= UINT256_MAX ? weiOf(amount) : undefined
    },
  })

export const address = (help: string): Field<Address> =>
  ofForm(help, {
    schema: 'AddressInput',
    value: 'address',
    otherwise: '0x' as Address,
    form: 'an address: 0x and 40 hex digits, with a correct checksum if in mixed case',
    parse: (input) => (typeof input === 'string' ? (parseAddress(input) ?? undefined) : undefined),
  })

export const hash = (help: string): Field<Hash> =>
  ofForm(help, {
    schema: 'HashInput',
    value: 'hash',
    otherwise: '0x' as Hash,
    form: 'a hash: 0x and 64 hex digits',
    parse: (input) =>
      typeof input === 'string' && /^0x[0-9a-fA-F]{64}$/.test(input) ? (input.toLowerCase() as Hash) : undefined,
  })

/** One of the words. */
export const word = <T extends string>(
  help: string,
  words: readonly T[],
  { value = 'word', schema = { type: 'string', enum: words } }: Pick<TextBounds, 'value' | 'schema'> = {},
): Field<T> =>
  ofForm<T>(help, {
    schema,
    value,
    words,
    otherwise: words[0] as T,
    form: `one of ${words.join(', ')}`,
    parse: (input) => words.find((one) => one === input),
  })

/** True or false, in any of the usual words. */
export const yesOrNo = (help: string): Field<boolean> =>
  ofForm<boolean>(help, {
    schema: 'FlagInput',
    value: 'true|false',
    words: ['true', 'false'],
    otherwise: false,
    form: 'true or false',
    parse: (input) => [true, false].find((one) => input === one || input === String(one)),
  })

/** A flag: false unless given. */
export const flag = (help: string): Field<boolean> => ({ ...orElse(yesOrNo(help), false), value: null })

/** The operator's reason: for acts that require one, and for all others. */
export const REASON_WANTED = { ...text('your reason, kept in the audit log'), schema: 'ReasonInput' }
export const REASON = orNull(REASON_WANTED)

const LIMIT_DEFAULT = 50
export const LIMIT_MAX = 200

/**
 * The fields of a long list, newest first; `cursor` is the id of the last row seen. Each page starts after the last row of the previous page, so
 * every page costs the same, however far back it is.
 */
export const PAGE = {
  limit: orElse(whole('rows, 1 to 200; 50 by default', 1, LIMIT_MAX), LIMIT_DEFAULT),
  cursor: orNull(whole('the cursor that the previous page printed', 1, Number.MAX_SAFE_INTEGER, 'cursor')),
}

/** A page: rows under their own name, and the next page's `cursor`, which is null on the last page. */
export type PageOf<T> = Record<string, T[] | string | null>

/** Makes a page from the rows read. The caller reads one more than the limit, to see whether there is another page. */
export function pageOf<T extends { id: number }>(name: string, rows: readonly T[], limit: number): PageOf<T> {
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return { [name]: page, nextCursor: last ? String(last.id) : null }
}
