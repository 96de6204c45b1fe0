// The commands about what is sold and credited: payments wallets, credit terms, tiers.
import type { Command } from '../command.ts'
import { REASON, YES } from './options.ts'

const REASON_WANTED = { reason: { ...REASON.reason, required: true } }
const TIER = { name: 'tier-id', help: 'the tier' }
/** Terms of a tier that a version may change. */
const TERMS = {
  label: { value: 'text', help: 'its name, as buyers see it' },
  'max-per-wallet': { value: 'n', help: 'nodes of this tier that one wallet may hold' },
  'payout-bps': { value: 'bps', help: 'its share of a draw, in basis points; 10000 is the whole' },
  'holding-token': { value: 'address', help: 'ERC-20 token that a buyer must hold' },
  'holding-wei': { value: 'amount', help: 'how much of it, in its smallest unit; 0: open to anyone' },
  'holding-symbol': { value: 'text', help: "the token's symbol, as buyers see it" },
  'holding-decimals': { value: 'n', help: "the token's decimals" },
  'holding-retry-sec': { value: 'n', help: 'seconds for which a holding that cannot be read is asked again' },
}
const GRACE = {
  'grace-sec': { value: 'n', help: 'seconds for which what was on sale before still buys it; as at the last change' },
  'at-once': { help: 'for a mistake: it ends with the next block, and any grace with it' },
}

