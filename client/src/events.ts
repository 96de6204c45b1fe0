// Parses a stream of server-sent events. Knows their format, not their meaning.
import { errorWithoutAnswer, LedgerError } from './errors.ts'

/** The service sends its first bytes immediately. If none arrive within this time, a proxy is buffering the stream. */
const FIRST_MS = 8_000
/** If nothing arrives for this long, the stream is dead. The service sends something every 15 seconds. */
const SILENCE_MS = 45_000

export interface ServerEvent {
  event: string
  data: unknown
  id: string | null
}

/** Yields a stream's events until it ends. Throws a LedgerError if it breaks or goes silent. Calls `onFirst` at the first bytes. */
export async function* readEvents(body: ReadableStream<Uint8Array>, onFirst: () => void): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let hasBegun = false
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read(), hasBegun ? SILENCE_MS : FIRST_MS)
      if (done) return
      if (!hasBegun) onFirst()
      hasBegun = true
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = eventOf(block)
        if (event) yield event
      }
    }
  } finally {
    // Closes the connection. If the connection broke, there is nothing left to close.
    reader.cancel().catch(() => undefined)
  }
}

/** The event in a block; null for a comment, or for a block without data. */
function eventOf(block: string): ServerEvent | null {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const at = line.indexOf(':')
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).trimStart())
  }
  const data = fields.get('data')
  if (data === undefined) return null
  return { event: fields.get('event') ?? 'message', data: JSON.parse(data), id: fields.get('id') ?? null }
}

async function inTime<T>(read: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(errorWithoutAnswer('The event stream timed out.')), ms)
  })
  try {
    return await Promise.race([read, late])
  } catch (cause) {
    throw cause instanceof LedgerError ? cause : errorWithoutAnswer('The event stream ended early.', cause)
  } finally {
    clearTimeout(timer)
  }
}
