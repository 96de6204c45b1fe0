// The follower surveys old blocks instead of reading them one by one. The ledger is the same except for transfers that
// moved nothing, and the survey detects a provider that lies about a state, a log or a header.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { getContractAddress, toHex } from 'viem'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { readSurveyedTo } from '../../src/db/blocks/surveyed.ts'
import { inTransaction, type Pool } from '../../src/db/core/sql.ts'
import { insertWallet } from '../../src/db/sale/payment-wallets.ts'
import { type Address, address, type Hash } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { silentLog } from '../../src/lib/log.ts'
import { type Rebuilt, rebuild } from '../../src/mending/rebuild/rebuild.ts'
import type { SurveyRules } from '../../src/ports/contexts.ts'
import { type FalseProvider, type Rule, startFalseProvider } from '../chain/false-provider.ts'
import { creationOf } from '../sim/model/contracts.ts'
import type { Hex } from '../support/anvil.ts'
import { authorize, carry } from '../support/authorizations.ts'
import { FORWARD, leakOf, payInside } from '../support/forwarder.ts'
import { openDatabase } from '../support/postgres.ts'
import { ETHER, INTERVAL_SEC, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
/** Even a history of some hundred blocks has old ones. */
const SURVEY: SurveyRules = { behind: 12, blocksMin: 2 }
const QUIET = 18
/** The wallet's code sends this away as soon as it has received as much. */
const LEAKED = 4_321_000n

let world: World
let providers: [FalseProvider, FalseProvider]
/** The wallet without a key. */
let swept: Address
/** Blocks by their events. */
const at: Record<string, number> = {}

before(async () => {
  world = await startWorld(
    {},
    {
      slotsInEpoch: 1,
      rpcTimeoutMs: 4_000,
      between: async (target) => {
        providers = [await startFalseProvider(target), await startFalseProvider(target)]
        const close = async () => {
          for (const provider of providers) await provider.close()
        }
        return { urls: providers.map(({ url }) => url), close }
      },
    },
  )
  await liveThrough()
})
after(() => world.close())

const head = async () => Number((await world.chain.block()).number)

/** Lets blocks with other people's business pass, and follows them. */
async function rest(name?: string): Promise<void> {
  if (name) at[name] = await head()
  await world.rest()
  await world.chain.mine(QUIET, 2)
  await world.rest()
}

async function deploy(code: string): Promise<Address> {
  const hash = await world.chain.send({ from: world.at(10), data: creationOf(code as Hex), gas: '0x100000' })
  await world.chain.mine()
  const receipt = await world.chain.rpc<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])
  return address(receipt.contractAddress)
}

/** A ledger with a past of each kind, with quiet blocks between. */
async function liveThrough(): Promise<void> {
  const forwarder = await deploy(FORWARD)
  const leak = await deploy(leakOf(LEAKED))
  // The test chain proves nothing of its first blocks, because their state was set directly, so no survey begins there.
  await rest()
  await rest('beginning')
  await world.pay(5, BASIC)
  await world.pay(6, BASIC)
  await rest('sale')
  await world.pay(6, BASIC + 1n)
  await world.chain.mine()
  await rest('wrong amount')
  await payInside(world, BASIC, { by: forwarder })
  await rest('inner')
  await world.pay(7, 3n)
  await world.chain.mine()
  await rest('dust')
  await world.chain.send({ from: world.at(3), to: world.at(6), value: `0x${(BASIC + 1n).toString(16)}` })
  await world.chain.mine()
  await rest('refund')
  await world.act(5, 'transferFrom', [world.at(5), world.at(8), 1n])
  await world.chain.mine(3)
  await world.act(8, 'transferFrom', [world.at(8), world.at(5), 1n])
  await rest('given back')
  // Transactions that move nothing: a transfer of no value, and a withdrawal that fails.
  await world.pay(8, 0n)
  await world.act(5, 'withdraw', [1n, world.at(5), 1000n])
  await rest('nothing')
  // The minter's key, without a log.
  await world.chain.send({ from: world.at(1), to: world.at(9), value: '0x1' })
  await world.chain.mine()
  await rest('foreign')
  await world.chain.increaseTime(INTERVAL_SEC)
  await rest('turn')
  await world.act(5, 'withdraw', [1n, world.at(9), 1000n])
  await rest('withdrawal')
  const nonce = Number(await world.chain.rpc<string>('eth_getTransactionCount', [world.at(3), 'latest']))
  await carry(world, 9, [await authorize(world, 3, { nonce, to: leak })])
  await rest('delegation')
  await rest()
  await rest()
  await rest()
  await world.pay(7, LEAKED)
  await world.chain.mine()
  await rest('leak')
  await carry(world, 9, [await authorize(world, 3, { nonce: nonce + 1 })])
  await rest('no delegation')
  await sweepUnseen()
  await world.chain.mine(20, 2)
  await world.rest()
}

