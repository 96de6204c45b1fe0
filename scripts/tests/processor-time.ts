// Measures how much processor time a run of the checks took. Unlike wall time, it hardly depends on what else the
// machine does.
import { readFileSync } from 'node:fs'

/** Linux counts a process's time in ticks; the kernel reports 100 a second to programs on every machine (man 5 proc). */
const TICKS_PER_SEC = 100
/** Fields 14 to 17 of /proc/self/stat, counted from after the name of the program: utime, stime, cutime, cstime. */
const TIME_FIELDS = [11, 15] as const

/**
 * Seconds of processor time that this process and all children it waited for have used. Null if the system has no
 * /proc.
 */
export function readProcessorSeconds(): number | null {
  let stat: string
  try {
    stat = readFileSync('/proc/self/stat', 'utf8')
  } catch {
    return null
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(...TIME_FIELDS).reduce((sum, field) => sum + Number(field), 0) / TICKS_PER_SEC
}

/** `9 min 41 s`. */
export function minutesAndSeconds(seconds: number): string {
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}
