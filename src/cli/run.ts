// Runs one command line: finds the command, checks its arguments, runs it, and turns whatever it throws into one message and an
// exit code. No stack reaches a person, unless LOG_LEVEL asks for one.
import { setTimeout as sleep } from 'node:timers/promises'
import { ChainFault } from '../chain/faults.ts'
import { ConfigError } from '../config.ts'
import { isDatabaseClosed, isDatabaseDown } from '../db/sql.ts'
import { EmbedError } from '../embed/errors.ts'
import { findCommand, nearest, parseArguments } from './arguments.ts'
import { type Command, EXIT, type ExitCode } from './command.ts'
import { COMMANDS } from './commands.ts'
import { RefusedError, UnavailableError, UsageError } from './errors.ts'
import { commandHelp, overview, usageLine } from './help.ts'
import type { Io } from './io.ts'
import { createOutput } from './output.ts'
import { version } from './version.ts'

/** Errors of other parts whose message says what to do. */
const REFUSALS: readonly string[] = ['FailpointError', 'RebuildError']
/** What an interrupted command has for putting its things away. */
const INTERRUPTED_MS = 2_000

/** Runs the words after `node-ledger`. Resolves with the exit code; throws nothing. `interrupt` aborts on Ctrl-C. */
export async function runCli(argv: readonly string[], io: Io, interrupt = new AbortController()): Promise<ExitCode> {
  const json = argv.includes('--json')
  const out = createOutput(io, json)
  const [first = ''] = argv
  if (['help', '--help', '-h'].includes(first)) return help(argv.slice(1), io)
  if (first === '--version') {
    await out.result({ version: version() }, version())
    return EXIT.done
  }
  const found = findCommand(argv, COMMANDS)
  if (!found) return unknown(argv, io)
  const { command, rest } = found
  try {
    const parsed = parseArguments(command, rest)
    if (parsed.flags.has('help')) return help(command.name.split(' '), io)
    const run = await command.load()
    const running = run({ ...parsed, command, io, out, signal: interrupt.signal })
    return command.longRunning ? await running : await orInterrupted(running, interrupt.signal, out.say)
  } catch (error) {
    const { code, message } = explain(error, command, io.env)
    out.say(message)
    if (json) await out.result({ error: message, exitCode: code }, '')
    return code
  }
}

async function orInterrupted(
  running: Promise<ExitCode>,
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<ExitCode> {
  const aborted = new Promise<ExitCode>((resolve) => {
    signal.addEventListener('abort', () => {
      say('Interrupted.')
      const grace = sleep(INTERRUPTED_MS, undefined, { ref: false })
      void Promise.race([running.catch(() => {}), grace]).then(() => resolve(EXIT.interrupted))
    })
  })
  return await Promise.race([aborted, running.catch((error) => (signal.aborted ? aborted : Promise.reject(error)))])
}

function help(words: readonly string[], io: Io): ExitCode {
  const names = words.filter((word) => !word.startsWith('-'))
  if (names.length === 0) {
    io.stdout.write(`${overview(COMMANDS)}\n`)
    return EXIT.done
  }
  const found = findCommand(names, COMMANDS)
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${names[0]} `))
  if (found) io.stdout.write(`${commandHelp(found.command)}\n`)
  else if (group.length > 0) io.stdout.write(`${group.map(commandHelp).join('\n\n\n')}\n`)
  else return unknown(names, io)
  return EXIT.done
}

/** No such command: the nearest one is named. Without any word the overview is what is wanted. */
function unknown(argv: readonly string[], io: Io): ExitCode {
  const words = argv.filter((word) => !word.startsWith('-'))
  const [first] = words
  const say = (text: string) => io.stderr.write(`${text}\n`)
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `))
  if (first === undefined) say(overview(COMMANDS))
  else if (group.length > 0) {
    say(`Say which:\n${group.map((command) => `  ${usageLine(command)}`).join('\n')}`)
  } else {
    const names = COMMANDS.map(({ name }) => name)
    const meant = nearest(words.slice(0, 2).join(' '), names) ?? nearest(first, names)
    say(`There is no command ${JSON.stringify(first.slice(0, 40))}${meant ? `; was "${meant}" meant?` : '.'}`)
    say('"node-ledger help" lists all of them.')
  }
  return EXIT.usage
}

/** One message and an exit code for whatever was thrown. */
function explain(error: unknown, command: Command, env: NodeJS.ProcessEnv): { code: ExitCode; message: string } {
  const { message, name, stack } = error instanceof Error ? error : new Error(String(error))
  if (error instanceof UsageError) return { code: EXIT.usage, message: `${message}\n\nUsage: ${usageLine(command)}` }
  if (error instanceof ConfigError) return { code: EXIT.usage, message }
  // By name, so that no command loads what it does not need.
  if (name === 'StartError') {
    const { retryable } = error as { retryable?: boolean }
    const told = message.replace('Node Ledger cannot start on this chain', 'The settings and the chain do not fit')
    return { code: retryable === true ? EXIT.unavailable : EXIT.not, message: told }
  }
  if (error instanceof RefusedError || error instanceof EmbedError || REFUSALS.includes(name))
    return { code: EXIT.not, message }
  if (error instanceof UnavailableError) return { code: EXIT.unavailable, message }
  if (error instanceof ChainFault)
    return { code: EXIT.unavailable, message: `The chain could not be asked: ${message}.` }
  if (isDatabaseDown(error)) {
    const { code } = error as unknown as { code: string }
    return {
      code: EXIT.unavailable,
      message: `The database cannot be reached (${code}). See that it is up, and that DATABASE_URL is right.`,
    }
  }
  if (isDatabaseClosed(error))
    return {
      code: EXIT.unavailable,
      message: `The database lets nobody in: ${message}. See that its URL (DATABASE_URL, or what this command was given) names the right user, password and database.`,
    }
  const { LOG_LEVEL } = env
  const detail = /^(debug|trace)$/.test(LOG_LEVEL ?? '') ? (stack ?? message) : `${name}: ${message}`
  return {
    code: EXIT.fault,
    message: `node-ledger ${command.name} ended on an error it did not expect:\n  ${detail}\nPlease report it; LOG_LEVEL=debug shows where it happened.`,
  }
}
