// The command that sets a ledger up.
import type { Command } from '../command.ts'
import { YES } from './options.ts'

export const INIT: readonly Command[] = [
  {
    name: 'init',
    group: 'run',
    summary: 'set up a ledger: settings, keys, contract, database, first tier; asks for what it is not told',
    details: `RPC_URL and DATABASE_URL are taken from the environment (or from the files that RPC_URL_FILE and DATABASE_URL_FILE name), else asked
for: they may hold passwords. Keys are made, unless the folder has them: secrets/minter_key, or minter_keystore with
minter_keystore_password, or minter_signer_url or minter_kms_key with minter_address; the same for distributor. Where no role lets the
program in at a key management service, aws_access_key_id and aws_secret_access_key do, or google_account. Other settings that are in
the environment (PORT, TRUSTED_PROXIES, …) are written down with those that it makes; secrets never are. When a run stops, because ether
is missing or for any other reason, the same call goes on from there: nothing is deployed or entered a second time.`,
    options: {
      folder: { value: 'path', help: 'where settings and secrets are; ./node-ledger where it is left out' },
      owner: { value: 'address', help: "the contract's owner; best a cold wallet" },
      payments: { value: 'address', help: 'the wallet that buyers pay to; its key stays with you' },
      'public-url': { value: 'url', help: 'where people will find the service' },
      'min-wei': { value: 'amount', help: 'the least that a node gets for a turn' },
      'max-wei': { value: 'amount', help: 'the most' },
      interval: { value: 'sec', help: 'seconds between two turns of a node; 86400 where it is left out' },
      slot: { value: 'sec', help: 'seconds within which nodes fall due together; 3600 where it is left out' },
      tier: { value: 'id', help: 'the id of the first tier; basic where it is left out' },
      label: { value: 'name', help: 'its name for people; Basic where it is left out' },
      'price-wei': { value: 'amount', help: 'its price' },
      'per-wallet': { value: 'n', help: 'how many of it one wallet may buy; 10 where it is left out' },
      nodes: { value: 'n', help: 'bounds of the contract, as "deploy" takes them' },
      cohorts: { value: 'n', help: 'the same' },
      'floor-gwei': { value: 'amount', help: 'the same; half of --min-wei where it is left out' },
      'ceiling-gwei': { value: 'amount', help: 'the same; ten times --max-wei where it is left out' },
      'max-per-wallet': { value: 'n', help: 'the same' },
      'least-interval': { value: 'sec', help: 'the same' },
      'expulsion-period': { value: 'sec', help: 'the same' },
      'test-sale': {
        help: "buy a node with the deployer's ether, to see that it sells; the price goes to the payments wallet",
      },
      'dry-run': { help: 'say what would be set up, and write and send nothing' },
      ...YES,
    },
    examples: [
      'node-ledger init --dry-run --owner <owner> --payments <wallet> --min-wei 0.0005ether --max-wei 0.001ether --price-wei 0.1ether',
      'node-ledger init --folder <folder> --test-sale',
    ],
    load: async () => (await import('../init/init.ts')).init,
  },
]
