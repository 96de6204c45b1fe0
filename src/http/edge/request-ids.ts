// Makes request ids: UUIDs of which a thousand or so share all but the first digits. A random one for each would take a tenth of all that
// is done for an answer from memory.
import { randomUUID } from 'node:crypto'

const DIGITS = 3
/** All numbers of so many digits. */
const BEGINNINGS = Array.from({ length: 16 ** DIGITS }, (_, number) => number.toString(16).padStart(DIGITS, '0'))

/** Builds a function that makes another id with each call. */
export function createRequestIds(): () => string {
  let rest = ''
  let next = BEGINNINGS.length
  return () => {
    if (next === BEGINNINGS.length) {
      rest = randomUUID().slice(DIGITS)
      next = 0
    }
    return `${BEGINNINGS[next++]}${rest}`
  }
}
