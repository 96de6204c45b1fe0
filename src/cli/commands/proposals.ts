// The commands about the second person: the rule, and the proposals that wait.
import type { Command } from '../command.ts'
import { REASON, YES } from './options.ts'

const PROPOSAL = { name: 'id', help: 'its number in the list' }

export const PROPOSALS: readonly Command[] = [
  {
    name: 'second-person show',
    group: 'decide',
    summary: 'say from which amount on a second person is needed',
    examples: ['node-ledger second-person show'],
    load: async () => (await import('../desk/proposals.ts')).show,
  },
  {
    name: 'second-person set',
    group: 'decide',
    summary:
      'have releases and refunds above an amount, what lets held payments through, all terms and the payments wallet need a second person',
    details: `Such an act becomes a proposal, which another person confirms or refuses within seven days. A person is the label of a key, or the user here.
To raise the amount or to switch the rule off takes a second person itself.`,
    options: {
      'above-wei': { value: 'wei', help: 'more than this needs a second person; 0: every release and refund' },
      off: { help: 'nothing needs one' },
      ...REASON,
      ...YES,
    },
    examples: ['node-ledger second-person set --above-wei 1000ether --reason "four eyes" --yes'],
    load: async () => (await import('../desk/proposals.ts')).set,
  },
  {
    name: 'proposals list',
    group: 'decide',
    summary: 'list what waits for a second person, and what became of earlier proposals',
    examples: ['node-ledger proposals list'],
    load: async () => (await import('../desk/proposals.ts')).list,
  },
  {
    name: 'proposals confirm',
    group: 'decide',
    summary: 'confirm what another person proposed: it is done now, as far as it still can be',
    args: [PROPOSAL],
    options: { ...REASON, ...YES },
    examples: ['node-ledger proposals confirm <proposal> --yes'],
    load: async () => (await import('../desk/proposals.ts')).confirm,
  },
  {
    name: 'proposals refuse',
    group: 'decide',
    summary: 'refuse a proposal, or take your own back',
    args: [PROPOSAL],
    options: { ...REASON, ...YES },
    examples: ['node-ledger proposals refuse <proposal> --reason "not so much" --yes'],
    load: async () => (await import('../desk/proposals.ts')).refuse,
  },
]