/** A wallet at the address of a future contract, which is created, sends everything away and destroys itself within one transaction. */
async function sweepUnseen(): Promise<void> {
  // SELFDESTRUCT(account 9), and its creator: CREATE2(0, 0, 22, 0).
  const sweeping = `73${world.at(9).slice(2)}ff`
  const maker = await deploy(`0x7f${sweeping.padEnd(64, '0')}5f525f60165f5ff500`)
  const wallet = getContractAddress({
    opcode: 'CREATE2',
    from: maker,
    salt: toHex(0, { size: 32 }),
    bytecode: `0x${sweeping}`,
  })
  swept = address(wallet)
  const fromBlock = (await head()) + 1
  const entered = {
    wallet: address(wallet),
    fromBlock,
    fromTime: 0,
    stolen: false,
    graceSec: 0,
    watchedFrom: fromBlock,
  }
  await inTransaction(world.pool, (sql) => insertWallet(sql, entered, 'test'))
  await rest()
  await world.pay(7, BASIC + 2n, entered.wallet)
  await world.chain.mine(3)
  await world.call(9, maker, '0x')
  await rest()
}

interface Outcome extends Rebuilt {
  said: string[]
  /** Numbers of the blocks read with their transactions. */
  read: number[]
}

/** Rebuilds the ledger through both providers, or these. */
async function rebuilt(
  rules: { first?: Rule; second?: Rule } = {},
  { ctx: given = world.instance().ctx, survey = SURVEY } = {},
  look: (pool: Pool) => Promise<void> = async () => {},
): Promise<Outcome> {
  await using database = await openDatabase(5)
  const { pool } = database
  const [first, second] = providers
  const seenBefore = [first.seen.length, second.seen.length]
  const said: string[] = []
  first.rule = rules.first ?? (() => undefined)
  second.rule = rules.second ?? (() => undefined)
  try {
    const { ctx } = world.instance({ chain: given.chain, pool, directUrl: database.url, rules: { survey } })
    const outcome = await rebuild(ctx, world.pool, (line) => said.push(line))
    const calls = [...first.seen.slice(seenBefore[0]), ...second.seen.slice(seenBefore[1])]
    const read = calls.filter(({ method, params }) => method === 'eth_getBlockByNumber' && params[1] === true)
    await look(pool)
    return { ...outcome, said, read: read.map(({ params }) => Number(params[0])) }
  } finally {
    first.rule = () => undefined
    second.rule = () => undefined
  }
}

const sends = (pool: Pool) => pool`
  SELECT sender, nonce, tx_hash, block_number, fee_wei::text FROM outbox WHERE block_number IS NOT NULL ORDER BY sender, nonce`

/** The tables that differ. A ledger that surveyed so near to the head keeps fewer headers. */
const differing = ({ comparison }: Outcome) =>
  comparison?.differences.filter(({ table }) => table !== 'blocks').map(({ table, examples }) => [table, examples])

/** The share of blocks read in full, from the beginning up to where the wallet had code. */
function shareRead({ read }: Outcome): number {
  const [from, to] = [at.beginning as number, (at.delegation as number) - 1]
  return new Set(read.filter((block) => block > from && block < to)).size / (to - from)
}

test('a surveyed ledger equals one that read all blocks, except for what moved nothing', async () => {
  const outcome = await rebuilt({}, {}, async (pool) => {
    assert.deepEqual([...(await sends(pool))], [...(await sends(world.pool))])
    const failed = (ledger: Pool) => ledger`SELECT FROM withdrawals WHERE status = 'failed'`
    assert.deepEqual([(await failed(pool)).length, (await failed(world.pool)).length], [0, 1])
    assert.equal((await pool`SELECT FROM withdrawals`).length, 1)
    const [kept] = await pool`SELECT count(*) = max(number) - min(number) + 1 AS whole FROM blocks`
    assert.equal(kept?.whole, true, 'no header is missing between those that are kept')
  })
  assert.deepEqual(differing(outcome), [])
  assert.equal(outcome.comparison?.surveyedTo, outcome.surveyedTo)
  assert.ok(outcome.said.includes('blocks that we did not read: proven against headers that two providers return'))
  assert.deepEqual(
    outcome.said.filter((line) => line.includes('has sent nothing yet')).map((line) => line.match(/0x\w{40}/)?.[0]),
    [swept],
  )
  // From where the wallet had code, all were read.
  const delegated = at.delegation as number
  assert.ok(outcome.read.filter((block) => block > delegated).length >= (at['no delegation'] as number) - delegated)
  assert.ok(shareRead(outcome) < 0.25, `${shareRead(outcome)} of the blocks were read`)
  // A run with only one of them still needs as many voices.
  assert.deepEqual(
    world.ctx.chain.providers.map(({ survey }) => survey.voices),
    [2, 2],
  )
})

