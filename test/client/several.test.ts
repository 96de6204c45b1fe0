// Several nodes at once with the client, on the real service and its real chain: what is sent, what is refused midway, and that nothing is sent twice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createClient as createWallet, custom, http, rpcSchema } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { sendTransaction } from 'viem/actions'
import { anvil } from 'viem/chains'
import { createClient } from '../../client/src/index.ts'
import { buy, sendPayments, WalletError } from '../../client/src/viem/index.ts'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import { type Service, startServiceHere, type WellKnown, wallet } from '../support/service.ts'
import { HANGING_MS } from '../support/until.ts'
import { putSmartAccount } from './smart-account.ts'

const PATIENT = { timeoutMs: HANGING_MS }
const REFUSAL = { code: 4001, message: 'User rejected the request.' }
const LOST = { code: -32603, message: 'the wallet has lost it' }

let service: Service
let wellKnown: WellKnown
let ledger: ReturnType<typeof createClient>
before(async () => {
  service = await startServiceHere({ CONTRACT_WALLETS: 'all' })
  wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
  ledger = createClient({ baseUrl: service.url })
})
after(() => service.stop())

/** A browser's wallet of an account, which answers these of its prompts, counted from 1, by an error. */
function ownOf(account: number, errors: Readonly<Record<number, { code: number; message: string }>> = {}) {
  const key = DEVELOPMENT_ACCOUNTS[account]?.privateKey ?? assert.fail()
  const transport = http(wellKnown.rpcUrl, { timeout: HANGING_MS })
  const signer = createWallet({ account: privateKeyToAccount(key), chain: anvil, transport, rpcSchema: rpcSchema() })
  const asked: string[] = []
  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    if (method !== 'eth_sendTransaction') return signer.request({ method, params } as never)
    const error = errors[asked.push(method)]
    if (error) throw Object.assign(new Error(error.message), error)
    const [{ to, value }] = params as [{ to: `0x${string}`; value: `0x${string}` }]
    return sendTransaction(signer, { to, value: BigInt(value) })
  }
  const client = createWallet({ account: signer.account.address, transport: custom({ request }, { retryCount: 0 }) })
  return { client, asked, nodes: () => wallet(account, wellKnown).nodesOf() }
}

test('a contract wallet pays for three in one transaction, and each becomes a node', async () => {
  const account = { address: '0x00000000000000000000000000000000000ba7c4', owner: 9, batches: true } as const
  const { client, asked } = await putSmartAccount(wellKnown.rpcUrl, account)
  const seen: unknown[] = []
  const onAsk = (transfer: unknown) => seen.push(transfer)
  const { bought, stopped } = await buy(ledger, client, { tier: 'basic', quantity: 3 }, { ...PATIENT, onAsk })
  assert.equal(stopped, null)
  assert.deepEqual(seen, [{ number: 1, of: 3, together: true }])
  assert.equal(new Set(bought.map(({ txHash }) => txHash)).size, 1)
  assert.equal(new Set(bought.map(({ node }) => node?.nodeId)).size, 3)
  for (const { node } of bought) assert.equal(node?.owner, account.address)
  assert.equal(asked.filter((method) => /send/i.test(method)).length, 1)
})

test('a contract wallet that sends nothing together pays one after the other', async () => {
  const account = { address: '0x000000000000000000000000000000000000051c', owner: 10 } as const
  const { client, asked } = await putSmartAccount(wellKnown.rpcUrl, account)
  const { bought, stopped } = await buy(ledger, client, { tier: 'basic', quantity: 2 }, PATIENT)
  assert.equal(stopped, null)
  assert.equal(new Set(bought.map(({ txHash }) => txHash)).size, 2)
  // The refusal to send both together, and then each.
  assert.equal(asked.filter((method) => method === 'wallet_sendCalls').length, 3)
})

test('an ordinary account pays one by one, and a refusal reports its number and stops no other', async () => {
  const { client, asked, nodes } = ownOf(11, { 3: REFUSAL })
  const { bought, stopped } = await buy(ledger, client, { tier: 'basic', quantity: 3 }, PATIENT)
  assert.equal(stopped?.number, 3)
  assert.ok(stopped.error instanceof WalletError)
  assert.equal(stopped.error.code, 'rejected')
  assert.deepEqual(
    bought.map(({ payment }) => payment.status),
    ['minted', 'minted'],
  )
  assert.deepEqual([asked.length, (await nodes()).length], [3, 2])
})

