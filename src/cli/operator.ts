// Between the command line and the operator's acts and readings: options become fields, refusals become errors with exit codes.
import type { KnownError } from '../lib/errors.ts'
import { isOperatorRefusal, type OperatorRefusal, type RefusedBecause } from '../operator/act.ts'
import { isProposed, type Proposed } from '../operator/second-person/proposed.ts'
import type { Call } from './command.ts'
import { RefusedError, UnavailableError, UsageError } from './errors.ts'

/** The error of the command line, and with it the exit code, for each reason of a refusal. */
const ERROR_OF: Readonly<Record<RefusedBecause, new (message: string) => KnownError>> = {
  invalid: UsageError,
  forbidden: RefusedError,
  notFound: RefusedError,
  conflict: RefusedError,
  notYet: UnavailableError,
  unavailable: UnavailableError,
}

/** Arguments, options and flags as the fields that acts and readings take: `--price-wei` is `priceWei`, `--at-once` is `atOnce: true`. */
export function fieldsOf({
  args,
  values,
  flags,
  command: { options = {} },
}: Pick<Call, 'args' | 'values' | 'flags' | 'command'>): Record<string, string | true> {
  const given = [...flags].filter((name) => options[name] !== undefined && !options[name].isOurs)
  const entries: [string, string | true][] = [
    ...Object.entries({ ...args, ...values }),
    ...given.map((name): [string, true] => [name, true]),
  ]
  return Object.fromEntries(entries.map(([name, value]) => [camel(name), value]))
}

/** The result; or the refusal, or that it waits for a second person, as an error of the command line, which names options as they are given here. */
export function accepted<T extends object>(
  result: T | Proposed | OperatorRefusal,
  { command }: Pick<Call, 'command'>,
): T {
  if (!isOperatorRefusal(result)) {
    if (isProposed(result))
      throw new RefusedError(`${result.proposal.says} They run "node-ledger proposals confirm ${result.proposal.id}".`)
    return result
  }
  const { because } = result
  const names = [
    ...Object.keys(command.options ?? {}).map((name) => [camel(name), `--${name}`] as const),
    ...(command.args ?? []).map(({ name }) => [camel(name), `<${name}>`] as const),
  ]
  // Only names that are no words of their own, or that stand where a field is named.
  const message = names.reduce((text, [field, name]) => {
    const ending = /[A-Z]/.test(field) ? '' : '(?= must| is required)'
    return text.replaceAll(new RegExp(`\\b${field}\\b${ending}`, 'g'), name)
  }, result.message)
  throw new ERROR_OF[because](message)
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
