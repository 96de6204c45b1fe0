// The shape of what an operator does. An act is `(deps, actor, input) => result | refusal`, a reading `(deps, input) => result |
// refusal`; the admin routes and the command line call the same functions. `input` holds plain JSON values as they came (see
// input.ts); a result is a JSON object, wei as bigint or decimal string. An act changes the ledger in one transaction that ends
// with its row in the audit log (`change` of define-act.ts, or `recordAct`). Each names the parts that it uses; none of them can send.
import type { Pool, Sql } from '../db/core/sql.ts'
import { writeAudit } from '../db/core/state.ts'
import type { KeyHolder, Scope } from '../domain/keys/admin-key.ts'
import type { FirstSaleTerms } from '../domain/tiers.ts'
import type { Address } from '../domain/units.ts'
import type {
  ChainRead,
  CreditRules,
  FactoryRead,
  FinalityRules,
  FollowRules,
  LedgerDb,
  Logging,
  RuledBy,
  TrustRules,
} from '../passes/context.ts'

/** A database for long readings: a replica where there is one. What was just written may be missing there. */
export interface ReplicaDb {
  readonly readPool: Pool
}

/** The accounts that the service sends with, by address; null where a key is not configured. */
export interface SignerAddresses {
  readonly signers: { readonly minter: Address | null; readonly distributor: Address | null }
}

/** All that acts and readings use. A pass's context does not fit: anything that holds the accounts themselves is refused. */
export interface OperatorDeps
  extends LedgerDb,
    ReplicaDb,
    ChainRead,
    FactoryRead,
    SignerAddresses,
    RuledBy<FollowRules & FinalityRules & TrustRules & FirstSaleTerms & CreditRules>,
    Logging {
  readonly minter?: never
  readonly distributor?: never
}

/** The keys of ADMIN_KEY, which the ledger does not hold: their labels. */
export interface EnvironmentKeys {
  readonly environmentLabels: readonly string[]
}

/** The origin that people reach the console at. */
export interface ReachedAt {
  readonly publicUrl: string
}

/** What acts and readings are given: all of it over HTTP, and without a chain what the database alone has. */
export type EveryPart = OperatorDeps & EnvironmentKeys & ReachedAt
export type LedgerPart = LedgerDb & EnvironmentKeys & ReachedAt

/** The person who acts: the label of an admin key, or `cli:<user>`. */
export interface Actor {
  name: string
  /** The request it came with, for finding it in the log; null on the command line. */
  requestId: string | null
  /** Their key, where it is one of the ledger's; left out for keys of ADMIN_KEY and the command line, which may do everything. */
  held?: KeyHolder
  /** The second person, and the proposal that they confirmed. */
  confirmed?: { readonly by: string; readonly proposal: number }
}

/** Plain JSON values by name, as they came. */
export type Fields = Readonly<Record<string, unknown>>

/**
 * The reason that an act was refused. `invalid`: the input is wrong. `notFound`: there is no such thing. `conflict`: its state is not
 * the one that the act needs. `notYet`: the same may be asked again shortly. `unavailable`: chain or settings do not allow it now.
 * `forbidden`: their key may not do that.
 */
export type RefusedBecause = 'invalid' | 'forbidden' | 'notFound' | 'conflict' | 'notYet' | 'unavailable'

/**
 * What is wrong: with a field, whose name `text` goes on after, or by itself. Programs go by `field` and `code`, `text` is for people; within it
 * fields are named by `fieldNamed`.
 */
export interface Problem {
  readonly field: string | null
  readonly code: RefusedBecause | 'missing' | 'malformed' | 'unknownField'
  readonly text: string
}

/** No text has this character: the operator's own have no control characters, and unknown names are shown escaped. */
const MARK = '\u0001'
/** Names a field within the text of a refusal, so that it is called there as whoever reads it gives it. */
export const fieldNamed = (field: string) => `${MARK}${field}${MARK}`

/** An act or a reading refused, as a value. A class, so that no result can be taken for one. */
export class OperatorRefusal {
  readonly because: RefusedBecause
  readonly problems: readonly Problem[]

  constructor(because: RefusedBecause, problems: readonly Problem[]) {
    this.because = because
    this.problems = problems
  }

  /** A sentence that says what to do. */
  get message(): string {
    return sentenceOf(this.problems)
  }
}

/** Refuses for one reason, in a sentence. */
export const refuseAct = (because: RefusedBecause, text: string) => refuseField(because, null, text)

/** Refuses what a field says, in a sentence that goes on after its name. */
export const refuseField = (because: RefusedBecause, field: string | null, text: string) =>
  new OperatorRefusal(because, [{ field, code: because, text: text.replace(/\.$/, '') }])

/** Refuses an input for all that is wrong with it. */
export const refuseFields = (problems: readonly Problem[]) => new OperatorRefusal('invalid', problems)

/** Problems as one sentence, with the fields called as they are where it is read. */
export const sentenceOf = (problems: readonly Problem[], nameOf = (field: string) => field): string => {
  const texts = problems.map(({ field, text }) => (field === null ? text : `${fieldNamed(field)} ${text}`))
  return `${named(texts.join('; '), nameOf)}.`
}

/** A text in which the fields are called by their names. */
export function named(text: string, nameOf = (field: string) => field): string {
  const parts = text.split(MARK)
  return parts.map((part, place) => (place % 2 === 1 ? nameOf(part) : part)).join('')
}

/** Refuses who holds a key without the scope. */
export const refuseByScope = (scope: Scope) =>
  refuseAct('forbidden', `Your key may not do that: it lacks the scope ${scope}.`)

export const isOperatorRefusal = (value: unknown): value is OperatorRefusal => value instanceof OperatorRefusal

/** The row of the audit log that an act leaves. `subject` is the thing it was done to: a hash, a tier, an address. */
export interface ActRecord {
  action: string
  subject?: string
  before?: unknown
  after?: unknown
  /** The operator's reason, in their own words. */
  reason?: string | null
}

/** Writes an act's row of the audit log. Runs in the act's own transaction. */
export async function recordAct(sql: Sql, actor: Actor, { action, subject, ...detail }: ActRecord): Promise<void> {
  await writeAudit(sql, {
    actor: actor.name,
    action,
    ...(subject === undefined ? {} : { subject }),
    detail: {
      ...detail,
      ...(actor.confirmed && { confirmedBy: actor.confirmed.by, proposal: actor.confirmed.proposal }),
    },
    requestId: actor.requestId,
  })
}
