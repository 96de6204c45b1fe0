// The table of all commands. Help, docs/CLI.md and the parser are made from it; each command's code is in its module. The operator's acts and
// readings declare their own commands. We load these one subject at a time, so that small commands need not load all of them.
import type { Command } from './command.ts'
import { INIT } from './commands/init.ts'
import { LOOK } from './commands/look.ts'
import { PAYMENTS } from './commands/payments.ts'
import { RUN } from './commands/run.ts'
import { SERVICE } from './commands/service.ts'
import { TOOLS } from './commands/tools.ts'
import type { View } from './operator.ts'

/** The commands with one first word. `modules`: acts and readings that declare commands. `views`: how those are shown. `commands`: all others. */
interface Subject {
  readonly modules?: () => Promise<object>[]
  readonly views?: () => Promise<{
    readonly VIEWS?: Readonly<Record<string, View>>
    readonly more?: () => readonly Command[]
  }>
  readonly commands?: readonly Command[]
}

const from = (commands: readonly Command[], word: string) => commands.filter(({ name }) => name.split(' ')[0] === word)

/** The subjects, in the order of the help. */
const SUBJECTS: Readonly<Record<string, Subject>> = {
  ...simple([...INIT, ...RUN, ...LOOK]),
  rescan: { modules: () => [import('../operator/acts/rescan.ts')], views: () => import('./service/rescan.ts') },
  evidence: { modules: () => [import('../operator/acts/evidence.ts')] },
  payments: {
    modules: () => [
      import('../operator/acts/payments.ts'),
      import('../operator/acts/decide.ts'),
      import('../operator/acts/attribute.ts'),
      import('../operator/acts/refunds/prepare.ts'),
      import('../operator/acts/refunds/record.ts'),
      import('../operator/acts/refunds/prepare-all.ts'),
    ],
    views: () => import('./desk/payments.ts'),
    commands: PAYMENTS,
  },
  wallets: { modules: () => [import('../operator/acts/payment-wallets.ts')] },
  'contract-wallets': { modules: () => [import('../operator/acts/contract-wallets.ts')] },
  terms: { modules: () => [import('../operator/acts/terms.ts')], views: () => import('./desk/terms.ts') },
  tiers: {
    modules: () => [import('../operator/acts/tiers.ts'), import('../operator/acts/preview.ts')],
    views: () => import('./desk/tiers.ts'),
  },
  allowlists: {
    modules: () => [import('../operator/acts/allowlists/acts.ts')],
    views: () => import('./desk/allowlists.ts'),
  },
  referrals: {
    modules: () => [import('../operator/acts/referrals/codes.ts'), import('../operator/acts/referrals/commissions.ts')],
    views: () => import('./desk/referrals.ts'),
  },
  senders: { modules: () => [import('../operator/acts/deny-list.ts')] },
  nodes: { modules: () => [import('../operator/acts/grants.ts')] },
  pause: { modules: () => [import('../operator/acts/pause.ts')] },
  ...simple(from(SERVICE, 'resume')),
  recheck: { modules: () => [import('../operator/acts/recheck.ts')] },
  owner: { modules: () => [import('../operator/acts/owner.ts')], views: () => import('./desk/owner.ts') },
  rounds: { modules: () => [import('../operator/acts/transactions.ts'), import('../operator/acts/preview.ts')] },
  transactions: { modules: () => [import('../operator/acts/transactions.ts')] },
  export: { modules: () => [import('../operator/acts/books/exports.ts')], views: () => import('./books/export.ts') },
  statement: {
    modules: () => [import('../operator/acts/books/statement.ts')],
    views: () => import('./books/statement.ts'),
  },
  audit: { modules: () => [import('../operator/acts/audit.ts')] },
  webhooks: { modules: () => [import('../operator/acts/webhooks.ts')], commands: from(SERVICE, 'webhooks') },
  'admin-keys': {
    modules: () => [import('../operator/acts/keys/admin-keys.ts'), import('../operator/acts/keys/passkeys.ts')],
    views: () => import('./desk/admin-keys.ts'),
    commands: from(SERVICE, 'admin-keys'),
  },
  'second-person': { modules: () => [import('../operator/acts/second-person/rule.ts')] },
  // All modules are loaded, because any act may have been proposed.
  proposals: {
    modules: () => [import('../operator/acts/second-person/proposals.ts'), import('../operator/operations.ts')],
    views: () => import('./desk/proposals.ts'),
  },
  ...simple(TOOLS),
}

/** Subjects of commands that need no further module. */
function simple(commands: readonly Command[]): Record<string, Subject> {
  return Object.fromEntries(
    commands.map(({ name }) => [name.split(' ')[0], { commands: from(commands, name.split(' ')[0] ?? '') }]),
  )
}

/** The commands that begin with this word; all commands if none does, or if no word is given. */
export async function loadCommands(word?: string): Promise<readonly Command[]> {
  const subjects = word !== undefined && Object.hasOwn(SUBJECTS, word) ? [word] : Object.keys(SUBJECTS)
  const commands: Command[] = []
  for (const subject of subjects) commands.push(...(await loadSubject(subject)))
  return commands
}

async function loadSubject(word: string): Promise<Command[]> {
  const { modules, views, commands = [] } = SUBJECTS[word] ?? {}
  if (modules === undefined) return [...commands]
  const [{ operationsOf }, { commandOf }] = [await import('../operator/define-act.ts'), await import('./operator.ts')]
  const { VIEWS = {}, more } = (await views?.()) ?? {}
  const own = operationsOf(await Promise.all(modules())).filter(({ command }) => command?.split(' ')[0] === word)
  const all = [...own.map((operation) => commandOf(operation, VIEWS[operation.command ?? ''])), ...(more?.() ?? [])]
  for (const command of commands) all.splice(all.findIndex(({ name }) => name === command.after) + 1, 0, command)
  return all
}
