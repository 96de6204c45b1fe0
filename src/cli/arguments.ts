// Parses the command line into a command and its checked arguments. Reports all mistakes together; for an unknown name it suggests the nearest known
// name. It must never repeat a possible secret, so it does not echo values.
import { parseArgs } from 'node:util'
import { editsBetween } from '../lib/edits.ts'
import type { Command, OptionSpec } from './command.ts'
import { UsageError } from './errors.ts'
import { isUnit, readAmount } from './ether.ts'

/** Options of every command. */
export const COMMON: Readonly<Record<string, OptionSpec>> = {
  json: { help: 'print the result as JSON' },
  yes: { help: 'do not ask' },
  help: { help: 'explain the command' },
}

export interface ParsedArguments {
  readonly args: Record<string, string>
  readonly values: Record<string, string>
  readonly flags: Set<string>
}

/** The command with which the line starts, and the words after it. Null if there is no such command. */
export function findCommand(
  argv: readonly string[],
  commands: readonly Command[],
): { command: Command; rest: string[] } | null {
  const words = argv.slice(0, argv.findIndex((word) => word.startsWith('-')) >>> 0)
  for (let length = Math.min(words.length, 2); length > 0; length--) {
    const command = commands.find(({ name }) => name === words.slice(0, length).join(' '))
    if (command) return { command, rest: argv.slice(length) }
  }
  return null
}

/** The name that the user probably meant; at most a third of its letters may differ. If two are equally near, the one with the same beginning. */
export function nearest(name: string, names: readonly string[]): string | null {
  const [best] = names
    .map((candidate) => ({ candidate, edits: editsBetween(name, candidate) }))
    .sort((a, b) => a.edits - b.edits || Number(b.candidate.startsWith(name)) - Number(a.candidate.startsWith(name)))
  return best && best.edits <= Math.max(1, Math.floor(best.candidate.length / 3)) ? best.candidate : null
}

/** Checks the words against the command's arguments and options. Throws a UsageError with every mistake. */
export function parseArguments(command: Command, words: readonly string[]): ParsedArguments {
  const specs = { ...command.options, ...COMMON }
  const input: ParsedArguments = { args: {}, values: {}, flags: new Set() }
  const mistakes: string[] = []
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(specs).map(([name, { value }]) => [
        name,
        { type: value ? 'string' : 'boolean', ...(name === 'help' && { short: 'h' }) } as const,
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    else if (token.kind === 'option') readOption(token, specs, input, mistakes)
  }
  // After an unknown option, an apparent argument may be its value, so further complaints would only confuse.
  if (mistakes.length === 0 && !input.flags.has('help')) readPositionals(command, positionals, input, mistakes)
  if (!input.flags.has('help')) {
    for (const [name, spec] of Object.entries(specs)) {
      if (spec.required && input.values[name] === undefined && !mistakes.some((line) => line.startsWith(`--${name}:`)))
        mistakes.push(`--${name}: is missing (${spec.help})`)
    }
  }
  if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'))
  return input
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function readOption(
  { name, rawName, value, inlineValue }: OptionToken,
  specs: Readonly<Record<string, OptionSpec>>,
  { values, flags }: ParsedArguments,
  mistakes: string[],
): void {
  const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
  if (!spec) {
    const meant = nearest(name, Object.keys(specs))
    mistakes.push(`${rawName}: there is no such option${meant ? `; did you mean --${meant}?` : ''}`)
  } else if (!spec.value) {
    if (inlineValue) mistakes.push(`--${name}: takes no value`)
    else flags.add(name)
  } else if (values[name] !== undefined) mistakes.push(`--${name}: was given twice`)
  else if (value === undefined || value === '' || (!inlineValue && value.startsWith('--')))
    mistakes.push(`--${name}: needs a value, <${spec.value}>`)
  else if (!isUnit(spec.value)) values[name] = value
  else {
    const amount = readAmount(value, spec.value)
    if (amount === null) mistakes.push(`--${name}: is a whole number of ${spec.value}, or has a unit: 0.1ether, 5gwei`)
    else values[name] = amount
  }
}

function readPositionals(
  command: Command,
  words: readonly string[],
  { args }: ParsedArguments,
  mistakes: string[],
): void {
  const specs = command.args ?? []
  for (const [index, { name, help, choices, optional }] of specs.entries()) {
    const word = words[index]
    if (word === undefined) {
      if (!optional) mistakes.push(`<${name}>: is missing (${help})`)
    } else if (choices && !choices.includes(word)) mistakes.push(`<${name}>: is one of ${choices.join(', ')}`)
    else args[name] = word
  }
  if (words.length > specs.length)
    mistakes.push(
      `${words.length - specs.length} ${words.length - specs.length === 1 ? 'word' : 'words'} too many: the command takes ${specs.length === 0 ? 'options only' : specs.map(({ name }) => `<${name}>`).join(' ')}`,
    )
}
