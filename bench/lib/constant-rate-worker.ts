// The thread of constant-rate.ts. Every request comes from a different client, behind a trusted proxy, so no rate limit applies.
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { Pool } from 'undici'
import type { Answers, Load } from './constant-rate.ts'

/** More than are ever in flight while the server keeps up. Beyond that, requests wait here, and their waiting time counts. */
const CONNECTIONS = 128
const TIMEOUT_MS = 30_000
const FAILURES_TOLD = 5
/** Of every this many requests, each sort gets its share. */
const DECK = 100

const { origin, perSecond, sec, sorts } = workerData as Load
const total = Math.round(perSecond * sec)
const answers: Answers = {
  sortOf: new Uint8Array(total),
  status: new Uint16Array(total),
  ms: new Float64Array(total),
  behind: new Float64Array(total),
  failures: [],
}
const deck = dealt()
const pool = new Pool(origin, { connections: CONNECTIONS, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS })
const asked = sorts.map(() => 0)
const began = performance.now()
let sent = 0
let done = 0
while (done < total) {
  const due = Math.min(total, Math.floor(((performance.now() - began) * perSecond) / 1000) + 1)
  while (sent < due) send(sent++)
  await sleep(1)
}
await pool.close()
parentPort?.postMessage(answers)

/** Makes a request. We count its answer but do not keep it, because less allocation in this thread means fewer pauses of its own in the figures. */
function send(at: number): void {
  const due = began + (at * 1000) / perSecond
  const sort = deck[at % DECK] ?? 0
  const { paths = [] } = sorts[sort] ?? {}
  const turn = asked[sort] ?? 0
  asked[sort] = turn + 1
  answers.sortOf[at] = sort
  answers.behind[at] = performance.now() - due
  const client = `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`
  const path = paths[turn % paths.length] ?? '/'
  let status = 0
  const ended = (): void => {
    answers.ms[at] = performance.now() - due
    answers.status[at] = status
    done++
  }
  pool.dispatch(
    { method: 'GET', path, headers: { 'x-forwarded-for': client } },
    {
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        status = statusCode
      },
      onResponseData() {},
      onResponseEnd: ended,
      onResponseError(_controller, error) {
        status = 0
        if (answers.failures.length < FAILURES_TOLD) answers.failures.push(String(error))
        ended()
      },
    },
  )
}

/** The sorts by their shares, spread evenly: next is always the one furthest behind its share. */
function dealt(): number[] {
  const all = sorts.reduce((sum, { share }) => sum + share, 0)
  const given = sorts.map(() => 0)
  return Array.from({ length: DECK }, (_, at) => {
    const lag = sorts.map(({ share }, sort) => (share / all) * (at + 1) - (given[sort] ?? 0))
    const next = lag.indexOf(Math.max(...lag))
    given[next] = (given[next] ?? 0) + 1
    return next
  })
}
