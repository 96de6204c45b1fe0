// Times as people write and read them: `2026-12-01T12:00Z`, `in 2h`, and "2026-12-01 12:00 UTC, in 2 d 21 h". Inside, a time is in unix seconds. Pure.

/** The latest time that we read. The contract's times have 40 bits. */
export const TIME_MAX = 2 ** 40 - 1

const DATE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|UTC|[+-]\d{2}:\d{2})?)?$/
const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const
const SPAN = /^in(?: ?\d{1,9} ?(?:d|h|min|m|s))+$/

/** Reads a date or a time, in UTC unless it has a zone, rounded up to the second. Undefined if it is neither, or does not exist. */
export function readDate(text: string): number | undefined {
  const [, day = '', clock = '00:00', zone = 'Z'] = DATE.exec(text) ?? []
  const time = Date.parse(`${day}T${clock}${zone === 'UTC' ? 'Z' : zone}`)
  // The parser reads 30 February as a day in March.
  const isReal = Number.isFinite(time) && new Date(day).toISOString().startsWith(day)
  return isReal && time >= 0 ? Math.ceil(time / 1000) : undefined
}

/** Reads unix seconds, a date, or a span from now on. Undefined if it is none of them. */
export function readTime(input: unknown, nowSec: number): number | undefined {
  const text = String(input)
  const time = /^(0|[1-9]\d{0,12})$/.test(text)
    ? Number(text)
    : SPAN.test(text)
      ? Math.ceil(nowSec) + spanOf(text)
      : readDate(text)
  return time !== undefined && time <= TIME_MAX ? time : undefined
}

function spanOf(text: string): number {
  const parts = [...text.matchAll(/(\d+) ?(d|h|min|m|s)/g)]
  const unitSec = (name = '') => UNITS.find(([unit]) => unit.startsWith(name))?.[1] ?? 0
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * unitSec(unit), 0)
}

/** A time in UTC, with its seconds unless they are 0. */
export const inUtc = (timeSec: number): string =>
  `${new Date(timeSec * 1000)
    .toISOString()
    .slice(0, timeSec % 60 === 0 ? 16 : 19)
    .replace('T', ' ')} UTC`

/** A time in UTC and, if it is to come, how far ahead it is. */
export const timeInWords = (timeSec: number, nowSec: number): string =>
  timeSec > nowSec ? `${inUtc(timeSec)}, in ${spanInWords(timeSec - nowSec)}` : inUtc(timeSec)

/** The two largest units of a span, without those that are 0. */
function spanInWords(spanSec: number): string {
  let rest = Math.ceil(spanSec)
  const first = UNITS.findIndex(([, sec]) => rest >= sec)
  const parts = UNITS.slice(Math.max(0, first)).map(([unit, sec]) => {
    const count = Math.floor(rest / sec)
    rest -= count * sec
    return count === 0 ? null : `${count} ${unit}`
  })
  return parts
    .slice(0, 2)
    .filter((part) => part !== null)
    .join(' ')
}
