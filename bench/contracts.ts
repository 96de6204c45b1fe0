// Compares payments of contract wallets with plain ones: blocks from the payment to its node, one of each per block and
// eight of each in one, and provider calls per block. A contract pays by an internal call, which no transaction shows,
// but a trace of its block does. The service runs as its operator runs it, in the mode `all`, on one provider that it trusts.
import { type FalseProvider, startFalseProvider } from '../test/chain/false-provider.ts'
import { FORWARD, forwardTo } from '../test/support/forwarder.ts'
import { until } from '../test/support/until.ts'
import { fundPayer, payFunded } from '../test/support/wallets/payer.ts'
import { startWorld, type World } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { quantile } from './lib/numbers.ts'
import { asIs, type Row } from './lib/report.ts'
import { minted, type Service, settingsOn, startService } from './lib/service.ts'

const PAYMENTS = 270
const IN_ONE_BLOCK = 8
const BLOCK_SEC = 2
const TICK_SEC = 2
/** For how many blocks of each kind we count the provider's calls. */
const COUNTED_BLOCKS = 30
/** The first payer, those of the counted blocks, and both kinds at both paces. */
const PAYERS_MAX = 1 + 2 * (COUNTED_BLOCKS + 1) + 4 * PAYMENTS
const PRICE_WEI = 10n ** 16n
const WAIT_MS = 300_000
const POLL_MS = 100

type Kind = 'inner' | 'plain'
const KINDS: readonly Kind[] = ['inner', 'plain']

export const contracts: Bench = {
  name: 'contracts',
  about: `Payments of ${PAYMENTS} contract wallets beside as many plain ones, a block every ${BLOCK_SEC} s: blocks to each node, and calls of the provider.`,
  isTimed: false,
  run: measure,
}

interface Market {
  world: World
  provider: FalseProvider
  /** How many payers there are so far. Each pays once. */
  payers: number
}

async function measure({ quick, progress }: BenchOptions): Promise<Row[]> {
  const providers: FalseProvider[] = []
  const world = await startWorld()
  let service: Service | undefined
  try {
    const provider = await startFalseProvider(world.chain.rpcUrl)
    providers.push(provider)
    // Before the service follows: what is put into the state later changes a block that is mined already, and no proof of that passes.
    for (let payer = 0; payer < PAYERS_MAX; payer++) {
      await world.chain.rpc('anvil_setCode', [contractOf(payer), FORWARD])
      await fundPayer(world.chain, payer, PRICE_WEI)
    }
    await world.chain.mine(3)
    service = await startService([process.execPath, 'src/main.ts', 'start'], {
      ...settingsOn(world),
      RPC_URL: provider.url,
      SCHEDULER: 'on',
      TICK_SEC: String(TICK_SEC),
      CONTRACT_WALLETS: 'all',
      // A trace of one provider is only believed so.
      TRUST_PROVIDER: 'true',
    })
    await world.chain.rpc('evm_setIntervalMining', [BLOCK_SEC])
    const market: Market = { world, provider, payers: 0 }
    // The first sale opens the cohorts, which happens once in a tier's life.
    await pay(market, ['plain'], 1)
    await minted(world, 1)
    const [payments, blocks] = quick ? [IN_ONE_BLOCK, 3] : [PAYMENTS, COUNTED_BLOCKS]
    const calls = await countCalls(market, blocks)
    progress(`${blocks} blocks of each kind: calls counted`)
    const rows: Row[] = []
    for (const perBlock of [1, IN_ONE_BLOCK]) {
      rows.push(...(await measureLatency(market, { payments, perBlock })))
      progress(`${payments} payments, ${perBlock} a block: done`)
    }
    return [...rows, await tellOutcome(world), ...calls]
  } finally {
    await service?.stop()
    for (const provider of providers) await provider.close()
    await world.close()
  }
}

