// A value that a component subscribes to while it is shown. Each hook has its own: nothing is kept beyond its component.
import { useMemo, useSyncExternalStore } from 'react'

/** A value that is read, and read again. */
export interface Reading<T> {
  /** `undefined` before the first answer. The last one stays while a later question fails. */
  data: T | undefined
  /** What the last question failed with; `null` where it did not. */
  error: Error | null
}

/** Reads, and tells each state, until it is aborted. */
export type Read<T> = (tell: (data: T) => void, fail: (error: Error) => void, signal: AbortSignal) => void

interface Source<T> {
  subscribe: (listener: () => void) => () => void
  get: () => Reading<T>
}

const NOTHING: Reading<never> = { data: undefined, error: null }

function createSource<T>(read: Read<T> | null): Source<T> {
  let reading: Reading<T> = NOTHING
  let stop: AbortController | null = null
  const listeners = new Set<() => void>()
  const put = (next: Reading<T>, { signal }: AbortController) => {
    if (signal.aborted) return
    reading = next
    for (const listener of listeners) listener()
  }
  const start = () => {
    const own = new AbortController()
    stop = own
    read?.(
      (data) => put({ data, error: null }, own),
      (error) => put({ data: reading.data, error }, own),
      own.signal,
    )
  }
  return {
    get: () => reading,
    subscribe: (listener) => {
      listeners.add(listener)
      if (listeners.size === 1) start()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) stop?.abort()
      }
    },
  }
}

/** Reads while the component is shown, and again from the start when a part of `of` is another. `read: null` reads nothing. */
export function useSource<T>(read: Read<T> | null, of: readonly unknown[]): Reading<T> {
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is read is named by `of`; the function is another one at each rendering
  const source = useMemo(() => createSource(read), of)
  return useSyncExternalStore(source.subscribe, source.get, source.get)
}
