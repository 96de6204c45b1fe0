// A real node's proofs of accounts hold, and so do those of the trie that tests build. test/chain/fuzz has the forged ones.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { keccak256 } from 'viem'
import { provenAccount } from '../../../src/chain/prove/account-proof.ts'
import { type Address, address, type Hash } from '../../../src/domain/units.ts'
import { buildStateTrie, EMPTY_ROOT, NO_CODE_HASH } from '../../sim/model/trie.ts'
import { type Hex, startTestChain, type TestChain } from '../../support/anvil.ts'

interface Proof {
  nonce: Hex
  balance: Hex
  codeHash: Hex
  storageHash: Hash
  accountProof: Hex[]
}

let chain: TestChain
/** An old block, whose state we query. */
let number: Hex
let root: Hash
/** An account that sent, one that only received, a contract with storage, and one that does not exist. */
let asked: Address[]
before(async () => {
  chain = await startTestChain()
  const [sender, recipient] = chain.accounts.map((account) => address(account.address)) as [Address, Address]
  // SSTORE(0, 1), and a code of one byte.
  const made = await chain.send({ from: sender, data: '0x60016000555f5f5360015ff3', gas: '0x100000' })
  await chain.mine()
  await chain.send({ from: sender, to: recipient, value: '0x7b' })
  const block = await chain.mine(2)
  number = block.number
  root = (block as unknown as { stateRoot: Hash }).stateRoot
  const { contractAddress } = await chain.rpc<{ contractAddress: string }>('eth_getTransactionReceipt', [made])
  asked = [sender, recipient, address(contractAddress), `0x${'ab'.repeat(20)}` as Address]
  await chain.send({ from: sender, to: recipient, value: '0x7b' })
  await chain.mine(3)
})
after(() => chain.stop())

const proofOf = (account: Address) => chain.rpc<Proof>('eth_getProof', [account, [], number])

test('a real node’s proof of an old block matches the state at that block', async () => {
  for (const account of asked) {
    const { accountProof, storageHash } = await proofOf(account)
    const [balance, nonce, code] = await Promise.all(
      ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'].map((method) =>
        chain.rpc<Hex>(method, [account, number]),
      ),
    )
    const proven = provenAccount(root, account, accountProof)
    const codeHash = keccak256(code ?? '0x')
    const says = { nonce: Number(nonce), balanceWei: BigInt(balance ?? 0), hasCode: code !== '0x', codeHash }
    assert.deepEqual(proven, { ...says, storageRoot: storageHash === `0x${'0'.repeat(64)}` ? EMPTY_ROOT : storageHash })
  }
  assert.equal((await chain.rpc<Hex>('eth_getCode', [asked[2], number])).length, 4)
})

test('the tests’ trie proves what a real one would, and what is absent', () => {
  const addresses = Array.from(
    { length: 400 },
    (_, index) => keccak256(`0x${index.toString(16).padStart(4, '0')}`).slice(0, 42) as Address,
  )
  const state = addresses.map(
    (of, index) =>
      [
        of,
        { nonce: index % 3, balanceWei: BigInt(index) ** 9n, storageRoot: EMPTY_ROOT, codeHash: NO_CODE_HASH },
      ] as const,
  )
  for (const size of [1, 2, 17, 300]) {
    const trie = buildStateTrie(state.slice(0, size))
    for (const [index, [of, { nonce, balanceWei }]] of state.entries()) {
      const proven = provenAccount(trie.root as Hash, of, trie.proof(of))
      const there = index < size
      assert.deepEqual([proven.nonce, proven.balanceWei], there ? [nonce, balanceWei] : [0, 0n])
    }
  }
})