/** Pays this many of each kind in each block, and compares how many blocks their nodes take. */
async function measureLatency(
  market: Market,
  { payments, perBlock }: { payments: number; perBlock: number },
): Promise<Row[]> {
  const { world } = market
  const from = Number((await world.chain.block()).number)
  for (let paid = 0; paid < payments; paid += perBlock) await pay(market, KINDS, Math.min(perBlock, payments - paid))
  await minted(world, market.payers)
  const taken = await world.pool<{ isInner: boolean; blocks: number }[]>`
    SELECT p.inner_index > 0 AS "isInner", n.block_number - p.block_number AS blocks
    FROM nodes n JOIN payments p ON p.id = n.payment_id WHERE p.block_number > ${from}`
  const what = `${payments} payments of contracts, ${perBlock} a block`
  return [
    { share: 0.5, name: 'p50' },
    { share: 0.99, name: 'p99' },
  ].map(({ share, name }) => {
    const [inner, plain] = [true, false].map((wanted) => {
      const blocks = taken.filter(({ isInner }) => isInner === wanted).map((row) => row.blocks)
      return quantile(blocks, share) * BLOCK_SEC
    }) as [number, number]
    return {
      what: `${what}: ${name}`,
      ours: `${inner} s`,
      peer: `plain ones of the same blocks: ${plain} s`,
      ratio: inner / plain,
      goal: `at most a tick more: ${TICK_SEC} s`,
      met: inner - plain <= TICK_SEC,
    }
  })
}

/** How many of the contracts' payments became nodes automatically, each for its payer, and what remains unexplained. */
async function tellOutcome({ pool }: World): Promise<Row> {
  const [row] = await pool<{ paid: number; bought: number; residues: number }[]>`
    SELECT count(*) FILTER (WHERE inner_index > 0) AS paid,
      count(*) FILTER (WHERE inner_index > 0 AND n.owner = p.from_address) AS bought,
      count(*) FILTER (WHERE p.tx_hash IS NULL) AS residues
    FROM payments p LEFT JOIN nodes n ON n.payment_id = p.id`
  const { paid, bought, residues } = row ?? { paid: 0, bought: 0, residues: 0 }
  return {
    what: 'bought by themselves, each by its payer',
    ours: `${bought} of ${paid}, ${residues} residues left`,
    peer: `paid by contracts: ${paid}`,
    ratio: bought / paid,
    goal: 'all, and no residue',
    met: bought === paid && residues === 0,
  }
}

/** Provider calls per block: without payments, and with one payment of each kind in every block. */
async function countCalls(market: Market, blocks: number): Promise<Row[]> {
  const counted = async (kinds: readonly Kind[]) => {
    await pay(market, kinds, 1)
    const { world, provider } = market
    const [before, head] = [provider.seen.length, Number((await world.chain.block()).number)]
    for (let block = 0; block < blocks; block++) await pay(market, kinds, 1)
    const calls = provider.seen.slice(before)
    const passed = Number((await world.chain.block()).number) - head
    await minted(world, market.payers)
    const traces = calls.filter(({ method }) => method.includes('trace')).length
    return { calls: calls.length / passed, traces: traces / passed }
  }
  const [none, plain, inner] = [await counted([]), await counted(['plain']), await counted(['inner'])]
  const row = (what: string, ours: number, name: string, peer: number) =>
    asIs(what, ours.toFixed(1), `${name}: ${peer.toFixed(1)}`, ours / peer)
  const traces = { ours: (plain.traces + none.traces).toFixed(1), peer: `with one: ${inner.traces.toFixed(1)}` }
  return [
    row(
      'calls of the provider a block, a contract’s payment in each',
      inner.calls,
      'a plain payment in each',
      plain.calls,
    ),
    row('calls of the provider a block, a plain payment in each', plain.calls, 'no payment', none.calls),
    {
      what: 'traces a block without a contract’s payment',
      ...traces,
      ratio: null,
      goal: 'none',
      met: plain.traces + none.traces === 0,
    },
  ]
}

const contractOf = (payer: number) => `0x${(0xb0b000000000n + BigInt(payer)).toString(16).padStart(40, '0')}`

/** Pays this many of each kind from new addresses, and waits for their block. If there is nothing to pay, waits for the next block. */
async function pay(market: Market, kinds: readonly Kind[], count: number): Promise<void> {
  const { chain, at } = market.world
  const head = (await chain.block()).number
  for (const kind of kinds)
    for (let i = 0; i < count; i++) {
      const payer = market.payers++
      if (kind === 'inner') {
        const value = `0x${PRICE_WEI.toString(16)}` as const
        await chain.send({ from: at(9), to: contractOf(payer), value, data: forwardTo(at(3)), gas: '0x20000' })
      } else await payFunded(chain, payer, { to: at(3), value: PRICE_WEI })
    }
  await until('a block', async () => (await chain.block()).number !== head, WAIT_MS, POLL_MS)
}
