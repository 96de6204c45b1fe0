// States of a page that has no data: loading, failed, empty. Designed once, used everywhere.
import { LedgerError } from '@node-ledger/client'
import type { ReactNode } from 'react'
import type { Reading } from '../ledger.ts'
import { fill } from '../words/message.ts'
import { ui } from '../words/ui.ts'
import { PartMissing } from './part.ts'

/** The shape of the content that is loading. Reserves its space, so that nothing below jumps when it loads. */
export type Shape = 'lines' | 'tiles' | 'cards' | 'plot'

/** Shows a reading once it is there; until then, that it is missing. If a refresh fails, it keeps showing the last reading, and marks it. */
export function Shown<T>({ reading, lines = 3, shape = 'lines', waiting, children }: ShownProps<T>) {
  if (reading.data !== undefined) {
    return (
      <>
        {reading.isError && <Stale reading={reading} />}
        {children(reading.data)}
      </>
    )
  }
  if (reading.isError) {
    const mayPass = !(reading.error instanceof LedgerError) || reading.error.retryable
    return <Failed error={reading.error} retry={mayPass ? () => void reading.refetch() : undefined} />
  }
  return waiting ?? <Waiting lines={lines} shape={shape} />
}

interface ShownProps<T> {
  reading: Reading<T>
  lines?: number
  shape?: Shape
  /** Shown until the first reading, in place of a grey placeholder. */
  waiting?: ReactNode
  children: (value: T) => ReactNode
}

const TILES = ['a', 'b', 'c', 'd']
const CARDS = ['a', 'b', 'c']

/** A grey placeholder. */
export function Waiting({ lines = 3, shape = 'lines' }: { lines?: number; shape?: Shape }) {
  return (
    <div role="status" aria-label={ui.states.loading}>
      {shape === 'tiles' && (
        <div className="tiles">
          {TILES.map((tile) => (
            <div key={tile} className="tile">
              <Lines of={3} />
            </div>
          ))}
        </div>
      )}
      {shape === 'cards' && (
        <div className="tiers">
          {CARDS.map((card) => (
            <div key={card} className="card tier">
              <Lines of={9} />
            </div>
          ))}
        </div>
      )}
      {shape === 'plot' && <div className="waiting place" />}
      {shape === 'lines' && <Lines of={lines} />}
    </div>
  )
}

function Lines({ of }: { of: number }) {
  return (
    <div className="waiting">
      {Array.from({ length: of }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are alike and never move
        <div key={line} className="line" />
      ))}
    </div>
  )
}

/** The failure in words, and a button to retry. If a script is missing, the button reloads the page. */
export function Failed({ error, retry: ask }: { error: Error; retry?: (() => void) | undefined }) {
  const retry = [error, error.cause].some((cause) => cause instanceof PartMissing) ? () => location.reload() : ask
  return (
    <div className="notice bad" role="alert">
      <p>{inWords(error)}</p>
      {retry && (
        <button type="button" className="button" onClick={retry}>
          {ui.states.again}
        </button>
      )}
    </div>
  )
}

function Stale({ reading }: { reading: Reading<unknown> }) {
  return (
    <p className="notice warn" role="status">
      {fill(ui.states.stale, { why: inWords(reading.error ?? new Error()) })}
    </p>
  )
}

/** Shows that there is nothing here yet, and what would change that. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="title">{title}</p>
      {children}
    </div>
  )
}

/** An error as a sentence for people. */
function inWords(error: Error): string {
  // After its first line viem appends the request and its own version.
  if (!(error instanceof LedgerError)) return error.message.split('\n', 1)[0] || ui.states.wrong
  if (error.status === null) return ui.states.unreachable
  const limit = limitInWords(error)
  if (limit !== null) return `${limit} ${fill(ui.states.tryIn, { n: error.retryAfter ?? 60 })}`
  if (error.status >= 500) return ui.states.unable
  return error.message
}

/** The message if the service limits our requests, which is not an outage; null for other errors. */
export const limitInWords = (error: Error | null): string | null =>
  error instanceof LedgerError && error.status === 429 ? ui.states.limited : null
