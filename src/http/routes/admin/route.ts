// Makes routes of the operator's acts and readings (src/operator): what the caller sent goes in as plain fields, a result comes
// back as JSON, a refusal with its status and its own words. An act is done once for one `Idempotency-Key`.
import { createHash } from 'node:crypto'
import { finishKey, freeKey, takeKey } from '../../../db/core/idempotency.ts'
import { toJson } from '../../../lib/json.ts'
import {
  type Act,
  type Fields,
  isOperatorRefusal,
  type OperatorDeps,
  type OperatorRefusal,
} from '../../../operator/act.ts'
import { refuse, refuseAs } from '../../refusals.ts'
import type { Call, Download, Outcome, Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'
import { adminGuard, labelOf } from './guard.ts'

/** A reading may look at much, an act asks the chain a few things. */
const DEADLINE_MS = 30_000
const KEY_FORM = /^[\x21-\x7e]{1,128}$/

/** The answer of a route: an object that becomes JSON, a file, or a refusal. */
type Answer = object | Download | OperatorRefusal

/** GET of a reading. Fields are the path's parameters and the query's, the former first. */
export const readingRoute =
  (path: string, read: (deps: OperatorDeps, input: Fields) => Promise<Answer>) =>
  (tools: Tools): Route => ({
    ...adminGuard(tools),
    path: `/api/admin/${path}`,
    methods: ['GET'],
    deadlineMs: DEADLINE_MS,
    handle: async (call) => {
      const { operator } = tools.deps
      if (operator === null) return refuse('noChain')
      return outcomeOf(await read(operator, { ...call.query, ...call.params }))
    },
  })

/** POST of an act. Fields are the path's parameters and those of the JSON body, which may be left out where none is needed. */
export const actRoute =
  (path: string, act: Act) =>
  (tools: Tools): Route => ({
    ...adminGuard(tools),
    path: `/api/admin/${path}`,
    methods: ['POST'],
    takesJson: 'orNothing',
    deadlineMs: DEADLINE_MS,
    handle: (call) => once(tools, call, act),
  })

/** GET and POST of one path. */
export const bothRoute = (path: string, read: Parameters<typeof readingRoute>[1], act: Act) => (tools: Tools) => {
  const [reading, acting] = [readingRoute(path, read)(tools), actRoute(path, act)(tools)]
  return {
    ...acting,
    methods: ['GET', 'POST'],
    handle: (call) => (call.method === 'POST' ? acting.handle(call) : reading.handle(call)),
  } satisfies Route
}

function outcomeOf(answer: Answer): Outcome {
  if (isOperatorRefusal(answer)) return refuseAs(answer)
  return 'stream' in answer ? (answer as Download) : { json: toJson(answer) }
}

/** Does an act; under an `Idempotency-Key` only once, and the same request is answered the same again. */
async function once({ deps }: Tools, call: Call, act: Act): Promise<Outcome> {
  const { operator } = deps
  const name = labelOf(call, deps.settings.adminKeys)
  if (operator === null) return refuse('noChain')
  if (name === null) return refuse('wrongKey')
  const run = async () =>
    outcomeOf(
      await act(
        operator,
        { name, requestId: call.requestId },
        { ...(call.body as Fields), ...(call.params as Fields) },
      ),
    )
  const given = call.raw.headersDistinct['idempotency-key']
  if (given === undefined) return run()
  const [key = ''] = given
  if (given.length !== 1 || !KEY_FORM.test(key)) return refuse('badIdempotencyKey')
  const state = await takeKey(operator.pool, name, key, digestOf(call))
  switch (state.kind) {
    case 'answered':
      return { json: state.answer }
    case 'underWay':
      return refuse('actUnderWay')
    case 'otherRequest':
      return refuse('otherAct')
    case 'ours':
      return keep(operator, name, key, run)
  }
}

/** Keeps the answer of an act that was done. A refused or failed one may be sent again under the same key, and runs again. */
async function keep(operator: OperatorDeps, name: string, key: string, run: () => Promise<Outcome>): Promise<Outcome> {
  let done = false
  try {
    const outcome = await run()
    if ('json' in outcome) {
      done = true
      await finishKey(operator.pool, name, key, outcome.json)
    }
    return outcome
  } finally {
    // If even this fails, the key can be taken over after a minute.
    if (!done) await freeKey(operator.pool, name, key).catch(() => {})
  }
}

function digestOf({ method, raw, body }: Call): string {
  return createHash('sha256')
    .update(JSON.stringify([method, raw.url?.split('?', 1)[0], body]))
    .digest('hex')
}
