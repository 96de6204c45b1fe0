// What the HTTP surface gets of the chain, as long as no provider answers. Tests replace what they are about.
import type { Pool } from '../../../src/db/core/sql.ts'
import type { HttpDeps } from '../../../src/http/deps.ts'
import { silentLog } from '../../../src/lib/log.ts'
import type { OperatorDeps } from '../../../src/operator/act.ts'
import type { ChainReader } from '../../../src/ports/chain.ts'
import type { ContractReader } from '../../../src/ports/contract.ts'
import { ChainFault } from '../../../src/ports/faults.ts'

const unread = { blockNumber: null, balanceWei: null, gasPriceWei: null, walletMax: null, code: null, heldWei: null }

const away = async (): Promise<never> => {
  throw new ChainFault('no provider answers', { retryable: false })
}

const nothing = async () => null

export const NO_READINGS: HttpDeps['readings'] = {
  ...{ node: nothing, cover: nothing, distributorBalanceWei: nothing, paused: nothing },
  ...{ maxPerWallet: nothing, nodesOf: nothing },
  buyer: async () => unread,
  tracesWork: async () => false,
}

/** An object all of whose methods fail like a chain that does not answer, except these fields. */
const failing = <T extends object>(fields: Partial<T>): T =>
  new Proxy(fields as T, { get: (target, name) => (name in target ? target[name as keyof T] : away) })

/** The parts that need a chain, without one. */
export const withoutChain = (pool: Pool) =>
  ({
    readings: NO_READINGS,
    passes: { payments: away, credit: away, claim: away },
    syncer: { byTransaction: away, byNodeId: away },
    operator: {
      ...{ pool, readPool: pool, log: silentLog, signers: { minter: null, distributor: null } },
      chain: failing<ChainReader>({ providers: [] }),
      contract: failing<ContractReader>({}),
      rules: { trustsProvider: true } as OperatorDeps['rules'],
    },
    chainIdMatches: away,
  }) satisfies Partial<HttpDeps>
