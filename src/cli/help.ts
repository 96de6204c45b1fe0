// The command line's help and the tables of docs/CLI.md, both made from the table of commands.
import { COMMON } from './arguments.ts'
import { type ArgumentSpec, type Command, GROUPS, type OptionSpec } from './command.ts'

/** The overview: every command with its summary. */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const sections = Object.entries(GROUPS).map(([group, title]) =>
    [
      `${title}:`,
      ...commands
        .filter((command) => command.group === group)
        .map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    ].join('\n'),
  )
  return [
    'Usage: node-ledger <command> [options]',
    ...sections,
    `Every command takes --json, --yes and --help; "node-ledger help <command>" explains it.
Settings come from the environment (docs/SETTINGS.md documents each). Without any, commands talk to the service that
"npm start" runs in this directory.
Exit codes: 0 done, 1 refused or a difference found, 2 called or set wrongly, 3 could not check,
4 waits for a second person.`,
  ].join('\n\n')
}

/** The first line of a command's help. */
export function usageLine(command: Command): string {
  const args = (command.args ?? []).map(({ name, choices, optional }) => {
    const text = choices ? choices.join('|') : `<${name}>`
    return optional ? `[${text}]` : text
  })
  const requiredOptions = Object.entries(command.options ?? {})
    .filter(([, spec]) => spec.required)
    .map(([name, spec]) => `--${name} <${spec.value}>`)
  return ['node-ledger', command.name, ...args, ...requiredOptions, '[options]'].join(' ')
}

/** Everything about one command. */
export function commandHelp(command: Command): string {
  const { summary, details, args = [], examples } = command
  const options = Object.entries({ ...command.options, ...COMMON })
  const width = Math.max(
    ...options.map(([name, spec]) => optionText(name, spec).length),
    ...args.map((a) => a.name.length + 2),
  )
  return [
    `Usage: ${usageLine(command)}`,
    `${capital(summary)}.${details ? `\n${details}` : ''}`,
    ...(args.length > 0 ? [args.map(({ name, help }) => `  ${`<${name}>`.padEnd(width)}  ${help}`).join('\n')] : []),
    options.map(([name, spec]) => `  ${optionText(name, spec).padEnd(width)}  ${spec.help}`).join('\n'),
    `Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`,
  ].join('\n\n')
}

/** The tables of docs/CLI.md: every command with its arguments and its summary. */
export function reference(commands: readonly Command[]): string {
  const sections = Object.entries(GROUPS).map(([group, title]) => {
    const rows = commands.filter((command) => command.group === group).map(row)
    return `## ${title}\n\n| command | what it does |\n|---|---|\n${rows.join('\n')}`
  })
  return `${sections.join('\n\n')}\n`
}

function row({ name, args = [], summary }: Command): string {
  return `| \`${[name, ...args.map(argumentText)].join(' ')}\` | ${summary} |`
}

function argumentText({ name, choices, optional }: ArgumentSpec): string {
  // A bare bar would end the table's cell.
  const text = `<${choices && choices.length < 3 ? choices.join('\\|') : name}>`
  return optional ? `[${text}]` : text
}

function optionText(name: string, { value }: OptionSpec): string {
  return value ? `--${name} <${value}>` : `--${name}`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
