// A wallet's payments and nodes as they change: one stream of events for each wallet that a page shows, closed with the
// page. If no stream can be opened, the queries poll every few seconds.
import { watchAddress } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ledger, notBefore, queries } from './ledger.ts'

/** How often we poll without a stream, in milliseconds: as long as the service caches an answer. */
const EVERY_MS = 5_000
/** How often we poll while the stream is connected, in milliseconds. */
const LIVE_EVERY_MS = 60_000

/** The nodes of a wallet. */
export function useNodesOf(address: string) {
  useStream(address)
  return useQuery({
    queryKey: ['nodes', address],
    queryFn: ({ signal }) => ledger.getNodesOfAddress(address, { signal }),
    refetchInterval: everyOf(address),
  })
}

/** A wallet's payments; none if `address` is undefined. `isLive`: false if the page already has a stream. */
export function usePaymentsOf(address: string | undefined, { isLive = true } = {}) {
  useStream(isLive ? address : undefined)
  return useQuery({
    queryKey: ['payments', address],
    queryFn: ({ signal }) => ledger.getPaymentsOfAddress(address ?? '', { signal }),
    enabled: address !== undefined,
    refetchInterval: everyOf(address),
  })
}

const everyOf = (address: string | undefined) =>
  notBefore(() => (address && live.has(address) ? LIVE_EVERY_MS : EVERY_MS))

interface Stream {
  users: number
  stop: () => void
}

const streams = new Map<string, Stream>()
/** The wallets with a connected stream. */
const live = new Set<string>()

/** Keeps the queries about a wallet current while the component is shown. */
function useStream(address: string | undefined): void {
  useEffect(() => (address === undefined ? undefined : join(address)), [address])
}

function join(address: string): () => void {
  const stream = streams.get(address) ?? { users: 0, stop: whileShown((signal) => follow(address, signal)) }
  streams.set(address, stream)
  stream.users++
  return () => {
    if (--stream.users > 0) return
    streams.delete(address)
    stream.stop()
  }
}

async function follow(address: string, signal: AbortSignal): Promise<void> {
  const onLive = (isLive: boolean) => {
    live[isLive ? 'add' : 'delete'](address)
    // From now on the queries poll.
    if (!isLive) for (const of of ['payments', 'nodes']) void queries.invalidateQueries({ queryKey: [of, address] })
  }
  let isFirst = true
  try {
    // Between two streams the queries poll.
    const options = { signal, pollMs: Number.POSITIVE_INFINITY, onLive }
    for await (const { payments, nodes } of watchAddress(ledger, address, options)) {
      queries.setQueryData(['payments', address], payments)
      queries.setQueryData(['nodes', address], nodes)
      // Streams do not carry the session's data, so we fetch it again.
      if (!isFirst) void queries.invalidateQueries({ queryKey: ['me'] })
      isFirst = false
    }
  } finally {
    live.delete(address)
  }
}

/**
 * Runs `run` only while the page is visible. Browsers allow few connections per host, so background tabs release
 * theirs.
 */
export function whileShown(run: (signal: AbortSignal) => Promise<void>): () => void {
  let stop = new AbortController()
  const begin = () => {
    stop.abort()
    stop = new AbortController()
    // The queries poll on their own, and report errors.
    if (!document.hidden) run(stop.signal).catch(() => undefined)
  }
  begin()
  document.addEventListener('visibilitychange', begin)
  return () => {
    document.removeEventListener('visibilitychange', begin)
    stop.abort()
  }
}
