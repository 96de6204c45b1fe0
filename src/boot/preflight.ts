// Checks the settings against database and chain before anything else happens. A definite mismatch ends the start, with a message that explains what to
// do. If the database does not answer, the start waits a minute for it. If the chain does not answer, the service serves the ledger, and waits for
// the chain without limit. This file never decides anything about money.
// Every start refuses a PAYMENT_ADDRESS that is the zero address or the factory (checkPaymentAddress in chain/factory/check-deployment.ts). The first
// start also refuses a wallet that was used before (assertUnusedWallet), and one to which refuseWallet objects (domain/payment-wallets.ts): a hot
// key, a development account, code that cannot be traced. If the ledger already has the wallet, a start only warns.
import { setTimeout as sleep } from 'node:timers/promises'
import { checkDeployment, isNewFactory, isUsed, refuseCode } from '../chain/factory/check-deployment.ts'
import { createContractReader } from '../chain/factory/contract.ts'
import { lookAtBeginning } from '../chain/factory/start-block.ts'
import type { Rpc } from '../chain/rpc/rpc.ts'
import { FACTORY_CHECKS, judgeBeginning, judgeDeployment, judgeEvidence, lookAtWallet } from '../checks/chain.ts'
import { type Answer, runChecks } from '../checks/check.ts'
import { ENTERED_CHECKS } from '../checks/sale.ts'
import type { Config } from '../config/load.ts'
import { readCursor } from '../db/blocks/blocks.ts'
import { readMode } from '../db/blocks/evidence.ts'
import { databaseFault } from '../db/core/faults.ts'
import { isLedger, migrate } from '../db/core/migrate.ts'
import { keepsPrepared, lookAtPooler } from '../db/core/pooler.ts'
import { connect, inTransaction, type Pool, poolWithin } from '../db/core/sql.ts'
import { type Identity, notifyLedgerChanged, readIdentity, recordIdentity, writeAudit } from '../db/core/state.ts'
import { enterFirstMode } from '../db/sale/contract-wallets.ts'
import { insertFirstWallet, lockWallets, readPaymentWallets } from '../db/sale/payment-wallets.ts'
import { hasTerms, lockTerms } from '../db/sale/terms.ts'
import { noteGuard, readGuard } from '../db/sends/guard.ts'
import { DEVELOPMENT_CHAINS } from '../domain/development.ts'
import type { TermsContent } from '../domain/rounds/terms.ts'
import { hostsOf } from '../lib/database-url.ts'
import { inTimeOrNull } from '../lib/deadline.ts'
import { codeOf, KnownError, messageOf } from '../lib/errors.ts'
import { isOperatorRefusal } from '../operator/act.ts'
import { enterTerms as enterTermsByAct } from '../operator/acts/terms.ts'
import type { ChainFacts, ChainReader } from '../ports/chain.ts'
import type { ChainRead, FactoryRead, LedgerDb } from '../ports/contexts.ts'
import { ChainFault, orNull } from '../ports/faults.ts'
import type { DatabasePart } from './database.ts'
import { type ChainPart, type OpenedChain, readerOf, signersOf } from './parts.ts'
import { seedTiers } from './seed.ts'

/** How long a start waits for the database: about as long as a server takes to replay its log after a crash. */
const DATABASE_WAIT_MS = 60_000
const DATABASE_RETRY_MS = 1_000
/** How long, before a migration, we wait for the chain to show whether the factory is ours. */
const FACTORY_LOOK_MS = 5_000

/** Ends a start. `fatal`: it can never succeed. `refused`: something must change first. `retryable`: not yet. Its message explains what to do. */
export class StartError extends KnownError {
  override readonly name = 'StartError'

  constructor(message: string, kind: 'fatal' | 'refused' | 'retryable' = 'fatal') {
    super(kind, message)
  }
}

/** Ends a start because of the chain, for one reason or several. */
class ChainStartError extends StartError {
  override readonly reasons: readonly string[]

