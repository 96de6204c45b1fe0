// When a withdrawal counts as done, on a real chain that the wallet sees through its provider.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWalletClient, custom, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Directory, type OwnWallet, withdraw } from '../../client/src/viem/index.ts'
import { ETHER, INTERVAL_SEC, startWorld, type World } from '../support/world.ts'

const OWNER = 5
const PART_WEI = 1_000n

let world: World
let directory: Directory
before(async () => {
  world = await startWorld()
  await world.settle()
  await world.pay(OWNER, ETHER / 100n)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  const { chainId } = world.chain
  directory = { getWellKnown: async () => ({ chainId, factoryAddress: world.factory }) } as unknown as Directory
})
after(() => world.close())

type Ask = (params: readonly unknown[]) => Promise<unknown>

/** The owner's wallet. It answers these methods itself, and forwards all others to the chain. */
function walletWith(own: Record<string, Ask>): OwnWallet {
  const key = world.chain.accounts[OWNER]?.privateKey ?? assert.fail()
  const ask = (method: string, params: readonly unknown[] = []) =>
    own[method]?.(params) ?? world.chain.rpc(method, params)
  const transport = custom({ request: ({ method, params }) => ask(method, params) })
  return createWalletClient({ account: privateKeyToAccount(key), transport, pollingInterval: 20 })
}

const take = (wallet: OwnWallet) => withdraw(directory, wallet, '1', PART_WEI)
const send: Ask = (params) => world.chain.rpc('eth_sendRawTransaction', params)

test('a withdrawal is done when its receipt comes after its block, and no other block comes', async () => {
  let looks = 0
  const wallet = walletWith({
    eth_sendRawTransaction: async (params) => {
      const hash = await send(params)
      await world.chain.mine()
      return hash
    },
    eth_getTransactionReceipt: async (params) =>
      ++looks < 4 ? null : world.chain.rpc('eth_getTransactionReceipt', params),
  })
  const { txHash, payouts } = await take(wallet)
  assert.equal(payouts[0]?.amountWei, PART_WEI)
  assert.equal(await world.succeeded(txHash as never), true)
})

test('a withdrawal whose owner raises the fee is the transaction that was mined', async () => {
  let sent: Hex | undefined
  const wallet = walletWith({
    eth_sendRawTransaction: async (params) => {
      sent = (await send(params)) as Hex
      return sent
    },
    // The client reads it to learn what would replace it.
    eth_getTransactionByHash: async (params) => {
      const transaction = await world.chain.rpc<Sent>('eth_getTransactionByHash', params)
      await raiseFee(transaction)
      return transaction
    },
  })
  const { txHash, payouts } = await take(wallet)
  assert.notEqual(txHash, sent)
  assert.equal(payouts[0]?.amountWei, PART_WEI)
  assert.equal(await world.succeeded(txHash as never), true)
})

interface Sent {
  nonce: Hex
  to: Hex
  input: Hex
  gas: Hex
  maxFeePerGas: Hex
}

/** Mines the same call at ten times its fee in its place. */
async function raiseFee({ nonce, to, input, gas, maxFeePerGas }: Sent): Promise<void> {
  const fee = `0x${(BigInt(maxFeePerGas) * 10n).toString(16)}`
  const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: fee }
  await world.chain.rpc('eth_sendTransaction', [{ from: world.at(OWNER), nonce, to, data: input, gas, ...fees }])
  await world.chain.mine()
}
