// The command `node-ledger completion`: scripts for shells, made from the table of commands. A script holds all that it offers, so that the Tab key
// starts nothing.
import { COMMON } from '../arguments.ts'
import { type Call, type Command, EXIT, type ExitCode } from '../command.ts'

/** Runs the command. */
export async function completion({ args, commands, out }: Call): Promise<ExitCode> {
  const script = SCRIPTS[args.shell as keyof typeof SCRIPTS](commands)
  await out.result({ shell: args.shell, script }, script)
  return EXIT.done
}

/** A command's words, and what may follow them: the choices of its first argument, its options. */
interface Line {
  readonly words: string
  readonly after: readonly string[]
}

function linesOf(commands: readonly Command[]): Line[] {
  const whole = commands.map(({ name, args = [], options = {} }) => ({
    words: name,
    after: [...(args[0]?.choices ?? []), ...Object.keys({ ...options, ...COMMON }).map((option) => `--${option}`)],
  }))
  const groups = Map.groupBy(
    commands.filter(({ name }) => name.includes(' ')),
    ({ name }) => name.slice(0, name.indexOf(' ')),
  )
  const begun = [...groups].map(([words, own]) => ({
    words,
    after: own.map(({ name }) => name.slice(words.length + 1)),
  }))
  const first = [...new Set([...commands.map(({ name }) => name.split(' ', 1)[0] ?? name), 'help'])]
  return [{ words: '', after: first }, ...begun, ...whole]
}

const casesOf = (commands: readonly Command[]): string =>
  linesOf(commands)
    .map(({ words, after }) => `    "${words}") offered="${after.join(' ')}" ;;`)
    .join('\n')

/** Bash's: the words before the cursor that are no options name the command, at most two of them. */
const bash = (commands: readonly Command[]): string => `_node_ledger() {
  local offered="" words=() word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$word" in -*) break ;; *) words+=("$word") ;; esac
  done
  while :; do
    case "\${words[*]:0:2}" in
${casesOf(commands)}
    esac
    [ -n "$offered" ] || [ "\${#words[@]}" -lt 2 ] && break
    words=("\${words[@]:0:1}")
  done
  COMPREPLY=($(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _node_ledger node-ledger`

/** Zsh has what runs bash's. */
const zsh = (commands: readonly Command[]): string => `autoload -U +X bashcompinit && bashcompinit
${bash(commands)}`

/** Fish's: a line for each word that may come, with the condition under which it may. */
const fish = (commands: readonly Command[]): string =>
  [
    `function __node_ledger_at
  set -l words (commandline -opc)[2..]
  set -l named
  for word in $words
    string match -q -- '-*' $word; and break
    set -a named $word
  end
  test "$named[1..2]" = "$argv[1]"; or test "$named[1]" = "$argv[1]"; or test -z "$argv[1]" -a -z "$named"
end
complete -c node-ledger -f`,
    ...linesOf(commands).map(
      ({ words, after }) => `complete -c node-ledger -n "__node_ledger_at '${words}'" -a "${after.join(' ')}"`,
    ),
  ].join('\n')

const SCRIPTS = { bash, zsh, fish } as const
