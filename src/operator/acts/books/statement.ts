// The statement of a period: what was sold, minted, refunded, credited, withdrawn and spent. It has every account's books from its balance at the
// opening block to its balance at the closing block, to the wei. Everything comes from one snapshot of the ledger.
import { Readable } from 'node:stream'
import { inSnapshot } from '../../../db/core/snapshot.ts'
import type { Sql } from '../../../db/core/sql.ts'
import { readIdentity } from '../../../db/core/state.ts'
import { type CommissionLine, readCommissions } from '../../../db/reads/commissions.ts'
import type { Blocks } from '../../../db/reads/exports.ts'
import * as ledger from '../../../db/reads/statement.ts'
import { readPaymentWallets } from '../../../db/sale/payment-wallets.ts'
import type { DatedBlock } from '../../../domain/observed.ts'
import type { WatchedWallet } from '../../../domain/payment-wallets.ts'
import { type Address, address } from '../../../domain/units.ts'
import { csvLine } from '../../../lib/csv.ts'
import type { ChainRead, FactoryRead, FollowRules, RuledBy } from '../../../ports/contexts.ts'
import { orNull } from '../../../ports/faults.ts'
import { isOperatorRefusal, type OperatorRefusal, type ReplicaDb, refuseAct, type SignerAddresses } from '../../act.ts'
import { defineReading } from '../../define-act.ts'
import { type Account, readAccount } from './account.ts'
import {
  type AskedPeriod,
  blockOf,
  checkPeriod,
  findPeriod,
  PERIOD,
  type Period,
  periodIn,
  type ShownBlock,
  shownBlock,
} from './period.ts'

type BooksContext = ChainRead & FactoryRead & SignerAddresses
type StatementContext = BooksContext & ReplicaDb & RuledBy<FollowRules>

export interface Statement {
  period: { opening: ShownBlock; closing: ShownBlock; blocks: number; complete: boolean }
  /** Payments of the period that have become nodes, by tier. `payments` has the others. */
  sales: { tierId: string | null; count: number; valueWei: bigint }[]
  totalSalesWei: bigint
  /** All payments of the period, in their current states. */
  payments: ledger.PaymentsLine[]
  /** What backs the payments that arrived, and the turns of the period. */
  assurance: ledger.AssuranceLine[]
  happened: ledger.PeriodTotals
  /** Commissions by code and payee. A payment's commission belongs to the payment's block. */
  commissions: CommissionLine[]
  gas: (ledger.GasLine & { role: string })[]
  gasWei: bigint
  accounts: Account[]
  contract: Contract
  /** True if every account and the contract's debt add up; null if we could not read something. */
  balanced: boolean | null
}

/** The contract's debt to nodes' owners, and its surplus. */
interface Contract {
  outstandingOpeningWei: bigint
  outstandingClosingWei: bigint
  /** The debt that the contract itself reports; 0 before its deployment, null if we could not read it. */
  chainOpeningWei: bigint | null
  chainClosingWei: bigint | null
  /** The contract's figure minus the ledger's at the closing block. */
  differenceWei: bigint | null
  surplusOpeningWei: bigint | null
  surplusClosingWei: bigint | null
}

/** Without a period, everything that the ledger has followed. */
export const readStatement = defineReading({
  path: 'statement',
  command: 'statement',
  group: 'books',
  summary:
    "a period's books: sales, mints, refunds, credits, withdrawals, gas, and every account from opening to closing balance",
  details: `Exit code 0 if everything adds up to the chain's balances to the wei, 1 if something is left over, 3 if it could not read a
balance.`,
  examples: ['statement --month <month>', 'statement --json', 'statement --csv'],
  onChain: true,
  fields: PERIOD,
  check: checkPeriod,
  run: (deps: StatementContext, request) => stateIn(deps, periodIn(request)),
})

export const readStatementCsv = defineReading({
  path: 'statement.csv',
  isFile: true,
  summary: 'the statement as CSV',
  fields: PERIOD,
  check: checkPeriod,
  run: async (deps: StatementContext, request) => {
    const statement = await stateIn(deps, periodIn(request))
    if (isOperatorRefusal(statement)) return statement
    return {
      stream: Readable.from([statementCsv(statement)]),
      filename: `node-ledger-statement-${statement.period.closing.blockNumber}.csv`,
      contentType: 'text/csv; charset=utf-8',
    }
  },
})

async function stateIn(deps: StatementContext, request: AskedPeriod): Promise<Statement | OperatorRefusal> {
  return inSnapshot(deps.readPool, async (sql) => {
    const period = await findPeriod(deps, sql, request)
    if (isOperatorRefusal(period)) return period
    // An empty period would give a statement of zeros, and a mistyped year would look like a closed month.
    if (!period.complete && period.opening.number === period.closing.number)
      return refuseAct('notYet', 'The ledger has not followed a block of that period yet.')
    const { startBlock } = deps.rules
    if (request.to !== null && period.closing.number < startBlock)
      return refuseAct('invalid', `The ledger begins with block ${startBlock}, after this period: choose a later one.`)
    return stateOf(deps, sql, period)
  })
}

