// The commands about who is served and when: the deny list, unpaid nodes, the pause, the recheck.
import type { Command } from '../command.ts'
import { PAGE, REASON, YES } from './options.ts'

const REASON_WANTED = { reason: { ...REASON.reason, required: true } }

export const SERVICE: readonly Command[] = [
  {
    name: 'senders list',
    group: 'decide',
    summary: 'list the wallets whose payments are held for you to see first',
    examples: ['node-ledger senders list'],
    load: async () => (await import('../desk/deny-list.ts')).list,
  },
  {
    name: 'senders deny',
    group: 'decide',
    summary: "hold every payment of a wallet, an exchange's for one, which pays for many people",
    args: [{ name: 'address', help: 'the wallet' }],
    options: { label: { value: 'text', help: 'whose it is', required: true }, ...REASON_WANTED, ...YES },
    examples: ['node-ledger senders deny <address> --label "an exchange" --reason "pays for many people" --yes'],
    load: async () => (await import('../desk/deny-list.ts')).deny,
  },
  {
    name: 'senders allow',
    group: 'decide',
    summary: 'take a wallet off that list; what is held stays held until you decide',
    args: [{ name: 'address', help: 'the wallet' }],
    options: { ...REASON, ...YES },
    examples: ['node-ledger senders allow <address> --yes'],
    load: async () => (await import('../desk/deny-list.ts')).allow,
  },
  {
    name: 'nodes unpaid',
    group: 'decide',
    summary: 'list nodes without a payment, each with its grant',
    details:
      'A cohort that holds a node with neither payment nor grant is not credited: the node may come from a stolen key.',
    options: { open: { help: 'only those without a grant' }, ...PAGE },
    examples: ['node-ledger nodes unpaid --open'],
    load: async () => (await import('../desk/nodes.ts')).unpaid,
  },
  {
    name: 'nodes grant',
    group: 'decide',
    summary: 'say that a node without a payment is meant to be, so that its cohort is credited',
    args: [{ name: 'node-id', help: 'its id on the contract' }],
    options: { ...REASON_WANTED, ...YES },
    examples: ['node-ledger nodes grant <node> --reason "a gift of the house" --yes'],
    load: async () => (await import('../desk/nodes.ts')).grant,
  },
  {
    name: 'nodes revoke',
    group: 'decide',
    summary: 'take a grant back; what was credited stays',
    args: [{ name: 'node-id', help: 'its id on the contract' }],
    options: { ...REASON_WANTED, ...YES },
    examples: ['node-ledger nodes revoke <node> --reason "a mistake" --yes'],
    load: async () => (await import('../desk/nodes.ts')).revoke,
  },
  {
    name: 'pause',
    group: 'decide',
    summary: 'stop crediting rounds; payments are still followed, judged and minted',
    details:
      'A round that is sent already is settled. Turns that are missed are owed, and paid one after the other later.',
    options: { ...REASON, ...YES },
    examples: ['node-ledger pause --reason "the treasury moves" --yes'],
    load: async () => (await import('../service/pause.ts')).pause,
  },
  {
    name: 'resume',
    group: 'decide',
    summary: 'end the pause; with --halt clear a halt, once you have looked at why',
    details: `A pause is yours. A halt is the passes' own: they stop when the chain is not the one they had followed, and say why in the
health report and the audit log. Where nothing has changed, they halt again.`,
    options: {
      halt: { help: 'clear the halt instead of the pause; says what it was, and asks', isOurs: true },
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
]
