// How a module declares an act or a reading: its route, its command, its fields, what it does, and whether it may need a second person. Routes
// (src/http/routes/admin), commands (src/cli/commands.ts), api/admin.yaml and docs/CLI.md are made from the declaration. The guard and the act get
// the same parsed value.
import { inTransaction, inUndoneTransaction, poolWithin, type Sql } from '../db/core/sql.ts'
import { notifyLedgerChanged } from '../db/core/state.ts'
import type { Scope } from '../domain/keys/admin-key.ts'
import { silentLog } from '../lib/log.ts'
import type { LedgerDb } from '../ports/contexts.ts'
import {
  type Actor,
  type ActRecord,
  type EveryPart,
  type Fields,
  isOperatorRefusal,
  type LedgerPart,
  type OperatorRefusal,
  type Proposed,
  recordAct,
} from './act.ts'
import type { Column } from './columns.ts'
import { type Guard, mustWait, propose } from './guard.ts'
import { type Check, type Read, readInput, type Shape, withTimes } from './input.ts'

/** What the command line shows about an act or a reading that has a command. */
export interface CommandTexts<Result = never> {
  /** The words after `node-ledger`, such as `payments list`. */
  readonly command?: string
  /** The command's group in the help; by default the operator's decisions. */
  readonly group?: 'look' | 'decide' | 'owner' | 'books'
  /** What it does, in a line without a full stop. api/admin.yaml shows it too. */
  readonly summary: string
  /** Further sentences for the command's help. */
  readonly details?: string
  /** Whole command lines without `node-ledger`. They work once the reader fills in the <brackets>. */
  readonly examples?: readonly string[]
  /** Positional arguments: fields given without an option name, in order. By default, the fields in the path. */
  readonly args?: readonly string[]
  /** Fields that the command does not offer. */
  readonly leavesOut?: readonly string[]
  /** The question before an act, after its preview, and the message if the user declines. If left out, there is no question. */
  readonly asks?: string | ((input: Fields) => string)
  readonly otherwise?: string
  /** The result in one line, which HTTP answers show as `says`. */
  readonly says?: string | ((result: Result) => string)
  /** The columns of the first list in a result. */
  readonly columns?: readonly Column[]
  /** True if the command needs the chain as well as the database. */
  readonly onChain?: boolean
}

interface Declared<S extends Shape, Result> extends CommandTexts<Result> {
  /** The route's path below /api/admin; null if there is no route. */
  readonly path: string | null
  readonly fields: S
  /** Reports mistakes across several fields. */
  readonly check?: Check<S>
}

/** What the code of a change gets. */
export interface Changing {
  readonly sql: Sql
  readonly actor: Actor
  /** Adds a row to the audit log, with the given reason. A change that adds no row changed nothing. */
  readonly record: (act: ActRecord) => void
}

/** `change` runs in one transaction that ends with its audit rows, and notifies all instances. `run` opens its own transactions. */
type Body<S extends Shape, Deps, Result> =
  | { readonly run: (deps: Deps, actor: Actor, request: Read<S>) => Promise<Result | OperatorRefusal> }
  | {
      readonly run?: undefined
      readonly change: (changing: Changing, request: Read<S>, deps: Deps) => Promise<Result | OperatorRefusal>
    }

type DeclaredAct<S extends Shape, Deps, Result> = Declared<S, Result> &
  Body<S, Deps, Result> & {
    readonly says: NonNullable<CommandTexts<Result>['says']>
    /** What it would do, for people: who, how much, what follows. Default: `says`. `sql` reads the ledger as the act would leave it. */
    readonly preview?: (result: Result, request: Read<S>, sql: Sql) => Lines | Promise<Lines>
    /** The scope that a key needs; null if any key is allowed. */
    readonly scope: Scope | null
    /** True if its answer has files with which a Safe pays. Later files leave out what these pay, so none may be lost. */
    readonly makesFiles?: (input: Fields) => boolean
    /** A field of the answer that the database must never hold. Such an answer is not stored for an Idempotency-Key. */
    readonly secret?: string
  }

type Lines = string | readonly string[]

/** What an act would do. `waits`: a second person would have to confirm it. */
export interface Preview {
  readonly result: object
  readonly text: string
  readonly waits: boolean
}

interface DeclaredReading<S extends Shape, Deps, Answer> extends Declared<S, Exclude<Answer, OperatorRefusal>> {
  readonly scope?: Scope
  readonly run: (deps: Deps, request: Read<S>) => Promise<Answer>
  /** True if the answer is a file. */
  readonly isFile?: true
}

