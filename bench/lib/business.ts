// A busy service, for benches that measure it under way: a ledger with nodes and rounds, a provider that fails one
// request in ten, and a steady flow of blocks and payments.
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { wei } from '../../src/domain/units.ts'
import { openStage, type Stage } from '../../test/faults/stage.ts'
import { FAULTS, type Fault } from '../../test/support/faults/names.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { ETHER, enterTier, INTERVAL_SEC, SLOT_SEC, type World } from '../../test/support/world.ts'
import type { Sort } from './constant-rate.ts'
import { HEAP, OUTSIDE_HEAP } from './process.ts'
import { type Service, settingsOn, startService } from './service.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PRICE_WEI = ETHER / 1_000n
/** Accounts whose nodes exist from the start and are queried. Other accounts keep buying, so the queried answers keep their length. */
const OWNERS = Array.from({ length: 7 }, (_, i) => 5 + i)
const BUYERS = Array.from({ length: 8 }, (_, i) => 12 + i)
const NODES = 60
const FAULT_RATE = 0.1
/** If a provider reports another chain's ID, the passes stop, as they should. The other three only cost the caller time, as `delay` does. */
const LEFT_OUT: readonly Fault[] = ['wrongChainId', 'hang', 'giant', 'nullTransaction']
/** Turns fall due every this many blocks. */
const DUE_EVERY = 10
const PAYMENTS_A_BLOCK = 3
const REST_MS = 60_000

export interface Business {
  stage: Stage
  service: Service
  /** The public reads, weighted by how often clients call each. */
  sorts: Sort[]
  /** Makes the provider fail, and mines blocks with payments, until aborted. Resolves with the counts of blocks, payments and faults. */
  goOn(blockMs: number, signal: AbortSignal): Promise<{ blocks: number; payments: number; faults: number }>
  /** Ends the faults; resolves once nothing is in flight. Throws if that takes too long. */
  comeToRest(): Promise<void>
  close(): Promise<void>
}

/** Opens it: sixty nodes, this many rounds, and the service running its passes every second. */
export async function openBusiness(rounds: number): Promise<Business> {
  const stage = await openStage({ maxPerWallet: 256n })
  const { world, proxy } = stage
  const price = await servePrice()
  let service: Service | undefined
  const close = async () => {
    await service?.stop()
    price.close()
    await world.close()
  }
  try {
    await enterTier(world, { tierId: 'bulk', tierNo: 9, priceWei: wei(PRICE_WEI), maxPerWallet: 256 })
    await world.settle()
    for (let i = 0; i < NODES; i++) await world.pay(OWNERS[i % OWNERS.length] ?? 5, PRICE_WEI)
    await world.settle()
    for (let i = 0; i < rounds; i++) {
      await world.chain.increaseTime(INTERVAL_SEC)
      await world.rest()
    }
    service = await startAsImage(world, { RPC_URL: proxy.url, PRICE_URL: price.url })
  } catch (error) {
    await close()
    throw error
  }
  return {
    ...{ stage, service, close },
    sorts: sortsOf(OWNERS.map((account) => world.at(account))),
    async goOn(blockMs, signal) {
      proxy.storm({ seed: 1, rate: FAULT_RATE, faults: FAULTS.filter((fault) => !LEFT_OUT.includes(fault)) })
      let blocks = 0
      for (; !signal.aborted; blocks++) {
        for (let i = 0; i < PAYMENTS_A_BLOCK; i++)
          await world.pay(BUYERS[(blocks * PAYMENTS_A_BLOCK + i) % BUYERS.length] ?? 12, PRICE_WEI)
        if (blocks % DUE_EVERY === 0) await world.chain.increaseTime(INTERVAL_SEC)
        await world.chain.mine()
        await sleep(blockMs, undefined, { signal }).catch(() => {})
      }
      proxy.calm()
      return {
        blocks,
        payments: blocks * PAYMENTS_A_BLOCK,
        faults: [...proxy.fired.values()].reduce((a, b) => a + b, 0),
      }
    },
    async comeToRest() {
      const deadline = performance.now() + REST_MS
      for (;;) {
        const head = Number((await world.chain.mine()).number)
        await sleep(1_500)
        const [row] = await world.pool<{ open: number; number: number }[]>`
          SELECT ((SELECT count(*) FROM payments WHERE state IN ('seen', 'accepted', 'minting'))
            + (SELECT count(*) FROM outbox WHERE state = 'pending')
            + (SELECT count(*) FROM cohorts WHERE size > 0 AND next_due <= block_time))::int AS open,
            block_number AS number FROM cursors`
        if (row && row.open === 0 && row.number >= head) return
        if (performance.now() > deadline) throw new Error(`not at rest ${REST_MS} ms after the last fault`)
      }
    },
  }
}

/** The service as the image runs it: as JavaScript, and without a compile cache, because the image cannot write one. */
function startAsImage(world: World, urls: { RPC_URL: string; PRICE_URL: string }): Promise<Service> {
  const settings = {
    ...settingsOn(world),
    ...{ ...urls, PRICE_FIELD: 'usd', SCHEDULER: 'on', TICK_SEC: '1', TRUSTED_PROXIES: '127.0.0.1' },
    ...{ DIST_ENABLED: 'true', CREDIT_MIN_WEI: String(ETHER / 2000n), CREDIT_MAX_WEI: String((ETHER * 3n) / 2000n) },
    ...{ CREDIT_INTERVAL_SEC: String(INTERVAL_SEC), CREDIT_SLOT_SEC: String(SLOT_SEC) },
    ...{ ...OUTSIDE_HEAP, NODE_DISABLE_COMPILE_CACHE: '1' },
  }
  return startService([process.execPath, ...HEAP, stripped(), 'start'], settings)
}

/** The main file of the image's content, which we build here. The packages are this checkout's. */
function stripped(): string {
  const folder = temporaryDirectory()
  const words = ['scripts/release/strip.ts', '--into', folder, 'src', 'api', 'web/src/words']
  execFileSync(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  for (const name of ['node_modules', 'migrations', 'web/dist', 'package.json'])
    symlinkSync(join(ROOT, name), join(folder, name))
  return join(folder, 'src/main.js')
}

/** The reads of a shop: most fetch the offer, the totals, a node or a wallet. */
function sortsOf(wallets: readonly string[]): Sort[] {
  return [
    { name: 'stats', share: 20, paths: ['/api/stats'] },
    { name: 'tiers', share: 20, paths: ['/api/tiers'] },
    { name: 'node', share: 15, paths: Array.from({ length: NODES }, (_, i) => `/api/node/${i + 1}`) },
    { name: 'nodes of a wallet', share: 15, paths: wallets.map((wallet) => `/api/nodes/${wallet}`) },
    { name: 'cover', share: 10, paths: ['/api/cover'] },
    { name: 'quote', share: 5, paths: ['/api/deploy-quote'] },
    { name: 'distributions', share: 5, paths: ['/api/distributions'] },
    { name: 'price', share: 5, paths: ['/api/price'] },
    { name: 'health', share: 5, paths: ['/api/cron/health'] },
  ]
}

function servePrice(): Promise<{ url: string; close(): void }> {
  const server = createServer((_request, response) => response.end('{"usd":3000}'))
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      resolve({ url: `http://127.0.0.1:${port}/`, close: () => void server.close() })
    }),
  )
}
