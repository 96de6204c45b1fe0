// What src/chain/prove/account-proof proves of accounts and words, and what the second reading does: over tries of the kept library, with proofs that
// were altered, and with nodes that a liar made up together with the root.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMerkleProof, createMPT, verifyMerkleProof } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { getBytes, hexlify, keccak256 } from 'ethers'
import fc from 'fast-check'
import { provenAccount, provenWord } from '../../../src/chain/prove/account-proof.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { type Account, accountBy, NO_CODE, NO_ROOT, wordBy } from '../../models/proofs/accounts.ts'
import { type Hex, numberBytes } from '../../models/proofs/items.ts'
import { cases, randomBelow } from '../../support/property.ts'
import { bytesIn, type Item, madeLeaf, madeProofs } from './made-proofs.ts'
import { type Dice, one } from './mutate.ts'

interface Proof {
  root: Hex
  of: Hex
  nodes: Hex[]
}
const hex = (bytes: Uint8Array) => hexlify(bytes) as Hex
const keyOf = (of: Hex) => getBytes(keccak256(of))
/** Slots whose digests begin with the same eight digits, so that their nodes stand in their parents. */
const NEAR = [3_539_737, 6_641_523, 10_922_723].map((slot) => hex(wordOf(BigInt(slot))))

function wordOf(value: bigint): Uint8Array {
  return getBytes(`0x${value.toString(16).padStart(64, '0')}`)
}
const bytesOf = (dice: Dice, length: number) => Uint8Array.from({ length }, () => dice(256))

/** The bytes of an account, sometimes as no chain has it. */
function accountBytes(dice: Dice): Uint8Array {
  const number = () => one(dice, [0n, 1n, 300n, 2n ** 53n + 1n, 2n ** 64n, 2n ** 256n, BigInt(dice(2 ** 30)) ** 3n])
  const usual: Item[] = [
    numberBytes(BigInt(dice(300))),
    numberBytes(BigInt(dice(2 ** 30)) ** 8n),
    getBytes(NO_ROOT),
    getBytes(NO_CODE),
  ]
  if (dice(3) > 0) return RLP.encode(usual)
  const odd: Item = one(dice, [numberBytes(number()), bytesOf(dice, dice(40)), [], [bytesOf(dice, 3)]])
  if (dice(4) === 0)
    return one(dice, [
      RLP.encode(usual.slice(0, dice(4))),
      RLP.encode([...usual, odd]),
      RLP.encode(odd),
      bytesOf(dice, dice(9)),
    ])
  return RLP.encode(usual.with(dice(4), odd))
}
const wordBytes = (dice: Dice) =>
  dice(5) > 0
    ? RLP.encode(numberBytes(BigInt(1 + dice(600)) ** BigInt(1 + dice(12))))
    : one(dice, [RLP.encode(bytesOf(dice, dice(40))), RLP.encode([bytesOf(dice, 2)]), bytesOf(dice, 3)])

/** Proofs of a few accounts or words of one trie, there or not. */
async function proofsOf(dice: Dice, { keys, value }: { keys: Hex[]; value: () => Uint8Array }): Promise<Proof[]> {
  const trie = await createMPT()
  for (const of of dice(9) === 0 ? [] : keys.slice(dice(2))) await trie.put(keyOf(of), value())
  const proofs: Proof[] = []
  for (const of of keys.slice(0, 3))
    proofs.push({ root: hex(trie.root()), of, nodes: (await createMerkleProof(trie, keyOf(of))).map(hex) })
  return proofs
}

