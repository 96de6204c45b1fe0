// Which kinds of events a receiver gets. The text form is `all`, or kinds separated by commas.
import { KINDS } from './kinds.ts'

export const ALL = 'all'
/** Kinds of events; or just `all`, which includes kinds of later versions. */
export type Choice = readonly string[]

/** The valid form, for the message about an invalid choice. */
export const CHOICE_FORM = `${ALL}, or kinds of events separated by commas: ${Object.keys(KINDS).join(', ')}`

/** Reads a choice. `unknown` lists the parts that are not a kind of event; if there are any, the choice is invalid. */
export function readChoice(text: string): { kinds: Choice; unknown: readonly string[] } {
  const kinds = [...new Set(text.split(',').map((kind) => kind.trim()))]
  const isAll = kinds.length === 1 && kinds[0] === ALL
  return { kinds, unknown: isAll ? [] : kinds.filter((kind) => !Object.hasOwn(KINDS, kind)) }
}

/** The kinds of a choice that this version knows. */
export const kindsOf = (choice: Choice): readonly string[] => (choice.includes(ALL) ? Object.keys(KINDS) : choice)

/** A choice as text. */
export const choiceText = (choice: Choice): string => choice.join(',')
