// The commands about the service that run several acts, or none.
import { type Command, DRY_RUN, REASON } from '../command.ts'

export const SERVICE: readonly Command[] = [
  {
    name: 'resume',
    group: 'decide',
    summary: 'resume rounds; with --halt clear a halt, once you know its cause',
    details: `You set a pause. The service halts the passes if the chain is not the one they followed; the health report and the audit log
show why. If nothing has changed, they halt again.`,
    options: {
      halt: { help: 'clear the halt instead of the pause; shows it and asks', isOurs: true },
      'no-guard': {
        help: 'instead: run without the fork guard from the next start on, on a chain whose contracts see other block hashes; asks',
        isOurs: true,
      },
      ...REASON,
      ...DRY_RUN,
    },
    examples: ['node-ledger resume --yes', 'node-ledger resume --halt --yes'],
    load: async () => (await import('../service/pause.ts')).resume,
  },
  {
    name: 'webhooks add',
    after: 'webhooks list',
    group: 'decide',
    summary: 'add the endpoints of WEBHOOK_URL, mail too, or change the secrets of known ones',
    details: `Reads WEBHOOK_URL and WEBHOOK_SECRET (or WEBHOOK_URL_FILE, WEBHOOK_SECRET_FILE), so no list of processes shows them. During a
rotation give two secrets, separated by a comma, the newest first: both sign each event. Chats and mail servers
(smtps://user:password@host?from=…&to=…) need no secret. WEBHOOK_EVENTS chooses kinds of events; without it a known endpoint keeps its
own.`,
    examples: ['node-ledger webhooks add'],
    load: async () => (await import('../desk/webhooks.ts')).add,
  },
  {
    name: 'admin-keys revoke',
    after: 'admin-keys list',
    group: 'decide',
    summary: 'revoke an admin key, a passkey or an invitation; takes effect on every instance within three seconds',
    details:
      'A revoked passkey ends its sessions. Keys of ADMIN_KEY are not in the ledger: remove their line, and restart.',
    args: [{ name: 'id', help: 'its id in the list: 7, passkey-3 or invitation-2', optional: true }],
    options: {
      all: {
        help: 'instead: revoke every key, passkey and invitation of the ledger, for example after a theft',
        isOurs: true,
      },
      ...REASON,
      ...DRY_RUN,
    },
    examples: [
      'node-ledger admin-keys revoke <key> --reason "left the team" --yes',
      'node-ledger admin-keys revoke --all --reason "stolen" --yes',
    ],
    load: async () => (await import('../desk/admin-keys.ts')).revoke,
  },
]
