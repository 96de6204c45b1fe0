// One round from beginning to end, with a thousand and with a million nodes due in one cohort: planned, sent, mined, in the ledger, visible. The
// bench creates the nodes the way minting would: rows in the ledger, and the cohort's size in its one slot of the contract.
import { encodeAbiParameters, keccak256 } from 'viem'
import { inTransaction } from '../src/db/core/sql.ts'
import { readDistributions, readNode } from '../src/db/reads/public-api.ts'
import { ETHER, INTERVAL_SEC, startWorld, type World } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { median, ms } from './lib/numbers.ts'
import { peerGas } from './lib/peer-contracts.ts'
import { atMost, type Row } from './lib/report.ts'

const FEW = 1_000
const MANY = 1_000_000
/** The larger size with --quick, to try out the bench itself. */
const QUICK = 5_000
const TIME_GOAL = 1.2
/** How many slots we search. The contract's variables are in the first ones, including the mapping of cohorts. */
const SLOTS = 16n
/** Offset of a cohort's size in its word (contracts/src/Packed.sol). */
const SIZE_SHIFT = 80n
const SIZE_MASK = ((1n << 32n) - 1n) << SIZE_SHIFT
const TIER_PRICE_WEI = ETHER / 100n
const BUYER = 5

interface Round {
  ms: number
  gas: number
}

export const round: Bench = {
  name: 'round',
  about:
    'One round of one cohort with a million nodes by one with a thousand: planned, signed, sent, mined, followed into the ledger, and shown as a credit of a node. And the gas of each node beside contracts that touch each.',
  isTimed: true,
  run: async (options) => {
    const worlds: World[] = []
    try {
      const sizes = [FEW, options.quick ? QUICK : MANY]
      for (const nodes of sizes) {
        options.progress(`putting ${nodes.toLocaleString('en')} nodes into a cohort`)
        const world = await startWorld()
        worlds.push(world)
        await grow(world, nodes)
      }
      const [few, many] = worlds
      return few && many ? await compare(options, few, many) : []
    } finally {
      for (const world of worlds) await world.close()
    }
  },
}

async function compare({ quick, progress }: BenchOptions, few: World, many: World): Promise<Row[]> {
  const rounds: { few: Round; many: Round }[] = []
  const warmUp = 2
  // In turn, so that a slower machine affects both alike.
  for (let run = -warmUp; run < (quick ? 3 : 30); run++) {
    const both = { few: await oneRound(few), many: await oneRound(many) }
    if (run >= 0) rounds.push(both)
  }
  progress(`${rounds.length} rounds of each: done`)
  const timeOf = (which: 'few' | 'many') => median(rounds.map((one) => one[which].ms))
  const gasOf = (which: 'few' | 'many') => median(rounds.map((one) => one[which].gas))
  const name = `${FEW.toLocaleString('en')} nodes`
  const [time, gas] = [
    { few: timeOf('few'), many: timeOf('many') },
    { few: gasOf('few'), many: gasOf('many') },
  ]
  const gasRow: Row = {
    what: 'gas of a round',
    ours: gas.many.toLocaleString('en'),
    peer: `${name}: ${gas.few.toLocaleString('en')}`,
    ratio: gas.many / gas.few,
    goal: 'equal, but for the size of the amounts in the call',
    // A nonzero byte of calldata costs 12 gas more than a zero byte.
    met: Math.abs(gas.many - gas.few) <= 12 * 32,
  }
  const what = `a round of ${(quick ? QUICK : MANY).toLocaleString('en')} nodes`
  const timeRow = atMost(what, ms(time.many), `${name}: ${ms(time.few)}`, time.many / time.few, TIME_GOAL)
  return [timeRow, gasRow, ...(await gasBesidePeers(few, gas.few / FEW))]
}

/** Additional gas per node with other contracts. Ours falls with every node; theirs does not. */
async function gasBesidePeers({ chain }: World, ours: number): Promise<Row[]> {
  const { disperse, perNode } = await peerGas(chain)
  return [
    { name: 'Disperse.app', theirs: disperse },
    { name: 'a loop over nodes', theirs: perNode },
  ].map(({ name, theirs }) => ({
    what: `gas a node, of ${FEW.toLocaleString('en')}: theirs by ours`,
    ours: ours.toFixed(1),
    peer: `${name}: ${Math.round(theirs).toLocaleString('en')}`,
    ratio: theirs / ours,
    goal: '',
    met: null,
  }))
}