test('a ledger that goes back knows no block as surveyed that it has not', async () => {
  await rebuilt({}, {}, async (pool) => {
    const { ctx } = world.instance({ pool })
    const goBack = async (to: number | null) => {
      const [fork, cursor] = [to === null ? null : await ctx.chain.block(to), await readCursor(pool)]
      assert.ok((to === null || fork) && cursor && (await rewindTo(ctx, fork, cursor)))
      return readSurveyedTo(pool)
    }
    const surveyed = await readSurveyedTo(pool)
    assert.equal(await goBack(surveyed + 1), surveyed)
    assert.equal(await goBack(surveyed - 1), surveyed - 1)
    assert.equal(await goBack(null), -1)
  })
})

/** Shows an older block's state for blocks in which the wallet was paid amounts that buy nothing: a proof, and a matching header. */
const staleState =
  (): Rule =>
  async ({ method, params }) => {
    const paid = at['wrong amount'] as number
    const isStale = (block: unknown) => Number(block) >= paid && Number(block) < (at.inner as number)
    const older = `0x${(paid - 4).toString(16)}`
    if (method === 'eth_getProof' && isStale(params[2]))
      return { result: await world.chain.rpc('eth_getProof', [params[0], params[1], older]) }
    if (method !== 'eth_getBlockByNumber' || params[1] !== false || !isStale(params[0])) return undefined
    const [block, { stateRoot }] = [
      await world.chain.rpc<object>(method, params),
      await world.chain.rpc<{ stateRoot: Hash }>(method, [older, false]),
    ]
    return { result: { ...block, stateRoot } }
  }

/** Leaves the logs of a block out of those of a range. */
const withoutLogsOf =
  (name: string): Rule =>
  async ({ method, params }, forward) => {
    const [filter] = params as [{ fromBlock?: string }]
    if (method !== 'eth_getLogs' || filter.fromBlock === undefined) return undefined
    const answer = (await forward()) as { result: { blockNumber: string }[] }
    return { result: answer.result.filter(({ blockNumber }) => Number(blockNumber) !== at[name]) }
  }

/** Names another block in place of one in which nothing happened. */
const otherHeaders: Rule = async ({ method, params }, forward) => {
  if (method !== 'eth_getBlockByNumber' || params[1] !== false) return undefined
  const answer = (await forward()) as { result: { number: string } | null }
  const isOther = answer.result !== null && Number(answer.result.number) % 7 === 0
  return isOther ? { result: { ...answer.result, hash: `0x${'7'.repeat(64)}` } } : undefined
}

test('a state that one of two providers makes up proves nothing', async () => {
  assert.deepEqual(differing(await rebuilt({ first: staleState() })), [])
})

test('a log that one provider hides is found, and one that both hide if the storage shows it', async () => {
  assert.deepEqual(differing(await rebuilt({ first: withoutLogsOf('given back') })), [])
  const both = await rebuilt({ first: withoutLogsOf('withdrawal'), second: withoutLogsOf('withdrawal') })
  assert.deepEqual(differing(both), [])
  assert.ok(shareRead(both) < 0.5, 'most blocks are surveyed still')
})

test('headers that only one provider reports make the survey read the blocks', async () => {
  assert.deepEqual(differing(await rebuilt({ second: otherHeaders })), [])
})

test('with one provider, the ledger records that it rests on its word', async () => {
  const rpc = createRpc({ urls: [providers[0].url], log: silentLog })
  try {
    const signers = [world.at(1), world.at(2)]
    const chain = createChainReader(rpc, { factory: world.factory, wallets: [], signers })
    const outcome = await rebuilt({}, { ctx: { ...world.ctx, chain } })
    assert.deepEqual(differing(outcome), [])
    assert.ok(outcome.said.includes('blocks that we did not read: as one provider reports them'))
  } finally {
    await rpc.close()
  }
})
