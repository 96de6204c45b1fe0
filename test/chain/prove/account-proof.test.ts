// Proofs of accounts are as good as the block's state root: a real provider's hold, and no forged one does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createMerkleProof, createMPT } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { hexToBytes, keccak256, numberToHex, toHex } from 'viem'
import { provenAccount, provenWord } from '../../../src/chain/prove/account-proof.ts'
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

test('what a real node proves of an old block is what its state was', async () => {
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

test('no node of a proof can be changed, left out, or taken from another place', async () => {
  const proofs = await Promise.all(asked.map(proofOf))
  const refused = (nodes: readonly Hex[], account: Address, at = root) =>
    assert.throws(() => provenAccount(at, account, nodes), { name: 'ChainFault', kind: 'retryable' })
  for (const [index, { accountProof: nodes }] of proofs.entries()) {
    const account = asked[index] as Address
    for (const [place, node] of nodes.entries()) {
      for (let digit = 2; digit < node.length; digit += 37) {
        const other = `${node.slice(0, digit)}${node[digit] === '0' ? '1' : '0'}${node.slice(digit + 1)}` as Hex
        refused(nodes.with(place, other), account)
      }
      refused(nodes.toSpliced(place, 1), account)
      refused(nodes.toSpliced(place, 0, node), account)
    }
    refused([], account)
    refused([...nodes, nodes[0] as Hex], account)
    refused(nodes, account, keccak256(root) as Hash)
  }
  // A liar may make up a root together with its proof.
  for (const bytes of ['0x', '0xb8', '0xf8ff', '0xc1'] as const)
    refused([bytes], asked[0] as Address, keccak256(bytes) as Hash)
  // A proof cannot show an existing account as absent by another one's path, unless the path ends before they diverge.
  const [sender, recipient] = proofs as [Proof, Proof]
  if (sender.accountProof.at(-1) !== recipient.accountProof.at(-1)) refused(sender.accountProof, asked[1] as Address)
})

test('the trie that tests build proves what a real one would, and what is not in it', () => {
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

/** Slots whose digests begin with the same eight digits; those of the first and the last with the same nine. */
const NEIGHBOURS = [3_539_737, 6_641_523, 10_922_723].map((slot) => numberToHex(slot, { size: 32 }))

/** A storage trie by the kept library: slots as they are hashed, and words of one byte. */
async function storageOf(words: readonly (readonly [slot: Hex, word: number])[]) {
  const trie = await createMPT()
  for (const [slot, word] of words) await trie.put(hexToBytes(keccak256(slot)), RLP.encode(word))
  const proof = async (slot: Hex) =>
    (await createMerkleProof(trie, hexToBytes(keccak256(slot)))).map((node) => toHex(node))
  return { root: toHex(trie.root()) as Hash, proof }
}

test('a word whose node is so small that its parent holds it is proven, and so is one that is not there', async () => {
  const [first, second, third] = NEIGHBOURS as [Hex, Hex, Hex]
  const others = Array.from({ length: 40 }, (_, slot) => [numberToHex(slot, { size: 32 }), slot + 1] as const)
  // With a word of 128 or more the node is too long to be inline.
  for (const [one, two] of [
    [1, 2],
    [1, 200],
    [200, 1],
  ] as const)
    for (const more of [[], others]) {
      const { root, proof } = await storageOf([[first, one], [second, two], ...more])
      for (const [slot, word] of [[first, one], [second, two], [third, 0], ...more] as const)
        assert.equal(provenWord(root, slot, await proof(slot)), BigInt(word))
    }
})

test('a node that its parent holds may be listed once more, as some clients do, or not; and no other one', async () => {
  const [first, second] = NEIGHBOURS as [Hex, Hex, Hex]
  const { root, proof } = await storageOf([
    [first, 1],
    [second, 2],
  ])
  const [nodes, beside] = [await proof(first), (await proof(second)).at(-1) as Hex]
  const [parent, held] = nodes.slice(-2) as [Hex, Hex]
  assert.ok(parent.includes(held.slice(2)), 'the parent holds the leaf')
  assert.equal(provenWord(root, first, nodes), 1n)
  assert.equal(provenWord(root, first, nodes.slice(0, -1)), 1n)
  for (const more of [beside, held, parent])
    assert.throws(() => provenWord(root, first, [...nodes, more]), { name: 'ChainFault', message: /after its end/ })
  assert.throws(() => provenWord(root, first, nodes.with(-1, beside)), { name: 'ChainFault', message: /after its end/ })
})