/** Lets the compiler reject a route that uses what routes do not get, and a command that needs the chain but does not declare it. */
type Served<Deps> = EveryPart extends Deps
  ? LedgerPart extends Deps
    ? unknown
    : { readonly onChain: true } | { readonly command?: undefined }
  : { readonly path: null }

/** An act or a reading, in the form from which we make routes, commands and documents. */
export interface Operation extends CommandTexts {
  readonly kind: 'act' | 'reading'
  readonly path: string | null
  readonly scope: Scope | null
  readonly fields: Shape
  readonly secret: string | null
  readonly isFile: boolean
  /** True if the act may wait for a second person. */
  readonly mayWait: boolean
  readonly makesFiles: (input: Fields) => boolean
  /** Its position in declaration order, in which we list a module's operations. */
  readonly place: number
  readonly call: (deps: EveryPart, actor: Actor, input: Fields) => Promise<object | OperatorRefusal>
  /** Runs an act, and undoes it. */
  readonly preview: (deps: EveryPart, actor: Actor, input: Fields) => Promise<Preview | OperatorRefusal>
}

/** What callers get: a function that takes plain JSON values by name. */
interface Described {
  readonly operation: Operation
}
type Called<Deps, Result> = (deps: Deps, actor: Actor, input: Fields) => Promise<Result | OperatorRefusal>
export type Act<Deps, Result extends object = object> = Called<Deps, Result> & Described
/** A reading without fields cannot be refused for its input. */
type Reading<S extends Shape, Deps, Answer> = Described &
  ((deps: Deps, input?: Fields) => Promise<keyof S extends never ? Answer : Answer | OperatorRefusal>)
/** `unguarded` runs the act once a second person has confirmed it. */
export type GuardedAct<Deps extends LedgerDb, Result extends object> = Act<Deps, Result | Proposed> & {
  readonly unguarded: Called<Deps, Result>
}

let places = 0

function describe(kind: Operation['kind'], call: object, declaration: object): Operation {
  const unset = { scope: 'read', secret: null, isFile: false, mayWait: false, makesFiles: () => false, preview: null }
  return { ...unset, ...declaration, kind, place: places++, call } as unknown as Operation
}

/** Declares a reading. It ignores unknown fields. */
export function defineReading<S extends Shape, Deps, Answer extends object>(
  declaration: DeclaredReading<S, Deps, Answer> & Served<Deps>,
): Reading<S, Deps, Answer> {
  const { fields, check, run } = declaration
  const reading = async (deps: Deps, input: Fields = {}) => {
    const request = readInput(fields, input, { check, refuseOthers: false })
    return isOperatorRefusal(request) ? request : run(deps, request)
  }
  const call = (deps: Deps, _actor: Actor, input: Fields) => reading(deps, input)
  const description = { operation: describe('reading', call, declaration) }
  return Object.assign(reading as Reading<S, Deps, Answer>, description)
}

/** Declares an act that one person may do. It refuses unknown fields. */
export function defineAct<S extends Shape, Result extends object, Deps extends LedgerDb = LedgerDb>(
  declaration: DeclaredAct<S, Deps, Result> & Served<Deps>,
): Act<Deps, Result> {
  const call = callOf(declaration)
  const preview = previewOf(declaration, async () => false)
  return Object.assign(call, { operation: describe('act', call, { ...declaration, preview }) })
}

function callOf<S extends Shape, Deps extends LedgerDb, Result extends object>(
  declaration: DeclaredAct<S, Deps, Result>,
): Called<Deps, Result> {
  const { fields, check } = declaration
  return async (deps, actor, input) => {
    const request = readInput(fields, input, { check, refuseOthers: true })
    return isOperatorRefusal(request) ? request : perform(declaration, deps, actor, request)
  }
}

function perform<S extends Shape, Deps extends LedgerDb, Result extends object>(
  body: Body<S, Deps, Result>,
  deps: Deps,
  actor: Actor,
  request: Read<S>,
): Promise<Result | OperatorRefusal> {
  if (body.run) return body.run(deps, actor, request)
  return inTransaction(deps.pool, async (sql) => {
    const acts: ActRecord[] = []
    const result = await body.change({ sql, actor, record: (act) => void acts.push(act) }, request, deps)
    const { reason } = request as { reason?: string | null }
    for (const act of acts) await recordAct(sql, actor, { reason: reason ?? null, ...act })
    if (acts.length > 0) await notifyLedgerChanged(sql)
    return result
  })
}

/**
 * Runs an act in a transaction that is undone, as if a second person had confirmed it. So a preview refuses what the act would refuse, and shows what
 * the act would do. Nothing is logged.
 */
