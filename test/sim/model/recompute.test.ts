// The blocks of the tests' chain match their hashes, whatever a test does to it. Otherwise nothing could be proven on it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseGwei } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Hex, startSibling, startTestChain, type TestChain } from '../../support/anvil.ts'
import { payFrom } from '../../support/wallets/payer.ts'
import { deployContracts, ETHER } from '../../support/world.ts'
import { soundBlocks, unsound, type WireBlock } from './recompute.ts'

let chain: TestChain
before(async () => {
  chain = await startTestChain()
})
after(() => chain.stop())

const at = (account: number) => chain.accounts[account]?.address as Hex
const tag = (number: number): Hex => `0x${number.toString(16)}`

test('transactions of every type that a development chain signs are in the roots', async () => {
  await deployContracts(chain, 250n)
  const signer = privateKeyToAccount(chain.accounts[6]?.privateKey as Hex)
  const fields = { chainId: chain.chainId, to: at(3), value: 1n, gas: 200_000n }
  const price = { gasPrice: parseGwei('50') }
  const fees = { maxFeePerGas: parseGwei('50'), maxPriorityFeePerGas: 1n }
  const accessList = [{ address: at(3), storageKeys: [`0x${'1'.padStart(64, '0')}` as Hex] }]
  const lent = await signer.signAuthorization({ contractAddress: at(9), chainId: chain.chainId, nonce: 4 })
  const raws = await Promise.all([
    signer.signTransaction({ ...fields, ...price, type: 'legacy', nonce: 0 }),
    signer.signTransaction({ ...fields, ...price, type: 'eip2930', accessList, nonce: 1 }),
    signer.signTransaction({ ...fields, ...fees, type: 'eip1559', accessList, nonce: 2 }),
    signer.signTransaction({ ...fields, ...fees, type: 'eip7702', authorizationList: [lent], nonce: 3 }),
  ])
  for (const raw of raws) await chain.rpc('eth_sendRawTransaction', [raw])
  // One that the chain signs itself, a failed creation, and so many that list keys have two bytes.
  await chain.send({ from: at(5), to: at(3), value: '0x1' })
  await chain.send({ from: at(5), data: '0xfe', gas: '0x100000' })
  for (let payer = 0; payer < 130; payer++) await payFrom(chain, payer, { to: at(3), value: 1n })
  await chain.mine(2)
  const types = (await soundBlocks(chain)).flatMap(({ transactions }) => transactions.map(({ type }) => type))
  assert.deepEqual([...new Set(types)].sort(), ['0x0', '0x1', '0x2', '0x4'])
})

test('so they are after all that a test does to time, fees, accounts and blocks', async () => {
  const first = Number((await chain.block()).number)
  const send = (value: Hex) => chain.send({ from: at(7), to: at(3), value })
  await chain.rpc('anvil_setNextBlockBaseFeePerGas', ['0x12a05f200'])
  await send('0x1')
  await chain.mine(2, 60)
  await chain.increaseTime(1_000)
  await chain.setNextTime(Number((await chain.block()).timestamp) + 5_000)
  await chain.rpc('evm_setBlockGasLimit', ['0x3938700'])
  await chain.setBalance(at(7), 5n * ETHER)
  await chain.rpc('anvil_setCode', [at(9), '0x60006000fd'])
  await chain.rpc('anvil_setStorageAt', [at(9), '0x0', `0x${'2'.padStart(64, '0')}`])
  await chain.rpc('anvil_setNonce', [at(10), '0x9'])
  await chain.rpc('anvil_setCoinbase', [at(11)])
  await send('0x2')
  await chain.mine()
  await chain.rpc('evm_setAutomine', [true])
  await send('0x3')
  await chain.rpc('evm_setAutomine', [false])
  const snapshot = await chain.snapshot()
  await send('0x4')
  await chain.mine(3)
  await chain.revert(snapshot)
  const kept = await send('0x5')
  await chain.mine(2)
  const raw = await chain.rpc<Hex>('eth_getRawTransactionByHash', [kept])
  await chain.reorg(3, [
    [raw, 0],
    [{ from: at(8), to: at(3), value: '0x6', gas: '0x5208' }, 2],
  ])
  await chain.rpc('anvil_rollback', [1])
  await chain.mine(2)
  await soundBlocks(chain, first)
})

test('so they are of a node that took the chain over, before and after', async () => {
  const sibling = await startSibling(chain)
  try {
    await sibling.send({ from: at(7), to: at(3), value: '0x7' })
    await sibling.mine(2)
    await soundBlocks(sibling)
  } finally {
    await sibling.stop()
  }
})

test('a block with anything changed is none of the chain', async () => {
  await payFrom(chain, 200, { to: at(3), value: 5n })
  const { number } = await chain.mine()
  const told = (change: (block: WireBlock) => object) =>
    unsound(
      {
        async rpc<T>(method: string, params: readonly unknown[]) {
          const answer = await chain.rpc<WireBlock>(method, params)
          return (method === 'eth_getBlockByNumber' ? { ...answer, ...change(answer) } : answer) as T
        },
      },
      Number(number),
    )
  const other = `0x${'7'.repeat(64)}`
  for (const field of ['parentHash', 'mixHash', 'stateRoot', 'withdrawalsRoot', 'requestsHash'])
    assert.match((await told(() => ({ [field]: other }))).join(), /^hash: /)
  assert.match((await told(({ timestamp }) => ({ timestamp: tag(Number(timestamp) + 3_600) }))).join(), /^hash: /)
  assert.deepEqual(await told(() => ({})), [])
  const paid = (changes: object) => told(({ transactions: [first] }) => ({ transactions: [{ ...first, ...changes }] }))
  assert.match((await paid({ from: at(5) })).join(), /^sender of transaction 0/)
  assert.match((await paid({ value: '0x6' })).join(), /^transactionsRoot/)
  assert.match((await paid({ hash: other })).join(), /^hash of transaction 0/)
})
