// The commands that show the books: rounds, transactions, exports, statements, the audit log.
import type { Command } from '../command.ts'
import { PAGE } from './options.ts'

const PERIOD = {
  month: { value: 'yyyy-mm', help: 'a month, by UTC' },
  from: { value: 'moment', help: 'its first block, or a time like 2026-10-01 or 2026-10-01T00:00:00Z' },
  to: { value: 'moment', help: 'its last block, or the first time that does not belong to it' },
}

export const BOOKS: readonly Command[] = [
  {
    name: 'rounds list',
    group: 'books',
    summary: 'list the rounds, newest first, with what they credited and cost',
    options: PAGE,
    examples: ['node-ledger rounds list'],
    load: async () => (await import('../books/rounds.ts')).list,
  },
  {
    name: 'rounds preview',
    group: 'books',
    summary: 'say what a credit pass would pay now, what stands in its way, and what the next day will cost',
    examples: ['node-ledger rounds preview'],
    load: async () => (await import('../books/rounds.ts')).preview,
  },
  {
    name: 'transactions list',
    group: 'books',
    summary: 'list the transactions of our signer accounts, newest first: nonces, what became of them, gas, fees',
    options: {
      sender: { value: 'address', help: 'only of this one' },
      status: { value: 'status', help: 'pending, mined, reverted or displaced' },
      ...PAGE,
    },
    examples: ['node-ledger transactions list --status reverted', 'node-ledger transactions list --limit 5 --json'],
    load: async () => (await import('../desk/transactions.ts')).list,
  },
  {
    name: 'transactions stuck',
    group: 'books',
    summary: 'list signer accounts and transactions that are stuck, and why',
    details: `A signer account whose nonce the providers name higher than followed blocks bear out sends nothing: either the key was used elsewhere,
or a provider is wrong. After 64 blocks in which all of them say so it is taken for true by itself; "transactions free" does so at once.

A transaction is listed once it is in no block after 12. Why: "nonce", its account is such a one; "behind", one before it is; "over", its
time is over, and the next run takes its nonce for nothing and sends what it was for again; "fee", blocks ask for more than it offers, which
is raised every 12 blocks up to FEE_CAP_WEI; "refused", the providers do not take it, and say why; "waiting", they have it.`,
    examples: ['node-ledger transactions stuck'],
    load: async () => (await import('../desk/transactions.ts')).stuck,
  },
  {
    name: 'transactions free',
    group: 'books',
    summary:
      "have a signer account's nonce taken over as the providers name it; replace transactions that can no longer be mined",
    args: [{ name: 'sender', help: 'the account, as "transactions stuck" lists it' }],
    options: { reason: { value: 'text', help: 'for the audit log' } },
    examples: ['node-ledger transactions free <address>'],
    load: async () => (await import('../desk/transactions.ts')).free,
  },
  {
    name: 'export',
    group: 'books',
    summary: 'write a table of the books as CSV, its last line with the number of rows and the totals',
    details: `From one snapshot of the ledger, in constant memory. Without a period the whole ledger. "owner" is what one wallet was
credited and withdrew, with the price of the hour where it is known. With --json JSON lines instead of CSV.`,
    args: [
      {
        name: 'kind',
        help: 'which table',
        choices: ['payments', 'nodes', 'credits', 'withdrawals', 'refunds', 'transactions', 'outflows', 'owner'],
      },
    ],
    options: {
      ...PERIOD,
      address: { value: 'address', help: 'the wallet, for "owner"' },
      out: { value: 'file', help: 'write to this file, which is whole or not there; stdout where it is left out' },
    },
    examples: [
      'node-ledger export payments --month 2026-10 --out payments.csv',
      'node-ledger export owner --address <address>',
      'node-ledger export credits --json',
    ],
    load: async () => (await import('../books/export.ts')).exportRows,
  },
  {
    name: 'statement',
    group: 'books',
    summary:
      "a period's books: sales, mints, refunds, credits, withdrawals, gas, and every account from opening to closing balance",
    details: `Exit code 0 when all of it adds up to the chain's own balances to the wei, 1 when something is left over, 3 when a balance could
not be read.`,
    options: { ...PERIOD, csv: { help: 'print it as CSV', isOurs: true } },
    examples: ['node-ledger statement --month <month>', 'node-ledger statement --json', 'node-ledger statement --csv'],
    load: async () => (await import('../books/statement.ts')).statement,
  },
  {
    name: 'audit list',
    group: 'books',
    summary: 'list who did what to what, newest first',
    options: {
      actor: { value: 'name', help: 'the label of an admin key, cli:<user>, or pass' },
      action: { value: 'action', help: 'released, tierChanged, paused and so on' },
      subject: { value: 'text', help: 'a hash, a tier, an address, a node' },
      ...PAGE,
    },
    examples: ['node-ledger audit list --limit 20', 'node-ledger audit list --action released --json'],
    load: async () => (await import('../books/audit.ts')).list,
  },
]