/** A proof with something altered. Half of the altered nodes are named by their parents again, and by the root. */
function altered(dice: Dice, { root, of, nodes }: Proof, others: readonly Proof[]): Proof {
  if (nodes.length === 0) return { root, of, nodes: [...one(dice, others).nodes] }
  const at = dice(nodes.length)
  const node = nodes[at] as Hex
  const other = one(dice, others)
  return one<() => Proof>(dice, [
    () => ({ root, of, nodes: nodes.toSpliced(at, 1) }),
    () => ({ root, of, nodes: nodes.toSpliced(at, 0, node) }),
    () => ({ root, of, nodes: nodes.with(at, other.nodes.at(-1) ?? node) }),
    () => ({ root, of, nodes: nodes.with(at, one(dice, nodes)).with(0, node) }),
    () => ({ root, of, nodes: [...nodes, other.nodes.at(-1) ?? node] }),
    () => ({ root, of: other.of, nodes }),
    () => ({ root: other.root, of, nodes }),
    () => ({ root, of, nodes: nodes.with(at, `0x${node.slice(2).toUpperCase()}`) }),
    () => ({
      root,
      of,
      nodes: nodes
        .with(at, `${node.slice(0, 4 + dice(node.length - 4))}` as Hex)
        .filter((each) => each.length % 2 === 0),
    }),
    ...Array.from({ length: 8 }, () => () => linked(dice, { root, of, nodes }, at)),
  ])()
}

/** A proof in which one node has another item, and each parent names its child. */
function linked(dice: Dice, { root, of, nodes }: Proof, at: number): Proof {
  const made = [...nodes]
  let name = keccak256(made[at] as Hex).slice(2)
  made[at] = otherNode(dice, made[at] as Hex)
  for (let above = at - 1; above >= 0; above--) {
    const parent = made[above] as Hex
    const next = parent.replace(name, keccak256(made[above + 1] as Hex).slice(2)) as Hex
    // A node that its parent holds has no name there.
    if (next === parent) return { root, of, nodes: made }
    name = keccak256(parent).slice(2)
    made[above] = next
  }
  return { root: root === NO_ROOT ? root : (keccak256(made[0] as Hex) as Hex), of, nodes: made }
}

function otherNode(dice: Dice, node: Hex): Hex {
  let items: Item
  try {
    items = RLP.decode(getBytes(node)) as Item
  } catch {
    return node
  }
  if (!Array.isArray(items) || items.length === 0) return node
  const at = items.length === 2 && dice(3) === 0 ? 0 : dice(2) === 0 ? items.length - 1 : dice(items.length)
  const item = items[at] as Item
  const flipped =
    item instanceof Uint8Array && item.length > 0
      ? item.with(0, (item[0] as number) ^ (1 << dice(8)))
      : new Uint8Array([dice(256)])
  const path = one(dice, [[0x00], [0x20], [0x10], [0x0f], [0x40], [0x2f, 1], [0x31], [0x12, 0], [0x82, 1]])
  const paths = items.length === 2 && dice(3) === 0 ? [Uint8Array.from(path)] : []
  const odd = [flipped, flipped, bytesOf(dice, dice(40)), bytesOf(dice, 32), [], [item, item], new Uint8Array()]
  const other = one<Item>(dice, paths.length > 0 ? paths : odd)
  const bytes = hex(RLP.encode(dice(6) === 0 ? items.toSpliced(at, 1) : items.with(at, other)))
  return one(dice, [
    bytes,
    bytes,
    bytes,
    bytes,
    `${bytes}00`,
    `0x${bytes.slice(4)}`,
    `${bytes}${bytes.slice(2)}`,
  ]) as Hex
}

/** What a reading returns; null if it throws the fault that it may throw. */
function orFault<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof ChainFault && error.retryable && /proof$/.test(error.message)) return null
    throw error
  }
}

/** What is proven, the kept library proves as well. */
async function compareWithLibrary({ root, of, nodes }: Proof, expected: bigint | Account) {
  const proof = nodes.map((node) => getBytes(node))
  const value = await verifyMerkleProof(keyOf(of), proof, { root: getBytes(root) })
  const item = value === null ? new Uint8Array() : (RLP.decode(value) as Uint8Array | Uint8Array[])
  const number = (bytes: Uint8Array = new Uint8Array()) => BigInt(bytes.length === 0 ? 0 : hex(bytes))
  if (typeof expected === 'bigint') assert.equal(number(item as Uint8Array), expected)
  else assert.equal(value === null ? 0n : number(item[1] as Uint8Array), expected.balance)
}