async function stateOf(deps: BooksContext, sql: Sql, period: Period): Promise<Statement> {
  const { opening, closing } = period
  const blocks = { after: opening.number, upTo: closing.number }
  const payments = await ledger.readPaymentLines(sql, blocks)
  const sales = payments
    .filter(({ state }) => state === 'minted')
    .map(({ tierId, count, valueWei }) => ({ tierId, count, valueWei }))
  const assurance = await ledger.readAssurance(sql, blocks)
  const flows = await ledger.readHappened(sql, blocks)
  const commissions = await readCommissions(sql, blocks)
  const gas = (await ledger.readGas(sql, blocks)).map((line) => ({ ...line, role: roleOf(deps, line.sender) }))
  const accounts = await readAccounts(deps, sql, period, new Set(gas.map(({ sender }) => sender)))
  const contract = await readContract(deps, sql, period, accounts)
  return {
    period: {
      opening: shownBlock(opening),
      closing: shownBlock(closing),
      blocks: closing.number - opening.number,
      complete: period.complete,
    },
    sales,
    totalSalesWei: sales.reduce((total, { valueWei }) => total + valueWei, 0n),
    payments,
    assurance,
    happened: flows,
    commissions,
    gas,
    gasWei: gas.reduce((total, { feeWei }) => total + feeWei, 0n),
    accounts,
    contract,
    balanced: isBalanced(
      accounts,
      contract,
      (await readPaymentWallets(sql)).map(({ wallet }) => wallet),
    ),
  }
}

function roleOf({ signers }: SignerAddresses, sender: Address): string {
  const roles = (['minter', 'distributor'] as const).filter((role) => signers[role] === sender)
  return roles.length > 0 ? roles.join(' and ') : 'former sender'
}

/** The payments wallets, the factory, and each signer account once, even if it has several roles. Includes accounts replaced within the period. */
async function readAccounts(
  deps: ChainRead & SignerAddresses,
  sql: Sql,
  period: Period,
  spending: ReadonlySet<Address>,
): Promise<Account[]> {
  const identity = await readIdentity(sql)
  const factory = identity && address(identity.factory)
  const signers = new Set([deps.signers.minter, deps.signers.distributor, ...spending])
  const accounts: Account[] = []
  const add = async (query: Omit<Parameters<typeof readAccount>[2], 'period'>, within = period) =>
    void accounts.push(await readAccount(deps, sql, { ...query, period: within }))
  const wallets = await readPaymentWallets(sql)
  for (const { wallet, ...watching } of wallets) {
    const within = await whileWatched(deps, sql, watching, period)
    if (within === null) continue
    const accountQuery = {
      name: 'payments wallet',
      address: wallet,
      movements: (blocks: Blocks) => ledger.readWalletMovements(sql, wallet, blocks),
      booked: (block: number) => ledger.readBookedWalletAt(sql, wallet, block),
    }
    await add(accountQuery, within)
  }
  if (factory) {
    const movements = (blocks: Blocks) => ledger.readFactoryMovements(sql, factory, blocks)
    await add({ name: 'contract', address: factory, movements })
  }
  for (const sender of signers) {
    if (!sender || wallets.some(({ wallet }) => wallet === sender)) continue
    const movements = (blocks: Blocks) => ledger.readSenderMovements(sql, sender, blocks)
    await add({ name: roleOf(deps, sender), address: sender, movements })
  }
  return accounts
}

/**
 * The part of a period in which we read blocks for a wallet. Ether that it held before, or that comes after its books are closed, is not in the
 * ledger.
 */
async function whileWatched(
  deps: ChainRead,
  sql: Sql,
  { watchedFrom, closedBlock }: Omit<WatchedWallet, 'wallet'>,
  period: Period,
): Promise<Period | null> {
  const first = Math.max(period.opening.number, watchedFrom - 1)
  const last = Math.min(period.closing.number, closedBlock ?? period.closing.number)
  if (first > last || (closedBlock !== null && closedBlock <= period.opening.number)) return null
  const opening = await blockOf(deps, sql, first, period.opening)
  return { ...period, opening, closing: await blockOf(deps, sql, last, period.closing) }
}

async function readContract(
  deps: FactoryRead,
  sql: Sql,
  { opening, closing }: Period,
  accounts: readonly Account[],
): Promise<Contract> {
  const account = accounts.find(({ name }) => name === 'contract')
  const outstandingOpeningWei = await ledger.readOutstandingAt(sql, opening.number)
  const outstandingClosingWei = await ledger.readOutstandingAt(sql, closing.number)
  const [chainOpeningWei, chainClosingWei] = await Promise.all([chainDebtAt(deps, opening), chainDebtAt(deps, closing)])
  const less = (a: bigint | null | undefined, b: bigint | null) => (a == null || b === null ? null : a - b)
  return {
    outstandingOpeningWei,
    outstandingClosingWei,
    chainOpeningWei,
    chainClosingWei,
    differenceWei: less(chainClosingWei, outstandingClosingWei),
    surplusOpeningWei: less(account?.openingWei, outstandingOpeningWei),
    surplusClosingWei: less(account?.closingWei, outstandingClosingWei),
  }
}

