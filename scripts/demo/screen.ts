// The demo's output: permanent lines and, on a terminal, one line that changes in place. Without a terminal it prints
// the current text of that line now and then, so that a log stays readable.
const REDRAW_MS = 250
/** How often a log gets a copy of the changing line, in milliseconds. */
const LOG_EVERY_MS = 15_000

export interface Screen {
  /** Prints a permanent line. */
  line(text: string): void
  /** Sets the text of the changing line, which is computed at each redraw; null means no line. */
  moving(text: (() => string) | null): void
}

export function openScreen(out: NodeJS.WriteStream): Screen {
  let current: (() => string) | null = null
  let loggedAt = 0
  const clear = () => out.write('\r\x1b[2K')
  const draw = () => {
    if (current === null) return
    if (out.isTTY) out.write(`\r\x1b[2K${current().slice(0, Math.max(20, out.columns - 1))}`)
    else if (Date.now() - loggedAt >= LOG_EVERY_MS) {
      loggedAt = Date.now()
      out.write(`${current()}\n`)
    }
  }
  setInterval(draw, REDRAW_MS).unref()
  return {
    line(text) {
      if (out.isTTY && current !== null) clear()
      out.write(`${text}\n`)
      draw()
    },
    moving(text) {
      if (out.isTTY && current !== null) clear()
      current = text
      loggedAt = 0
      draw()
    },
  }
}