/** Alters proofs of one trie, and compares each. @returns how many were proven, and how many not. */
async function compare(dice: Dice, isWord: boolean): Promise<{ proven: number; not: number }> {
  const words = [...NEAR, ...Array.from({ length: dice(30) }, (_, slot) => hex(wordOf(BigInt(slot))))]
  const keys = isWord ? words : Array.from({ length: 3 + dice(20) }, () => hex(bytesOf(dice, 20)))
  const proofs = await proofsOf(dice, { keys, value: () => (isWord ? wordBytes(dice) : accountBytes(dice)) })
  const seen = { proven: 0, not: 0 }
  for (let left = 12; left > 0; left--) {
    let proof = one(dice, proofs)
    for (let times = one(dice, [0, 1, 1, 1, 2]); times > 0; times--) proof = altered(dice, proof, proofs)
    seen[(await compareProof(proof, isWord)) ? 'proven' : 'not']++
  }
  return seen
}

async function compareProof(proof: Proof, isWord: boolean): Promise<boolean> {
  const { root, of, nodes } = proof
  const why = JSON.stringify(proof)
  const expected = isWord ? wordBy(root, of, nodes) : accountBy(root, of, nodes)
  if (isWord) {
    assert.equal(
      orFault(() => provenWord(root as Hash, of, nodes)),
      expected,
      why,
    )
  } else {
    const found = orFault(() => provenAccount(root as Hash, of as Address, nodes))
    const account = expected as Account | null
    const said = account && {
      nonce: Number(account.nonce),
      balanceWei: account.balance,
      hasCode: account.codeHash !== NO_CODE,
    }
    assert.deepEqual(found, account && { ...said, codeHash: account.codeHash, storageRoot: account.storageRoot }, why)
  }
  if (expected !== null && nodes.length > 0 && root !== NO_ROOT) await compareWithLibrary(proof, expected)
  return expected !== null
}

for (const isWord of [false, true])
  test(`${isWord ? 'a word' : 'an account'} is proven by the code as the second reading proves it`, async () => {
    const all = { proven: 0, not: 0 }
    const property = fc.asyncProperty(fc.integer(), async (seed) => {
      const seen = await compare(randomBelow(seed), isWord)
      all.proven += seen.proven
      all.not += seen.not
    })
    await fc.assert(property, { numRuns: cases(20) })
    if (all.proven + all.not >= 200)
      assert.ok(all.proven * 5 > all.not && all.not * 5 > all.proven, JSON.stringify(all))
  })

const NUMBERS = [
  ...['', '00', '0001', '01', '7f', '80', '0100', '1fffffffffffff', '20000000000000'],
  ...['ff'.repeat(32), `01${'00'.repeat(32)}`],
].map(bytesIn)
const ACCOUNT: readonly Item[] = [bytesIn('01'), bytesIn('02'), getBytes(NO_ROOT), getBytes(NO_CODE)]
const HASHES = [31, 32, 33].map((length) => new Uint8Array(length).fill(7))
const ACCOUNTS: readonly Item[] = [
  ...[[...ACCOUNT], ACCOUNT.slice(0, 3), [...ACCOUNT, bytesIn('01')], bytesIn('01'), []],
  ...[...NUMBERS, ...HASHES, [], [bytesIn('01')]].flatMap((item) => ACCOUNT.map((_, at) => ACCOUNT.with(at, item))),
]
const WORDS: readonly Item[] = [...NUMBERS, [], [bytesIn('01')]]

for (const isWord of [false, true])
  test(`every kind of node proves ${isWord ? 'a word' : 'an account'} as in the second reading`, async () => {
    const of = isWord ? (NEAR[0] as Hex) : (`0x${'ab'.repeat(20)}` as Hex)
    const key = hex(keyOf(of)).slice(2)
    const [usual] = isWord ? [bytesIn('07')] : ACCOUNTS
    const values = (isWord ? WORDS : ACCOUNTS).map((value) => RLP.encode(value))
    const odd = [...values.map((bytes) => Uint8Array.of(...bytes, 0)), ...values.map((bytes) => bytes.slice(0, -1))]
    const proofs = [...values, ...odd].map((bytes) => madeLeaf(key, bytes))
    let provenCount = 0
    for (const proof of [...proofs, ...madeProofs(key, RLP.encode(usual as Item))])
      if (await compareProof({ ...proof, of }, isWord)) provenCount++
    assert.ok(provenCount > 20, `${provenCount}`)
  })
