// The list of known wallets: its format, that it has no duplicates, and the published code that it rests on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 } from 'viem/utils'
import {
  KNOWN_IMPLEMENTATIONS,
  KNOWN_PROXIES,
  KNOWN_WALLETS_VERSION,
} from '../../../src/domain/payers/known-wallets.ts'

/** The code that LibClone puts around no address: it reads its implementation from the slot of EIP-1967. */
const LIB_CLONE =
  '0x363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3'
/** Kernel 3.1's implementation, and the hash of its accounts' init code as ZeroDev publishes them (@zerodev/sdk, KernelVersionToAddressesMap). */
const KERNEL_3_1 = '0xbac849bb641841b44e965fb01a4bf5f074f84b4d'
const KERNEL_3_1_INIT_CODE_HASH = '0x85d96aa1c9a65886d094915d76ccae85f14027a02c1647dde659f869460f03e6'

test('every entry has the form of its kind and its source', () => {
  assert.ok(Number.isSafeInteger(KNOWN_WALLETS_VERSION) && KNOWN_WALLETS_VERSION > 0)
  for (const { name, codeHash, source } of KNOWN_PROXIES) {
    assert.match(codeHash, /^0x[0-9a-f]{64}$/, name)
    assert.match(source, /^(npm @|[A-Za-z]+\/)/, name)
  }
  for (const { name, version, address, source } of KNOWN_IMPLEMENTATIONS) {
    assert.match(address, /^0x[0-9a-f]{40}$/, `${name} ${version}`)
    assert.match(version, /^\d/, name)
    assert.match(source, /^npm @/, name)
  }
})

test('each proxy looks in its maker’s place, and each maker has its number of implementations', () => {
  assert.deepEqual(
    KNOWN_PROXIES.map(({ name, at }) => `${name}: ${at}`),
    [
      ...['GnosisSafeProxy 1.3.0: slot0', 'SafeProxy 1.4.1: slot0', 'SafeProxy 1.5.0: slot0'],
      ...['LibClone ERC-1967: eip1967', 'NexusProxy 1.2: eip1967', 'Light Account 1 ERC1967Proxy: eip1967'],
    ],
  )
  const counts = new Map<string, number>()
  for (const { name } of KNOWN_IMPLEMENTATIONS) counts.set(name, (counts.get(name) ?? 0) + 1)
  assert.deepEqual(Object.fromEntries(counts), {
    ...{ Safe: 8, 'Coinbase Smart Wallet': 1, Kernel: 7, Nexus: 8, 'Light Account': 4, 'Multi Owner Light Account': 1 },
  })
})

test('nothing is on the list twice', () => {
  const unique = (values: readonly string[]) => assert.equal(new Set(values).size, values.length)
  unique(KNOWN_PROXIES.map(({ codeHash }) => codeHash))
  unique(KNOWN_PROXIES.map(({ name }) => name))
  unique(KNOWN_IMPLEMENTATIONS.map(({ address }) => address))
})

test('each place of an implementation has a proxy that reads it', () => {
  const places = new Set(KNOWN_PROXIES.map(({ at }) => at))
  for (const { name, at } of KNOWN_IMPLEMENTATIONS) assert.ok(places.has(at), name)
})

test('known proxy hashes of Kernel, Coinbase and Light Account 2 match the published code', () => {
  const proxy = KNOWN_PROXIES.find(({ name }) => name === 'LibClone ERC-1967')
  assert.equal(keccak256(LIB_CLONE), proxy?.codeHash)
  const initCode = `0x603d3d8160223d3973${KERNEL_3_1.slice(2)}60095155f3${LIB_CLONE.slice(2)}` as const
  assert.equal(keccak256(initCode), KERNEL_3_1_INIT_CODE_HASH)
})
