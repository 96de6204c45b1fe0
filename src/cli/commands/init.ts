// The command that sets up a ledger.
import type { Command } from '../command.ts'

export const INIT: readonly Command[] = [
  {
    name: 'init',
    group: 'run',
    summary: 'set up a ledger: settings, keys, contract, database, first tier; asks for what is missing',
    details: `Reads RPC_URL and DATABASE_URL from the environment (or RPC_URL_FILE, DATABASE_URL_FILE), else asks. Makes the keys, unless
the folder has them: secrets/minter_key, or minter_signer_url or minter_kms_key with
minter_address; the same for the distributor. A key management service (tested on doubles only, never at AWS or Google) may need
aws_access_key_id and aws_secret_access_key, or google_account. Copies other settings from the environment (PORT, TRUSTED_PROXIES, …),
never secrets. If it stops, run it again: it keeps each answer, and does nothing twice.`,
    options: {
      folder: { value: 'path', help: 'the folder for settings and secrets (default: ./node-ledger)' },
      owner: { value: 'address', help: "the contract's owner; best a cold wallet" },
      payments: { value: 'address', help: 'the wallet that buyers pay; you keep its key' },
      'public-url': { value: 'url', help: 'the public URL of the service' },
      'min-wei': { value: 'amount', help: 'the minimum credit of a node for a turn' },
      'max-wei': { value: 'amount', help: 'the maximum' },
      interval: { value: 'sec', help: 'seconds between two turns of a node (default: 86400)' },
      slot: { value: 'sec', help: 'seconds within which nodes fall due together (default: 3600)' },
      tier: { value: 'id', help: 'the id of the first tier (default: basic)' },
      label: { value: 'name', help: 'its display name (default: Basic)' },
      'price-wei': { value: 'amount', help: 'its price' },
      'per-wallet': { value: 'n', help: 'how many nodes of it one wallet may hold (default: 10)' },
      nodes: { value: 'n', help: 'as in "deploy"' },
      cohorts: { value: 'n', help: 'as in "deploy"' },
      'floor-gwei': { value: 'amount', help: 'as in "deploy" (default: half of --min-wei)' },
      'ceiling-gwei': { value: 'amount', help: 'as in "deploy" (default: ten times --max-wei)' },
      'max-per-wallet': { value: 'n', help: 'as in "deploy"' },
      'least-interval': { value: 'sec', help: 'as in "deploy"' },
      'expulsion-period': { value: 'sec', help: 'as in "deploy"' },
      'test-sale': {
        help: "buy a test node with the deployer's ether; the price goes to the payments wallet",
      },
      'dry-run': { help: 'only show what it would set up; write and send nothing' },
    },
    examples: [
      'node-ledger init --dry-run --owner <owner> --payments <wallet> --min-wei 0.0005ether --max-wei 0.001ether --price-wei 0.1ether',
      'node-ledger init --folder <folder> --test-sale',
    ],
    load: async () => (await import('../init/init.ts')).init,
  },
]
