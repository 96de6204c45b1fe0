// Counts the blocks from a payment's block to the mint of its node: with 500 payments in flight at once, and with fifty per block. Buyers claim half
// of them; the follower finds the others. The service runs as its operator runs it, on a chain with a block every few seconds.

import { until } from '../test/support/until.ts'
import { payFrom } from '../test/support/wallets/payer.ts'
import { startWorld, type World } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { quantile } from './lib/numbers.ts'
import { atMost, type Row } from './lib/report.ts'
import { minted, type Service, settingsOn, startService } from './lib/service.ts'

const PAYMENTS = 500
const BLOCK_SEC = 4
const TICK_SEC = 2
const SALE_BUYERS = 2_000
const SALE_BLOCK_SEC = 2
/** Mainnet's limit since November 2025. As on mainnet, one transaction may use 16,777,216 of it (EIP-7825). */
const SALE_BLOCK_GAS = 60_000_000
const SALE_GOAL_SEC = 30
const PRICE_WEI = 10n ** 16n
const WAIT_MS = 300_000
const POLL_MS = 500
const P50_GOAL = 2
const P99_GOAL = 3

export const latency: Bench = {
  name: 'latency',
  about: `Blocks from a payment's block to its node's, a block every ${BLOCK_SEC} s, half of the payments claimed. Then the seconds that a sale of ${SALE_BUYERS.toLocaleString('en')} buyers takes.`,
  isTimed: true,
  run: async (options) => {
    const payments = options.quick ? 50 : PAYMENTS
    const perBlock = payments / 10
    return [
      ...(await measure(options, { payments, perBlock: payments })),
      ...(await measure(options, { payments, perBlock })),
      ...(await measureSale(options)),
    ]
  },
}

async function measure(
  { progress }: BenchOptions,
  { payments, perBlock }: { payments: number; perBlock: number },
): Promise<Row[]> {
  const world = await startWorld()
  let service: Service | undefined
  try {
    await world.chain.mine(3)
    service = await startService([process.execPath, 'src/main.ts', 'start'], {
      ...settingsOn(world),
      SCHEDULER: 'on',
      TICK_SEC: String(TICK_SEC),
      TRUSTED_PROXIES: '127.0.0.1',
    })
    await world.chain.rpc('evm_setIntervalMining', [BLOCK_SEC])
    // The first sale opens the cohorts, which happens once in a tier's life.
    await buy(world, service, 0, 1)
    await minted(world, 1)
    for (let sent = 0; sent < payments; sent += perBlock) await buy(world, service, 1 + sent, perBlock)
    await minted(world, payments + 1)
    const rows = await world.pool<{ blocks: number }[]>`
      SELECT n.block_number - p.block_number AS blocks FROM nodes n JOIN payments p ON p.id = n.payment_id WHERE n.node_id > 1`
    const blocks = rows.map((row) => row.blocks)
    progress(`${perBlock} payments a block: done`)
    const what = `${payments} payments, ${perBlock} in a block`
    return [
      { share: 0.5, name: 'p50', goal: P50_GOAL },
      { share: 0.99, name: 'p99', goal: P99_GOAL },
    ].map(({ share, name, goal }) => {
      const found = quantile(blocks, share)
      return atMost(
        `${what}: ${name}`,
        found === 1 ? '1 block' : `${found} blocks`,
        `one block: ${BLOCK_SEC} s`,
        found,
        goal,
      )
    })
  } finally {
    await service?.stop()
    await world.close()
  }
}

/** The opening of a sale: all buyers pay in one block, and every tenth claims. Ticks have the default interval. */
async function measureSale({ quick, progress }: BenchOptions): Promise<Row[]> {
  const buyers = quick ? 100 : SALE_BUYERS
  const world = await startWorld()
  let service: Service | undefined
  try {
    await world.chain.rpc('evm_setBlockGasLimit', [`0x${SALE_BLOCK_GAS.toString(16)}`])
    await world.chain.mine(3)
    service = await startService([process.execPath, 'src/main.ts', 'start'], {
      ...settingsOn(world),
      SCHEDULER: 'on',
      TRUSTED_PROXIES: '127.0.0.1',
    })
    await world.chain.rpc('evm_setIntervalMining', [SALE_BLOCK_SEC])
    await buy(world, service, 0, 1)
    await minted(world, 1)
    // The buyers' transactions all wait for one block.
    await world.chain.rpc('evm_setIntervalMining', [0])
    const paid: string[] = []
    for (let buyer = 1; buyer <= buyers; buyer++) paid.push(await pay(world, buyer))
    await world.chain.mine()
    const began = performance.now()
    await world.chain.rpc('evm_setIntervalMining', [SALE_BLOCK_SEC])
    const claimed = paid.filter((_, index) => index % 10 === 0)
    await Promise.all(claimed.map((txHash, index) => claim({ url: service?.url ?? '' }, txHash, index)))
    await minted(world, 1 + buyers)
    const tookSec = (performance.now() - began) / 1_000
    progress(`a sale of ${buyers}: done`)
    const [row] = await world.pool<{ paidIn: number; paid: number; last: number; batches: number; gas: number }[]>`
      SELECT min(p.block_number) AS "paidIn", count(DISTINCT p.block_number) AS paid, max(n.block_number) AS last,
        count(DISTINCT n.mint_tx_hash) AS batches,
        (SELECT sum(gas_used) FROM outbox WHERE kind = 'mint' AND block_number > (SELECT min(block_number) FROM nodes))::bigint AS gas
      FROM nodes n JOIN payments p ON p.id = n.payment_id WHERE n.node_id > 1`
    if (row?.paid !== 1) throw new Error('the buyers did not pay in one block')
    const what = `${buyers.toLocaleString('en')} payments in one block of ${SALE_BLOCK_GAS.toLocaleString('en')} gas, a block every ${SALE_BLOCK_SEC} s: to the last node`
    const of = `${row.batches} transactions in ${row.last - row.paidIn} blocks, ${Math.round(row.gas / buyers).toLocaleString('en')} gas an order`
    return [atMost(what, `${tookSec.toFixed(1)} s`, of, tookSec / SALE_GOAL_SEC, 1)]
  } finally {
    await service?.stop()
    await world.close()
  }
}

/** Pays from a new wallet. */
const pay = ({ chain, at }: World, buyer: number) => payFrom(chain, buyer, { to: at(3), value: PRICE_WEI })

/** Pays from new wallets, waits for the block, and claims every second payment. */
async function buy(world: World, service: Service, first: number, count: number): Promise<void> {
  const sent: string[] = []
  for (let buyer = first; buyer < first + count; buyer++) sent.push(await pay(world, buyer))
  await until(
    'the last payment',
    async () => (await world.chain.rpc('eth_getTransactionReceipt', [sent.at(-1)])) !== null,
    WAIT_MS,
    POLL_MS,
  )
  const claimed = sent.filter((_, index) => index % 2 === 0)
  await Promise.all(claimed.map((txHash, index) => claim(service, txHash, first + index)))
}

/** A claim may get 409 (retry), or find nothing because it is early. The scan finds its payment anyway. */
async function claim({ url }: Pick<Service, 'url'>, txHash: string, client: number): Promise<void> {
  const answer = await fetch(`${url}/api/payments/claim`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.1.${client >> 8}.${client & 255}` },
    body: JSON.stringify({ txHash }),
  })
  await answer.arrayBuffer()
  if (answer.status >= 500 && answer.status !== 503) throw new Error(`a claim was answered ${answer.status}`)
}
