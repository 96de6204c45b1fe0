// The commands that write the books: exports and statements.
import type { Command } from '../command.ts'

const PERIOD = {
  month: { value: 'yyyy-mm', help: 'a month, by UTC' },
  from: { value: 'moment', help: 'the first block, or a time like 2026-10-01 or 2026-10-01T00:00:00Z' },
  to: { value: 'moment', help: 'the last block, or the time before which the period ends' },
}

export const BOOKS: readonly Command[] = [
  {
    name: 'export',
    group: 'books',
    summary: 'write a table of the books as CSV; the last line has the number of rows and the totals',
    details: `Without a period it exports the whole ledger, from one snapshot. "owner" lists what one wallet was credited and withdrew,
with the hour's price of ether if known.`,
    args: [
      {
        name: 'kind',
        help: 'which table',
        choices: [
          'payments',
          'nodes',
          'credits',
          'withdrawals',
          'refunds',
          'transactions',
          'outflows',
          'commissions',
          'owner',
        ],
      },
    ],
    options: {
      ...PERIOD,
      address: { value: 'address', help: 'the wallet, for "owner"' },
      out: { value: 'file', help: 'write to this file; a failed export leaves none (default: stdout)' },
    },
    examples: [
      'node-ledger export payments --month 2026-10 --out payments.csv',
      'node-ledger export owner --address <address> --out owner.csv',
    ],
    load: async () => (await import('../books/export.ts')).exportRows,
  },
  {
    name: 'statement',
    group: 'books',
    summary:
      "a period's books: sales, mints, refunds, credits, withdrawals, gas, and every account from opening to closing balance",
    details: `Exit code 0 if everything adds up to the chain's balances to the wei, 1 if something is left over, 3 if it could not read a
balance.`,
    options: { ...PERIOD, csv: { help: 'print it as CSV', isOurs: true } },
    examples: ['node-ledger statement --month <month>', 'node-ledger statement --json', 'node-ledger statement --csv'],
    load: async () => (await import('../books/statement.ts')).statement,
  },
]
