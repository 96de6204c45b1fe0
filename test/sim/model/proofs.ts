// The chain's commitments to the model's states. Balances, nonces and code are in a real trie. The storage of the
// factory and of the token, which the model keeps as objects, is a digest of those, which changes whenever they do.
import { hash } from 'node:crypto'
import type { Address, Hash } from '../../../src/domain/units.ts'
import type { Hex } from '../../support/anvil.ts'
import { fromHex, hashOf } from './encode.ts'
import { balanceOf, codeAt, nonceOf, type State, wordAt } from './state.ts'
import { buildStateTrie, NO_CODE_HASH, type StateTrie, storageTrie, type TrieAccount } from './trie.ts'

interface Sealed {
  state: State
  trie: StateTrie
}

/** The trie of a state derived from another one. Inserts only accounts that changed. */
export function stateTrie(state: State, before: Sealed | null): StateTrie {
  const changed = before && changedAccounts(before.state, state)
  // Deleting from a trie is not worth its code, because accounts hardly ever become empty.
  if (!changed || changed.some((address) => isNothing(state, address)))
    return buildStateTrie(
      knownAccounts(state)
        .filter((address) => !isNothing(state, address))
        .map((address) => [address, accountOf(state, address)]),
    )
  return changed.reduce((trie, address) => trie.put(address, accountOf(state, address)), before.trie)
}

/** The answer of eth_getProof for an account, and for words of its storage. */
export function proofOf({ state, trie }: Sealed, address: Address, slots: readonly Hex[]) {
  const { nonce, balanceWei, storageRoot, codeHash } = accountOf(state, address)
  return {
    address,
    nonce: `0x${nonce.toString(16)}`,
    balance: `0x${balanceWei.toString(16)}`,
    codeHash,
    storageHash: storageRoot,
    accountProof: trie.proof(address),
    storageProof: slots.map((key) => {
      const value = `0x${BigInt(wordAt(state, address, key)).toString(16)}`
      return { key, value, proof: storageTrie(wordsOf(state, address)).proof(key) }
    }),
  }
}

const mapsOf = ({ balances, nonces, codes, factories, tokens }: State): ReadonlyMap<Address, unknown>[] => [
  ...[balances, nonces, codes, factories, tokens],
]

const knownAccounts = (state: State) => [...new Set(mapsOf(state).flatMap((accounts) => [...accounts.keys()]))]

function changedAccounts(before: State, after: State): Address[] {
  const changed = new Set<Address>()
  const earlier = mapsOf(before)
  for (const [at, now] of mapsOf(after).entries()) {
    const then = earlier[at] as ReadonlyMap<Address, unknown>
    for (const [address, value] of now) if (then.get(address) !== value) changed.add(address)
    for (const address of then.keys()) if (!now.has(address)) changed.add(address)
  }
  if (before.slots !== after.slots)
    for (const key of new Set([...before.slots.keys(), ...after.slots.keys()]))
      if (before.slots.get(key) !== after.slots.get(key)) changed.add(key.split(' ')[0] as Address)
  return [...changed].filter((address) => !isNothing(before, address) || !isNothing(after, address))
}

/** An account that no chain stores (EIP-161). */
const isNothing = (state: State, address: Address) =>
  nonceOf(state, address) === 0 && balanceOf(state, address) === 0n && codeAt(state, address) === '0x'

function accountOf(state: State, address: Address): TrieAccount {
  const code = codeAt(state, address)
  const storage = state.factories.get(address) ?? state.tokens.get(address)
  return {
    nonce: nonceOf(state, address),
    balanceWei: balanceOf(state, address),
    storageRoot: storage ? storageRootOf(storage) : storageTrie(wordsOf(state, address)).root,
    codeHash: code === '0x' ? NO_CODE_HASH : hashOf(fromHex(code)),
  }
}

/** Nonzero words of an account's storage, as a test has set them. */
function wordsOf({ slots }: State, address: Address): Map<Hex, Hex> {
  const words = [...slots].map(([key, word]) => [...key.split(' '), word] as [Address, Hex, Hex])
  return new Map(words.filter(([of, , word]) => of === address && BigInt(word) !== 0n).map(([, ...entry]) => entry))
}

const storageRoots = new WeakMap<object, Hash>()

function storageRootOf(storage: object): Hash {
  const root = storageRoots.get(storage) ?? (`0x${hash('sha256', JSON.stringify(storage, plain))}` as Hash)
  storageRoots.set(storage, root)
  return root
}

function plain(_: string, value: unknown): unknown {
  if (value instanceof Map) return [...value]
  if (value instanceof Set) return [...value]
  return typeof value === 'bigint' ? String(value) : value
}
