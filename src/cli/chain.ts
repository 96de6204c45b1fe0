// The chain that commands work on, besides the ledger's database. It is the operator's chain, or the chain of the service that runs in this
// directory. Only commands that need the chain load the code for it, because that is most of the program, and most commands need just the database.
import type { OpenedChain } from '../boot/parts.ts'
import { silentLog } from '../lib/log.ts'
import type { EveryPart } from '../operator/act.ts'
import type { OwnerDeps } from '../operator/acts/owner.ts'
import type { PassContext } from '../ports/contexts.ts'
import { noService, type OpenDatabase, openPool, settingsPart, withDatabase } from './database.ts'
import type { Io } from './io.ts'

/** Runs `body` with database and chain, for the operator's acts and readings, which cannot send. */
export async function withOperator<T>(
  io: Io,
  body: (deps: EveryPart & OwnerDeps, ledger: OpenDatabase) => Promise<T>,
): Promise<T> {
  return await withChain(io, async ({ ledger, chain, stack }) => {
    const { config, pool, database } = ledger
    const { url, readUrl } = database
    const readPool = readUrl === url ? pool : openPool(readUrl, stack)
    const { minter, distributor } = chain.part
    const { ledgerContext, operatorDeps } = await import('../boot/pass-context.ts')
    const { createGovernanceReader } = await import('../chain/factory/governance.ts')
    const ctx = ledgerContext(config, silentLog, { pool, chain })
    const deps = operatorDeps({ ...ctx, minter, distributor }, readPool)
    const governance = createGovernanceReader(chain.rpc, chain.part.factory)
    return await body({ ...deps, ...settingsPart(config), governance }, ledger)
  })
}

/** Runs `body` with what a pass needs, including the keys. First compares settings, database and chain. */
export async function withPasses<T>(io: Io, body: (ctx: PassContext, ledger: OpenDatabase) => Promise<T>): Promise<T> {
  return await withChain(io, async ({ ledger, chain }) => {
    const { config, pool, database } = ledger
    const { passContext } = await import('../boot/pass-context.ts')
    const { assertLedgerIsOurs, checkChain, settleFacts } = await import('../boot/preflight.ts')
    const reading = await checkChain(chain)
    await assertLedgerIsOurs(pool, chain)
    const facts = await settleFacts(pool, reading, (line) => void io.stderr.write(`${line}\n`))
    const parts = { pool, directUrl: database.directUrl, chain, preflight: async () => facts }
    return await body(passContext(config, silentLog, parts), ledger)
  })
}

/** A ledger with its chain. `stack` closes what is opened later. */
interface LedgerOnChain {
  readonly ledger: OpenDatabase
  readonly chain: OpenedChain
  readonly stack: AsyncDisposableStack
}

async function withChain<T>(io: Io, body: (opened: LedgerOnChain) => Promise<T>): Promise<T> {
  return await withDatabase(io, async (ledger) => {
    const { config, pool } = ledger
    const [{ attachChain }, { openLedgerChain }, { createRpc }] = await Promise.all([
      import('../boot/parts.ts'),
      import('../boot/preflight.ts'),
      import('../chain/rpc/rpc.ts'),
    ])
    const part = await attachChain(config)
    if (!part) throw noService(config, 'RPC_URL')
    await using stack = new AsyncDisposableStack()
    const rpc = createRpc({ urls: part.rpcUrls, log: silentLog })
    stack.defer(() => rpc.close())
    return await body({ ledger, chain: await openLedgerChain(pool, part, rpc), stack })
  })
}