export const SALE: readonly Command[] = [
  {
    name: 'wallets list',
    group: 'decide',
    summary: 'list the payments wallets: the one buyers pay to, those still watched, those closed',
    examples: ['node-ledger wallets list'],
    load: async () => (await import('../desk/wallets.ts')).list,
  },
  {
    name: 'wallets set',
    group: 'decide',
    summary: 'change the wallet that buyers pay to',
    details: `It holds from 64 blocks and five minutes ahead of the followed block on; quotes change then. For a grace more a payment to the one
before is a sale, later it is held (oldWallet). With --stolen it holds from the next block on, and no later payment to the one before is a sale.`,
    args: [{ name: 'address', help: 'the wallet' }],
    options: {
      'grace-sec': { value: 'n', help: 'seconds for which the one before still sells; as at the last change' },
      stolen: { help: 'the key of the present one is in the wrong hands' },
      ...REASON,
      ...YES,
    },
    examples: [
      'node-ledger wallets set <new-address> --reason "new custodian" --yes',
      'node-ledger wallets set <new-address> --stolen --yes',
    ],
    load: async () => (await import('../desk/wallets.ts')).set,
  },
  {
    name: 'wallets take-back',
    group: 'decide',
    summary:
      'take back the latest change of the payments wallet, as long as it does not hold and nothing was paid there',
    args: [{ name: 'address', help: 'the wallet' }],
    options: { ...REASON, ...YES },
    examples: ['node-ledger wallets take-back <new-address> --reason "a slip" --yes'],
    load: async () => (await import('../desk/wallets.ts')).takeBack,
  },
  {
    name: 'wallets close',
    group: 'decide',
    summary: 'close the books of a wallet that was replaced: what comes there later is not seen',
    args: [{ name: 'address', help: 'the wallet' }],
    options: { ...REASON, ...YES },
    examples: ['node-ledger wallets close <old-address> --yes'],
    load: async () => (await import('../desk/wallets.ts')).close,
  },
  {
    name: 'contract-wallets list',
    group: 'decide',
    summary: 'list who may buy by an internal call, as a Safe pays: the mode, and the contracts you allow',
    examples: ['node-ledger contract-wallets list'],
    load: async () => (await import('../desk/contract-wallets.ts')).list,
  },
  {
    name: 'contract-wallets mode',
    group: 'decide',
    summary: 'say who may buy by an internal call: hold, proven or all',
    details: `hold: no contract by itself; each payment is held (contractWallet) for you. proven: a contract that has signed in, that is a known
wallet, or that you allow. all: any contract. It holds from the block after the newest one on; what waits is judged again by it.`,
    args: [{ name: 'mode', help: 'hold, proven or all' }],
    options: { ...REASON, ...YES },
    examples: ['node-ledger contract-wallets mode proven --reason "Safes may buy" --yes'],
    load: async () => (await import('../desk/contract-wallets.ts')).mode,
  },
  {
    name: 'contract-wallets allow',
    group: 'decide',
    summary: 'have a contract buy in the mode proven: you know whose wallet it is',
    args: [{ name: 'address', help: 'the contract' }],
    options: { label: { value: 'text', help: 'whose it is', required: true }, ...REASON_WANTED, ...YES },
    examples: ['node-ledger contract-wallets allow <address> --label "a fund" --reason "asked for it by letter" --yes'],
    load: async () => (await import('../desk/contract-wallets.ts')).allow,
  },
  {
    name: 'contract-wallets disallow',
    group: 'decide',
    summary: 'allow a contract no more; what it has bought stays bought',
    args: [{ name: 'address', help: 'the contract' }],
    options: { ...REASON, ...YES },
    examples: ['node-ledger contract-wallets disallow <address> --yes'],
    load: async () => (await import('../desk/contract-wallets.ts')).disallow,
  },
  {
    name: 'terms list',
    group: 'decide',
    summary: "list the credit terms, and what the contract's owner has to do for them",
    examples: ['node-ledger terms list'],
    load: async () => (await import('../desk/terms.ts')).list,
  },
  {
    name: 'terms set',
    group: 'decide',
    summary: 'enter credit terms that hold from a time on: whether turns are owed, their range, the schedule',
    details: `They hold from five minutes after the latest block time that any provider shows, or from --from-time. What is left out stays.
Turns due before are paid by the terms of their time. "--payouts false" takes effect once the contract's owner has sent the transaction that is
printed; until then turns are owed and wait.`,
    options: {
      payouts: { value: 'true|false', help: 'whether turns due from then on are owed' },
      'min-wei': { value: 'wei', help: "least draw of a turn; a tier's rate multiplies it" },
      'max-wei': { value: 'wei', help: 'most of it' },
      'interval-sec': {
        value: 's',
        help: 'time between two turns of a node, for cohorts that are opened from then on',
      },
      'slot-sec': { value: 's', help: 'time between the phases of a tier; it divides the interval' },
      'from-time': { value: 'unix', help: 'block time from which they hold, unix seconds' },
      zero: { help: 'allow turns that pay nothing' },
      before: {
        value: 'word',
        help: 'for a ledger without terms: who pays turns due before, "same", "range" or "notOwed"',
      },
      'before-min-wei': { value: 'wei', help: 'with --before range: least draw of turns due before' },
      'before-max-wei': { value: 'wei', help: 'most of it' },
      ...REASON,
      ...YES,
    },
    examples: [
      'node-ledger terms set --max-wei 1600000000000000 --reason "summer" --yes',
      'node-ledger terms set --payouts false --yes',
    ],
    load: async () => (await import('../desk/terms.ts')).set,
  },
  {
    name: 'terms take-back',
    group: 'decide',
    summary: 'take back the latest credit terms, as long as they do not hold yet',
    details: "Terms that switch payouts off can be taken back until the contract's owner has set a window for them.",
    options: { ...REASON, ...YES },
    examples: ['node-ledger terms take-back --reason "a slip" --yes'],
    load: async () => (await import('../desk/terms.ts')).takeBack,
  },
  {
    name: 'tiers list',
    group: 'decide',
    summary: 'list the tiers with their prices and terms',
    examples: ['node-ledger tiers list'],
    load: async () => (await import('../desk/tiers.ts')).list,
  },
  {
    name: 'tiers create',
    group: 'decide',
    summary: 'enter a new tier, which is on sale from the next block on',
    details:
      'A tier has its number on the contract for good. No two tiers on sale have one price: the amount selects the tier.',
    args: [TIER],
    options: {
      'price-wei': { value: 'wei', help: 'its price; the exact amount of a payment', required: true },
      ...TERMS,
      label: { ...TERMS.label, required: true },
      'max-per-wallet': { ...TERMS['max-per-wallet'], required: true },
      'tier-no': { value: 'n', help: 'its number on the contract; the next free one where it is left out' },
      ...REASON,
      ...YES,
    },
    examples: ['node-ledger tiers create silver --label Silver --price-wei 30000000000000000 --max-per-wallet 5 --yes'],
    load: async () => (await import('../desk/tiers.ts')).create,
  },
  {
    name: 'tiers price',
    group: 'decide',
    summary: "change a tier's price or other terms, from the next block on",
    details:
      'What was on sale before still buys the tier for a grace, because quotes live in caches. What is left out stays as it is.',
    args: [TIER],
    options: { 'price-wei': { value: 'wei', help: 'its new price' }, ...TERMS, ...GRACE, ...REASON, ...YES },
    examples: ['node-ledger tiers price basic --price-wei 12000000000000000 --reason "spring prices" --yes'],
    load: async () => (await import('../desk/tiers.ts')).price,
  },
  {
    name: 'tiers on-sale',
    group: 'decide',
    summary: 'put a tier on sale again',
    args: [TIER],
    options: { ...REASON, ...YES },
    examples: ['node-ledger tiers on-sale plus --yes'],
    load: async () => (await import('../desk/tiers.ts')).onSale,
  },
  {
    name: 'tiers off-sale',
    group: 'decide',
    summary: 'take a tier off sale; its nodes go on being credited',
    details: 'It still sells for a grace, because quotes live in caches; later payments are held (saleClosed).',
    args: [TIER],
    options: { ...GRACE, ...REASON, ...YES },
    examples: ['node-ledger tiers off-sale plus --reason "sold out" --yes'],
    load: async () => (await import('../desk/tiers.ts')).offSale,
  },
]
