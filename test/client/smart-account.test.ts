// A buyer whose account is a contract: they buy and withdraw by their own wallet, as anybody does, on the real service and its real chain.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient as createLedgerClient } from '../../client/src/index.ts'
import { buy, WalletError, withdraw } from '../../client/src/viem/index.ts'
import { type Service, startService, type WellKnown } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { putSmartAccount } from './smart-account.ts'

const [SAFE, OLD_SAFE] = [
  '0x00000000000000000000000000000000000005afe',
  '0x0000000000000000000000000000000000001d5afe',
].map((text) => `0x${text.slice(2).padStart(40, '0').slice(-40)}` as const)

let service: Service
let wellKnown: WellKnown
before(async () => {
  service = await startService(temporaryDirectory(), {
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
        address: address as `0x${string}`,
        owner: speaks ? 9 : 10,
        speaks,
      })
      const { payment, node, txHash } = await buy(ledger, client, 'basic', { pollMs: 500, timeoutMs: 60_000 })
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

test('where the ledger holds what contracts pay, the wallet is told before it sends', async () => {
  const ledger = createLedgerClient({ baseUrl: service.url })
  const quote = await ledger.getDeployQuote('basic')
  assert.equal(quote.contractWallets, 'all')
  const holding = { ...ledger, getDeployQuote: async () => ({ ...quote, contractWallets: 'hold' as const }) }
  const { client, asked } = await putSmartAccount(wellKnown.rpcUrl, { address: SAFE as `0x${string}`, owner: 9 })
  await assert.rejects(
    buy(holding, client, 'basic'),
    (error) => error instanceof WalletError && error.code === 'contractWallet',
  )
  assert.ok(!asked.some((method) => /send/i.test(method)))
})
