// The stage of the table: one chain and one ledger that has learnt what its blocks prove, and a copy of both for each
// line. A chain is copied by going back to a snapshot, a ledger by copying its database.
import assert from 'node:assert/strict'
import postgres from 'postgres'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { isProven } from '../../src/db/blocks/evidence.ts'
import { connect } from '../../src/db/core/sql.ts'
import { type Address, wei } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { ChainFacts } from '../../src/ports/chain.ts'
import { type FalseProvider, startFalseProvider } from '../chain/false-provider.ts'
import { startSibling, startTestChain, type TestChain } from '../support/anvil.ts'
import { createDatabase, keptLocks } from '../support/postgres.ts'
import {
  contextOf,
  deployContracts,
  ETHER,
  enterTerms,
  enterTier,
  INTERVAL_SEC,
  type World,
  worldOn,
} from '../support/world.ts'

/** The lowest price of a tier that is open to anyone who holds nothing. */
export const BASIC = ETHER / 100n
/** A reply that never comes counts as one that failed after this long. */
const TIMEOUT_MS = 1_000

/** A line's own ledger. */
export interface Opened {
  world: World
  /** The same ledger, as the service finds it after a restart. */
  reopen(facts: ChainFacts): Promise<World>
  close(): Promise<void>
}

export interface Stage {
  chain: TestChain
  /** Another node of the same history, which goes its own way after the template's head. */
  fork: TestChain
  factory: Address
  /** Two providers in front of the chain. */
  providers: readonly [FalseProvider, FalseProvider]
  /** A new ledger at the template's head, which uses these providers. */
  open(urls: readonly string[]): Promise<Opened>
  close(): Promise<void>
}

/** Starts the stage: the ledger has sold one node, and requires proofs of headers, transactions and receipts. */
export async function startStage(): Promise<Stage> {
  const [database, chain] = await Promise.all([createDatabase(), startTestChain()])
  const contracts = await deployContracts(chain, 20n)
  const opened = (databaseUrl: string, urls: readonly string[], facts?: ChainFacts) =>
    openWorld({ chain, databaseUrl, urls, contracts, ...(facts && { facts }) })
  const first = await opened(database.url, [chain.rpcUrl])
  await enterTerms(first.pool, chain, contracts.token, { intervalSec: INTERVAL_SEC, slotSec: INTERVAL_SEC })
  await enterTier(first, { tierId: 'basic', tierNo: 1, priceWei: wei(BASIC), supply: 50 })
  await chain.mine()
  await first.pay(5, BASIC)
  // The first run learns from a block some way behind the head, which must have transactions.
  for (let block = 0; block < 5; block++) await chain.mine()
  await first.rest()
  assert.ok(await isProven(first.pool))
  await first.close()
  const fork = await startSibling(chain)
  let snapshots = await Promise.all([chain.snapshot(), fork.snapshot()])
  const providers = [await startFalseProvider(chain.rpcUrl), await startFalseProvider(chain.rpcUrl)] as const
  const admin = postgres(urlOf(database.url, 'postgres'), { max: 1, onnotice: () => undefined })
  let copies = 0
  return {
    ...{ chain, fork, factory: contracts.factory, providers },
    async open(urls) {
      const name = `evidence_${process.pid}_${++copies}`
      await Promise.all([chain.revert(snapshots[0]), fork.revert(snapshots[1])])
      snapshots = await Promise.all([chain.snapshot(), fork.snapshot()])
      // Anvil answers for the states of blocks since a revert only, and some lies are an earlier state.
      await chain.mine()
      await admin`CREATE DATABASE ${admin(name)} TEMPLATE ${admin(database.name)} STRATEGY file_copy`
      let world = await opened(urlOf(database.url, name), urls)
      return {
        world,
        async reopen(facts) {
          await world.close()
          world = await opened(urlOf(database.url, name), urls, facts)
          return world
        },
        async close() {
          await world.close()
          await admin`DROP DATABASE ${admin(name)} WITH (FORCE)`
        },
      }
    },
    async close() {
      await admin.end()
      for (const provider of providers) await provider.close()
      await Promise.all([chain.stop(), fork.stop()])
      await database.drop()
    },
  }
}

function urlOf(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

async function openWorld(parts: {
  chain: TestChain
  databaseUrl: string
  urls: readonly string[]
  contracts: { factory: Address; token: Address }
  facts?: ChainFacts
}): Promise<World> {
  const { chain, databaseUrl, urls, contracts, facts } = parts
  const rpc = createRpc({ urls, log: silentLog, timeoutMs: TIMEOUT_MS })
  const pool = connect(databaseUrl, { max: 3, prepare: true, applicationName: 'test' })
  const locks = keptLocks(databaseUrl)
  const own = { chain, rpc, pool, directUrl: databaseUrl, ...contracts }
  const ctx = { ...contextOf(own, { trustsProvider: false }, facts), lock: locks.take }
  return worldOn({
    ...{ ...own, ctx },
    async close() {
      await locks.close()
      await pool.end({ timeout: 1 })
      await rpc.close()
    },
  })
}