  constructor(reasons: readonly string[], kind: 'fatal' | 'retryable' = 'fatal') {
    super(`Node Ledger cannot start on this chain:\n${reasons.join('\n')}`, kind)
    this.reasons = reasons
  }
}

/**
 * Checks the settings against database and factory before a migration changes anything.
 * @throws StartError if the database holds the ledger of another factory or chain, or if the factory's code is not this version's. What the chain
 * cannot tell us yet is checked again before the first run.
 */
export async function checkBeforeMigrating(url: string, chain: ChainPart, rpc: Rpc): Promise<void> {
  const pool = connect(url, { max: 1, prepare: false, applicationName: 'node-ledger check' })
  try {
    if (await isLedger(pool)) await assertSameLedger(pool, chain, chain.chainId)
    const refusal = await inTimeOrNull(FACTORY_LOOK_MS, () => refuseCode(rpc, chain.factory, chain.factoryCodeHash))
    if (refusal) throw new StartError(`FACTORY_ADDRESS: ${refusal.problem}. ${refusal.remedy}`)
  } finally {
    await pool.end({ timeout: 5 })
  }
}

/**
 * Waits until the database answers and `before` does not throw, then migrates the database to the current schema.
 * @returns the names of the migrations that it applied. Throws a StartError if a check fails, or if the database does not answer within `waitMs`.
 */
export async function migrateWhenUp(
  url: string,
  onProgress: (step: string) => void,
  { before = async () => {}, waitMs = DATABASE_WAIT_MS }: { before?: () => Promise<void>; waitMs?: number } = {},
): Promise<string[]> {
  const where = `The database at ${hostsOf(url)}`
  const deadline = performance.now() + waitMs
  for (let hasReported = false; ; hasReported = true) {
    try {
      await before()
      return await migrate(url)
    } catch (error) {
      const reason = messageOf(error) || String(codeOf(error))
      const { kind, says, remedy } = databaseFault(error) ?? {}
      if (kind === undefined) throw error
      // Waiting does not help if the disk is full, or if the server is a standby.
      if (kind === 'closed' || (kind === 'noWrites' && codeOf(error) !== '55P03'))
        throw new StartError(`${where} ${says}: ${reason}. ${remedy}`, 'refused')
      if (performance.now() >= deadline) {
        const limit = `within ${Math.round(waitMs / 1000)} s`
        throw new StartError(`${where} did not answer ${limit}: it ${says}: ${reason}. ${remedy}`, 'retryable')
      }
      if (!hasReported) onProgress(`${where} does not answer yet (${reason}): trying for ${waitMs / 1000} s`)
      await sleep(DATABASE_RETRY_MS)
    }
  }
}

/**
 * Refuses a pooler for connections that take locks: the lock would stay with a server connection that others use as well. Returns whether prepared
 * statements are safe on the path to the database and on that to the replica.
 */
export async function checkPooler(part: DatabasePart): Promise<{ url: boolean; readUrl: boolean }> {
  const { says, fail, reading } = await lookAtPooler(part)
  if (fail) throw new StartError(`DATABASE_URL: ${says}. ${fail}`)
  const { url, readUrl } = part
  return { url: reading.prepared, readUrl: readUrl === url ? reading.prepared : await keepsPrepared(readUrl) }
}

/** Opens the chain of a ledger, which may be new. Throws a StartError if the ledger has another chain or factory. */
export async function openLedgerChain(pool: Pool, part: ChainPart, rpc: Rpc): Promise<OpenedChain> {
  const reader = readerOf(part, rpc, signersOf(part))
  const chainId = await resolveChainId(pool, part, reader)
  await assertSameLedger(pool, part, chainId)
  return { part, rpc, reader, chainId }
}

/**
 * Checks the settings against the chain.
 * @throws a StartError that lists every problem and what to do. It is `retryable` if the chain did not answer.
 */
