// Runs one command line: finds the command, checks its arguments, runs it, and turns any error into one message and an
// exit code. It shows no stack trace unless LOG_LEVEL asks for one.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { databaseFault } from '../db/core/faults.ts'
import { within } from '../lib/deadline.ts'
import { type ErrorKind, KnownError } from '../lib/errors.ts'
import { fileFault } from '../lib/files.ts'
import { ChainFault } from '../ports/faults.ts'
import { findCommand, nearest, parseArguments } from './arguments.ts'
import { type Command, EXIT, type ExitCode } from './command.ts'
import { loadCommands } from './commands.ts'
import { UsageError, WaitsError } from './errors.ts'
import { commandHelp, overview, usageLine } from './help.ts'
import type { Io } from './io.ts'
import { createOutput, type Output } from './output.ts'

const EXIT_OF: Readonly<Record<ErrorKind, ExitCode>> = {
  usage: EXIT.usage,
  refused: EXIT.negative,
  retryable: EXIT.unavailable,
  // If settings do not match now, they will not match at the next call either.
  fatal: EXIT.usage,
}
const HELP: readonly string[] = ['--help', '-h']
/** How long an interrupted command may take to clean up. */
const INTERRUPTED_MS = 2_000

/** Runs the words after `node-ledger`. Resolves with the exit code; throws nothing. `interrupt` aborts on Ctrl-C. */
export async function runCli(argv: readonly string[], io: Io, interrupt = new AbortController()): Promise<ExitCode> {
  const json = argv.includes('--json')
  const out = createOutput(io, json)
  const [first = ''] = argv
  if (first === 'help' || HELP.includes(first)) return help(argv.slice(1), io, out)
  if (first === '--version') {
    await out.result({ version: version() }, version())
    return EXIT.done
  }
  const match = findCommand(argv, await loadCommands(first))
  if (!match)
    return argv.some((word) => HELP.includes(word)) ? help(argv, io, out) : failed(out, EXIT.usage, await unknown(argv))
  const { command, rest } = match
  try {
    const input = parseArguments(command, rest)
    if (input.flags.has('help')) return help(command.name.split(' '), io, out)
    const run = await command.load()
    const ctrlC = { signal: interrupt.signal, interrupt: () => interrupt.abort() }
    const running = run({ ...input, command, commands: loadCommands, io, out, ...ctrlC })
    return command.longRunning ? await running : await orInterrupted(running, interrupt.signal, out.say)
  } catch (error) {
    if (error instanceof WaitsError) {
      await out.result(error.proposed, error.message)
      return EXIT.waits
    }
    const { code, message } = explain(error, command, io.env)
    return failed(out, code, message)
  }
}

/** Reports an error to the person and, with --json, to a script. */
async function failed(out: Output, code: ExitCode, message: string): Promise<ExitCode> {
  out.say(message)
  if (out.json) await out.result({ error: message, exitCode: code }, '')
  return code
}

async function orInterrupted(
  running: Promise<ExitCode>,
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<ExitCode> {
  const interruption = new Promise<ExitCode>((resolve) => {
    signal.addEventListener('abort', () => {
      say('Interrupted.')
      const settlement = running.catch(() => {})
      void within(INTERRUPTED_MS, settlement, () => {}).then(() => resolve(EXIT.interrupted))
    })
  })
  return await Promise.race([
    interruption,
    running.catch((error) => (signal.aborted ? interruption : Promise.reject(error))),
  ])
}

async function help(words: readonly string[], io: Io, out: Output): Promise<ExitCode> {
  const names = words.filter((word) => !word.startsWith('-'))
  const commands = await loadCommands(names[0])
  if (names.length === 0) {
    io.stdout.write(`${overview(commands)}\n`)
    return EXIT.done
  }
  const match = findCommand(names, commands)
  const group = commands.filter(({ name }) => name.startsWith(`${names[0]} `))
  if (match) io.stdout.write(`${commandHelp(match.command)}\n`)
  else if (group.length > 0 && names.length === 1) io.stdout.write(`${group.map(commandHelp).join('\n\n\n')}\n`)
  else return failed(out, EXIT.usage, await unknown(names))
  return EXIT.done
}

/** The message for an unknown command, with the nearest name; without any words, the overview. */
async function unknown(argv: readonly string[]): Promise<string> {
  const commands = await loadCommands()
  const words = argv.filter((word) => !word.startsWith('-'))
  const [first] = words
  if (first === undefined) return overview(commands)
  if (argv[0] !== first) return 'The command comes first, its options after it: node-ledger <command> [options]'
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (group.length > 0) return `Choose one:\n${group.map((command) => `  ${usageLine(command)}`).join('\n')}`
  const names = commands.map(({ name }) => name)
  const meant = nearest(words.slice(0, 2).join(' '), names) ?? nearest(first, names)
  return `There is no command ${JSON.stringify(first.slice(0, 40))}${meant ? `; did you mean "${meant}"?` : '.'}
"node-ledger help" lists all of them.`
}

/** Turns any error into one message and an exit code. */
function explain(error: unknown, command: Command, env: NodeJS.ProcessEnv): { code: ExitCode; message: string } {
  const { message, name, stack } = error instanceof Error ? error : new Error(String(error))
  if (error instanceof UsageError) return { code: EXIT.usage, message: `${message}\n\nUsage: ${usageLine(command)}` }
  if (error instanceof ChainFault) return { code: EXIT.unavailable, message: `The chain did not answer: ${message}.` }
  if (error instanceof KnownError) {
    const trouble = error.retryable ? 'The chain could not be read' : 'The settings do not match the chain'
    return {
      code: EXIT_OF[error.kind],
      message: error.reasons ? [`${trouble}:`, ...error.reasons].join('\n') : message,
    }
  }
  const fault = databaseFault(error)
  if (fault) return { code: EXIT.unavailable, message: `The database ${fault.says}: ${message}. ${fault.remedy}` }
  const file = fileFault(error)
  if (file)
    return { code: EXIT.negative, message: `${file.path} cannot be used: ${file.why}.${remedyOf(file.path, env)}` }
  const { LOG_LEVEL } = env
  const detail = /^(debug|trace)$/.test(LOG_LEVEL ?? '') ? (stack ?? message) : `${name}: ${message}`
  return {
    code: EXIT.fault,
    message: `node-ledger ${command.name} failed with an unexpected error:\n  ${detail}\nPlease report it; LOG_LEVEL=debug shows where it happened.`,
  }
}

/** What to do about a file that is in the data directory. */
function remedyOf(path: string, { DATA_DIR }: NodeJS.ProcessEnv): string {
  const directory = resolve(DATA_DIR || '.node-ledger')
  return resolve(path).startsWith(directory)
    ? ` DATA_DIR is ${directory}: fix it, or set DATA_DIR to another directory.`
    : ''
}

function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}
