// The commands about admin keys of the ledger.
import type { Command } from '../command.ts'
import { REASON, YES } from './options.ts'

export const ADMIN_KEYS: readonly Command[] = [
  {
    name: 'admin-keys create',
    group: 'decide',
    summary: 'make an admin key for a person or a machine, with the rights you name',
    details: `The ledger keeps a digest of the key: it is shown this once, on a terminal, or written to a file that only you may read. It opens
at once, on every instance. The label is the actor in the audit log, so give each person and each machine one of their own. Scopes: read;
decide (payments, nodes, deny list); prices (tiers); terms (credit terms, payments wallets, contract wallets); operate (pause, halts, webhooks,
keys).`,
    options: {
      label: { value: 'name', help: 'who acts by it', required: true },
      scopes: { value: 'list', help: 'some of read,decide,prices,terms,operate', required: true },
      expires: { value: 'time', help: 'how long it opens, as 90d or 8h; 90d where it is left out, at most 366d' },
      out: { value: 'file', help: 'where to write it; must not exist' },
      ...REASON,
    },
    examples: [
      'node-ledger admin-keys create --label grace --scopes read,decide --out grace.key',
      'node-ledger admin-keys create --label shop-bot --scopes read --expires 30d --out bot.key',
    ],
    load: async () => (await import('../desk/admin-keys.ts')).create,
  },
  {
    name: 'admin-keys invite',
    group: 'decide',
    summary: 'invite a person to make a passkey, by which they sign in to the console',
    details: `Prints a link to the console at PUBLIC_URL, or writes it to a file that only you may read: give it to that person alone. It works once, within
24 hours. Their device makes the passkey; the ledger keeps its public half. Each sign-in gives a key of eight hours under the label, with these scopes. Two
who are to check each other have to be invited here, not by each other.`,
    options: {
      label: { value: 'name', help: 'who acts by it', required: true },
      scopes: { value: 'list', help: 'some of read,decide,prices,terms,operate', required: true },
      expires: { value: 'time', help: 'how long the passkey signs in; 365d where it is left out, at most 366d' },
      out: { value: 'file', help: 'where to write the link; must not exist' },
      ...REASON,
    },
    examples: ['node-ledger admin-keys invite --label grace --scopes read,decide --out grace.link'],
    load: async () => (await import('../desk/admin-keys.ts')).invite,
  },
  {
    name: 'admin-keys list',
    group: 'decide',
    summary: 'list the admin keys, passkeys and invitations: their rights, who made them, their last use and their end',
    examples: ['node-ledger admin-keys list'],
    load: async () => (await import('../desk/admin-keys.ts')).list,
  },
  {
    name: 'admin-keys revoke',
    group: 'decide',
    summary: 'have an admin key open no more, or a passkey sign in; every instance knows within three seconds',
    details:
      'A revoked passkey takes its sessions with it. Keys of ADMIN_KEY are not in the ledger: take their line out, and "node-ledger reload".',
    args: [{ name: 'id', help: 'as the list has it: 7, passkey-3 or invitation-2', optional: true }],
    options: {
      all: { help: 'every key, passkey and invitation of the ledger, as after a theft', isOurs: true },
      ...REASON,
      ...YES,
    },
    examples: [
      'node-ledger admin-keys revoke <key> --reason "left the team" --yes',
      'node-ledger admin-keys revoke --all --reason "stolen" --yes',
    ],
    load: async () => (await import('../desk/admin-keys.ts')).revoke,
  },
]