/** The next round of the only cohort that has nodes. */
async function oneRound(world: World): Promise<Round> {
  const { chain, pool } = world
  await chain.increaseTime(INTERVAL_SEC)
  await chain.mine()
  await world.payments()
  const [before] = await pool<{ rounds: number }[]>`SELECT rounds FROM totals`
  const began = performance.now()
  const sent = await world.credit()
  if (sent.txHash === null) throw new Error(`no round was sent: ${sent.reason}`)
  await chain.mine()
  await world.credit()
  const newest = await readDistributions(pool, 1)
  const page = await readNode(pool, 1n, 1)
  const took = performance.now() - began
  if (newest[0]?.txHash !== sent.txHash || page?.credits[0]?.distributionId !== (before?.rounds ?? 0) + 1)
    throw new Error('the round is not shown')
  const receipt = await chain.rpc<{ gasUsed: string }>('eth_getTransactionReceipt', [sent.txHash])
  return { ms: took, gas: Number(receipt.gasUsed) }
}

/** Copies one minted node into this many of its cohort. */
async function grow(world: World, nodes: number): Promise<void> {
  const { chain, pool, factory } = world
  await world.pay(BUYER, TIER_PRICE_WEI)
  await world.settle()
  await copyNode(world, nodes)
  const [node] = await pool<{ cohort: number }[]>`SELECT cohort FROM nodes WHERE node_id = 1`
  const cohort = node?.cohort ?? 0
  const { slot, word } = await findCohort(world, cohort)
  const grown = (word & ~SIZE_MASK) | (BigInt(nodes) << SIZE_SHIFT)
  await chain.rpc('anvil_setStorageAt', [factory, slot, `0x${grown.toString(16).padStart(64, '0')}`])
  // Enough to fund rounds of a million nodes.
  await chain.setBalance(world.at(2), 10n ** 9n * ETHER)
  await chain.mine()
  const [onChain] = await world.ctx.contract.cohorts([cohort], await world.ctx.chain.head())
  if (onChain?.size !== nodes) throw new Error(`the contract has ${onChain?.size} nodes in the cohort, not ${nodes}`)
}

/** A cohort's slot and word in the contract's storage: in the only mapping by small numbers that is not empty. */
async function findCohort({ chain, factory }: World, cohort: number): Promise<{ slot: `0x${string}`; word: bigint }> {
  const types = [{ type: 'uint256' }, { type: 'uint256' }] as const
  for (let variable = 0n; variable < SLOTS; variable++) {
    const slot = keccak256(encodeAbiParameters(types, [BigInt(cohort), variable]))
    const word = BigInt(await chain.rpc<string>('eth_getStorageAt', [factory, slot, 'latest']))
    if (word !== 0n) return { slot, word }
  }
  throw new Error(`the contract's storage does not show cohort ${cohort}`)
}

/** Rows for further nodes, each with its payment, as similar to the first as keys allow. Triggers and foreign keys are off meanwhile. */
async function copyNode({ pool }: World, nodes: number): Promise<void> {
  await inTransaction(pool, async (sql) => {
    await sql`SET LOCAL session_replication_role = replica`
    await sql`CREATE FUNCTION pg_temp.hash_of(what text, no bigint) RETURNS text LANGUAGE sql IMMUTABLE
      RETURN '0x' || md5(what || no) || md5(no || what)`
    await sql`
      INSERT INTO payments (id, tx_hash, ref, wallet, from_address, value_wei, succeeded, state, tier_id, tier_version, outbox_id, node_id,
        block_number, block_hash, tx_index, block_time)
      OVERRIDING SYSTEM VALUE
      SELECT 1000 + n, pg_temp.hash_of('payment', n), pg_temp.hash_of('ref', n), wallet, from_address, value_wei, succeeded, state, tier_id,
        tier_version, outbox_id, n, block_number, block_hash, tx_index, block_time
      FROM payments CROSS JOIN generate_series(2::bigint, ${nodes}::bigint) n WHERE node_id = 1`
    await sql`
      INSERT INTO nodes (node_id, owner, cohort, ref, payment_id, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at,
        block_number, block_hash)
      SELECT n, substr(pg_temp.hash_of('wallet', n), 1, 42), cohort, pg_temp.hash_of('ref', n), 1000 + n, per_node_at_mint_wei,
        turns_at_mint, mint_tx_hash, minted_at, block_number, block_hash
      FROM nodes CROSS JOIN generate_series(2::bigint, ${nodes}::bigint) n WHERE node_id = 1`
    await sql`UPDATE cohorts SET size = ${nodes} WHERE size > 0`
    await sql`UPDATE cohort_states SET size = ${nodes} WHERE size > 0`
    await sql`UPDATE totals SET nodes = ${nodes}, owners = ${nodes}`
  })
  await pool`VACUUM (ANALYZE)`
}
