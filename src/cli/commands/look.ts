// The commands that look whether all is well.
import type { Command } from '../command.ts'

export const LOOK: readonly Command[] = [
  {
    name: 'doctor',
    group: 'look',
    summary: 'look at everything the service needs, and say what is wrong and what to do',
    details: `Settings, service, database, each chain provider, factory and its first block, roles, keys, signers, funds, payments wallet, clocks, passes, sale, webhooks, drift. Each is looked at by
itself, whatever else is down. Exit code 0 when nothing is worse than a warning, 1 when something is wrong, 3 when nothing is known to
be wrong but not everything could be looked at.`,
    examples: ['node-ledger doctor', 'node-ledger doctor --json'],
    load: async () => (await import('../doctor/doctor.ts')).doctor,
  },
  {
    name: 'verify',
    group: 'look',
    summary: 'compare the whole ledger with the contract at one block: counters, every node, every cohort, cover',
    details: `Exit code 0 when they are equal, 1 when they differ or the contract holds less than it owes, 3 when they could not be compared.
Every call asks the provider for the state of the ledger's block; of a large ledger compare a part at a time, or a sample: counters, cohorts
and cover are always compared whole. The sum over all nodes is one of the counters.`,
    options: {
      'from-node': { value: 'n', help: 'the first node that is compared' },
      'to-node': { value: 'n', help: 'the last one' },
      sample: { value: 'n', help: 'about so many nodes of these, in runs of 2000 drawn at random' },
    },
    examples: [
      'node-ledger verify',
      'node-ledger verify --json',
      'node-ledger verify --from-node 1 --to-node 1000000',
      'node-ledger verify --sample 20000',
    ],
    load: async () => (await import('../books/verify.ts')).verify,
  },

  {
    name: 'rebuild',
    group: 'look',
    summary: 'follow the chain again into an empty database, and report differences from the ledger',
    details: `Never sends, and never writes to the current ledger, which may go on meanwhile. Exit code 1 when something differs
that must be equal. The database may also be named by REBUILD_DATABASE_URL, which other users of the machine cannot see.
With providers that prove old states (archive nodes, eth_getProof) old blocks are not read one by one: what they hold is proved by the
states of the accounts. Then withdraw calls and payments that failed, and transfers of no value, are not in the new ledger, and not compared.`,
    options: { into: { value: 'url', help: 'an empty PostgreSQL database' } },
    examples: ['node-ledger rebuild --into <url>'],
    load: async () => (await import('../service/rebuild.ts')).rebuildLedger,
  },
]
