// The checks of a start before it begins a ledger: it refuses a payments wallet that another factory may have sold through.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OpenedChain } from '../../src/boot/parts.ts'
import { assertLedgerIsOurs, chainPreflight, checkChain, StartError, settleFacts } from '../../src/boot/preflight.ts'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { type Config, loadConfig } from '../../src/config/load.ts'
import { connect } from '../../src/db/core/sql.ts'
import { type Address, address } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { ChainReader } from '../../src/ports/chain.ts'
import { ChainFault } from '../../src/ports/faults.ts'
import { startFalseProvider } from '../chain/false-provider.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { createDatabase } from '../support/postgres.ts'
import { setModeTo } from '../support/two-providers.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'

/** A chain that people use, not a development chain. */
const CHAIN_ID = 5
const FORMER = address(`0x${'f0'.repeat(20)}`)
const FRESH = address(`0x${'9a'.repeat(20)}`)

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.close())

interface Beginning {
  chainId: number
  twice: boolean
  /** From the chain at the last start. */
  reader: ChainReader
}

/** Begins a ledger in its own database; null if the start accepted it, else the reason for its refusal. */
async function begin(
  paymentAddress: Address,
  formerFactories: readonly Address[] | null,
  { chainId = CHAIN_ID, twice = false, reader = world.ctx.chain }: Partial<Beginning> = {},
): Promise<string | null> {
  const database = await createDatabase()
  const pool = connect(database.url, { max: 1, prepare: false, applicationName: 'test' })
  const part = {
    rpcUrls: [],
    publicRpcUrl: null,
    chainId,
    factory: world.factory,
    factoryCodeHash: null,
    formerFactories,
    startBlock: 1,
    paymentAddress,
    minter: null,
    distributor: null,
    demoToken: null,
  }
  const chain: OpenedChain = { part, rpc: world.rpc, reader, chainId }
  try {
    if (twice)
      await assertLedgerIsOurs(pool, { ...chain, reader: world.ctx.chain, part: { ...part, formerFactories: [] } })
    await assertLedgerIsOurs(pool, chain)
    return null
  } catch (error) {
    if (error instanceof StartError) return error.message
    throw error
  } finally {
    await pool.end({ timeout: 1 })
    await database.drop()
  }
}

test('a used wallet is refused if a former factory is set, or FORMER_FACTORIES is not set', async () => {
  const used = world.at(3)
  assert.match((await begin(used, [FORMER])) ?? '', new RegExp(`${FORMER}.*both factories would mint`))
  assert.match((await begin(used, null)) ?? '', /FORMER_FACTORIES=none/)
})

test('a fresh wallet is accepted, and so is the answer that there was no other factory', async () => {
  assert.equal(await begin(FRESH, [FORMER]), null)
  assert.equal(await begin(FRESH, null), null)
  assert.equal(await begin(world.at(3), []), null)
})

test('a ledger that has begun is not asked again, and a chain of one’s own is not asked at all', async () => {
  assert.equal(await begin(world.at(3), null, { twice: true }), null)
  assert.equal(await begin(world.at(3), [FORMER], { chainId: 31_337 }), null)
})

test('only a new ledger needs block 0 to start, and no ledger starts on another first block', async () => {
  const { chain } = world.ctx
  const without = (answer: ChainReader['block']): ChainReader => ({
    ...chain,
    block: (number) => (number === 0 ? answer(0) : chain.block(number)),
    providers: [],
  })
  const pruned = [
    without(async () => null),
    without(async () => {
      throw new ChainFault('eth_getBlockByNumber: pruned history unavailable (4444)')
    }),
  ]
  for (const reader of pruned) {
    assert.equal(await begin(FRESH, [], { twice: true, reader }), null)
    assert.match((await begin(FRESH, [], { reader })) ?? '', /does not return block 0.*keeps old blocks/)
  }
  const other = without(async () => await chain.block(1))
  assert.match((await begin(FRESH, [], { twice: true, reader: other })) ?? '', /genesisHash: the database has/)
})

test('one false first block neither identifies a new ledger nor stops an existing one', async () => {
  const { chain } = world.ctx
  const [honest] = chain.providers
  assert.ok(honest)
  const liar = { ...honest, block: async (number: number) => await honest.block(number === 0 ? 1 : number) }
  for (const providers of [
    [liar, honest],
    [honest, liar],
  ]) {
    const reader: ChainReader = { ...chain, providers }
    assert.match((await begin(FRESH, [], { reader })) ?? '', /have different first blocks: 0x\w{64}, 0x\w{64}/)
    assert.equal(await begin(FRESH, [], { twice: true, reader }), null)
  }
})

test('an emptied wallet counts as used, and a ledger may follow a used factory from its start', async () => {
  await world.chain.rpc('anvil_setBalance', [FRESH, '0x0'])
  await world.chain.rpc('anvil_setNonce', [FRESH, '0x1'])
  assert.match((await begin(FRESH, [FORMER])) ?? '', /was used before/)
  await world.chain.rpc('anvil_setNonce', [FRESH, '0x0'])
  await world.settle()
  await world.pay(5, ETHER / 100n)
  await world.settle()
  assert.equal(await begin(world.at(3), null), null)
})

