// The form of an act's dialog: its fields, the body that it sends, and which field an error belongs to.
import type { components } from '../../../api/admin.ts'
import { weiOf } from './amounts.ts'

/** A field of the dialog. Its text goes into the body under `name` unless it is empty. */
export interface ActField {
  name: string
  label: string
  required?: boolean
  placeholder?: string
  /** Under the label: what is good to know before filling it in. */
  hint?: string
  /** Another field, and the text that this one suggests of it until the operator changes that. */
  follows?: readonly [name: string, suggests: (text: string) => string]
  value?: string
  choices?: readonly (readonly [value: string, label: string])[]
  /** True if the field is entered in ether and sent in wei; the dialog then also shows the wei. */
  ether?: boolean
  /** True for a text of several lines. */
  lines?: boolean
  /** The current value as the field's text. The form sends the field only if it differs. */
  was?: string
}

/** The entered texts by field name. */
export type Filled = Readonly<Record<string, string>>

/** What an act declares about a field. */
interface Declared {
  help: string
  value: string | null
  required: boolean
  words?: readonly string[]
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
const WORDS: Filled = { true: 'yes', false: 'no' }
const PLACEHOLDERS: Filled = {
  wei: '0.01',
  address: '0x…',
  hash: '0x…',
  list: 'a, b',
  rows: '0x…,1',
  time: '2026-12-01T12:00Z, in 2h',
}

/**
 * The fields that an act declares, without those already given. With `names`, only these fields and the reason. `more` adds what only the page knows.
 */
export function fieldsOf(
  declarations: Readonly<Record<string, Declared>>,
  body: object,
  names: readonly string[] | undefined,
  more: Readonly<Record<string, Partial<ActField> | undefined>>,
): ActField[] {
  return Object.entries(declarations)
    .filter(([name]) => !(name in body) && (name === 'reason' || (names?.includes(name) ?? true)))
    .map(([name, field]) => ({ ...fieldOf(name, field), ...more[name] }))
}

function fieldOf(name: string, { help, value, required, words }: Declared): ActField {
  const [ether, placeholder] = [value === 'wei', PLACEHOLDERS[value ?? '']]
  const own = value === null ? [['true', 'yes'] as const] : words?.map((word) => [word, WORDS[word] ?? word] as const)
  const none = ['', value === null ? 'no' : 'unchanged'] as const
  return {
    name,
    label: `${capital(help.replace(/^(its|your) /, ''))}${ether ? ', in ETH' : ''}`,
    required,
    ether,
    ...(value === 'rows' && { lines: true }),
    ...(own && { choices: required ? own : [none, ...own] }),
    ...(placeholder && { placeholder }),
  }
}

/** The texts once a field has a new one. What follows it changes with it, unless the operator has changed that. */
export function filledIn(fields: readonly ActField[], texts: Filled, name: string, text: string): Filled {
  const followers = fields.flatMap(({ name: follower, follows: [leader, suggests] = ['', String] }) => {
    const isUntouched = leader === name && (texts[follower] ?? '') === suggests(texts[name] ?? '')
    return isUntouched ? [[follower, suggests(text)] as const] : []
  })
  return { ...texts, [name]: text, ...Object.fromEntries(followers) }
}

/** Reads the form into the route's body, and lists the fields it cannot parse. Leaves out unchanged fields. */
export function readForm(
  fields: readonly ActField[],
  texts: Filled,
): { values: Record<string, unknown>; wrong: Filled } {
  const values: Record<string, string> = {}
  const wrong: Record<string, string> = {}
  for (const { name, ether, was } of fields) {
    const text = (texts[name] ?? '').trim()
    if (text === '' || text === was) continue
    const wei = ether ? weiOf(text) : null
    if (ether && wei === null) wrong[name] = 'Must be an amount like 0.01, with at most 18 decimals.'
    else values[name] = ether ? String(wei) : text
  }
  return { values, wrong }
}

/** An error that the service reports, about a field or about the whole form. */
export type Problem = components['schemas']['Problem']
/** An error with the problems that the service reports. If it has none, the request failed for another reason. */
export type RefusedAct = Error & { readonly problems?: readonly Problem[] }

/** Sorts the service's problems by field. `rest` has the problems without a field; null if there are none. */
export function problemsOf(error: RefusedAct, fields: readonly ActField[]): { byField: Filled; rest: Error | null } {
  const byField: Record<string, string> = {}
  const rest: string[] = []
  for (const { field: name, text } of error.problems ?? []) {
    const field = fields.find((one) => one.name === name)
    if (field) byField[field.name] = `${capital(text)}.`
    else rest.push(name === null ? text : `${name} ${text}`)
  }
  if (Object.keys(byField).length === 0) return { byField, rest: error }
  return { byField, rest: rest.length === 0 ? null : new Error(`${rest.join('; ')}.`) }
}
