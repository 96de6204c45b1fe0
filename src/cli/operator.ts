// Between the command line and the operator's acts and readings: options become fields, refusals become errors with exit codes.
import { isOperatorRefusal, type OperatorRefusal } from '../operator/act.ts'
import type { Call } from './command.ts'
import { RefusedError, UnavailableError, UsageError } from './errors.ts'

/** Options as the fields that acts and readings take: `--price-wei` is `priceWei`. */
export function fieldsOf({ args, values }: Pick<Call, 'args' | 'values'>): Record<string, string> {
  const entries = Object.entries({ ...args, ...values })
  return Object.fromEntries(entries.map(([name, value]) => [camel(name), value]))
}

/** The result, or the refusal as an error of the command line. */
export function accepted<T extends object>(
  result: T | OperatorRefusal,
  { args, values }: Pick<Call, 'args' | 'values'>,
): T {
  if (!isOperatorRefusal(result)) return result
  const { because, message } = result
  // The mistake is told by the name under which it was given.
  const names = [
    ...Object.keys(values).map((name) => [camel(name), `--${name}`]),
    ...Object.keys(args).map((name) => [camel(name), `<${name}>`]),
  ]
  const told = names.reduce(
    (text, [field, name]) => text.replaceAll(new RegExp(`\\b${field}\\b(?= must| is required)`, 'g'), name ?? ''),
    message,
  )
  if (because === 'invalid') throw new UsageError(told)
  if (because === 'unavailable' || because === 'notYet') throw new UnavailableError(told)
  throw new RefusedError(told)
}

const camel = (name: string) => name.replaceAll(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase())

/** Prints one page of a list: the whole page with --json, else its rows and how to see the next. */
export async function showPage(
  call: Call,
  page: Readonly<Record<string, unknown>>,
  asText: (rows: readonly unknown[]) => string,
): Promise<void> {
  const rows = Object.values(page).find((value): value is unknown[] => Array.isArray(value)) ?? []
  await call.out.result(page, () => (rows.length === 0 ? 'None.' : asText(rows)))
  const { nextCursor } = page
  if (typeof nextCursor === 'string') call.out.say(`There are more: add --cursor ${nextCursor}`)
}
