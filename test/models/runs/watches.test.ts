// What an event stream has when nothing goes on any more: the ledger's present state, however changes, reads and failed reads fell together. By
// docs/API.md (events) and api/openapi.yaml: a stream carries states, and its last event is the present one.
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import fc from 'fast-check'
import type { EventStream } from '../../../src/http/events/stream.ts'
import { Watches } from '../../../src/http/events/watches.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { cases } from '../../support/property.ts'

interface Step {
  kind: 'change' | 'wait' | 'finish' | 'fail' | 'open'
  of: number
  ms: number
}
const of = fc.constantFrom(0, 0, 1)
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('change', 'wait', 'wait', 'finish', 'finish', 'fail', 'open'),
  of,
  ms: fc.constantFrom(1, 99, 100, 101, 1_000),
})

/** A ledger of two objects, each with a version, and reads that take until they are finished. */
class Play {
  readonly versions = [0, 0]
  readonly streams: { of: number; stream: EventStream }[] = []
  readonly reads: { answer: () => void; fail: () => void }[] = []
  private told = (): void => undefined
  readonly watches: Watches

  constructor(isLive: boolean) {
    const changes = { subscribe: this.subscribe, live: () => isLive }
    const limits = { total: 99, perClient: 99, heartbeatMs: 15_000, ageMsMax: 3_600_000 }
    const deps = { limits, changes, monotonicClock: () => 0, log: silentLog }
    this.watches = new Watches(deps as never)
  }

  private readonly subscribe = (told: () => void): void => {
    this.told = told
  }

  async read(object: number): Promise<object> {
    // What it reads is as the ledger is now, whenever it is answered.
    const nodeId = `${object} v${this.versions[object]}.`
    await new Promise<void>((resolve, reject) => {
      this.reads.push({ answer: resolve, fail: () => reject(new Error('the read failed')) })
    })
    return { payments: [], nodes: [{ nodeId }] }
  }

  play(one: Step): void {
    if (one.kind === 'wait') mock.timers.tick(one.ms)
    else if (one.kind === 'finish') this.reads.shift()?.answer()
    else if (one.kind === 'fail') this.reads.shift()?.fail()
    else if (one.kind === 'change') {
      this.versions[one.of] = (this.versions[one.of] ?? 0) + 1
      this.told()
    } else {
      const topic = { key: String(one.of), read: () => this.read(one.of) }
      const opened = this.watches.open('client' as never, topic as never, null)
      void opened.then(
        (stream) => this.streams.push({ of: one.of, stream: stream as EventStream }),
        () => undefined,
      )
    }
  }
}

/** Lets all promises go on that can. */
async function settle(): Promise<void> {
  for (let i = 0; i < 12; i++) await Promise.resolve()
}

async function compare(steps: Step[], isLive: boolean): Promise<void> {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  try {
    const play = new Play(isLive)
    for (const one of [{ kind: 'open', of: 0, ms: 0 } as const, ...steps]) {
      play.play(one)
      await settle()
    }
    for (let i = 0; i < 8; i++) {
      while (play.reads.length > 0) {
        play.play({ kind: 'finish', of: 0, ms: 0 })
        await settle()
      }
      play.play({ kind: 'wait', of: 0, ms: 1_000 })
      await settle()
    }
    for (const { of: object, stream } of play.streams) {
      let text = ''
      for (let part = stream.read(); part !== null; part = stream.read()) text += part
      const last = text.slice(text.lastIndexOf('event: current'))
      assert.ok(last.includes(`${object} v${play.versions[object]}.`), `${last} is not of v${play.versions[object]}`)
    }
    play.watches.close()
    mock.timers.tick(2_000)
  } finally {
    mock.timers.reset()
  }
}

test('a stream ends with the present state, whenever the ledger changed', async () => {
  const steps = fc.array(step, { minLength: 1, maxLength: 14 })
  await fc.assert(fc.asyncProperty(steps, fc.boolean(), compare), { numRuns: cases(400) })
})
