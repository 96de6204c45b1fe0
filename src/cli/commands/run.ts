// The commands that run the service, set it up, or run one pass of it.
import type { Command } from '../command.ts'

export const RUN: readonly Command[] = [
  {
    name: 'start',
    group: 'run',
    summary: 'run the service; with nothing configured, on an embedded database and chain',
    details: 'Writes the log to stdout as JSON lines, and messages for people to stderr.',
    examples: ['node-ledger start'],
    longRunning: true,
    load: async () => (await import('../service/start.ts')).start,
  },
  {
    name: 'backup',
    group: 'run',
    summary: 'dump the ledger with pg_dump, and record what is in it',
    details: `Needs pg_dump of the server's version or later; the service keeps running. Writes ledger.dump and manifest.json: the block,
rows by table, schema and the dump's digest, all as of the moment of the dump. The backup has no keys and secrets: keep them separately.`,
    options: { out: { value: 'folder', help: 'the folder to write (default: "ledger-" and the time)' } },
    examples: ['node-ledger backup --out <folder>'],
    load: async () => (await import('../backup/backup.ts')).backup,
  },
  {
    name: 'restore',
    group: 'run',
    summary: 'restore a backup into an empty database, and compare it with its manifest',
    details: `Prints what to do before the start, because the ledger lacks decisions and refunds made since the backup. You can set the database in RESTORE_DATABASE_URL instead, which hides it from other users of the machine. Revokes the ledger's admin keys, because the backup may contain keys revoked
since.`,
    args: [{ name: 'folder', help: 'the folder of the backup' }],
    options: {
      into: { value: 'url', help: 'an empty PostgreSQL database' },
      'keep-keys': { help: 'keep the admin keys that were valid at the time of the backup', isOurs: true },
    },
    examples: ['node-ledger restore <folder> --into <url>'],
    load: async () => (await import('../backup/restore.ts')).restore,
  },
  {
    name: 'migrate',
    group: 'run',
    summary: 'bring the database to the current schema',
    details: 'The service does this at start. An older version can run on a newer schema.',
    examples: ['node-ledger migrate'],
    load: async () => (await import('../service/migrate.ts')).migrate,
  },
  {
    name: 'deploy',
    group: 'run',
    summary: 'deploy the node factory to a chain and print the settings for it',
    details: `Shows chain, balance and cost, and asks. The deployer pays and gets no role. Its key is read from
DEPLOYER_PRIVATE_KEY, or from the file in DEPLOYER_PRIVATE_KEY_FILE.`,
    options: {
      owner: {
        value: 'address',
        help: 'the contract’s owner, best a cold wallet: sets the two roles below and their limits, pauses, sweeps surplus',
      },
      minter: { value: 'address', help: 'the minter’s account' },
      distributor: { value: 'address', help: 'the distributor’s account' },
      nodes: { value: 'n', help: 'nodes the minter may mint before the owner refills it (default: 1000)' },
      cohorts: {
        value: 'n',
        help: 'cohorts the minter may open before the owner refills it (default: 1000)',
      },
      'min-wei': {
        value: 'amount',
        help: 'the minimum credit of a node for a turn; sets the default floor (default: CREDIT_MIN_WEI)',
      },
      'lowest-bps': { value: 'n', help: 'the lowest rate of a tier, in basis points (default: 10000)' },
      'floor-gwei': {
        value: 'amount',
        help: 'the least a node may be credited for a turn (default: half of the least at the lowest rate)',
      },
      'ceiling-gwei': {
        value: 'amount',
        help: 'the most a node may be credited for a turn (default: 1 ETH)',
      },
      'max-per-wallet': { value: 'n', help: 'nodes one wallet may hold, 1 to 256 (default: 20)' },
      'least-interval': {
        value: 'sec',
        help: 'the shortest interval of any cohort (default: 3600)',
      },
      'expulsion-period': {
        value: 'sec',
        help: 'how long after its mint the owner may expel a credited node (default and maximum: 604800)',
      },
      'rpc-url': { value: 'url', help: "the chain's JSON-RPC (default: RPC_URL)" },
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
    details: `payments: follow the chain, judge, mint. credit: pay the turns that are due. Exit code 1 if it did not run (another run holds the lock) or could not do its work (paused, halted, too little ether, not signed, the minter's budget spent).`,
    args: [{ name: 'pass', help: 'payments or credit', choices: ['payments', 'credit'] }],
    examples: ['node-ledger pass payments', 'node-ledger pass credit --json'],
    load: async () => (await import('../service/pass.ts')).pass,
  },
]
