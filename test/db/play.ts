// A ledger that is used in every way: passes, a reorganisation, every route that reads, every act of the operator's. It only has to send its
// statements, so it accepts any answer; other tests look at those.
import { adminDocument, document } from '../support/http-contract.ts'
import { type Desk, KEYS, startDesk } from '../support/operator.ts'
import { ETHER } from '../support/world.ts'

const CENT = ETHER / 100n
type Methods = Record<string, { requestBody?: { content: Record<string, { schema: { properties?: object } }> } }>

/** Plays it on real parts. */
export async function playEverything(): Promise<void> {
  const desk = await startDesk()
  const { world } = desk
  const held: string[] = []
  for (let i = 0; i < 8; i++) held.push(await world.pay(6 + i, CENT - 1n - BigInt(i)))
  await world.pay(5, CENT)
  await world.settle()
  await world.chain.increaseTime(601)
  await world.rest()
  await world.act(5, 'withdraw', [1n, world.at(5), 1n])
  await world.rest()
  for (const method of ['GET', 'POST', 'GET'] as const) await askAll(desk, method, held)
  await world.chain.reorg(3)
  await world.rest()
  await desk.close()
}

/** Values of fields and of parts of paths, by name. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...{ id: 1, nodeId: 1, from: 1, to: 5, fromBlock: 1, toBlock: 3, maxPerWallet: 3, commissionBps: 500 },
  ...{ tierId: 'basic', code: 'friends', decision: 'dismiss', reason: 'played', label: 'Played', mode: 'proven' },
  ...{ belowWei: '1000', maxWei: '2000000000000000', priceWei: '30000000000000000', aboveWei: `${ETHER * 1_000n}` },
  ...{ root: `0x${'1'.repeat(64)}`, part: 'header', endpoint: 'x', scopes: ['read'], dryRun: true, onSale: true },
  ...{ url: 'https://hooks.example/x', secret: `whsec_${btoa('x'.repeat(32))}` },
}

/** Asks every route of a method. Each gets another of the held payments. */
async function askAll({ service, world }: Desk, method: 'GET' | 'POST', held: readonly string[]): Promise<void> {
  const [owner, buyer] = [world.at(5), world.at(9)]
  const accounts = { address: buyer, owner, wallet: owner, payee: world.at(8), sender: world.at(1), rows: `${owner},2` }
  const paths = Object.entries({ ...document.paths, ...adminDocument.paths } as Record<string, Methods>)
  for (const [place, [path, methods]] of paths.entries()) {
    const operation = methods[method.toLowerCase()]
    if (!operation || /events$|passkeys|sign-out/.test(path)) continue
    const payment = held[place % held.length] ?? ''
    const payments = { payment, txHash: payment, hash: payment, refundTxHash: payment, payments: held.slice(-2) }
    const values: typeof VALUES = { ...VALUES, ...accounts, ...payments }
    const named = path.replaceAll(/\{(\w+)\}/g, (_, name) => String(values[name] ?? 1))
    const query = path.endsWith('owner.csv')
      ? `?address=${owner}`
      : path.endsWith('{tierId}/preview')
        ? '?supply=5'
        : ''
    const properties = Object.keys(operation.requestBody?.content['application/json']?.schema.properties ?? {})
    const body = Object.fromEntries(properties.flatMap((name) => (name in values ? [[name, values[name]]] : [])))
    const answer = await fetch(`http://127.0.0.1:${service.port}${named}${query}`, {
      method,
      headers: { 'x-admin-key': KEYS[0]?.key ?? '', 'content-type': 'application/json' },
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    })
    await answer.text()
  }
}
