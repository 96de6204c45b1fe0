// The model's states as a chain commits to them. Balances, nonces and code are in a real trie; the storage of the factory, which the model keeps as
// objects, is a digest of those: another one whenever something in it is.
import { type Hex, keccak256, stringToHex, toHex } from 'viem'
import type { Address } from '../../../src/domain/units.ts'
import { balanceOf, codeAt, nonceOf, type State } from './state.ts'
import { buildStateTrie, EMPTY_ROOT, NO_CODE_HASH, type TrieAccount } from './trie.ts'

/** The root of a state. */
export const stateRootOf = (state: State): Hex => trieOf(state).root

/** What eth_getProof answers of an account. */
export const proofOf = (state: State, address: Address) => proofsOf(state, [address])[0]

/** The same of several at once, which takes as long as one. */
export function proofsOf(state: State, addresses: readonly Address[]) {
  const trie = trieOf(state)
  return addresses.map((address) => {
    const { nonce, balanceWei, storageRoot, codeHash } = accountOf(state, address)
    return {
      ...{ address, nonce: toHex(nonce), balance: toHex(balanceWei), codeHash, storageHash: storageRoot },
      accountProof: trie.proof(address),
      storageProof: [],
    }
  })
}

function trieOf(state: State) {
  const { balances, nonces, codes, factories, tokens } = state
  const known = [balances, nonces, codes, factories, tokens].flatMap((accounts: Map<Address, unknown>) => [
    ...accounts.keys(),
  ])
  return buildStateTrie([...new Set(known)].map((address) => [address, accountOf(state, address)] as const))
}

function accountOf(state: State, address: Address): TrieAccount {
  const code = codeAt(state, address)
  const factory = state.factories.get(address)
  return {
    nonce: nonceOf(state, address),
    balanceWei: balanceOf(state, address),
    storageRoot: factory ? keccak256(stringToHex(JSON.stringify(factory, plain))) : EMPTY_ROOT,
    codeHash: code === '0x' ? NO_CODE_HASH : keccak256(code),
  }
}

function plain(_: string, value: unknown): unknown {
  if (value instanceof Map) return [...value]
  if (value instanceof Set) return [...value]
  return typeof value === 'bigint' ? String(value) : value
}