function tryOut<S extends Shape, Deps extends LedgerDb, Result extends object>(
  declaration: DeclaredAct<S, Deps, Result>,
  deps: Deps,
  actor: Actor,
  request: Read<S>,
): Promise<Omit<Preview, 'waits'> | OperatorRefusal> {
  return inUndoneTransaction(deps.pool, async (sql) => {
    const confirmed = { by: actor.name, proposal: 0 }
    const within = { ...deps, pool: poolWithin(sql), log: silentLog }
    const result = await perform(declaration, within, { ...actor, confirmed }, request)
    return isOperatorRefusal(result) ? result : { result, text: await previewText(declaration, result, request, sql) }
  })
}

async function previewText<S extends Shape, Deps, Result extends object>(
  { preview, says }: DeclaredAct<S, Deps, Result>,
  result: Result,
  request: Read<S>,
  sql: Sql,
): Promise<string> {
  return preview ? [await preview(result, request, sql)].flat().join('\n') : resultLine({ says }, result)
}

/** Previews an act. If it has a dry run of its own, that is its preview. */
function previewOf<S extends Shape, Deps extends LedgerDb, Result extends object>(
  declaration: DeclaredAct<S, Deps, Result>,
  waits: (sql: Sql, request: Read<S>) => Promise<boolean>,
) {
  const { fields, check } = declaration
  return async (deps: Deps, actor: Actor, input: Fields): Promise<Preview | OperatorRefusal> => {
    const dry = Object.hasOwn(fields, 'dryRun') ? { dryRun: true } : {}
    const request = readInput(fields, { ...input, ...dry }, { check, refuseOthers: true })
    if (isOperatorRefusal(request)) return request
    const preview = await tryOut(declaration, deps, actor, request)
    if (isOperatorRefusal(preview)) return preview
    return { ...preview, waits: await waits(deps.pool, { ...request, ...(dry.dryRun && { dryRun: false }) }) }
  }
}

/** The acts that can wait for a second person, by their name in a proposal. */
const CONFIRMABLE = new Map<string, Confirmable>()

interface Confirmable {
  readonly scope: Scope
  readonly unguarded: Called<EveryPart, object>
  readonly operation: Operation
  /** What the result would be, for people. */
  readonly previewText: (sql: Sql, input: Fields, result: object) => Promise<string>
}

/** The act that a proposal names; null if this version does not have it. */
export const actOf = (name: string) => CONFIRMABLE.get(name) ?? null

/** Declares an act that becomes a proposal if it lets more wei through than the rule's amount. An act that could not succeed even now is refused. */
export function defineGuardedAct<S extends Shape, Result extends object, Deps extends LedgerDb = LedgerDb>(
  declaration: DeclaredAct<S, Deps, Result> & Guard<Read<S>> & { readonly scope: Scope } & Served<Deps>,
): GuardedAct<Deps, Result> {
  const { proposedAs, scope, fields, check, sum } = declaration
  const act: Called<Deps, Result | Proposed> = async (deps, actor, input) => {
    const request = readInput(fields, input, { check, refuseOthers: true })
    if (isOperatorRefusal(request)) return request
    if (!(await mustWait(deps.pool, { sum }, request))) return perform(declaration, deps, actor, request)
    const trial = await tryOut(declaration, deps, actor, request)
    return isOperatorRefusal(trial) ? trial : propose(deps.pool, actor, proposedAs, withTimes(fields, input))
  }
  const unguarded = callOf(declaration)
  const preview = previewOf(declaration, (sql, request) => mustWait(sql, { sum }, request))
  const operation = describe('act', act, { ...declaration, mayWait: true, preview })
  CONFIRMABLE.set(proposedAs, {
    scope,
    unguarded: unguarded as Called<never, object> as Called<EveryPart, object>,
    operation,
    previewText: async (sql, input, result) => {
      const request = readInput(fields, input, { check, refuseOthers: true })
      return isOperatorRefusal(request) ? '' : previewText(declaration, result as Result, request, sql)
    },
  })
  return Object.assign(act, { unguarded, operation })
}

/** The result of an operation in one line; empty if it declares no `says`. */
export const resultLine = ({ says = '' }: Pick<Operation, 'says'>, result: object): string =>
  typeof says === 'function' ? says(result as never) : says

/** All acts and readings that the modules declare, in declaration order. */
export const operationsOf = (modules: readonly object[]): Operation[] =>
  modules.flatMap((module) =>
    (Object.values(module).flat() as unknown[])
      .flatMap((value) => (typeof value === 'function' && 'operation' in value ? [value.operation as Operation] : []))
      .sort((one, other) => one.place - other.place),
  )
