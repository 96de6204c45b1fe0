// The main job from outside: the command line, HTTP, and wallets. Nothing here reaches into the service.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Service, startService, type WellKnown, wallet } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

interface Node {
  nodeId: string
  owner: string
  priceWei: string
  creditedWei: string
  withdrawnWei: string
  balanceWei: string
}
interface NodeDetail extends Node {
  chain: (Pick<Node, 'owner' | 'creditedWei' | 'withdrawnWei' | 'balanceWei'> & { matchesLedger: boolean }) | null
  credits: { amountWei: string; distributionId: number }[]
  withdrawals: { amountWei: string; toAddress: string; status: string }[]
}

/** Short rounds, so a test need not wait a minute for one. */
const FAST = { CREDIT_INTERVAL_SEC: '10', CREDIT_SLOT_SEC: '5', TICK_SEC: '1', LOG_LEVEL: 'warn' }
const PRICE = 10n ** 16n
const dataDir = temporaryDirectory()
let service: Service
after(async () => {
  await service?.stop()
})

const nodesOf = (owner: string) => service.get<Node[]>(`/api/nodes/${owner}`)
const nodeOf = (owner: string) => until('the node', async () => (await nodesOf(owner))[0] ?? null)
const wellKnown = () => service.get<WellKnown>('/.well-known/node-ledger.json')

/** Ledger and contract agree on a node to the wei. Reads until no round lands between the two readings. */
async function assertMatchesContract(nodeId: string, buyer: ReturnType<typeof wallet>): Promise<void> {
  await until('ledger and contract to be read at one moment', async () => {
    const { owner, creditedWei, withdrawnWei, balanceWei } = await service.get<NodeDetail>(`/api/node/${nodeId}`)
    const onChain = await buyer.nodeInfo(BigInt(nodeId))
    return JSON.stringify({ owner, balanceWei, creditedWei, withdrawnWei }) === JSON.stringify(onChain)
  })
}

test('with no settings it starts, and prints its address', async () => {
  service = await startService(dataDir, FAST)
  assert.deepEqual(Object.keys(await wellKnown()).sort(), [
    'apiBase',
    'brand',
    'chainId',
    'chainName',
    'embedded',
    'explorerUrl',
    'factoryAddress',
    'maxPerWallet',
    'paymentAddress',
    'rpcUrl',
  ])
  const { tiers } = await service.get<{ tiers: { id: string; priceWei: string; onSale: boolean }[] }>('/api/tiers')
  assert.deepEqual(
    tiers.map((tier) => tier.id),
    ['basic', 'plus', 'founder'],
  )
})

test('a buyer pays a tier’s exact price and owns a node within a few blocks', async () => {
  const chain = await wellKnown()
  const buyer = wallet(10, chain)
  await buyer.pay(chain.paymentAddress, PRICE)
  const node = await nodeOf(buyer.address)
  assert.equal(node.owner, buyer.address)
  assert.equal(node.priceWei, PRICE.toString())
  assert.deepEqual(await buyer.nodesOf(), [BigInt(node.nodeId)])
})

test('one wei too much is held, and a claim of it is refused', async () => {
  const chain = await wellKnown()
  const buyer = wallet(11, chain)
  const txHash = await buyer.pay(chain.paymentAddress, PRICE + 1n)
  const refused = await until('the claim to be judged', async () => {
    const response = await service.post('/api/payments/claim', { txHash })
    if (response.status === 409) return null
    const isSeen = response.ok && ((await response.clone().json()) as { status: string }).status === 'seen'
    return isSeen ? null : response
  })
  assert.equal(refused.status, 400)
  assert.deepEqual(await nodesOf(buyer.address), [])
})

test('a round credits the node; the owner withdraws; ledger equals contract to the wei', async () => {
  const chain = await wellKnown()
  const [buyer, friend] = [wallet(10, chain), wallet(12, chain)]
  const { nodeId } = await nodeOf(buyer.address)
  const credited = await until('a credit', async () => {
    const detail = await service.get<NodeDetail>(`/api/node/${nodeId}`)
    return detail.credits.length > 0 ? detail : null
  })
  assert.ok(BigInt(credited.creditedWei) > 0n)
  await buyer.withdraw(BigInt(nodeId), friend.address, 4_321n)
  const withdrawn = await until('the withdrawal', async () => {
    const detail = await service.get<NodeDetail>(`/api/node/${nodeId}`)
    return detail.withdrawals.length > 0 ? detail : null
  })
  assert.deepEqual(
    withdrawn.withdrawals.map(({ amountWei, toAddress, status }) => ({ amountWei, toAddress, status })),
    [{ amountWei: '4321', toAddress: friend.address, status: 'sent' }],
  )
  await assertMatchesContract(nodeId, buyer)
})

test('killed in the middle of a sale and started again, it loses nothing and doubles nothing', async () => {
  const chain = await wellKnown()
  const buyers = [13, 14, 15].map((index) => wallet(index, chain))
  await Promise.all(buyers.map((buyer) => buyer.pay(chain.paymentAddress, PRICE)))
  service.kill('SIGKILL')
  await service.exited
  service = await startService(dataDir, FAST)
  for (const buyer of buyers) {
    const node = await nodeOf(buyer.address)
    assert.deepEqual(
      await wallet(0, await wellKnown())
        .nodeInfo(BigInt(node.nodeId))
        .then((info) => info.owner),
      buyer.address,
    )
  }
  // Passes continue for a while: no payment may get a second node.
  await new Promise((resolve) => setTimeout(resolve, 4_000))
  for (const buyer of buyers) assert.equal((await nodesOf(buyer.address)).length, 1)
})

test('if PostgreSQL is killed the service ends, and the next start has everything', async () => {
  const before = await service.get<{ totalNodes: number }>('/api/stats')
  const postmaster = readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0]
  process.kill(Number(postmaster), 'SIGKILL')
  const exit = await service.exited
  assert.equal(exit.code, 1)
  assert.match(service.output(), /PostgreSQL stopped unexpectedly/)
  service = await startService(dataDir, FAST)
  const now = await service.get<{ totalNodes: number }>('/api/stats')
  assert.equal(now.totalNodes, before.totalNodes)
  const chain = await wellKnown()
  const { nodeId } = await nodeOf(wallet(10, chain).address)
  await assertMatchesContract(nodeId, wallet(10, chain))
})

test('a second service on the same data directory is refused with the reason', async () => {
  await assert.rejects(startService(dataDir, FAST), /DATA_DIR/)
})

test('a port in use is refused with its setting’s name', async () => {
  const { port } = new URL(service.url)
  await assert.rejects(startService(temporaryDirectory(), { ...FAST, PORT: port }), /PORT/)
})

test('asked to stop, it stops with exit code 0 and leaves no process behind', async () => {
  const postmaster = Number(readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
  assert.deepEqual(await service.stop(), { code: 0, signal: null })
  assert.throws(() => process.kill(postmaster, 0), { code: 'ESRCH' })
})
