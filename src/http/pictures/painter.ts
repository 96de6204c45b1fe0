// Makes PNGs of SVG in a thread of its own, one at a time, and keeps the last ones. The thread begins with the first picture and ends when
// none was asked for in a while, with all the memory that it took. WebAssembly: native code takes half the time, but hundreds of megabytes until
// the collector looks, and a binary for each platform in the install.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Cache } from '../../lib/cache.ts'
import { inTime } from '../../lib/deadline.ts'
import { Semaphore } from '../../lib/semaphore.ts'

/** Some twenty milliseconds each: the last of them is answered in time on a machine ten times as slow, too. */
const WAITING_MAX = 24
/** A hundred pictures: a link is shown by many at once, then by few. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024
const KEPT_MS = 600_000
/** The first takes a fifth of a second: nothing of ours takes this long. */
const PICTURE_MS_MAX = 5_000
/** Idle time after which the thread ends. */
const IDLE_MS = 60_000

/** The compiled package has JavaScript in its place. */
const THREAD = new URL(import.meta.url.endsWith('.js') ? './painter-thread.js' : './painter-thread.ts', import.meta.url)

export class Painter {
  readonly #line = new Semaphore(1, WAITING_MAX)
  readonly #kept: Cache<Buffer>
  #thread: Worker | null = null
  #idle: NodeJS.Timeout | undefined

  constructor(clock: () => number) {
    this.#kept = new Cache({ clock, weightMax: KEPT_BYTES_MAX, weightOf: (png, svg) => png.length + svg.length })
  }

  /** The PNG of an SVG, at once where it was made before. Rejects with Crowded where too many wait. */
  paint(svg: string): Buffer | Promise<Buffer> {
    return this.#kept.get(svg, KEPT_MS, async () => {
      const leave = await this.#line.enter()
      try {
        return await inTime('a picture', PICTURE_MS_MAX, this.#draw(svg))
      } catch (error) {
        // Whatever went wrong in there, the next picture begins with a new one.
        this.#end()
        throw error
      } finally {
        leave()
      }
    })
  }

  async #draw(svg: string): Promise<Buffer> {
    clearTimeout(this.#idle)
    this.#thread ??= startThread()
    const thread = this.#thread
    const ended = new AbortController()
    // `once` rejects when the thread fails, but not when it ends.
    const onExit = () => ended.abort(new Error('the thread that paints has ended'))
    thread.once('exit', onExit)
    try {
      const answer = once(thread, 'message', { signal: ended.signal })
      thread.postMessage(svg)
      const [png] = await answer
      return Buffer.from(png)
    } finally {
      thread.off('exit', onExit)
      this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref()
    }
  }

  #end(): void {
    clearTimeout(this.#idle)
    this.#thread?.terminate()
    this.#thread = null
  }
}

/** It never keeps the process alive, and reads no settings: no secret is in its environment. */
function startThread(): Worker {
  const thread = new Worker(THREAD, { env: {} })
  thread.unref()
  return thread
}
