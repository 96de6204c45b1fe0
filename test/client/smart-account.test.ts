// A buyer whose account is a contract buys and withdraws with their own wallet, as anyone does, on the real service and its real chain.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient as createLedgerClient, followPayment } from '../../client/src/index.ts'
import { buy, WalletError, withdraw, withdrawalCall } from '../../client/src/viem/index.ts'
import type { Address } from '../../src/domain/units.ts'
import { SPLIT, splitTo, splitterOf } from '../support/forwarder.ts'
import { type Service, startServiceHere, type WellKnown } from '../support/service.ts'
import { HANGING_MS, until } from '../support/until.ts'
import { putSmartAccount } from './smart-account.ts'

const SAFE = '0x00000000000000000000000000000000000005af'
const OLD_SAFE = '0x0000000000000000000000000000000000001d5a'

let service: Service
let wellKnown: WellKnown
before(async () => {
  service = await startServiceHere({
    CONTRACT_WALLETS: 'all',
    CREDIT_INTERVAL_SEC: '20',
    CREDIT_SLOT_SEC: '10',
  })
  wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
})
after(() => service.stop())

// Both wait for their credit at the same time.
describe('a contract wallet', { concurrency: true }, () => {
  for (const [name, address, speaks, methods] of [
    ['by EIP-5792', SAFE, true, ['wallet_sendCalls', 'wallet_getCallsStatus']],
    [
      'by a plain transaction where its wallet offers no more',
      OLD_SAFE,
      false,
      ['wallet_sendCalls', 'eth_sendTransaction'],
    ],
  ] as const) {
    test(`buys a node and withdraws ${name}`, async () => {
      const ledger = createLedgerClient({ baseUrl: service.url })
      const { client, asked } = await putSmartAccount(wellKnown.rpcUrl, {
        address: address,
        owner: speaks ? 9 : 10,
        speaks,
      })
      const { payment, node, txHash } = await buy(ledger, client, 'basic', { timeoutMs: HANGING_MS })
      assert.equal(payment.status, 'minted')
      assert.equal(node?.owner, address, 'the node belongs to the contract, not to who signed')
      assert.equal(payment.txHash, txHash)
      for (const method of methods) assert.ok(asked.includes(method), `${method} of ${asked}`)

      const id = node?.nodeId ?? assert.fail()
      const { balanceWei } = await until('a credit', async () => {
        const credited = await ledger.getNode(id)
        return credited.balanceWei > 0n && credited
      })
      const { blockNumber } = await withdraw(ledger, client, id, balanceWei)
      assert.ok(blockNumber > 0n)
    })
  }
})

test('a buyer learns before sending if the ledger holds contracts’ payments', async () => {
  const ledger = createLedgerClient({ baseUrl: service.url })
  const quote = await ledger.getDeployQuote('basic')
  assert.equal(quote.contractWallets, 'all')
  const holding = { ...ledger, getDeployQuote: async () => ({ ...quote, contractWallets: 'hold' as const }) }
  const { client, asked } = await putSmartAccount(wellKnown.rpcUrl, { address: SAFE, owner: 9 })
  await assert.rejects(
    buy(holding, client, 'basic'),
    (error) => error instanceof WalletError && error.code === 'contractWallet',
  )
  assert.ok(!asked.some((method) => /send/i.test(method)))
})

test('a wallet that cannot send gets the call to make by hand, also for a withdrawal', async () => {
  const ledger = createLedgerClient({ baseUrl: service.url })
  const { priceWei, paymentAddress, chainId } = await ledger.getDeployQuote('basic')
  const silent = { address: OLD_SAFE, owner: 10, speaks: false, sends: false } as const
  const { client } = await putSmartAccount(wellKnown.rpcUrl, silent)
  const error = await buy(ledger, client, 'basic').catch((thrown: unknown) => thrown)
  assert.ok(error instanceof WalletError)
  assert.deepEqual([error.code, error.call], ['notOffered', { chainId, to: paymentAddress, valueWei: priceWei }])
  const one = await withdrawalCall(ledger, { nodeIds: ['7'], amountWei: 5n }, OLD_SAFE)
  assert.deepEqual([one.chainId, one.to, one.valueWei], [chainId, wellKnown.factoryAddress, 0n])
  assert.equal(
    one.data?.slice(10),
    `${'7'.padStart(64, '0')}${OLD_SAFE.slice(2).padStart(64, '0')}${'5'.padStart(64, '0')}`,
  )
  const all = await withdrawalCall(ledger, { nodeIds: ['7', '8'], amountWei: null }, OLD_SAFE)
  assert.notEqual(all.data?.slice(0, 10), one.data?.slice(0, 10))
})

test('of a transaction in which several pay, each follows its own payment', async () => {
  const ledger = createLedgerClient({ baseUrl: service.url })
  const { priceWei } = await ledger.getDeployQuote('basic')
  const { client } = await putSmartAccount(wellKnown.rpcUrl, { address: SAFE, owner: 11 })
  const ask = (method: string, params: unknown) => client.request({ method, params } as never) as Promise<`0x${string}`>
  const [batch, first, second] = ['0xba01', '0xba02', '0xba03'].map(
    (text) => `0x${text.slice(2).padStart(40, '0')}` as Address,
  ) as [Address, Address, Address]
  const pays = splitterOf(wellKnown.paymentAddress as Address, [priceWei])
  for (const [at, code] of [
    [batch, SPLIT],
    [first, pays],
    [second, pays],
  ] as const) {
    await ask('anvil_setCode', [at, code])
    await ask('anvil_setBalance', [at, '0xde0b6b3a7640000'])
  }
  await ask('anvil_mine', ['0x1'])
  const txHash = await ask('eth_sendTransaction', [{ to: batch, data: splitTo([first, 0n], [second, 0n]) }])
  for (const from of [second, first]) {
    const { node } = await followPayment(ledger, txHash, { from })
    assert.equal(node?.owner, from)
  }
})
