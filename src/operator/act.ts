// The shape of what an operator does. An act is `(deps, actor, input) => result | refusal`, a reading `(deps, input) => result |
// refusal`; the admin routes and the command line call the same functions. `input` holds plain JSON values as they came (see
// input.ts); a result is a JSON object, wei as bigint or decimal string. An act changes the ledger in one transaction that ends
// with `recordAct`: no act without its row in the audit log. Nothing here can send: the context holds no key.
import { writeAudit } from '../db/settings.ts'
import type { Pool, Sql } from '../db/sql.ts'
import type { Address } from '../domain/units.ts'
import type { PassContext } from '../passes/context.ts'

/** What acts and readings are given: a pass's context without its senders, whose addresses alone are known. */
export interface OperatorDeps extends PassContext {
  minter: null
  distributor: null
  /** Whose keys the service sends with; null where one is not configured. */
  senders: { minter: Address | null; distributor: Address | null }
  /** For long readings: a replica where there is one. What was just written may be missing there. */
  readPool: Pool
}

/** Who acts: the label of an admin key, or `cli:<user>`. */
export interface Actor {
  name: string
  /** The request it came with, for finding it in the log; null on the command line. */
  requestId: string | null
}

/** Plain JSON values by name, as they came. */
export type Fields = Readonly<Record<string, unknown>>

/**
 * Why something was not done: `invalid` the input is wrong, `notFound` there is no such thing, `conflict` it stands otherwise than
 * the act needs it, `notYet` the same may be asked again shortly, `unavailable` chain or settings do not allow it now.
 */
export type RefusedBecause = 'invalid' | 'notFound' | 'conflict' | 'notYet' | 'unavailable'

/** An act or a reading refused, as a value. A class, so that no result can be taken for one. */
export class OperatorRefusal {
  readonly because: RefusedBecause
  /** A sentence that says what to do. */
  readonly message: string

  constructor(because: RefusedBecause, message: string) {
    this.because = because
    this.message = message
  }
}

/** Refuses. */
export const refuseAct = (because: RefusedBecause, message: string) => new OperatorRefusal(because, message)

export const isOperatorRefusal = (value: unknown): value is OperatorRefusal => value instanceof OperatorRefusal

export type Act<T extends object = object> = (
  deps: OperatorDeps,
  actor: Actor,
  input: Fields,
) => Promise<T | OperatorRefusal>
export type Reading<T extends object = object> = (deps: OperatorDeps, input: Fields) => Promise<T | OperatorRefusal>

/** What an act leaves behind. `subject` is what it was done to: a hash, a tier, an address. */
export interface ActRecord {
  action: string
  subject?: string
  before?: unknown
  after?: unknown
  /** What the operator gave as his reason. */
  reason?: string | null
}

/** Writes an act's row of the audit log. Runs in the act's own transaction. */
export async function recordAct(sql: Sql, actor: Actor, { action, subject, ...detail }: ActRecord): Promise<void> {
  await writeAudit(sql, {
    actor: actor.name,
    action,
    ...(subject === undefined ? {} : { subject }),
    detail,
    requestId: actor.requestId,
  })
}
