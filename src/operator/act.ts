// The shape of everything an operator does. An act is `(deps, actor, input) => result | refusal`, a reading `(deps, input) => result | refusal`; the
// admin routes and the command line call the same functions. `input` holds the caller's plain JSON values (see input.ts); a result is a JSON object,
// with wei as bigint or decimal string. An act changes the ledger in one transaction that ends with its row in the audit log (`change` of
// define-act.ts, or `recordAct`). Each names the dependencies that it uses; none of them can send.
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
} from '../ports/contexts.ts'

/** A database for long reads: a replica if there is one. The replica may lack the latest writes. */
export interface ReplicaDb {
  readonly readPool: Pool
}

/** The accounts that the service sends from, by address; null if a key is not configured. */
export interface SignerAddresses {
  readonly signers: { readonly minter: Address | null; readonly distributor: Address | null }
}

/** Everything that acts and readings use. The type rejects a pass's context, because that holds the accounts themselves. */
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

/** The keys in ADMIN_KEY, which the ledger does not hold: their labels and digests. */
export interface EnvironmentKeys {
  readonly environmentKeys: readonly { readonly label: string; readonly digest: string }[]
}

/** The origin at which people reach the console. */
export interface ReachedAt {
  readonly publicUrl: string
}

/** What acts and readings get: over HTTP everything; without a chain, only what the database gives. */
export type EveryPart = OperatorDeps & EnvironmentKeys & ReachedAt
export type LedgerPart = LedgerDb & EnvironmentKeys & ReachedAt

/** The person who acts: the label of an admin key, or `cli:<user>`. */
export interface Actor {
  name: string
  /** Of their key; of a session, of its passkey's credential id. In hex. Left out on the command line. */
  keyDigest?: string
  /** The request's id, to find it in the log; null on the command line. */
  requestId: string | null
  /** Their key, if it is a key of the ledger. Left out for keys of ADMIN_KEY and for the command line, which may do everything. */
  held?: KeyHolder
  /** The second person, and the proposal that they confirmed. */
  confirmed?: { readonly by: string; readonly proposal: number }
}

/** The caller's plain JSON values, by name. */
export type Fields = Readonly<Record<string, unknown>>

/**
 * The reason that an act was refused. `invalid`: the input is wrong. `notFound`: it does not exist. `conflict`: its state does not allow the act.
 * `notYet`: try again shortly. `unavailable`: the chain or the settings do not allow it at the moment. `forbidden`: the key may not do that.
 */
export type RefusedBecause = 'invalid' | 'forbidden' | 'notFound' | 'conflict' | 'notYet' | 'unavailable'

/**
 * What is wrong with a field, or with the whole input. For a field, `text` continues a sentence that begins with its name. Programs use `field` and
 * `code`; `text` is for people, and names fields through `fieldNamed`.
 */
export interface Problem {
  readonly field: string | null
  readonly code: RefusedBecause | 'missing' | 'malformed' | 'unknownField'
  readonly text: string
}

/** A character that occurs in no refusal: operators' texts have no control characters, and unknown field names are escaped. */
const MARK = '\u0001'
/** Marks a field's name within the text of a refusal, so that each reader sees the name that they use for it. */
export const fieldNamed = (field: string) => `${MARK}${field}${MARK}`

/** A refused act or reading, returned as a value. It is a class so that no ordinary result can pass for a refusal. */
export class OperatorRefusal {
  readonly because: RefusedBecause
  readonly problems: readonly Problem[]

  constructor(because: RefusedBecause, problems: readonly Problem[]) {
    this.because = because
    this.problems = problems
  }

  /** A sentence that explains what to do. */
  get message(): string {
    return sentenceOf(this.problems)
  }
}

/** Refuses for one reason, in a sentence. */
export const refuseAct = (because: RefusedBecause, text: string) => refuseField(because, null, text)

/** Refuses a field's value; `text` continues a sentence that begins with its name. */
export const refuseField = (because: RefusedBecause, field: string | null, text: string) =>
  new OperatorRefusal(because, [{ field, code: because, text: text.replace(/\.$/, '') }])

/** Refuses an input for all its mistakes. */
export const refuseFields = (problems: readonly Problem[]) => new OperatorRefusal('invalid', problems)

/** Problems as one sentence, with the field names that the reader knows. */
export const sentenceOf = (problems: readonly Problem[], nameOf = (field: string) => field): string => {
  const texts = problems.map(({ field, text }) => (field === null ? text : `${fieldNamed(field)} ${text}`))
  return `${withFieldNames(texts.join('; '), nameOf)}.`
}

/** A text with each marked field under the name that the reader knows. */
export function withFieldNames(text: string, nameOf = (field: string) => field): string {
  const parts = text.split(MARK)
  return parts.map((part, place) => (place % 2 === 1 ? nameOf(part) : part)).join('')
}

/** Refuses the holder of a key without the scope. */
export const refuseByScope = (scope: Scope) =>
  refuseAct('forbidden', `Your key may not do that: it lacks the scope ${scope}.`)

/** The answer of an act that waits for a second person, in place of its own result. */
export interface Proposed {
  proposal: { id: number; act: string; expiresAt: Date; says: string }
}

export const isProposed = (answer: object): answer is Proposed => 'proposal' in answer

export const isOperatorRefusal = (value: unknown): value is OperatorRefusal => value instanceof OperatorRefusal

/** The row that an act leaves in the audit log. `subject` is what it acted on: a hash, a tier, an address. */
export interface ActRecord {
  action: string
  subject?: string
  before?: unknown
  after?: unknown
  /** The operator's reason, in their own words. */
  reason?: string | null
}

/** Writes an act's row to the audit log. Runs in the act's own transaction. */
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
