// The table of all commands. Help, docs/CLI.md and the parser are made from it; what each command does is in its module.
import type { Command } from './command.ts'

const YES = { yes: { help: 'do not ask' } }

export const COMMANDS: readonly Command[] = [
  {
    name: 'start',
    group: 'run',
    summary: 'run the service; with nothing configured, on an embedded database and chain',
    details: 'The log goes to stdout as JSON lines, what a person wants to know at the start to stderr.',
    examples: ['node-ledger start'],
    longRunning: true,
    load: async () => (await import('./start.ts')).start,
  },
  {
    name: 'dev',
    group: 'run',
    summary: 'run the service for working on it: a readable log, and a new start whenever a file changes',
    details: 'For a checkout. Whatever the embedded parts hold is kept between starts.',
    examples: ['node-ledger dev'],
    longRunning: true,
    load: async () => (await import('./dev.ts')).dev,
  },
  {
    name: 'migrate',
    group: 'run',
    summary: 'bring the database to the current schema',
    details: 'The service does so itself at its start. An older service goes on reading a newer schema.',
    options: { status: { help: 'only say which migrations are missing; exit code 1 when any is' } },
    examples: ['node-ledger migrate --status', 'node-ledger migrate'],
    load: async () => (await import('./migrate.ts')).migrate,
  },
  {
    name: 'deploy',
    group: 'run',
    summary: 'put the node factory on a chain and print the settings for it',
    details: `Shows chain, balance and cost, and asks. The deployer pays and gets no role. Its key is read from
DEPLOYER_PRIVATE_KEY, or from the file that DEPLOYER_PRIVATE_KEY_FILE names.`,
    options: {
      owner: {
        value: 'address',
        help: 'may pause, set the two roles below, and sweep what is owed to nobody; best a cold wallet',
      },
      minter: { value: 'address', help: 'the account of MINTER_PRIVATE_KEY' },
      distributor: { value: 'address', help: 'the account of DISTRIBUTOR_PRIVATE_KEY' },
      'max-per-wallet': { value: 'n', help: 'nodes one wallet may hold, 1 to 256; 20 where it is left out' },
      'rpc-url': { value: 'url', help: "the chain's JSON-RPC; RPC_URL where it is left out" },
      ...YES,
    },
    examples: [
      'node-ledger deploy --rpc-url <url> --owner <owner> --minter <minter> --distributor <distributor> --yes',
    ],
    load: async () => (await import('./deploy.ts')).deploy,
  },
  {
    name: 'pass',
    group: 'run',
    summary: 'run one pass now, under the same locks as the service, and print its outcome',
    details: `payments: follow the chain, judge, mint. credit: pay the turns that are due. reconcile: compare the whole ledger with the
contract, and insert nodes that it lacks. Exit code 1 when it did not run (another run holds the lock), or did not do its work
(paused, halted, underfunded).`,
    args: [{ name: 'pass', help: 'payments, credit or reconcile', choices: ['payments', 'credit', 'reconcile'] }],
    examples: ['node-ledger pass payments', 'node-ledger pass credit --json', 'node-ledger pass reconcile'],
    load: async () => (await import('./pass.ts')).pass,
  },
  {
    name: 'doctor',
    group: 'look',
    summary: 'look at everything the service needs, and say what is wrong and what to do',
    details: `Settings, service, database, each chain provider, factory, roles, keys, funds, clocks, passes, sale, drift. Each is looked at by
itself, whatever else is down. Exit code 0 when nothing is worse than a warning, 1 when something is wrong, 3 when nothing is known to
be wrong but not everything could be looked at.`,
    examples: ['node-ledger doctor', 'node-ledger doctor --json'],
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'rebuild',
    group: 'look',
    summary: 'follow the chain anew into an empty database, and tell what differs from the ledger',
    details: `Never sends, and never writes to the current ledger, which may go on meanwhile. Exit code 1 when something differs
that must be equal. The database may also be named by REBUILD_DATABASE_URL, which other users of the machine cannot see.`,
    options: { into: { value: 'url', help: 'an empty PostgreSQL database' } },
    examples: ['node-ledger rebuild --into <url>'],
    load: async () => (await import('./rebuild.ts')).rebuildLedger,
  },
  {
    name: 'pause',
    group: 'decide',
    summary: 'stop crediting rounds; payments are still followed, judged and minted',
    details:
      'A round that is sent already is settled. Turns that are missed are owed, and paid one after the other later.',
    options: { reason: { value: 'text', help: 'kept in the audit log' } },
    examples: ['node-ledger pause --reason "the treasury moves"'],
    load: async () => (await import('./pause.ts')).pause,
  },
  {
    name: 'resume',
    group: 'decide',
    summary: 'end the pause; with --halt clear a halt, once you have looked at why',
    details: `A pause is yours. A halt is the passes' own: they stop when the chain is not the one they had followed, and say why in the
health report and the audit log. Where nothing has changed, they halt anew.`,
    options: {
      halt: { help: 'clear the halt instead of the pause; says what it was, and asks' },
      reason: { value: 'text', help: 'kept in the audit log' },
      ...YES,
    },
    examples: ['node-ledger resume', 'node-ledger resume --halt --yes'],
    load: async () => (await import('./pause.ts')).resume,
  },
  {
    name: 'keys new',
    group: 'tools',
    summary: 'make a key for the minter, the distributor or the deployer, and print its address',
    details: `Written as an encrypted keystore (Web3 Secret Storage, version 3), which geth and most wallets read. The password is asked
for, or read from a file. The key itself is never printed, and an existing file never overwritten.`,
    options: {
      out: { value: 'file', help: 'where to write it; must not exist', required: true },
      'password-file': { value: 'file', help: 'a file that holds the password, instead of being asked for it' },
      plain: { help: 'write the bare key, as MINTER_PRIVATE_KEY_FILE reads it; only its owner may read the file' },
    },
    examples: [
      'node-ledger keys new --out minter.json --password-file <password-file>',
      'node-ledger keys new --out distributor.key --plain',
    ],
    load: async () => (await import('./keys.ts')).newKey,
  },
]