test('START_BLOCK may be the factory’s first block, and a later one is refused with that block', async () => {
  const start = async (startBlock: number) => {
    const database = await createDatabase()
    const pool = connect(database.url, { max: 1, prepare: false, applicationName: 'test' })
    const part = {
      rpcUrls: [],
      publicRpcUrl: null,
      chainId: CHAIN_ID,
      factory: world.factory,
      factoryCodeHash: null,
      formerFactories: [],
      startBlock,
      paymentAddress: FRESH,
      minter: null,
      distributor: null,
      demoToken: null,
    }
    const claimed = assertLedgerIsOurs(pool, { part, rpc: world.rpc, reader: world.ctx.chain, chainId: CHAIN_ID })
    const said = await claimed.then(
      () => null,
      (error: Error) => error,
    )
    await pool.end({ timeout: 1 })
    await database.drop()
    return said
  }
  await world.chain.mine(3)
  assert.equal(await start(1), null)
  for (const late of [2, 4]) {
    const refused = await start(late)
    assert.ok(refused instanceof StartError)
    assert.match(refused.message, /START_BLOCK: .*Set START_BLOCK to 1\. A ledger keeps the block it began with/)
  }
})

test('only the operator, not a provider at start, switches off a guard that was used', async () => {
  const proxy = await startFaultProxy({ target: world.chain.rpcUrl })
  const rpc = createRpc({ urls: [proxy.url], log: silentLog })
  const part = {
    rpcUrls: [],
    publicRpcUrl: null,
    chainId: world.chain.chainId,
    factory: world.factory,
    factoryCodeHash: null,
    formerFactories: [],
    startBlock: 1,
    paymentAddress: null,
    minter: null,
    distributor: null,
    demoToken: null,
  }
  const told: string[] = []
  const start = async () => {
    const chain: OpenedChain = { part, rpc, reader: world.ctx.chain, chainId: part.chainId }
    return (await settleFacts(world.pool, await checkChain(chain), (line) => told.push(line))).guardUsable
  }
  try {
    await world.pay(6, ETHER / 100n)
    await world.settle()
    proxy.knowsBlocks = false
    assert.equal(await start(), true, 'a mint of this ledger has carried one')
    await world.pool`UPDATE outbox SET guard_block = NULL`
    assert.equal(await start(), false, 'as on a chain whose contracts see other hashes')
    proxy.knowsBlocks = true
    assert.equal(await start(), true)
    proxy.knowsBlocks = false
    assert.equal(await start(), true, 'a start has found it usable')
    assert.equal(told.length, 2)
    assert.equal((await runHere(['resume', '--no-guard', '--yes'], worldEnv(world))).code, 0)
    assert.equal(await start(), false)
    assert.equal((await world.pool`SELECT FROM audit WHERE action = 'guardDropped'`).count, 1)
    assert.equal((await runHere(['resume', '--no-guard', '--yes'], worldEnv(world))).code, 1)
  } finally {
    await rpc.close()
    await proxy.close()
  }
})

test('T37: production does not start on one provider’s unproven word, unless it is trusted', async () => {
  const liar = await startFalseProvider(world.chain.rpcUrl)
  liar.rule = async ({ method }, forward) => {
    const answer = await forward()
    if (method !== 'eth_getBlockByNumber' || !('result' in answer) || !answer.result) return answer
    return { result: { ...(answer.result as object), mixHash: `0x${'7'.repeat(64)}` } }
  }
  const part = {
    rpcUrls: [],
    publicRpcUrl: null,
    chainId: world.chain.chainId,
    factory: world.factory,
    factoryCodeHash: null,
    formerFactories: [],
    startBlock: 1,
    paymentAddress: null,
    minter: null,
    distributor: null,
    demoToken: null,
  }
  const config = loadConfig(worldEnv(world), { readFile: () => assert.fail('no file is read') })
  const told: string[] = []
  const start = async (urls: readonly string[], changed: Partial<Config> = {}) => {
    const rpc = createRpc({ urls, log: silentLog })
    const reader = createChainReader(rpc, { factory: world.factory, wallets: [], signers: [] })
    const chain: OpenedChain = { part, rpc, reader, chainId: part.chainId }
    told.length = 0
    const tell = (line: string) => void told.push(line)
    const starting = chainPreflight({ ...config, production: true, ...changed }, world.pool, chain, tell)()
    return await starting
      .then(
        () => null,
        (error: Error) => (error instanceof StartError ? error.message : assert.fail(error)),
      )
      .finally(() => rpc.close())
  }
  const honest = world.chain.rpcUrl
  try {
    await world.chain.mine(5)
    await world.pool`DELETE FROM evidence_modes`
    assert.equal(await start([honest]), null)
    assert.match(
      (await start([liar.url])) ?? '',
      /RPC_URL: .* the header of block \d+ cannot be proven: .*TRUST_PROVIDER=true/,
    )
    assert.equal(await start([liar.url], { TRUST_PROVIDER: true }), null)
    assert.equal(await start([liar.url], { production: false }), null)
    assert.equal(await start([liar.url, honest]), null, 'two of them must agree')
    await setModeTo(world.pool, 'proven')
    assert.equal(await start([liar.url]), null, 'the passes reject what it says')
    await setModeTo(world.pool, 'agreed')
    assert.equal(await start([honest]), null, 'its blocks prove themselves')
    assert.match((await start([liar.url])) ?? '', /cannot be proven/)
    const doctor = async (env: Record<string, string>) => {
      const { out } = await runHere(['doctor', '--json'], { ...worldEnv(world), ...env })
      const findings: { check: string; verdict: string; says: string }[] = JSON.parse(out).findings
      return findings.filter(({ check }) => check === 'chain.evidence').map(({ verdict }) => verdict)
    }
    assert.deepEqual(await doctor({ RPC_URL: liar.url }), ['warn'])
    assert.deepEqual(await doctor({ RPC_URL: liar.url, TRUST_PROVIDER: 'true' }), ['ok'])
  } finally {
    await liar.close()
  }
})
