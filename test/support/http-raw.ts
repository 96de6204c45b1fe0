// Bytes on a socket, for requests that no HTTP client would send.
import { connect } from 'node:net'

export interface RawAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

export interface Exchange {
  answers: RawAnswer[]
  /** True if the server ended the connection. */
  closed: boolean
  ms: number
  /** Bytes that are not part of an answer. */
  rest: string
}

/** How late an awaited event may be on a busy machine. */
const LATE_MS = 5_000

/**
 * Sends bytes (in pieces, `pauseMs` apart) and collects what comes back, until the server closes or `waitMs` pass.
 * Waits longer for this many answers, or until the server has closed if it must.
 */
export function exchange(
  port: number,
  pieces: (string | Buffer)[],
  {
    waitMs = 400,
    pauseMs = 0,
    answers = 1,
    closes = false,
  }: { waitMs?: number; pauseMs?: number; answers?: number; closes?: boolean } = {},
): Promise<Exchange> {
  return new Promise((resolve) => {
    const started = performance.now()
    const chunks: Buffer[] = []
    let closed = false
    const socket = connect(port, '127.0.0.1')
    const come = () => parse(Buffer.concat(chunks).toString('latin1'))
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ ...come(), closed, ms: performance.now() - started })
    }
    const onSilence = () => {
      const isLate = performance.now() - started > LATE_MS + pauseMs * pieces.length
      if (isLate || (!closes && come().answers.length >= answers)) finish()
      else timer = setTimeout(onSilence, waitMs)
    }
    let timer = setTimeout(onSilence, waitMs + pauseMs * pieces.length)
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
    })
    // Some of these requests go on writing after the server has closed.
    socket.on('error', () => {
      closed = true
    })
    socket.on('end', () => {
      closed = true
    })
    socket.on('close', () => {
      closed = true
      finish()
    })
    socket.on('connect', async () => {
      for (const piece of pieces) {
        if (closed || !socket.writable) return
        socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)
        if (pauseMs > 0) await new Promise((next) => setTimeout(next, pauseMs))
      }
      clearTimeout(timer)
      timer = setTimeout(onSilence, waitMs)
    })
  })
}

function parse(text: string): { answers: RawAnswer[]; rest: string } {
  const answers: RawAnswer[] = []
  let rest = text
  for (;;) {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest)
    if (!head) return { answers, rest }
    const headers: Record<string, string> = {}
    for (const line of (head[2] ?? '').split('\r\n')) {
      const colon = line.indexOf(':')
      if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
    }
    const status = Number(head[1])
    const after = rest.slice(head[0].length)
    const length = Math.min(Number(headers['content-length'] ?? 0), after.length)
    const hasBody = status >= 200 && status !== 204 && status !== 304
    answers.push({ status, headers, body: hasBody ? after.slice(0, length) : '' })
    rest = hasBody ? after.slice(length) : after
  }
}
