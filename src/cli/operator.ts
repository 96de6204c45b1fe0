// Connects the command line with the operator's acts and readings. Each declares a command; options become fields, and refusals become errors with
// exit codes.
import type { KnownError } from '../lib/errors.ts'
import {
  type EveryPart,
  type Fields,
  isOperatorRefusal,
  isProposed,
  type LedgerPart,
  type OperatorRefusal,
  type Proposed,
  type RefusedBecause,
  sentenceOf,
} from '../operator/act.ts'
import { type CommandTexts, type Operation, resultLine } from '../operator/define-act.ts'
import { type Field, withTimes } from '../operator/input.ts'
import { type Call, type Command, DRY_RUN, EXIT, type ExitCode, type OptionSpec, type Run } from './command.ts'
import { actorHere, withLedger } from './database.ts'
import { RefusedError, UnavailableError, UsageError, WaitsError } from './errors.ts'
import { mustAgree, outline, preview, tableOf } from './output.ts'

/** What a command does in addition to its act or reading, or in place of it. */
// biome-ignore lint/suspicious/noExplicitAny: each view knows the parts and the result of its own
export interface View<Parts = any, Result = any> extends Partial<CommandTexts> {
  /** Options that are not fields. */
  readonly options?: Readonly<Record<string, OptionSpec>>
  /** Fields that the command always gives. */
  readonly fixed?: Fields
  /** Runs before the act's preview, to show what the preview lacks. @returns further fields. */
  readonly first?: (parts: Parts, input: Fields, call: Call) => Promise<Fields | null> | Fields | null
  /** True if a previewed result changes nothing, so that there is no question. Default: its `changed` is false. */
  readonly isNothing?: (result: Result) => boolean
  /** The result as text for people. `outcome`: the act's own line. */
  readonly text?: (result: Result, outcome: string) => string
  /** Runs after the result is printed. */
  readonly last?: (call: Call, result: Result) => Promise<void>
  /** Replaces everything above. */
  readonly run?: Run
}

/** The command of an act or a reading. */
export function commandOf(operation: Operation, view: View = {}): Command {
  const { fields, path } = operation
  const texts: CommandTexts = { ...operation, ...view }
  const { command: name = '', group = 'decide', summary, details, examples = [], leavesOut = [] } = texts
  const args = texts.args ?? [...(path ?? '').matchAll(/:(\w+)/g)].map(([, param = '']) => param)
  const optionFields = Object.entries(fields).filter(
    ([field]) => ![...args, ...leavesOut, 'dryRun', ...Object.keys(view.fixed ?? {})].includes(field),
  )
  return {
    name,
    group,
    summary,
    ...(details !== undefined && { details }),
    args: args.map((field) => ({ name: kebab(field), help: fields[field]?.help ?? '' })),
    options: {
      ...Object.fromEntries(optionFields.map(([field, of]) => [kebab(field), optionOf(of)])),
      ...view.options,
      ...(texts.asks !== undefined && DRY_RUN),
    },
    examples: examples.map((example) => `node-ledger ${example}`),
    load: async () => view.run ?? ((call) => runAs(operation, view, call)),
  }
}

const optionOf = ({ help, value, required: isRequired }: Field): OptionSpec => ({
  help,
  ...(value !== null && { value }),
  ...(isRequired && { required: isRequired }),
})

/** The view of an act whose result is its line. */
export const LINE: View = { text: (_result, outcome) => outcome }

/** Runs an act or a reading as its command does. */
export async function runAs(of: Operation, view: View, call: Call): Promise<ExitCode> {
  const operation = { ...of, ...view } as Operation & View
  const { asks, otherwise, first, fixed: fixedFields, last } = operation
  const { withOperator } = operation.onChain ? await import('./chain.ts') : { withOperator: withLedger }
  return await withOperator(call.io, async (parts: LedgerPart) => {
    const fields = withTimes(operation.fields, { ...fieldsOf(call, operation.options), ...fixedFields })
    const input = { ...fields, ...(await first?.(parts, fields, call)) }
    if (asks !== undefined) {
      if (await isPreviewAll(operation, parts, input, call)) return EXIT.done
      await mustAgree(call, typeof asks === 'string' ? asks : asks(input), otherwise)
    }
    const result = accepted(await operation.call(parts as EveryPart, actorHere(), input), call)
    await call.out.result(result, () => textOf(operation, result))
    await last?.(call, result)
    if ('nextCursor' in result && result.nextCursor !== null)
      call.out.say(`There are more: add --cursor ${result.nextCursor}`)
    return EXIT.done
  })
}

