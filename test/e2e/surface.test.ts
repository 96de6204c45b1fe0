// Sign-in, `me` and `sync` from outside, with real wallets on the real chain: nothing here reaches into the service.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Wallet } from 'ethers'
import { privateKeyToAccount } from 'viem/accounts'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import { type Service, startService, type WellKnown, wallet } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const PRICE = 10n ** 16n
let service: Service
let chain: WellKnown
let nodeId: string
let mintTxHash: `0x${string}`
let paymentTxHash: `0x${string}`

interface Signer {
  address: string
  sign(message: string): Promise<string>
}
const keyOf = (index: number) => DEVELOPMENT_ACCOUNTS[index]?.privateKey ?? assert.fail('no such account')
function viemWallet(index: number): Signer {
  const account = privateKeyToAccount(keyOf(index))
  return { address: account.address, sign: (message) => account.signMessage({ message }) }
}
function ethersWallet(index: number): Signer {
  const account = new Wallet(keyOf(index))
  return { address: account.address, sign: (message) => account.signMessage(message) }
}

/** Signs in as a page does, and returns the cookie to send from then on. */
async function signIn(signer: Signer): Promise<string> {
  const asked = await fetch(`${service.url}/api/auth/nonce`)
  const { message } = (await asked.json()) as { message: string }
  const nonceCookie = (asked.headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''
  const signature = await signer.sign(message)
  const verified = await fetch(`${service.url}/api/auth/verify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: nonceCookie, origin: service.url },
    body: JSON.stringify({ address: signer.address, signature }),
  })
  assert.equal(verified.status, 200, await verified.clone().text())
  assert.deepEqual(await verified.json(), { address: signer.address.toLowerCase() })
  const session = verified.headers.getSetCookie().find((cookie) => cookie.startsWith('nl_session='))
  return session?.split(';')[0] ?? assert.fail('no session cookie')
}

async function sync(cookie: string, body: object) {
  const response = await fetch(`${service.url}/api/nodes/sync`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: JSON.stringify(body),
  })
  return {
    status: response.status,
    body: (await response.json()) as { node?: { nodeId: string }; created?: boolean; error?: string },
  }
}

before(async () => {
  service = await startService(temporaryDirectory(), { TICK_SEC: '1', LOG_LEVEL: 'warn' })
  chain = await service.get<WellKnown>('/.well-known/node-ledger.json')
  const buyer = wallet(10, chain)
  paymentTxHash = await buyer.pay(chain.paymentAddress, PRICE)
  const node = await until('the node', async () => {
    const [first] = await service.get<{ nodeId: string; mintTxHash: `0x${string}` }[]>(`/api/nodes/${buyer.address}`)
    return first ?? null
  })
  nodeId = node.nodeId
  mintTxHash = node.mintTxHash
})
after(async () => {
  await service?.stop()
})

test('wallets of both common libraries sign in, and see their own data', async () => {
  for (const signer of [viemWallet(10), ethersWallet(10)]) {
    const cookie = await signIn(signer)
    const response = await fetch(`${service.url}/api/me`, { headers: { cookie } })
    assert.equal(response.headers.get('cache-control'), 'private, no-store')
    const me = (await response.json()) as {
      address: string
      nodes: { nodeId: string }[]
      unrecordedNodeIds: string[] | null
    }
    assert.equal(me.address, signer.address.toLowerCase())
    assert.deepEqual(
      me.nodes.map((node) => node.nodeId),
      [nodeId],
    )
    assert.deepEqual(me.unrecordedNodeIds, [])
  }
})

test('a visitor without a session is answered so', async () => {
  assert.equal((await fetch(`${service.url}/api/me`)).status, 401)
  assert.equal((await sync('nl_session=forged', { nodeId })).status, 401)
})

test('an owner’s node is synced by its mint and by its id, and stays one', async () => {
  const cookie = await signIn(viemWallet(10))
  for (const body of [{ txHash: mintTxHash }, { nodeId }, { txHash: mintTxHash, nodeId }]) {
    const answer = await sync(cookie, body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.equal(answer.body.node?.nodeId, nodeId)
    assert.equal(answer.body.created, false)
  }
})

test('a node of another wallet is refused, each case with its own status', async () => {
  const [owner, stranger] = [await signIn(viemWallet(10)), await signIn(ethersWallet(11))]
  assert.equal((await sync(stranger, { nodeId })).status, 403)
  assert.equal((await sync(stranger, { txHash: mintTxHash })).status, 403)
  assert.equal((await sync(owner, { nodeId: '999' })).status, 404)
  assert.equal((await sync(owner, { nodeId: (1_000_000_000 + Number(nodeId)).toString() })).status, 404)
  assert.equal((await sync(owner, { txHash: `0x${'ab'.repeat(32)}` })).status, 404)
  assert.equal((await sync(owner, { txHash: paymentTxHash })).status, 400)
  assert.equal((await sync(owner, {})).status, 400)
  assert.equal((await sync(owner, { txHash: mintTxHash, nodeId: '999' })).status, 400)
})

test('a node that was sold on is its new owner’s to sync, and no longer its buyer’s', async () => {
  await wallet(10, chain).transfer(wallet(11, chain).address, BigInt(nodeId))
  const [buyer, owner] = [await signIn(viemWallet(10)), await signIn(ethersWallet(11))]
  assert.equal((await sync(buyer, { txHash: mintTxHash })).status, 409)
  const answer = await until('the transfer to be followed', async () => {
    const tried = await sync(owner, { nodeId })
    return tried.status === 200 ? tried : null
  })
  assert.equal(answer.body.node?.nodeId, nodeId)
})
