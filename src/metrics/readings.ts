// The metrics that are read at each scrape: the ledger's figures from the database (db/reads/metrics.ts), the head, the signer accounts' funds and the
// contract's cover from the chain. Each read has a time budget, and scrapes share it. If a read fails, its samples are left out.
import type { Pool } from '../db/core/sql.ts'
import { readFigures, type Sample } from '../db/reads/metrics.ts'
import { coverOf } from '../domain/cover.ts'
import { shared } from '../lib/cache.ts'
import { inTimeOrNull } from '../lib/deadline.ts'
import type { ChainReader } from '../ports/chain.ts'
import type { Readings } from '../ports/contract.ts'
import type { AccountReader } from '../ports/sending.ts'

/** How long scrapes share a read, and how long a read may take. Scrapes usually come every 15 seconds. Two Prometheus servers may share a read. */
const LEDGER = { keepMs: 2_000, budgetMs: 2_000 }
const HEAD = { keepMs: 2_000, budgetMs: 2_000 }
const FUNDS = { keepMs: 10_000, budgetMs: 2_000 }

export interface MetricsDeps {
  readonly pool: Pool
  readonly chain: ChainReader
  readonly readings: Readings
  /** The minter's account; null if no key is configured. */
  readonly minter: AccountReader | null
  readonly distributor: AccountReader | null
}

/** The figures that do not come from the ledger, with their help texts. */
const HELP = {
  node_ledger_reading_up: 'Whether a source could be read for this scrape.',
  node_ledger_db_probe_seconds: 'Time this page’s own statement took, waiting for a connection included.',
  node_ledger_head_block: 'Newest block of the provider.',
  node_ledger_lag_blocks: 'Blocks between the head and what the ledger has followed.',
  node_ledger_lag_seconds: 'Block time between the head and what the ledger has followed.',
  node_ledger_sender_balance_ether: 'Ether of an account that sends.',
  node_ledger_sender_nonce: 'Transactions of an account that sends.',
  node_ledger_contract_balance_ether: 'Ether in the contract.',
  node_ledger_outstanding_ether: 'Ether the contract owes.',
  node_ledger_cover_bps: 'Balance of the contract divided by what it owes, in basis points; absent if it owes nothing.',
  node_ledger_solvent: 'Whether the contract reports that it can pay what it owes.',
} as const

/** A figure; its value is null if it could not be read. */
const figure = (name: keyof typeof HELP, value: Sample['value'], labels: Sample['labels'] = {}): Sample => ({
  name,
  help: HELP[name],
  labels,
  value,
})

/** Wei as ether, for display only: 15 digits are exact. Never compute money from it. */
const ether = (wei: bigint): number => Number(wei) / 1e18

/** Builds the function that reads all samples. It never throws, and returns within about two seconds. */
export function createMetricsReader(deps: MetricsDeps): () => Promise<Sample[]> {
  const accounts = (['minter', 'distributor'] as const).flatMap((role) => {
    const account = deps[role]
    return account ? [{ role, account }] : []
  })
  const senders = Object.fromEntries(accounts.map(({ role, account }) => [role, account.address]))
  const ledger = sharedReading(async () => {
    const startedAt = performance.now()
    const samples = await readFigures(deps.pool, senders)
    return [...samples, figure('node_ledger_db_probe_seconds', (performance.now() - startedAt) / 1000)]
  }, LEDGER)
  const head = sharedReading(() => deps.chain.head(), HEAD)
  const funds = accounts.map(({ role, account }) => ({
    role,
    read: sharedReading(async () => ({ balanceWei: await account.balance(), nonce: await account.nonce() }), FUNDS),
  }))

  const fundsSamples = async ({ role: sender, read }: (typeof funds)[number]) => {
    const reading = await read()
    return [
      figure('node_ledger_sender_balance_ether', reading && ether(reading.balanceWei), { sender }),
      figure('node_ledger_sender_nonce', reading?.nonce ?? null, { sender }),
    ]
  }

  return async () => {
    const [figures, newest, contract, ...ofSenders] = await Promise.all([
      ledger(),
      head(),
      deps.readings.cover(),
      ...funds.map(fundsSamples),
    ])
    const behind = (headAt: number | undefined, name: string) => {
      const ledgerAt = figures?.find((sample) => sample.name === name)?.value ?? null
      return ledgerAt === null || headAt === undefined ? null : Math.max(0, headAt - Number(ledgerAt))
    }
    return [
      figure('node_ledger_reading_up', Number(figures !== null), { source: 'database' }),
      figure('node_ledger_reading_up', Number(newest !== null), { source: 'chain' }),
      ...(figures ?? []),
      figure('node_ledger_head_block', newest?.number ?? null),
      figure('node_ledger_lag_blocks', behind(newest?.number, 'node_ledger_followed_block')),
      figure('node_ledger_lag_seconds', behind(newest?.time, 'node_ledger_followed_block_timestamp_seconds')),
      ...ofSenders.flat(),
      ...coverSamples(contract),
    ]
  }
}

/** Shares one read among scrapes for `keepMs`. Null if the read fails or takes longer than `budgetMs`. */
function sharedReading<T>(read: () => Promise<T>, { keepMs, budgetMs }: typeof LEDGER): () => Promise<T | null> {
  const readShared = shared(read, { ageMaxMs: keepMs, clock: () => performance.now() })
  return () => inTimeOrNull(budgetMs, readShared)
}

function coverSamples(read: Awaited<ReturnType<Readings['cover']>>): Sample[] {
  return [
    figure('node_ledger_contract_balance_ether', read && ether(read.contractBalanceWei)),
    figure('node_ledger_outstanding_ether', read && ether(read.outstandingWei)),
    figure('node_ledger_cover_bps', read && coverOf(read.contractBalanceWei, read.outstandingWei).coverBps),
    figure('node_ledger_solvent', read && Number(read.isSolvent)),
  ]
}
