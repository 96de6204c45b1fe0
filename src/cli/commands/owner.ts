// The commands that preview what the contract's owner signs.
import type { Command } from '../command.ts'

/** Said of every preview of the owner's transactions. */
const SIGNED_ELSEWHERE = `Prints the transaction for the owner's wallet, a multisig as a rule: to whom, its data, what stands before and
after it, and whether the contract would take it now. Nothing is signed or sent.`
const BOUNDS = {
  'floor-gwei': { value: 'gwei', help: 'the least that a node may be credited for a turn', required: true },
  'ceiling-gwei': { value: 'gwei', help: 'the most', required: true },
}

export const OWNER: readonly Command[] = [
  {
    name: 'owner show',
    group: 'owner',
    summary: "show the contract's owner, the two keys and what the owner lets them do",
    examples: ['node-ledger owner show', 'node-ledger owner show --json'],
    load: async () => (await import('../desk/owner.ts')).show,
  },
  {
    name: 'owner refill-minter',
    group: 'owner',
    summary: 'preview the transaction that adds nodes and cohorts to what the minter may still mint and open',
    details: SIGNED_ELSEWHERE,
    options: {
      nodes: { value: 'n', help: 'nodes more' },
      cohorts: { value: 'n', help: 'cohorts more' },
      'nodes-most': {
        value: 'n',
        help: 'what it leaves at most; what is left now and those more where it is left out',
      },
      'cohorts-most': { value: 'n', help: 'the same for cohorts' },
    },
    examples: ['node-ledger owner refill-minter --nodes 500', 'node-ledger owner refill-minter --cohorts 100 --json'],
    load: async () => (await import('../desk/owner.ts')).refillMinter,
  },
  {
    name: 'owner set-minter',
    group: 'owner',
    summary: 'preview the transaction that gives the minter’s role to another key, with a budget of its own',
    details: SIGNED_ELSEWHERE,
    args: [{ name: 'address', help: 'the account of the new key' }],
    options: {
      nodes: { value: 'n', help: 'nodes it may mint', required: true },
      cohorts: { value: 'n', help: 'cohorts it may open', required: true },
    },
    examples: ['node-ledger owner set-minter <address> --nodes 500 --cohorts 100'],
    load: async () => (await import('../desk/owner.ts')).setMinter,
  },
  {
    name: 'owner set-distributor',
    group: 'owner',
    summary: 'preview the transaction that gives the distributor’s role to another key, with bounds of its own',
    details: SIGNED_ELSEWHERE,
    args: [{ name: 'address', help: 'the account of the new key' }],
    options: BOUNDS,
    examples: ['node-ledger owner set-distributor <address> --floor-gwei 0 --ceiling-gwei 10000000'],
    load: async () => (await import('../desk/owner.ts')).setDistributor,
  },
  {
    name: 'owner set-bounds',
    group: 'owner',
    summary: 'preview the transaction that sets the least and the most a node may be credited for a turn',
    details: SIGNED_ELSEWHERE,
    options: BOUNDS,
    examples: ['node-ledger owner set-bounds --floor-gwei 0 --ceiling-gwei 10000000'],
    load: async () => (await import('../desk/owner.ts')).setBounds,
  },
  {
    name: 'owner expel',
    group: 'owner',
    summary: 'preview the transaction that takes nodes which were never credited out of their cohorts',
    details: `${SIGNED_ELSEWHERE} For nodes that a stolen minter made. A ref that has a payment or a grant is refused unless it is
named a second time with --again: expelling takes what somebody paid for, or was given.`,
    args: [{ name: 'refs', help: 'the refs of the nodes, with commas between them; "nodes unpaid" lists them' }],
    options: { again: { value: 'refs', help: 'those of them that have a payment or a grant, named a second time' } },
    examples: ['node-ledger owner expel <ref>'],
    load: async () => (await import('../desk/owner.ts')).expel,
  },
  {
    name: 'owner pause',
    group: 'owner',
    summary: 'preview the transaction that stops opening, minting and crediting on the contract',
    details: SIGNED_ELSEWHERE,
    examples: ['node-ledger owner pause'],
    load: async () => (await import('../desk/owner.ts')).pause,
  },
  {
    name: 'owner unpause',
    group: 'owner',
    summary: 'preview the transaction that ends that',
    details: SIGNED_ELSEWHERE,
    examples: ['node-ledger owner unpause'],
    load: async () => (await import('../desk/owner.ts')).unpause,
  },
]
