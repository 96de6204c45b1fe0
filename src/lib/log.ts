// The only logger. It writes JSON lines with pino, and redacts everything that could be a secret. While the service runs, nothing else writes to
// stdout except the banner and the progress lines of the command line.
import { type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino'

export type Log = Logger

/** Paths of properties whose values must never reach a log line. */
const REDACTED = [
  'req.headers.cookie',
  'req.headers.authorization',
  'req.headers["x-cron-key"]',
  'req.headers["x-admin-key"]',
  'res.headers["set-cookie"]',
  '*.signature',
  '*.privateKey',
  '*.password',
  '*.secret',
  '*.secrets',
]

/**
 * Creates the root logger. `level` is one of pino's: trace, debug, info, warn, error, fatal, silent. `write` gets each line; without it, lines go to
 * stdout.
 */
export function createLog(level: string, write: ((line: string) => void) | null = null): Log {
  const options: LoggerOptions = {
    level,
    redact: { paths: REDACTED, censor: '[redacted]' },
    // So that people and log stores can read time and level without a lookup table.
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  }
  return write ? pino(options, { write }) : pino(options)
}

/** A logger that writes nothing, for tests, and for commands that print for people. */
export const silentLog: Log = pino({ level: 'silent' })
