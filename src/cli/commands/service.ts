// Commands about the service that are more than one act, or none.
import { type Command, REASON, YES } from '../command.ts'

export const SERVICE: readonly Command[] = [
  {
    name: 'resume',
    group: 'decide',
    summary: 'end the pause; with --halt clear a halt, once you have looked at why',
    details: `A pause is yours. A halt is the passes' own: they stop when the chain is not the one they had followed, and say why in the
health report and the audit log. Where nothing has changed, they halt again.`,
    options: {
      halt: { help: 'clear the halt instead of the pause; says what it was, and asks', isOurs: true },
      'no-guard': {
        help: 'instead: do without the fork guard from the next start on, if the contract knows other block hashes; asks',
        isOurs: true,
      },
      ...REASON,
      ...YES,
    },
    examples: ['node-ledger resume --yes', 'node-ledger resume --halt --yes'],
    load: async () => (await import('../service/pause.ts')).resume,
  },
  {
    name: 'recheck',
    group: 'decide',
    summary: 'have every payment up to a block that has no node held, as after a restore from a backup',
    details: `The service notices a restore by itself when something of its own is on chain that the ledger does not know. Where nothing was
minted or credited since the backup, it cannot: then run this before the first start. It never goes down again.`,
    options: { 'up-to': { value: 'block', help: 'the number of the block, or head', required: true }, ...YES },
    examples: ['node-ledger recheck --up-to head --yes'],
    load: async () => (await import('../service/recheck.ts')).recheck,
  },
  {
    name: 'webhooks add',
    after: 'webhooks list',
    group: 'decide',
    summary: 'send events to the endpoints that WEBHOOK_URL names, mail too, or change the secrets of known ones',
    details: `Reads WEBHOOK_URL and WEBHOOK_SECRET (or WEBHOOK_URL_FILE, WEBHOOK_SECRET_FILE), so that no list of processes shows them. Two secrets with
a comma, the newest first, sign each event twice during a rotation. Chats and mail servers (smtps://user:password@host?from=…&to=…) need no
secret. WEBHOOK_EVENTS chooses kinds of events; without it a known endpoint keeps its own.`,
    examples: ['node-ledger webhooks add'],
    load: async () => (await import('../desk/webhooks.ts')).add,
  },
  {
    name: 'admin-keys revoke',
    after: 'admin-keys list',
    group: 'decide',
    summary: 'have an admin key open no more, or a passkey sign in; every instance knows within three seconds',
    details:
      'A revoked passkey takes its sessions with it. Keys of ADMIN_KEY are not in the ledger: take their line out, and restart.',
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
