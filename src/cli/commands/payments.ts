// The commands about payments: the operator's decisions on what was held, and refunds.
import type { Command } from '../command.ts'
import { PAGE, REASON, YES } from './options.ts'

const PAYMENT = { name: 'payment', help: "its transaction's hash, or its row id" }

export const PAYMENTS: readonly Command[] = [
  {
    name: 'payments list',
    group: 'decide',
    summary: 'list payments, newest first, with where each stands and why',
    options: {
      status: {
        value: 'status',
        help: 'seen, accepted, minting, minted, held, refunded, dismissed, orphaned or ignored',
      },
      reason: { value: 'reason', help: 'why it is held: wrongAmount, tierAllowance and so on' },
      from: { value: 'address', help: 'the wallet that paid' },
      'tier-id': { value: 'tier', help: 'the tier that it was judged by' },
      ...PAGE,
    },
    examples: ['node-ledger payments list --status held', 'node-ledger payments list --limit 10 --json'],
    load: async () => (await import('../desk/payments.ts')).list,
  },
  {
    name: 'payments show',
    group: 'decide',
    summary: 'show a payment with all that is known of it: verdicts and their evidence, refund, mint',
    args: [PAYMENT],
    examples: ['node-ledger payments show <hash>'],
    load: async () => (await import('../desk/payments.ts')).show,
  },
  {
    name: 'payments history',
    group: 'decide',
    summary:
      'show everything that happened to a payment, in order: blocks, verdicts, transactions of ours, decisions, over all instances',
    args: [PAYMENT],
    examples: ['node-ledger payments history <hash>'],
    load: async () => (await import('../desk/payments.ts')).history,
  },
  {
    name: 'payments claim',
    group: 'decide',
    summary: "follow to a payment's block and judge it now, as its buyer's claim does",
    args: [{ name: 'hash', help: 'the transaction' }],
    examples: ['node-ledger payments claim <hash>'],
    load: async () => (await import('../desk/payments.ts')).claim,
  },
  {
    name: 'payments release',
    group: 'decide',
    summary: 'accept a held payment despite the verdict of the rules; the next pass mints its node to its payer',
    args: [PAYMENT],
    options: {
      'tier-id': { value: 'tier', help: 'the tier, where the amount is the price of none' },
      ...REASON,
      ...YES,
    },
    examples: ['node-ledger payments release <hash> --tier-id basic --reason "agreed by mail" --yes'],
    load: async () => (await import('../desk/payments.ts')).release,
  },
  {
    name: 'payments attribute',
    group: 'decide',
    summary: 'name the transactions by which value came that no transaction’s own value explains',
    details: `For a payment held "unattributed", as a Safe's or an exchange's is. The provider's trace of the transaction (it must speak
debug_traceTransaction) shows the inner transfers to the payments wallet. The account that made one is its payer from then on, and can be given its
node. A transaction that is named alone has to have brought just that value. With --inner-index or --value-wei one transfer is taken out as a
payment of its own, and the rest stays; --transfers takes several at once. Where no provider has the trace, as of old blocks, state all three of
--inner-index, --from and --value-wei: then your word alone stands for them, and the record says so.`,
    args: [{ name: 'payment', help: 'its row id, as "payments list" shows it' }],
    options: {
      'tx-hash': { value: 'hash', help: 'the transaction, as an explorer shows it' },
      'inner-index': {
        value: 'n',
        help: 'the place of the transfer among those of the transaction to the wallet, from 1',
      },
      from: { value: 'address', help: 'who made the transfer, as an explorer shows it' },
      'value-wei': { value: 'wei', help: 'the value of the transfer' },
      transfers: {
        value: 'list',
        help: 'instead: several, as hash#place,hash#place; the place only where a transaction made several',
      },
      ...REASON,
      ...YES,
    },
    examples: ['node-ledger payments attribute <unattributed> --tx-hash <inner> --reason "their Safe" --yes'],
    load: async () => (await import('../desk/payments.ts')).attribute,
  },
  {
    name: 'payments dismiss',
    group: 'decide',
    summary: 'decide that neither a node nor a refund comes of a held payment, or of all the dust',
    args: [{ ...PAYMENT, optional: true }],
    options: {
      'below-wei': { value: 'wei', help: 'instead of one payment: all held ones of less than this' },
      ...REASON,
      ...YES,
    },
    examples: [
      'node-ledger payments dismiss <hash> --reason "a test of ours" --yes',
      'node-ledger payments dismiss --below-wei 1000000000000000 --yes',
    ],
    load: async () => (await import('../desk/payments.ts')).dismiss,
  },
  {
    name: 'payments decide',
    group: 'decide',
    summary: 'decide about many held payments at once, chosen by a filter or by a file',
    details: `Shows how many there are and what they come to, and asks. Each is decided as if it were named alone, with a row of the audit log of its
own; what is refused is listed, and keeps no other from it. A run that was cut off can be run again: it finds what is left. Exit code 1 when
any was refused.`,
    args: [
      {
        name: 'decision',
        help: 'release, dismiss or refund-prepare',
        choices: ['release', 'dismiss', 'refund-prepare'],
      },
    ],
    options: {
      file: { value: 'file', help: 'payments by hash or row id, one to a line; what follows a comma is not read' },
      'held-for': { value: 'reason', help: 'instead: those held for this reason, as recheck' },
      from: { value: 'address', help: 'those that this wallet paid' },
      tier: { value: 'tier', help: 'those that were judged by this tier' },
      'tier-id': { value: 'tier', help: 'with release: the tier, where an amount is the price of none' },
      ...REASON,
      'dry-run': { help: 'only say what would become of each; not with refund-prepare' },
      ...YES,
    },
    examples: [
      'node-ledger payments decide release --held-for saleClosed --dry-run',
      'node-ledger payments decide dismiss --held-for wrongAmount --from <address> --reason "tests of ours" --yes',
    ],
    load: async () => (await import('../desk/decide-many.ts')).decidePayments,
  },
  {
    name: 'payments refund-prepare',
    group: 'decide',
    summary: 'hold a payment for its refund, and say whether the ether may be sent back already',
    details: `The first step of a refund, for any payment without a node. No mint is signed for it from then on; one that was signed before may
be carried out until the time that it prints. Send nothing before this command says "Send it now": run it again until it does.`,
    args: [PAYMENT],
    options: { ...REASON, ...YES },
    examples: ['node-ledger payments refund-prepare <hash> --reason "agreed by mail" --yes'],
    load: async () => (await import('../desk/payments.ts')).refundPrepare,
  },
  {
    name: 'payments refund-batch',
    group: 'decide',
    summary: 'hold several payments for their refunds, and write the file by which a Safe pays them all',
    details: `As "payments refund-prepare" for each of them, up to 100: one that is refused keeps no other from it. The file holds a transfer of the exact
amount to each payer who may be paid back now; Safe's Transaction Builder imports it. Run it again until all of them are in it, and
send only one of the files: the answer says of each payment when the first one was made. Then record
the Safe's transaction for each payment by "payments refund".`,
    args: [{ name: 'payments', help: 'their transactions or row ids, with commas between' }],
    options: { 'safe-file': { value: 'file', help: 'where to write the file' }, ...REASON, ...YES },
    examples: ['node-ledger payments refund-batch <refunding> --safe-file refunds.json --yes'],
    load: async () => (await import('../desk/payments.ts')).refundBatch,
  },
  {
    name: 'payments refund-cancel',
    group: 'decide',
    summary: 'give a refund up that was prepared: the payment stands as before, or is judged again',
    args: [PAYMENT],
    options: { ...REASON, ...YES },
    examples: ['node-ledger payments refund-cancel <refunding> --yes'],
    load: async () => (await import('../desk/payments.ts')).refundCancel,
  },
  {
    name: 'payments refund',
    group: 'decide',
    summary: 'record that you paid a payment back, which the chain must confirm',
    details: `You send the refund with a wallet of your own, once "payments refund-prepare" says so: nothing here sends it. The transaction must be in
a block, have succeeded, go to the payer, and carry the exact amount; where a Safe made it, the provider's trace has to show that. What
is on chain is recorded even if it was sent too early; then the command says so.`,
    args: [PAYMENT],
    options: {
      'refund-tx-hash': { value: 'hash', help: 'the transaction of your refund', required: true },
      ...REASON,
      ...YES,
    },
    examples: ['node-ledger payments refund <hash> --refund-tx-hash <refund> --yes'],
    load: async () => (await import('../desk/payments.ts')).refund,
  },
]