function textOf(operation: Operation & View, result: object): string {
  const { kind, columns, text } = operation
  const outcome = resultLine(operation, result)
  if (text) return text(result, outcome)
  const rows = columns && firstList(result)
  if (rows) return rows.length === 0 ? 'None.' : tableOf(rows, columns)
  // The outcome already shows what `says` has.
  const { changed: _changed, says: _says, ...record } = result as { changed?: boolean; says?: string }
  return kind === 'act' || outcome === '' ? [outcome, outline(record)].join('\n').trim() : outcome
}

/** Shows what the act would do. @returns true if that is all: on a dry run, or if nothing would change. */
export async function isPreviewAll(
  operation: Operation & View,
  parts: LedgerPart,
  input: Fields,
  call: Call,
): Promise<boolean> {
  const isDry = call.flags.has('dry-run')
  // With --yes there is no question, so the outcome comes first.
  if (call.flags.has('yes') && !isDry) return false
  const { result, text } = await previewOf(operation, parts, input, call)
  const isNothing = operation.isNothing?.(result) ?? ('changed' in result && result.changed === false)
  if (!isDry && !isNothing) {
    preview(call, text)
    return false
  }
  await call.out.result({ ...result, dryRun: true, says: text }, text)
  return true
}

/** What the act would do, or the error of its refusal. */
export async function previewOf(operation: Operation, parts: LedgerPart, input: Fields, call: Call) {
  // The chain is there if the act needs it: the command then has opened it.
  const { result, text, waits } = accepted(await operation.preview(parts as EveryPart, actorHere(), input), call)
  return { result, text: waits ? `${text}\n${WAITS}` : text }
}

const WAITS = 'It needs a second person: it becomes a proposal, which they confirm.'

const firstList = (result: object) => Object.values(result).find((value): value is unknown[] => Array.isArray(value))

/** The command line's error, and so its exit code, for each reason of a refusal. */
const ERROR_OF: Readonly<Record<RefusedBecause, new (message: string) => KnownError>> = {
  invalid: UsageError,
  forbidden: RefusedError,
  notFound: RefusedError,
  conflict: RefusedError,
  notYet: UnavailableError,
  unavailable: UnavailableError,
}

/**
 * Arguments, options and flags as the fields that acts and readings take: `--price-wei` is `priceWei`, `--immediately` is `immediately: true`. Leaves out the
 * command's `own` options, which are no fields.
 */
export function fieldsOf(
  { args, values, flags, command: { options = {} } }: Pick<Call, 'args' | 'values' | 'flags' | 'command'>,
  own: View['options'] = {},
): Record<string, string | true> {
  const flagNames = [...flags].filter((name) => options[name] !== undefined && !options[name].isOurs)
  const entries: [string, string | true][] = [
    ...Object.entries({ ...args, ...values }).filter(([name]) => own[name] === undefined),
    ...flagNames.map((name): [string, true] => [name, true]),
  ]
  return Object.fromEntries(entries.map(([name, value]) => [camel(name), value]))
}

/**
 * Returns the result of an act. Throws if the act was refused or waits for a second person; the message has the field names that people use here.
 */
export function accepted<T extends object>(
  result: T | Proposed | OperatorRefusal,
  { command: { options = {}, args = [] } }: Pick<Call, 'command'>,
): T {
  if (!isOperatorRefusal(result)) {
    if (isProposed(result)) throw new WaitsError(result)
    return result
  }
  const nameOf = (field: string) => {
    const name = kebab(field)
    if (args.some((one) => one.name === name)) return `<${name}>`
    const option = options[name] ? name : Object.keys(options).find((one) => options[one]?.holds === field)
    return option === undefined ? field : `--${option}`
  }
  throw new ERROR_OF[result.because](sentenceOf(result.problems, nameOf))
}

const camel = (name: string) => name.replaceAll(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase())
const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
