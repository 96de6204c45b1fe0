// A dialogue with the person at the terminal. Ctrl-C interrupts the whole command; Ctrl-D declines.
import { createInterface, type Interface } from 'node:readline'
import { RefusedError } from './errors.ts'
import type { Io } from './io.ts'

/** The terminal of a command, and how the person interrupts it. */
export interface AtTerminal {
  readonly io: Io
  /** Aborts on Ctrl-C. The command then cleans up unfinished work. */
  readonly signal: AbortSignal
  /** Ctrl-C as a dialogue gets it: as a key. */
  readonly interrupt: () => void
}

/** Asks, and keeps what the user types ahead for the next question. */
export class Dialogue {
  readonly #call: AtTerminal
  #open: { reader: Interface; lines: AsyncIterator<string> } | null = null

  constructor(call: AtTerminal) {
    this.#call = call
  }

  /** True if there is a terminal. */
  get canAsk(): boolean {
    return this.#call.io.stdin.isTTY === true
  }

  /** The answer, trimmed. Throws a RefusedError with the text `otherwise` if the user ends the dialogue. */
  async ask(question: string, otherwise: string): Promise<string> {
    // An input that has ended before would give a new reader neither a line nor an end.
    const { io, signal } = this.#call
    if (signal.aborted || (!this.#open && io.stdin.readableEnded)) throw new RefusedError(otherwise)
    this.#open ??= this.#begin()
    io.stderr.write(`${question} `)
    const { value, done } = await this.#open.lines.next()
    if (!done) return value.trim()
    io.stderr.write('\n')
    throw new RefusedError(otherwise)
  }

  #begin() {
    const { io, signal, interrupt } = this.#call
    const reader = createInterface({ input: io.stdin, output: io.stderr })
    // In a dialogue, Ctrl-C is not a signal, because the terminal passes it on as a key.
    reader.once('SIGINT', () => {
      io.stderr.write('\n')
      interrupt()
    })
    signal.addEventListener('abort', () => reader.close(), { once: true })
    return { reader, lines: reader[Symbol.asyncIterator]() }
  }

  /** Releases the terminal for the next command's question. */
  close(): void {
    this.#open?.reader.close()
    this.#open = null
  }
}
