// The form of an act's dialog: its fields, what they send, and which of them a refusal is about.
import type { components } from '../../../api/admin.ts'
import { plainEther } from '../format.ts'
import { weiOf } from './amounts.ts'

/** A field of the dialog; its text goes into the body under `name` unless it is empty. */
export interface ActField<Name extends string = string> {
  name: Name
  label: string
  required?: boolean
  placeholder?: string
  value?: string
  choices?: readonly (readonly [value: string, label: string])[]
  /** Written in ether and sent in wei, which is echoed. */
  ether?: boolean
  /** What it is at present, as the field has it. Sent only where it is another then. */
  was?: string
  /** From the text to what the route takes. */
  read?: (text: string) => unknown
}

/** Texts by the name of their field. */
export type Filled = Readonly<Record<string, string>>

const REASON: ActField = { name: 'reason', label: 'Reason, for the audit log', placeholder: 'may be left out' }

/** Adds the reason, which every act takes. */
export const withReason = (fields: readonly ActField[]): readonly ActField[] =>
  fields.some(({ name }) => name === 'reason') ? fields : [...fields, REASON]

/** A field of an amount that the operator can change, filled in with the present one. */
export const amountWas = (wei: bigint): { ether: true; was: string } => ({ ether: true, was: plainEther(wei) })

/** What the route takes of what is filled in, and the fields that cannot be read. What is as it was is left out. */
export function readForm(
  fields: readonly ActField[],
  given: Filled,
): { values: Record<string, unknown>; wrong: Filled } {
  const values: Record<string, unknown> = {}
  const wrong: Record<string, string> = {}
  for (const { name, label, ether, was, read } of fields) {
    const text = (given[name] ?? '').trim()
    if (text === '' || text === was) continue
    const wei = ether ? weiOf(text) : null
    if (ether && wei === null) wrong[name] = `${label} must be an amount like 0.01, with at most 18 decimals.`
    else values[name] = ether ? String(wei) : read ? read(text) : text
  }
  return { values, wrong }
}

/** What the service says is wrong: with a field, after whose name `text` goes on, or by itself. */
export type Problem = components['schemas']['Problem']
/** An error with what the service says is wrong; without it the request failed otherwise. */
export type RefusedAct = Error & { readonly problems?: readonly Problem[] }

/** Sorts the problems that the service names by the fields that they are about; the rest is null if there is none. */
export function problemsOf(error: RefusedAct, fields: readonly ActField[]): { byField: Filled; rest: Error | null } {
  const byField: Record<string, string> = {}
  const rest: string[] = []
  for (const { field: name, text } of error.problems ?? []) {
    const field = fields.find((one) => one.name === name)
    if (field) byField[field.name] = `${field.label} ${text}.`
    else rest.push(name === null ? text : `${name} ${text}`)
  }
  if (Object.keys(byField).length === 0) return { byField, rest: error }
  return { byField, rest: rest.length === 0 ? null : new Error(`${rest.join('; ')}.`) }
}