export async function checkChain({ part, rpc, chainId }: OpenedChain): Promise<ChainFacts> {
  const { factory, paymentAddress, startBlock, factoryCodeHash: trustedCodeHash } = part
  const expectation = { factory, trustedCodeHash, paymentAddress, startBlock, ...signersOf(part) }
  const deployment = await checkDeployment({ rpc, chainId, ...expectation })
  assertFit(judgeDeployment(deployment, { chain: part }))
  return { guardUsable: deployment.guardUsable }
}

/** Throws a StartError that lists what fails. It is `retryable` if nothing fails, but something could not be checked. */
function assertFit(answers: readonly Answer[]): void {
  const all = answers.flatMap((answer) => (answer === null || typeof answer === 'string' ? [] : [answer]))
  const wrong = all.flatMap((answer) => ('says' in answer && answer.fail ? [`  ${answer.says}. ${answer.fail}`] : []))
  const unknown = all.flatMap((answer) => ('unknown' in answer ? [`  ${answer.unknown}. ${answer.todo ?? ''}`] : []))
  if (wrong.length + unknown.length > 0)
    throw new ChainStartError([...wrong, ...unknown], wrong.length > 0 ? 'fatal' : 'retryable')
}

/** The facts that the ledger goes by. Once a ledger has used the fork guard, it continues to use it, whatever a provider reports now. */
export async function settleFacts(pool: Pool, facts: ChainFacts, tell: (line: string) => void): Promise<ChainFacts> {
  if (facts.guardUsable) await noteGuard(pool)
  else if ((await readGuard(pool)) === 'used') {
    tell(
      'the provider reports that the factory sees other block hashes, but this ledger keeps using the fork guard. If the chain has changed, "node-ledger resume --no-guard" turns it off',
    )
    return { guardUsable: true }
  }
  return facts
}

/** The chain id from the settings, or else from the ledger, or else from the provider. Throws a StartError if it is not known from any of these. */
export async function resolveChainId(pool: Pool, chain: ChainPart, reader: ChainReader): Promise<number> {
  if (chain.chainId !== null) return chain.chainId
  const identity = await readIdentity(pool)
  if (identity) return identity.chainId
  return reader.chainId().catch((error: unknown) => {
    if (!(error instanceof ChainFault)) throw error
    const why = `The chain did not return its id: ${error.message}`
    throw new StartError(`${why}. Set CHAIN_ID, or check that RPC_URL is up.`, 'retryable')
  })
}

/** Refuses settings that name another chain, factory or start block than the ledger has. This needs no provider. */
async function assertSameLedger(pool: Pool, chain: ChainPart, chainId: number | null): Promise<void> {
  const identity = await readIdentity(pool)
  if (identity) assertSameIdentity(identity, { ...identity, ...namedBy(chain), chainId: chainId ?? identity.chainId })
}

/**
 * Refuses a ledger of another factory or chain, because two histories would mix. If both the ledger and the factory are new, the payments wallet must
 * not have been used before.
 */
export async function assertLedgerIsOurs(pool: Pool, chain: OpenedChain): Promise<void> {
  const identity = await readIdentity(pool)
  if (!identity) await assertUnusedWallet(chain)
  if (!(await readCursor(pool))) await assertStartCoversFactory(chain)
  const { part, chainId, reader } = chain
  const expectedIdentity = { ...namedBy(part), chainId, genesisHash: await genesisHash(part, reader, identity) }
  assertSameIdentity(await recordIdentity(pool, expectedIdentity), expectedIdentity)
}

/** Refuses a start block after the factory's first block, because the ledger could never follow what came before. */
async function assertStartCoversFactory({ part: { factory, startBlock }, rpc }: OpenedChain): Promise<void> {
  assertFit([judgeBeginning(await lookAtBeginning(rpc, factory, startBlock), startBlock)])
}

/**
 * Prepares the chain before the first run, on every instance. Returns a function that, once it has succeeded, resolves to the same facts immediately.
 * `tell` is called with what people should know, such as settings that the ledger ignores.
 */
