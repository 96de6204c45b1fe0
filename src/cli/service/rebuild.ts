// The command `node-ledger rebuild`: rebuilds the ledger in another database from the configured chain, shows the progress, and reports how the
// result differs from the current ledger. It has no key that could sign, so nothing here can send.
import { attachDatabase } from '../../boot/database.ts'
import { attachChain, type ChainPart, readerOf, signersOf } from '../../boot/parts.ts'
import { ledgerContext } from '../../boot/pass-context.ts'
import { assertLedgerIsOurs, checkChain, enterWallet, resolveChainId } from '../../boot/preflight.ts'
import { seedTiers } from '../../boot/seed.ts'
import { requestView } from '../../chain/factory/calls.ts'
import { createRpc, type Rpc } from '../../chain/rpc/rpc.ts'
import { readCursor } from '../../db/blocks/blocks.ts'
import { isMigrated, migrate } from '../../db/core/migrate.ts'
import { connect, type Pool } from '../../db/core/sql.ts'
import { type Address, address } from '../../domain/units.ts'
import { silentLog } from '../../lib/log.ts'
import type { Comparison } from '../../mending/rebuild/compare.ts'
import { rebuild } from '../../mending/rebuild/rebuild.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { emptyDatabaseUrl, noService, readSettings } from '../database.ts'
import { RefusedError } from '../errors.ts'

/** How many connections a rebuild opens at most. It reads and writes one thing at a time; a comparison holds a cursor on each side. */
const POOL_MAX = 4

/** Runs the command: 0 if everything that must be equal is equal, 1 otherwise. */
export async function rebuildLedger(call: Call): Promise<ExitCode> {
  const { io, out } = call
  const into = emptyDatabaseUrl(call, 'REBUILD_DATABASE_URL')
  const say = (line: string) => out.say(`  ${line}`)
  const config = readSettings(io)
  await using stack = new AsyncDisposableStack()
  const [database, chain] = [await attachDatabase(config), await attachChain(config)]
  if (!database) throw noService(config, 'DATABASE_URL')
  if (!chain) throw noService(config, 'RPC_URL')
  if (into === database.url || into === database.directUrl)
    throw new RefusedError('The target database is the current one. Use an empty database.')
  const migrations = await migrate(into)
  if (migrations.length > 0) say(`the schema is in place: ${migrations.join(', ')}`)
  const open = (url: string): Pool => {
    const pool = connect(url, { max: POOL_MAX, prepare: false, applicationName: 'node-ledger rebuild' })
    stack.defer(() => pool.end({ timeout: 5 }))
    return pool
  }
  const [pool, current] = [open(into), open(database.directUrl)]
  const rpc = createRpc({ urls: chain.rpcUrls, log: silentLog })
  stack.defer(() => rpc.close())
  const signers = await signersOnRecord(chain, rpc)
  const reader = readerOf(chain, rpc, signers)
  const ledgerChain = { part: chain, rpc, reader, chainId: await resolveChainId(pool, chain, reader) }
  const facts = await checkChain(ledgerChain)
  await assertLedgerIsOurs(pool, ledgerChain)
  const source = (await isMigrated(current)) && (await readCursor(current)) ? current : null
  if (!source) {
    await enterWallet(pool, ledgerChain)
    say('no current ledger: enter tiers, credit terms and your decisions again')
    if (chain.demoToken)
      await seedTiers(pool, chain.demoToken, { block: chain.startBlock, time: 0 }, config.firstSaleTerms)
  }
  const ctx = {
    ...ledgerContext(config, silentLog, { pool, chain: ledgerChain }),
    preflight: async () => facts,
    // The judge must know our accounts.
    minter: { address: signers.minter },
    distributor: { address: signers.distributor },
  }
  const { block, waiting, surveyedTo, comparison } = await rebuild(ctx, source, say)
  say(`rebuilt up to block ${block}; ${waiting} payments wait: held for the operator unless they were decided before`)
  if (surveyedTo !== null)
    say(
      `up to block ${surveyedTo} it lacks transactions that moved nothing: failed payments and withdraw calls, transfers of no value`,
    )
  await out.result({ block, waiting, surveyedTo, comparison }, () =>
    comparison === null ? 'Rebuilt.' : report(comparison),
  )
  return comparison === null || comparison.differences.length === 0 ? EXIT.done : EXIT.negative
}

function report({ rows, decidedAnew, differences, surveyedTo }: Comparison): string {
  const lines = [`${rows} rows compared`]
  if (decidedAnew > 0)
    lines.push(`${decidedAnew} payments without a node are held for a different reason than before: please review`)
  for (const { table, missing, extra, differing, examples } of differences) {
    lines.push(`${table}: ${missing} rows are gone, ${extra} are new, ${differing} differ`)
    lines.push(...examples.map((example) => `    ${example}`))
  }
  if (surveyedTo !== null)
    lines.push(
      `Up to block ${surveyedTo}, failed payments and withdraw calls, and transfers of no value, were not compared.`,
    )
  lines.push(differences.length === 0 ? 'The ledgers are equal.' : 'The ledgers differ.')
  return lines.join('\n')
}

/** The factory's senders: the keys' addresses or, if a key is not configured, the address that the factory names. */
async function signersOnRecord(chain: ChainPart, rpc: Rpc): Promise<{ minter: Address; distributor: Address }> {
  const senders = signersOf(chain)
  const ask = async (role: 'minter' | 'distributor') => {
    return address(await requestView(rpc, { factory: chain.factory, at: 'latest', name: role, args: [] }))
  }
  return {
    minter: senders.minter ?? (await ask('minter')),
    distributor: senders.distributor ?? (await ask('distributor')),
  }
}
