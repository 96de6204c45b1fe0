// Finds out how many files (sockets among them) this process may have open.
import { readFileSync } from 'node:fs'

/** The limit to assume if the system does not report one: the smallest that is common. */
const UNKNOWN = 1_024

/** The limit; Infinity if there is none. Node has already raised it as far as it may. */
export function openFilesMax(): number {
  try {
    return parseOpenFiles(readFileSync('/proc/self/limits', 'utf8'))
  } catch {
    return UNKNOWN
  }
}

/** Finds the soft limit in the text of /proc/self/limits. */
export function parseOpenFiles(limits: string): number {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1]
  if (soft === undefined) return UNKNOWN
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}
