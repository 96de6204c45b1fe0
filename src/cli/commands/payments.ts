// The commands about payments that run more than one act.
import { type Command, DRY_RUN, REASON } from '../command.ts'

export const PAYMENTS: readonly Command[] = [
  {
    name: 'payments dismiss',
    after: 'payments attribute',
    group: 'decide',
    summary: 'dismiss a held payment, or all below an amount: no node, no refund',
    args: [{ name: 'payment', help: "its transaction's hash, or its row id", optional: true }],
    options: {
      'below-wei': { value: 'wei', help: 'instead of one payment: all held payments below this amount' },
      ...REASON,
      ...DRY_RUN,
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
    summary: 'decide about many held payments, chosen by a filter or a file',
    details: `Shows what would happen to them, and asks. Decides each separately, with its own row in the audit log, and lists those that it rejected. If interrupted, run it again. Exit code 1 if it rejected any.`,
    args: [
      {
        name: 'decision',
        help: 'release or dismiss',
        choices: ['release', 'dismiss'],
      },
    ],
    options: {
      file: { value: 'file', help: 'payments by hash or row id, as CSV: one a row, with a note if you like' },
      'held-for': { value: 'reason', help: 'instead of --file: payments held for this reason, such as recheck' },
      from: { value: 'address', help: 'payments from this wallet' },
      tier: { value: 'tier', help: 'payments judged by this tier' },
      'tier-id': { value: 'tier', help: 'with release: the tier, if no tier has that price' },
      ...REASON,
      ...DRY_RUN,
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
    summary: 'prepare several refunds, and write the file with which a Safe pays them',
    details: `Prepares up to 100, as "payments refund-prepare" does. The file for Safe's Transaction Builder has a transfer to each payer
whom you may pay now. Run it again for the others: later files leave out what a file pays. Record the Safe's transaction for each
payment with "payments refund".`,
    args: [{ name: 'payments', help: 'the payments, by transaction or row id, separated by commas' }],
    options: {
      'safe-file': { value: 'file', help: 'where to write the file' },
      again: { help: 'also what an earlier file pays; only if that file was never sent' },
      ...REASON,
      ...DRY_RUN,
    },
    examples: ['node-ledger payments refund-batch <refunding> --safe-file refunds.json --yes'],
    load: async () => (await import('../desk/payments.ts')).refundBatch,
  },
]
