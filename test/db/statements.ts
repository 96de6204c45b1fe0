// Records the SQL that this process sends to PostgreSQL, as the server gets it: the text of each statement, with the types of its parameters.
import net from 'node:net'

export interface SentStatement {
  text: string
  /** Type of each parameter, by oid; 0 if the server infers it. */
  types: number[]
}

/** Begins to record. @returns what was sent since, each text once, and a function that ends it. */
export function recordStatements(): { sent: Map<string, SentStatement>; stop(): void } {
  const sent = new Map<string, SentStatement>()
  const { write } = net.Socket.prototype
  net.Socket.prototype.write = function (this: net.Socket, ...given: unknown[]) {
    if (Buffer.isBuffer(given[0])) for (const statement of parsed(given[0])) sent.set(statement.text, statement)
    return Reflect.apply(write, this, given)
  } as typeof write
  return {
    sent,
    stop() {
      net.Socket.prototype.write = write
    },
  }
}

/** The statements in messages of the protocol: `P` (parse) and `Q` (simple query). Other bytes have none. */
function* parsed(bytes: Buffer): Generator<SentStatement> {
  for (let at = 0; at + 5 <= bytes.length; ) {
    const [kind, length] = [String.fromCharCode(bytes[at] ?? 0), bytes.readUInt32BE(at + 1)]
    const body = bytes.subarray(at + 5, at + 1 + length)
    if (!/[A-Za-z]/.test(kind) || length < 4 || body.length !== length - 4) return
    if (kind === 'Q') yield { text: body.toString('utf8', 0, body.length - 1), types: [] }
    if (kind === 'P') {
      const [from, end] = [body.indexOf(0) + 1, body.indexOf(0, body.indexOf(0) + 1)]
      const count = body.readUInt16BE(end + 1)
      const types = Array.from({ length: count }, (_, i) => body.readUInt32BE(end + 3 + 4 * i))
      yield { text: body.toString('utf8', from, end), types }
    }
    at += 1 + length
  }
}
