// A change by hand on anvil leaves provable all blocks in which something happens.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 } from 'viem'
import { type Hex, startTestChain } from '../../support/anvil.ts'
import { changedInEmptyBlocks } from './by-hand.ts'

test('a manual change is between two empty blocks, and sent transactions stay in the pool', async () => {
  const chain = await startTestChain()
  try {
    const played = changedInEmptyBlocks(chain)
    const [from, to] = [5, 3].map((account) => chain.accounts[account]?.address ?? assert.fail()) as [string, string]
    const pay = () => chain.send({ from, to, value: '0x1', gas: '0x5208' })
    const first = [await pay()]
    await chain.mine()
    const second = [await pay()]
    await played.setBalance(from, 10n ** 18n)
    await played.rpc('anvil_setCode', [to, '0x00'])
    const { number } = await chain.mine()

    const blocks = await Promise.all(Array.from({ length: Number(number) + 1 }, (_, at) => lookAt(at)))
    assert.deepEqual(
      blocks.slice(1).map(({ transactions, isProven }) => [transactions, isProven]),
      [[first, true], ...[false, true, false, true].map((isProven) => [[], isProven]), [second, true]],
    )
    await played.setBalance(to, BigInt(await chain.rpc<Hex>('eth_getBalance', [to, 'latest'])))
    await played.rpc('anvil_setCode', [to, '0x00'])
    assert.equal((await chain.block()).number, number, 'what stands already is no change')
  } finally {
    await chain.stop()
  }

  async function lookAt(number: number) {
    const at = `0x${number.toString(16)}`
    const { stateRoot, transactions } = await chain.rpc<{ stateRoot: Hex; transactions: Hex[] }>(
      'eth_getBlockByNumber',
      [at, false],
    )
    const address = chain.accounts[3]?.address
    const { accountProof } = await chain.rpc<{ accountProof: Hex[] }>('eth_getProof', [address, [], at])
    return { transactions, isProven: keccak256(accountProof[0] ?? '0x') === stateRoot }
  }
})