/** The debt at a block. Zero before the contract existed. Null if the provider no longer has the state, which does not mean zero. */
async function chainDebtAt({ contract }: FactoryRead, at: DatedBlock): Promise<bigint | null> {
  const counters = await orNull(contract.counters(at.number))
  if (counters) return counters.outstandingWei
  return (await orNull(contract.isDeployed(at.number))) === false ? 0n : null
}

function isBalanced(accounts: readonly Account[], contract: Contract, wallets: readonly Address[]): boolean | null {
  // Anyone can send ether to signers and contract, so there we only show the difference. For payments wallets the ledger must explain every wei.
  const balances = accounts.map(({ address, otherWei, unexplainedWei }) =>
    wallets.includes(address) ? otherWei : unexplainedWei,
  )
  const differences = [...balances, contract.differenceWei]
  if (differences.some((wei) => wei !== null && wei !== 0n)) return false
  return differences.includes(null) ? null : true
}

/** The cells of a line after its section and item; omitted figures leave empty cells. */
interface Figures {
  detail?: string | null
  count?: number | null
  wei?: bigint | null
}

function addCommissions(
  add: (section: string, item: string, figures: Figures) => void,
  lines: readonly CommissionLine[],
): void {
  for (const { code, payee, count, valueWei, earnedWei, reversedWei, paidWei } of lines) {
    add('commissions', code, { detail: `payments, ${payee}`, count, wei: valueWei })
    for (const [what, wei] of Object.entries({ earned: earnedWei, reversed: reversedWei, paid: paidWei }))
      add('commissions', code, { detail: `${what}, ${payee}`, wei })
  }
}

/** The statement as CSV. */
export const statementCsv = (statement: Statement): string => statementLines(statement).map(csvLine).join('')

/** The statement in lines: a heading, then one line per item, money in wei. The last line states whether it balances. */
export function statementLines(statement: Statement): (string | null)[][] {
  const { period, happened, contract } = statement
  const lines: (string | null)[][] = [['section', 'item', 'detail', 'count', 'wei']]
  const add = (section: string, item: string, { detail = null, count = null, wei = null }: Figures) =>
    void lines.push([section, item, detail, count?.toString() ?? null, wei?.toString() ?? null])
  for (const [edge, place] of Object.entries({ opening: period.opening, closing: period.closing })) {
    for (const [name, value] of Object.entries(place)) add('period', `${edge}.${name}`, { detail: String(value) })
  }
  for (const { tierId, count, valueWei } of statement.sales) add('sales', tierId ?? 'no tier', { count, wei: valueWei })
  add('sales', 'total', { wei: statement.totalSalesWei })
  for (const { tierId, state, reason, count, valueWei } of statement.payments)
    add('payments', state, { detail: [tierId, reason].filter(Boolean).join(' ') || null, count, wei: valueWei })
  for (const { of, assurance, count, wei } of statement.assurance)
    add('assurance', of, { detail: assurance ?? 'not known', count, wei })
  add('nodes', 'minted', { count: happened.nodes })
  add('nodes', 'without payment', { count: happened.nodesUnpaid })
  add('nodes', 'expelled though paid for', { count: happened.paidNodesExpelled })
  add('refunds', 'recorded', { count: happened.refunds, wei: happened.refundedWei })
  add('refunds', 'from the payments wallet', { wei: happened.refundedFromWalletWei })
  addCommissions(add, statement.commissions)
  add('credits', 'rounds', { count: happened.rounds, wei: happened.creditedWei })
  add('credits', 'credits of nodes', { count: happened.credits })
  add('credits', 'from the treasury', { wei: happened.treasuryWei })
  add('withdrawals', 'sent', { count: happened.withdrawals, wei: happened.withdrawnWei })
  add('withdrawals', 'failed', { count: happened.withdrawalsFailed })
  for (const { role, kind, sender, transactions, feeWei } of statement.gas)
    add('gas', role, { detail: `${kind} ${sender}`, count: transactions, wei: feeWei })
  add('gas', 'total', { wei: statement.gasWei })
  for (const account of statement.accounts) {
    const { name, address: detail } = account
    add(name, 'opening', { detail, wei: account.openingWei })
    for (const { what, count, wei } of account.movements) add(name, what, { count, wei })
    add(name, 'computed', { wei: account.computedWei })
    for (const { fromBlock, toBlock, wei } of account.other)
      add(name, 'other', {
        detail: fromBlock === toBlock ? `block ${toBlock}` : `blocks ${fromBlock} to ${toBlock}`,
        wei,
      })
    add(name, 'closing', { detail, wei: account.closingWei })
    add(name, 'unexplained', { wei: account.unexplainedWei })
  }
  for (const [name, wei] of Object.entries(contract)) add('contract debt', name, { wei })
  lines.push(['#total', `lines=${lines.length - 1}`, `balanced=${statement.balanced ?? 'unknown'}`, null, null])
  return lines
}