test('after an unclear answer nothing more is sent', async () => {
  const { client, asked } = ownOf(12, { 2: LOST })
  const { txHashes, stopped } = await sendPayments(ledger, client, { tier: 'basic', quantity: 3 })
  assert.deepEqual([txHashes.length, stopped?.number, asked.length], [1, 2, 2])
  assert.ok(!(stopped?.error instanceof WalletError))
})

test('if the first is not sent, the order throws', async () => {
  const { client, asked } = ownOf(12, { 1: REFUSAL })
  const order = sendPayments(ledger, client, { tier: 'basic', quantity: 3 })
  await assert.rejects(order, (error) => error instanceof WalletError && error.code === 'rejected')
  assert.equal(asked.length, 1)
})

test('the client repeats quote and checks before each payment, and counts its own transfers', async () => {
  const { client, asked } = ownOf(13)
  const quote = await ledger.getDeployQuote('basic')
  const checked = await ledger.canBuy(client.account.address, 'basic')
  /** The ledger's answers from the second on: at another price, or with one place left. */
  const changing = (priceWei: bigint, left: number) => {
    let [quotes, checks] = [0, 0]
    const withLeft = checked.checks.map((check) => (check.check === 'allowance' ? { ...check, limit: left } : check))
    return {
      ...ledger,
      getDeployQuote: async () => (++quotes > 1 ? { ...quote, priceWei } : quote),
      canBuy: async () => (++checks > 1 ? { ...checked, checks: withLeft } : checked),
    }
  }
  const stoppedBy = async (priceWei: bigint, left: number) => {
    const { txHashes, stopped } = await sendPayments(changing(priceWei, left), client, { tier: 'basic', quantity: 2 })
    assert.deepEqual([txHashes.length, stopped?.number], [1, 2])
    return stopped?.error instanceof WalletError && stopped.error.code
  }
  assert.equal(await stoppedBy(quote.priceWei + 1n, 10), 'priceChanged')
  // One is left, and the first transfer takes it.
  assert.equal(await stoppedBy(quote.priceWei, 1), 'tooMany')
  assert.equal(asked.length, 2)
  const { stopped } = await sendPayments(changing(quote.priceWei, 2), client, { tier: 'basic', quantity: 2 })
  assert.equal(stopped, null)
})

test('while others pay for the last nodes, nothing is sent unless the buyer accepts that', async () => {
  const { client, asked } = ownOf(15)
  const checked = await ledger.canBuy(client.account.address, 'basic')
  const supply = { check: 'supply', passes: null, limit: 9, sold: 8, reserved: 1 } as const
  const taken = { ...ledger, canBuy: async () => ({ ...checked, canBuy: null, checks: [...checked.checks, supply] }) }
  const held = (error: unknown) => error instanceof WalletError && error.checks.some(({ check }) => check === 'supply')
  const order = { tier: 'basic', quantity: 1 }
  await assert.rejects(sendPayments(taken, client, order, { acceptHold: true }), held)
  await assert.rejects(buy(taken, client, 'basic'), held)
  assert.deepEqual(asked, [])
  const { txHashes } = await sendPayments(taken, client, order, { acceptTaken: true })
  assert.equal(txHashes.length, 1)
  const two = sendPayments(taken, client, { tier: 'basic', quantity: 2 }, { acceptTaken: true })
  await assert.rejects(two, (error) => error instanceof WalletError && error.code === 'tooMany')
})

test('the client sends no transfer beyond the wallet’s allowance, or that would be held', async () => {
  const { client, asked } = ownOf(14)
  const order = (tier: string, quantity: number) => sendPayments(ledger, client, { tier, quantity })
  const isOf = (code: string) => (error: unknown) => error instanceof WalletError && error.code === code
  await assert.rejects(order('basic', 11), isOf('tooMany'))
  await assert.rejects(order('founder', 2), (error) => {
    assert.ok(isOf('wouldBeHeld')(error))
    return (error as WalletError).checks.some(({ check }) => check === 'holding')
  })
  assert.deepEqual(asked, [])
})
