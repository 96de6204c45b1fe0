// The shape of a command: its name, its options, its examples, and the function that runs it. The table of all commands is in commands.ts. Help,
// docs/CLI.md and the argument parser are made from it, so they cannot disagree. The operator's acts and readings declare their own commands
// (operator.ts).
import type { AtTerminal } from './dialogue.ts'
import type { Output } from './output.ts'

/** Exit codes; docs/CLI.md explains each. */
export const EXIT = {
  done: 0,
  /** Refused, declined, or a difference was found. */
  negative: 1,
  /** The call or the settings are wrong. The same call will fail again. */
  usage: 2,
  /** The database, the chain or the service could not be reached, so nothing is known. */
  unavailable: 3,
  /** Entered as a proposal, which a second person has to confirm. */
  waits: 4,
  /** An error that the program did not expect. */
  fault: 70,
  /** Interrupted by Ctrl-C. */
  interrupted: 130,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A flag (`boolean`), or an option with a value, whose placeholder is `value`. */
export interface OptionSpec {
  readonly help: string
  /** Placeholder of the value, without brackets; a flag has none. */
  readonly value?: string
  readonly required?: boolean
  /** True for a flag of the command line itself. Every other flag is a field of the act or the reading. */
  readonly isOurs?: true
  /** The field that the option stands for, if the command reads it from a file. */
  readonly holds?: string
}

export interface ArgumentSpec {
  readonly name: string
  readonly help: string
  /** The only allowed values. */
  readonly choices?: readonly string[]
  readonly optional?: boolean
}

export interface Command {
  /** The words after `node-ledger`, such as `payments list`. */
  readonly name: string
  readonly group: Group
  /** What the command does, in a line without a full stop. */
  readonly summary: string
  /** Further sentences for this command's help. */
  readonly details?: string
  readonly args?: readonly ArgumentSpec[]
  readonly options?: Readonly<Record<string, OptionSpec>>
  /** Whole command lines that work once the reader fills in the <brackets>. Tests run them. */
  readonly examples: readonly string[]
  /** The command after which it is listed, if that is not the previous one in its table. */
  readonly after?: string
  /** True for a command that runs until it is stopped, and handles signals itself. */
  readonly longRunning?: boolean
  /** Loads the command's module, so that help and small commands need not load all modules. */
  load(): Promise<Run>
}

export const GROUPS = {
  run: 'Running it',
  look: 'Checking it',
  decide: "The operator's decisions",
  owner: "What the contract's owner signs",
  books: 'The books',
  tools: 'Tools',
} as const
export type Group = keyof typeof GROUPS

/** One call of a command, with its arguments already checked. */
export interface Call extends AtTerminal {
  readonly command: Command
  /** Loads other commands by their first word. `init` runs some of them as its steps. */
  readonly commands: (word?: string) => Promise<readonly Command[]>
  readonly args: Readonly<Record<string, string>>
  readonly values: Readonly<Record<string, string>>
  readonly flags: ReadonlySet<string>
  readonly out: Output
}
export type Run = (call: Call) => Promise<ExitCode>

/** An option that commands of several groups take. */
export const REASON = { reason: { value: 'text', help: 'your reason, kept in the audit log' } }

/** Every command that asks has this option. If the act has a field of that name, its preview sets the field. */
export const DRY_RUN = { 'dry-run': { help: 'only show what it would do', isOurs: true } } as const
