// Calls of the command line in documents and messages, compared with the true commands.
import { findCommand, parseArguments } from '../../src/cli/arguments.ts'
import { loadCommands } from '../../src/cli/commands.ts'

export const COMMANDS = await loadCommands()

/** Calls of the command line: at the start of a line or a list's part, after variables set for it alone. */
const PROGRAM = /(?:^|[;|&(]\s*|\bdo )(?:[A-Z_]+=\S* )*(?:npx )?(?:node-)?ledger (?=[a-z-])/

/** Calls of the command line in a line of shell, each as words; several if a pipe or a substitution has one more. */
export function callsIn(line: string): string[][] {
  return line
    .split(new RegExp(PROGRAM, 'g'))
    .slice(1)
    .map((call) => wordsOf(call.split(/ (?:[|;&>]|\|\||&&|2>)/)[0] ?? ''))
}

function wordsOf(call: string): string[] {
  return (call.match(/(?:"[^"]*"|<[^>]*>|\$\([^)]*\)|[^\s"<])+/g) ?? []).map((word) => word.replaceAll('"', ''))
}

/** Why a call is none of a command that is there. `whole`: with its arguments, as typed. */
export function mistakeOf(words: string[], whole: boolean): string[] {
  const line = words.join(' ')
  const found = findCommand(words, COMMANDS)
  if (!found) {
    const isGroup = !whole && COMMANDS.some(({ name }) => name.startsWith(`${words[0]} `) && words.length === 1)
    const isHelp = words[0] === 'help' || words[0] === '--version'
    return isGroup || isHelp || words.includes('…') ? [] : [`${line}: there is no such command`]
  }
  if (whole) {
    // A shell variable stands for any of the choices.
    const rest = found.rest.map((word, i) =>
      word.startsWith('$') ? (found.command.args?.[i]?.choices?.[0] ?? word) : word,
    )
    try {
      parseArguments(found.command, rest)
      return []
    } catch (error) {
      return [`${line}: ${(error as Error).message}`]
    }
  }
  const known = { json: {}, help: {}, ...found.command.options }
  return [...line.matchAll(/--([a-z][a-z-]*)/g)]
    .filter(([, option = '']) => !Object.hasOwn(known, option))
    .map(([option]) => `${line}: there is no ${option}`)
}
