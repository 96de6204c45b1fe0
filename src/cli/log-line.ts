// A line of the JSON log in readable form: time, level, message, and the other fields. Only for terminals; the log itself stays JSON.
/** Levels that are shown in capitals, so that people notice them. */
const LOUD = new Set(['warn', 'error', 'fatal'])
/** Fields that the line does not repeat. */
const LEFT_OUT = new Set(['level', 'time', 'msg', 'pid', 'hostname'])

/** Formats a line of the log; shows any other line unchanged. */
export function readableLine(line: string): string {
  let entry: unknown
  try {
    entry = JSON.parse(line)
  } catch {
    return line
  }
  if (typeof entry !== 'object' || entry === null || !('level' in entry) || !('time' in entry)) return line
  const { level, time, msg = '' } = entry as { level: unknown; time: unknown; msg?: unknown }
  const clock = new Date(String(time)).toTimeString().slice(0, 8)
  const word = LOUD.has(String(level)) ? String(level).toUpperCase() : String(level)
  const rest = Object.entries(entry)
    .filter(([name]) => !LEFT_OUT.has(name))
    .map(([name, value]) => `${name}=${shown(value)}`)
  return [clock, word.padEnd(5), msg, ...rest].join(' ').trimEnd()
}

function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'message' in value) return JSON.stringify(value.message)
  return typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value)
}
