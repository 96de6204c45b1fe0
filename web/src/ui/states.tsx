// What a page shows before, instead of and after its facts: waiting, failure, nothing there. Designed once, used everywhere.
import { LedgerError } from '@node-ledger/client'
import type { ReactNode } from 'react'
import type { Reading } from '../ledger.ts'

/** Shows a reading once it is there, its absence otherwise. A reading that fails later keeps the last one, and says so. */
export function Shown<T>({
  reading,
  lines = 3,
  children,
}: {
  reading: Reading<T>
  lines?: number
  children: (value: T) => ReactNode
}) {
  if (reading.data !== undefined) {
    return (
      <>
        {reading.isError && <Stale reading={reading} />}
        {children(reading.data)}
      </>
    )
  }
  if (reading.isError) return <Failed error={reading.error} retry={() => void reading.refetch()} />
  return <Waiting lines={lines} />
}

/** Grey lines where text will be. */
export function Waiting({ lines = 3 }: { lines?: number }) {
  return (
    <div className="waiting" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are alike and never move
        <div key={line} className="line" />
      ))}
    </div>
  )
}

/** What went wrong, in words, and a way to try again. */
export function Failed({ error, retry }: { error: Error; retry?: (() => void) | undefined }) {
  return (
    <div className="notice bad" role="alert">
      <p>{inWords(error)}</p>
      {retry && (
        <button type="button" className="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

function Stale({ reading }: { reading: Reading<unknown> }) {
  return (
    <p className="notice warn" role="status">
      Not current: {inWords(reading.error ?? new Error())} Shown is what was read last.
    </p>
  )
}

/** Nothing there, and what would put something there. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="title">{title}</p>
      {children}
    </div>
  )
}

/** A fault as a sentence for people. */
export function inWords(error: Error): string {
  if (!(error instanceof LedgerError)) return error.message || 'Something went wrong.'
  if (error.status === null) return 'The service could not be reached.'
  if (error.status === 429) return `Too many requests from here. Try again in ${error.retryAfter ?? 60} seconds.`
  if (error.status >= 500) return 'The service cannot answer this at present.'
  return error.message
}
