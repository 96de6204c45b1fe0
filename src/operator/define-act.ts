// How the module of an act declares it: how its input is read, what it does, and whether a second person may be needed. What is guarded and
// what is done come from one parsed value. A field that `read` does not ask for is refused.
import type { LedgerDb } from '../passes/context.ts'
import { type Actor, type Fields, isOperatorRefusal, type OperatorRefusal } from './act.ts'
import { type FieldReader, readFields } from './input.ts'
import { type Guard, mustWait, propose } from './second-person/guard.ts'
import type { Proposed } from './second-person/proposed.ts'

interface Declared<Deps, Asked, Result extends object> {
  /** Asks for every field that the act takes, whatever the others hold. */
  readonly read: (fields: FieldReader) => Asked
  readonly run: (deps: Deps, actor: Actor, asked: Asked) => Promise<Result | OperatorRefusal>
}

/** An act as routes and commands call it: with plain JSON values by name. */
type Called<Deps, Result> = (deps: Deps, actor: Actor, input: Fields) => Promise<Result | OperatorRefusal>

/** An act that may become a proposal. `unguarded` does what was proposed, once a second person has confirmed it. */
export type GuardedAct<Deps extends LedgerDb, Result extends object> = Called<Deps, Result | Proposed> &
  Pick<Guard<never>, 'scope'> & { readonly proposedAs: string; readonly unguarded: Called<Deps, Result> }

/** Declares an act that one person may do. */
export function defineAct<Deps, Asked, Result extends object>({
  read,
  run,
}: Declared<Deps, Asked, Result>): Called<Deps, Result> {
  return async (deps, actor, input) => {
    const asked = readInput(read, input)
    return isOperatorRefusal(asked) ? asked : run(deps, actor, asked.value)
  }
}

/** Declares an act that is proposed instead of done when it lets through more than the rule's amount. */
export function defineGuardedAct<Deps extends LedgerDb, Asked, Result extends object>({
  name,
  scope,
  read,
  sum,
  preview,
  run,
}: Declared<Deps, Asked, Result> &
  Guard<Asked> & {
    /** Refuses a proposal that could not be done even now. */
    readonly preview?: (deps: Deps, actor: Actor, asked: Asked) => Promise<object | OperatorRefusal>
  }): GuardedAct<Deps, Result> {
  const act: Called<Deps, Result | Proposed> = async (deps, actor, input) => {
    const asked = readInput(read, input)
    if (isOperatorRefusal(asked)) return asked
    if (!(await mustWait(deps.pool, { sum }, asked.value))) return run(deps, actor, asked.value)
    const previewed = await preview?.(deps, actor, asked.value)
    return isOperatorRefusal(previewed) ? previewed : propose(deps.pool, actor, name, input)
  }
  return Object.assign(act, { scope, proposedAs: name, unguarded: defineAct({ read, run }) })
}

function readInput<Asked>(
  read: (fields: FieldReader) => Asked,
  input: Fields,
): { readonly value: Asked } | OperatorRefusal {
  const fields = readFields(input)
  const value = read(fields)
  fields.refuseOthers()
  return fields.refusal ?? { value }
}
