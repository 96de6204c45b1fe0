// What this browser was about to pay, or has paid, on the pages.
import { type Intent, readIntent as read, writeIntent as write } from '../../../../client/src/intent.ts'

export { type Intent, isPaidSince, sentSince } from '../../../../client/src/intent.ts'

const KEY = 'node-ledger.intent'

/** The last intent of this browser; null where there is none, or none that is young enough. */
export const readIntent = (): Intent | null => read(KEY)

/** Writes it down; `null` forgets it. */
export const writeIntent = (intent: Intent | null): void => write(KEY, intent)
