// The commands that run the service, set it up, or run one pass of it.
import { type Command, YES } from '../command.ts'

export const RUN: readonly Command[] = [
  {
    name: 'start',
    group: 'run',
    summary: 'run the service; with nothing configured, on an embedded database and chain',
    details: 'The log goes to stdout as JSON lines, what a person wants to know at the start to stderr.',
    examples: ['node-ledger start'],
    longRunning: true,
    load: async () => (await import('../service/start.ts')).start,
  },
  {
    name: 'backup',
    group: 'run',
    summary: "dump the ledger with PostgreSQL's own program, and write down what was in it",
    details: `Needs pg_dump of the server's version or a later one; the service goes on meanwhile. The folder gets ledger.dump and manifest.json: the block, rows
by table, schema and the dump's digest, read at the very moment of the dump. Keys and secrets are not in it: keep them apart.`,
    options: { out: { value: 'folder', help: 'where to (default: "ledger-" and the time)' } },
    examples: ['node-ledger backup --out <folder>'],
    load: async () => (await import('../backup/backup.ts')).backup,
  },
  {
    name: 'restore',
    group: 'run',
    summary: 'restore a backup into an empty database, and hold it against its manifest',
    details: `Says what is to be done before the start: what was refunded since the backup the ledger no longer knows. The database may also be named by
RESTORE_DATABASE_URL, which other users of the machine cannot see. Admin keys of the ledger are revoked, since some may have been since the backup.`,
    args: [{ name: 'folder', help: 'of the backup' }],
    options: {
      into: { value: 'url', help: 'an empty PostgreSQL database' },
      'keep-keys': { help: 'have admin keys open that opened at the time of the backup', isOurs: true },
    },
    examples: ['node-ledger restore <folder> --into <url>'],
    load: async () => (await import('../backup/restore.ts')).restore,
  },
  {
    name: 'migrate',
    group: 'run',
    summary: 'bring the database to the current schema',
    details: 'The service does so itself at its start. An older service goes on reading a newer schema.',
    options: { status: { help: 'only say which migrations are missing; exit code 1 when any is' } },
    examples: ['node-ledger migrate --status', 'node-ledger migrate'],
    load: async () => (await import('../service/migrate.ts')).migrate,
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
        help: 'may pause, set the two roles below and what they may do, and sweep what is owed to no node; best a cold wallet',
      },
      minter: { value: 'address', help: 'the account of MINTER_PRIVATE_KEY' },
      distributor: { value: 'address', help: 'the account of DISTRIBUTOR_PRIVATE_KEY' },
      nodes: { value: 'n', help: 'nodes the minter may mint before the owner refills it (default: 1000)' },
      cohorts: {
        value: 'n',
        help: 'cohorts the minter may open before the owner refills it (default: 1000)',
      },
      'min-wei': {
        value: 'amount',
        help: 'the least that a node gets for a turn, from which the floor follows (default: CREDIT_MIN_WEI)',
      },
      'lowest-bps': { value: 'n', help: 'the lowest rate of a tier, in basis points (default: 10000)' },
      'floor-gwei': {
        value: 'amount',
        help: 'the least a node may be credited for a turn (default: half of the least at the lowest rate)',
      },
      'ceiling-gwei': {
        value: 'amount',
        help: 'the most a node may be credited for a turn (default: 1 ether)',
      },
      'max-per-wallet': { value: 'n', help: 'nodes one wallet may hold, 1 to 256 (default: 20)' },
      'least-interval': {
        value: 'sec',
        help: 'the shortest time between turns that any cohort may have (default: 3600)',
      },
      'expulsion-period': {
        value: 'sec',
        help: 'the longest time after its mint in which the owner may expel a credited node (default and most: 604800)',
      },
      salt: {
        value: 'hex',
        help: 'deploy to an address that is the same on every chain, through the deterministic deployer; 32 bytes of your choice',
      },
      'rpc-url': { value: 'url', help: "the chain's JSON-RPC (default: RPC_URL)" },
      ...YES,
    },
    examples: [
      'node-ledger deploy --rpc-url <url> --owner <owner> --minter <minter> --distributor <distributor> --min-wei 0.0005ether --yes',
    ],
    load: async () => (await import('../service/deploy.ts')).deploy,
  },
  {
    name: 'pass',
    group: 'run',
    summary: 'run one pass now, under the same locks as the service, and print its outcome',
    details: `payments: follow the chain, judge, mint. credit: pay the turns that are due. reconcile: compare the whole ledger with the
contract, and insert nodes that it lacks. Exit code 1 when it did not run (another run holds the lock), or did not do its work
(paused, halted, underfunded, not signed, the minter's budget spent).`,
    args: [{ name: 'pass', help: 'payments, credit or reconcile', choices: ['payments', 'credit', 'reconcile'] }],
    examples: ['node-ledger pass payments', 'node-ledger pass credit --json', 'node-ledger pass reconcile'],
    load: async () => (await import('../service/pass.ts')).pass,
  },
]
