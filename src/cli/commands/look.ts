// The commands that check whether all is well.
import type { Command } from '../command.ts'

export const LOOK: readonly Command[] = [
  {
    name: 'doctor',
    group: 'look',
    summary: 'check everything the service needs, and print each fault with its remedy',
    details: `Settings, service, database, each chain provider, factory and its first block, roles, keys, signers, funds, payments wallet, clocks, passes, sale, webhooks, drift. Checks each separately. Exit code 0 if nothing is worse than a warning, 1 if something is wrong, 3 if it could not check everything.`,
    examples: ['node-ledger doctor', 'node-ledger doctor --json'],
    load: async () => (await import('../doctor.ts')).doctor,
  },
  {
    name: 'verify',
    group: 'look',
    summary: 'compare the whole ledger with the contract at one block: counters, every node, every cohort, cover',
    details: `Exit code 0 if they are equal, 1 if they differ or the contract holds less than it owes, 3 if it could not compare.
Every call reads the state of the ledger's block.`,
    examples: ['node-ledger verify', 'node-ledger verify --json'],
    load: async () => (await import('../books/verify.ts')).verify,
  },

  {
    name: 'rebuild',
    group: 'look',
    summary: 'follow the chain again into an empty database, and report differences from the ledger',
    details: `Sends nothing, and does not change the current ledger, which keeps running. Exit code 1 if anything differs that must be equal. You can set the database in REBUILD_DATABASE_URL instead, which hides it from other users of the machine. If providers prove old states (archive
nodes, eth_getProof), it does not read every old block. The rebuilt ledger then lacks failed payments and withdrawals, and transfers of no value.`,
    options: { into: { value: 'url', help: 'an empty PostgreSQL database' } },
    examples: ['node-ledger rebuild --into <url>'],
    load: async () => (await import('../service/rebuild.ts')).rebuildLedger,
  },
]
