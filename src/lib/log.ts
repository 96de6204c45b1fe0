// The only logger: JSON lines by pino, with everything that could be a secret redacted. Nothing else writes to stdout while the service
// runs, except the command line's banner and progress lines.
import { type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino'

export type Log = Logger

/** Property paths whose values never reach a log line. */
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

/** Builds the root logger. `level` is one of pino's: trace, debug, info, warn, error, fatal, silent. `write` gets each line instead of stdout. */
export function createLog(level: string, write: ((line: string) => void) | null = null): Log {
  const options: LoggerOptions = {
    level,
    redact: { paths: REDACTED, censor: '[redacted]' },
    // Readable by people and log stores without a lookup table.
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  }
  return write ? pino(options, { write }) : pino(options)
}

/** A silent logger, for tests and one-shot commands that print for people. */
export const silentLog: Log = pino({ level: 'silent' })
