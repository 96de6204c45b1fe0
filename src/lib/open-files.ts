// Reads how many files (sockets among them) this process may have open.
import { readFileSync } from 'node:fs'

/** The smallest common limit. We assume it if the system does not report one. */
const UNKNOWN = 1_024

/** The limit, which Node has already raised as far as allowed; Infinity if there is none. */
export function openFilesMax(): number {
  try {
    return parseOpenFiles(readFileSync('/proc/self/limits', 'utf8'))
  } catch {
    return UNKNOWN
  }
}

/** Reads the soft limit from the text of /proc/self/limits. */
export function parseOpenFiles(limits: string): number {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1]
  if (soft === undefined) return UNKNOWN
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}