export function chainPreflight(
  config: Config,
  pool: Pool,
  chain: OpenedChain,
  tell: (line: string) => void,
): () => Promise<ChainFacts> {
  let preparing: Promise<ChainFacts> | null = null
  const prepare = async () => {
    const deploymentFacts = await checkChain(chain)
    await assertLedgerIsOurs(pool, chain)
    const facts = await settleFacts(pool, deploymentFacts, tell)
    await assertEvidence(config, pool, chain)
    await enterTerms(config, pool, chain)
    await enterWallet(pool, chain)
    const walletKey = { 'wallet.key': FACTORY_CHECKS['wallet.key'] }
    const findings = [
      ...(await runChecks(ENTERED_CHECKS, { pool, config })),
      ...(await runChecks(walletKey, { chain: chain.part, rpc: chain.rpc, pool })),
    ]
    for (const { says, todo } of findings) if (todo !== null) tell(`${says}. ${todo}`)
    return facts
  }
  return () => {
    preparing ??= prepare().catch((error: unknown) => {
      preparing = null
      throw error
    })
    return preparing
  }
}

/**
 * Refuses to start a new ledger on a chain whose blocks should prove themselves and do not; and in production, to sell on the word of the only
 * provider unless the operator trusts it.
 */
async function assertEvidence(config: Config, pool: Pool, { part, reader, chainId }: OpenedChain): Promise<void> {
  const inForce = await readMode(pool)
  if (part.demoToken !== null || inForce?.mode === 'proven') return
  const finding = await reader.proofs.findMode()
  const ledger = { mode: inForce?.mode ?? null, chainId, isDemo: false }
  const { production, TRUST_PROVIDER: trusts } = config
  if (finding) assertFit([judgeEvidence(finding, ledger, { voices: reader.providers.length, trusts, production })])
}

/**
 * Puts the demo tiers of a demo chain on sale. Enters the credit terms from the settings if the ledger has none and the factory was never used. Never
 * changes what was entered before.
 */
async function enterTerms(
  { namedTerms: terms, firstSaleTerms, namedSettings, CONTRACT_WALLETS }: Config,
  pool: Pool,
  { part, rpc, reader }: OpenedChain,
): Promise<void> {
  const head = await reader.head()
  if (part.demoToken) await seedTiers(pool, part.demoToken, { block: head.number, time: head.time }, firstSaleTerms)
  const holdsKey = part.minter !== null || part.distributor !== null
  if (terms && holdsKey && !(await hasTerms(pool))) {
    const contract = createContractReader(rpc, part.factory)
    const { lastNodeId, round } = await contract.counters(head.number)
    if (lastNodeId === 0n && round === 0) await enterFirst({ pool, chain: reader, contract }, terms)
  }
  if (namedSettings.includes('CONTRACT_WALLETS')) await enterFirstMode(pool, CONTRACT_WALLETS)
}

/**
 * Enters the payments wallet from the settings if the ledger has none. Never changes what was entered before.
 * @throws a StartError if buyers must not see that address.
 */
export async function enterWallet(pool: Pool, { part, rpc }: OpenedChain): Promise<void> {
  const { paymentAddress, factory } = part
  if (paymentAddress === null || (await readPaymentWallets(pool)).length > 0) return
  const objection = await lookAtWallet(part, rpc, paymentAddress)
  if (objection) throw new ChainStartError([`  PAYMENT_ADDRESS: ${objection.problem}. ${objection.remedy}`])
  await inTransaction(pool, async (sql) => {
    await lockWallets(sql)
    const cursor = await readCursor(sql, { lock: true })
    const watchedFrom = cursor ? cursor.number + 1 : 0
    if (!(await insertFirstWallet(sql, paymentAddress, watchedFrom, 'start'))) return
    const detail = { before: null, after: { wallet: paymentAddress, watchedFrom }, factory }
    await writeAudit(sql, { actor: 'start', action: 'walletChanged', subject: paymentAddress, detail })
    await notifyLedgerChanged(sql)
  })
}

