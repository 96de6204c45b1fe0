// The table of all commands. Help, docs/CLI.md and the parser are made from it; what each command does is in its module.
import type { Command } from './command.ts'
import { ADMIN_KEYS } from './commands/admin-keys.ts'
import { BOOKS } from './commands/books.ts'
import { INIT } from './commands/init.ts'
import { LOOK } from './commands/look.ts'
import { OWNER } from './commands/owner.ts'
import { PAYMENTS } from './commands/payments.ts'
import { PROPOSALS } from './commands/proposals.ts'
import { RUN } from './commands/run.ts'
import { SALE } from './commands/sale.ts'
import { SERVICE } from './commands/service.ts'
import { TOOLS } from './commands/tools.ts'
import { WEBHOOKS } from './commands/webhooks.ts'

export const COMMANDS: readonly Command[] = [
  ...INIT,
  ...RUN,
  ...LOOK,
  ...PAYMENTS,
  ...SALE,
  ...SERVICE,
  ...OWNER,
  ...BOOKS,
  ...WEBHOOKS,
  ...ADMIN_KEYS,
  ...PROPOSALS,
  ...TOOLS,
]
