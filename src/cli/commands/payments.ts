// The commands about payments that are more than one act.
import { type Command, REASON, YES } from '../command.ts'

export const PAYMENTS: readonly Command[] = [
  {
    name: 'payments claim',
    after: 'payments history',
    group: 'decide',
    summary: "follow to a payment's block and judge it now, as its buyer's claim does",
    args: [{ name: 'hash', help: 'the transaction' }],
    examples: ['node-ledger payments claim <hash>'],
    load: async () => (await import('../desk/claim.ts')).claim,
  },
  {
    name: 'payments dismiss',
    after: 'payments attribute',
    group: 'decide',
    summary: 'decide that a held payment, or all the dust, gets neither a node nor a refund',
    args: [{ name: 'payment', help: "its transaction's hash, or its row id", optional: true }],
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
    after: 'payments dismiss',
    group: 'decide',
    summary: 'decide about many held payments at once, chosen by a filter or by a file',
    details: `Shows their number and sum, and asks. Decides each one on its own, with its own row of the audit log, and lists those refused. If
it was interrupted, run it again. Exit code 1 if any was refused.`,
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
      'tier-id': { value: 'tier', help: 'with release: the tier, if an amount is the price of none' },
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
    name: 'payments refund-batch',
    after: 'payments refund-prepare',
    group: 'decide',
    summary: 'hold several payments for their refunds, and write the file by which a Safe pays them all',
    details: `Like "payments refund-prepare" for each of them, up to 100. The file for Safe's Transaction Builder holds a transfer to each payer who may be
paid back now. Run it again until all are in it, and send only one file: the answer says when the first one was made. Then record the
Safe's transaction for each payment with "payments refund".`,
    args: [{ name: 'payments', help: 'their transactions or row ids, separated by commas' }],
    options: { 'safe-file': { value: 'file', help: 'where to write the file' }, ...REASON, ...YES },
    examples: ['node-ledger payments refund-batch <refunding> --safe-file refunds.json --yes'],
    load: async () => (await import('../desk/payments.ts')).refundBatch,
  },
]