/** Enters the terms as the operator's act does, unless another instance has just entered some. */
async function enterFirst(deps: LedgerDb & ChainRead & FactoryRead, terms: TermsContent): Promise<void> {
  const input = { ...terms, minWei: String(terms.minWei), maxWei: String(terms.maxWei) }
  await inTransaction(deps.pool, async (sql) => {
    await lockTerms(sql)
    if (await hasTerms(sql)) return
    const within = { ...deps, pool: poolWithin(sql) }
    const outcome = await enterTermsByAct.unguarded(within, { name: 'start', requestId: null }, input)
    if (!isOperatorRefusal(outcome)) return
    const kind = outcome.because === 'unavailable' ? 'retryable' : 'fatal'
    throw new StartError(`This ledger cannot use the terms of DIST_ENABLED and CREDIT_…: ${outcome.message}`, kind)
  })
}

const namedBy = ({ factory, startBlock }: ChainPart) => ({ factory, startBlock })

async function genesisHash(chain: ChainPart, reader: ChainReader, identity: Identity | null): Promise<string> {
  // The embedded chain has a new first block at every start. So only the address of its factory identifies it.
  if (chain.demoToken) return 'embedded'
  const readers = reader.providers.length > 0 ? reader.providers : [reader]
  const genesisHashes = (await Promise.all(readers.map((one) => orNull(one.block(0))))).flatMap(
    (block) => block?.hash ?? [],
  )
  // One false answer must neither become the ledger's identity nor refuse the ledger. Providers of a pruned chain (BSC) do not have block 0.
  if (identity && (genesisHashes.length === 0 || genesisHashes.some((hash) => hash === identity.genesisHash)))
    return identity.genesisHash
  const [hash, ...others] = new Set(genesisHashes)
  if (hash !== undefined && others.length === 0) return hash
  const why =
    hash === undefined
      ? 'The provider does not return block 0, which identifies the chain of a new ledger. For the first start, put a provider into RPC_URL that keeps old blocks.'
      : `The providers of RPC_URL have different first blocks: ${[hash, ...others].join(', ')}. Compare block 0 with an explorer, and remove the provider that is wrong.`
  throw new StartError(why, 'retryable')
}

function assertSameIdentity(ledgerIdentity: Identity, settingsIdentity: Identity): void {
  const differing = (['chainId', 'genesisHash', 'factory', 'startBlock'] as const).filter(
    (key) => ledgerIdentity[key] !== settingsIdentity[key],
  )
  if (differing.length === 0) return
  const lines = differing.map(
    (key) => `  ${key}: the database has ${ledgerIdentity[key]}, the settings lead to ${settingsIdentity[key]}`,
  )
  throw new StartError(
    `This database holds the ledger of another factory or chain:\n${lines.join('\n')}\nPoint DATABASE_URL at an empty database, or RPC_URL and FACTORY_ADDRESS back at the old ones.`,
  )
}

/**
 * At the first start of a factory without history, refuses a payments wallet that another factory may have sold through. Each factory takes a
 * payment's ref once, so both would mint for it. `FORMER_FACTORIES=none` is the operator's assurance that there was no other factory.
 */
async function assertUnusedWallet({ part, rpc, chainId }: OpenedChain): Promise<void> {
  const { paymentAddress, factory, formerFactories, demoToken } = part
  if (paymentAddress === null || demoToken || DEVELOPMENT_CHAINS.includes(chainId)) return
  if (formerFactories?.length === 0 || !(await isNewFactory(rpc, factory))) return
  if (!(await isUsed(rpc, paymentAddress))) return
  const remedy = 'make a new wallet for this sale, and set PAYMENT_ADDRESS to it (docs/MOVING.md)'
  throw new StartError(
    formerFactories
      ? `PAYMENT_ADDRESS: ${paymentAddress} was used before, and FORMER_FACTORIES lists ${formerFactories.join(', ')}: both factories would mint for a payment. Please ${remedy}.`
      : `PAYMENT_ADDRESS: ${paymentAddress} was used before. If another factory sold with it, ${remedy}. If not, set FORMER_FACTORIES=none.`,
  )
}
