// Contract wallets that are known to belong to someone: the code of their proxies and the addresses of their implementations, as published by their
// makers. Behind each is a person with a key, who can withdraw and pass on what the wallet owns. An account counts only if its proxy and its
// implementation are both on the list, because a known proxy may forward to anything. Raise the version with each change, so that waiting payments
// are judged again.
import type { Address, Hash } from '../units.ts'

/** Where a proxy stores its implementation's address: in its own bytes, in the slot of EIP-1967, or in the first slot, as a Safe does. */
export type ImplementationPlace = 'eip1167' | 'eip1967' | 'slot0'

/** The code of a contract and, if it is a proxy, the address to which it would forward. */
export interface ContractCode {
  kind: 'contract'
  codeHash: Hash
  implementation: { at: ImplementationPlace; address: Address } | null
}

/** Stored in the evidence of a verdict. */
export const KNOWN_WALLETS_VERSION = 1

/** The code of a proxy that reads its target from one place in its storage. */
export interface KnownProxy {
  name: string
  codeHash: Hash
  at: ImplementationPlace
  source: string
}

/** An implementation. It has the same address on every chain, because its deployer derives the address from its code (CREATE2). */
export interface KnownImplementation {
  name: string
  version: string
  address: Address
  at: ImplementationPlace
  source: string
}

const SAFE = 'npm @safe-global/safe-deployments 1.37.63'
const ONCHAINKIT = 'npm @coinbase/onchainkit 0.38.19, CB_SW_V1_IMPLEMENTATION_ADDRESS'
const ZERODEV = 'npm @zerodev/sdk 5.5.10, KernelVersionToAddressesMap'
const BICONOMY = 'npm @biconomy/abstractjs 1.2.3, implementationAddress of each version'
const RHINESTONE = 'npm @rhinestone/sdk 1.15.0, accounts/nexus'
const ALCHEMY = 'npm @account-kit/smart-contracts 4.88.5, AccountVersionRegistry'

const hash = (text: string) => text as Hash
const at = (text: string) => text.toLowerCase() as Address

/** The known proxies, by the keccak256 of their runtime code. */
export const KNOWN_PROXIES: readonly KnownProxy[] = [
  {
    name: 'GnosisSafeProxy 1.3.0',
    codeHash: hash('0xb89c1b3bdf2cf8827818646bce9a8f6e372885f8c55e5c07acbd307cb133b000'),
    at: 'slot0',
    source: 'npm @gnosis.pm/safe-contracts 1.3.0, GnosisSafeProxy.json, deployedBytecode',
  },
  {
    name: 'SafeProxy 1.4.1',
    codeHash: hash('0xd7d408ebcd99b2b70be43e20253d6d92a8ea8fab29bd3be7f55b10032331fb4c'),
    at: 'slot0',
    source: 'npm @safe-global/safe-contracts 1.4.1-2, SafeProxy.json, deployedBytecode',
  },
  {
    name: 'SafeProxy 1.5.0',
    codeHash: hash('0x4e381985ca68b3e5d27b4425fa581c19cf33146d3f887a3cfca96f55528ea46f'),
    at: 'slot0',
    source: 'npm @safe-global/safe-smart-account 1.5.0, SafeProxy.json, deployedBytecode',
  },
  {
    name: 'LibClone ERC-1967',
    codeHash: hash('0xaaa52c8cc8a0e3fd27ce756cc6b4e70c51423e9b597b11f32d3e49f8b1fc890d'),
    at: 'eip1967',
    source:
      'Vectorized/solady LibClone.sol; npm @coinbase/onchainkit 0.38.19, CB_SW_PROXY_BYTECODE; the init code hashes of Kernel 3.0 to 3.3 in npm @zerodev/sdk 5.5.10 are made of it',
  },
  {
    name: 'NexusProxy 1.2',
    codeHash: hash('0x37f47513090b87acd09e20f11f5536ac41e0a4403b6d782f4073e3cebfb263ab'),
    at: 'eip1967',
    source: `${RHINESTONE}, the runtime code in NEXUS_CREATION_CODE`,
  },
  {
    name: 'Light Account 1 ERC1967Proxy',
    codeHash: hash('0xb26a7586edc0cc4bfd2e1ed67ec8f0eeb5673658683376175868e1e0d635a21d'),
    at: 'eip1967',
    source:
      'npm @account-kit/smart-contracts 4.88.5, predictLightAccountAddress, the runtime code in LAv1_proxy_bytecode',
  },
]

const safe = (version: string, address: string): KnownImplementation => ({
  name: 'Safe',
  version,
  address: at(address),
  at: 'slot0',
  source: SAFE,
})
const by1967 =
  (name: string, source: string) =>
  (version: string, address: string): KnownImplementation => ({
    name,
    version,
    address: at(address),
    at: 'eip1967',
    source,
  })
const coinbase = by1967('Coinbase Smart Wallet', ONCHAINKIT)
const kernel = by1967('Kernel', ZERODEV)
const nexus = by1967('Nexus', BICONOMY)
const nexusOfRhinestone = by1967('Nexus', RHINESTONE)
const light = by1967('Light Account', ALCHEMY)
const multiOwner = by1967('Multi Owner Light Account', ALCHEMY)

/** The known implementations. Leaves out chains with another virtual machine (zkSync), because their code has other hashes there. */
export const KNOWN_IMPLEMENTATIONS: readonly KnownImplementation[] = [
  safe('1.3.0', '0xd9Db270c1B5E3Bd161E8c8503c55cEABeE709552'),
  safe('1.3.0', '0x69f4D1788e39c87893C980c06EdF4b7f686e2938'),
  safe('1.3.0 L2', '0x3E5c63644E683549055b9Be8653de26E0B4CD36E'),
  safe('1.3.0 L2', '0xfb1bffC9d739B8D520DaF37dF666da4C687191EA'),
  safe('1.4.1', '0x41675C099F32341bf84BFc5382aF534df5C7461a'),
  safe('1.4.1 L2', '0x29fcB43b46531BcA003ddC8FCB67FFE91900C762'),
  safe('1.5.0', '0xFf51A5898e281Db6DfC7855790607438dF2ca44b'),
  safe('1.5.0 L2', '0xEdd160fEBBD92E350D4D398fb636302fccd67C7e'),
  coinbase('1', '0x000100abaad02f1cfC8Bbe32bD5a564817339E72'),
  kernel('2.2', '0x0DA6a956B9488eD4dd761E59f52FDc6c8068E6B5'),
  kernel('2.3', '0xD3F582F6B4814E989Ee8E96bc3175320B5A540ab'),
  kernel('2.4', '0xd3082872F8B06073A021b4602e022d5A070d7cfC'),
  kernel('3.0', '0x94F097E1ebEB4ecA3AAE54cabb08905B239A7D27'),
  kernel('3.1', '0xBAC849bB641841b44E965fB01A4Bf5F074f84b4D'),
  kernel('3.2', '0xD830D15D3dc0C269F3dBAa0F3e8626d33CFdaBe1'),
  kernel('3.3', '0xd6CEDDe84be40893d153Be9d467CD6aD37875b28'),
  nexus('1.0.2', '0x000000aC74357BFEa72BBD0781833631F732cf19'),
  nexus('1.0.2', '0x000000001964d23C59962Fc7A912872EE8fB3b6A'),
  nexus('1.2.0', '0x000000004F43C49e93C970E84001853a70923B03'),
  nexus('1.2.0', '0x00000000383e8cBe298514674Ea60Ee1d1de50ac'),
  nexus('1.3.1', '0x0000000020fe2F30453074aD916eDeB653eC7E9D'),
  nexusOfRhinestone('1.0.0', '0x000000039dfcad030719b07296710f045f0558f7'),
  nexusOfRhinestone('1.2.0', '0x000000000032ddc454c3bdcba80484ad5a798705'),
  nexusOfRhinestone('1.2.1', '0x000000000d41c0bf0063dba53343389cdb2c9c78'),
  light('1.0.1', '0xc1b2fc4197c9187853243e6e4eb5a4af8879a1c0'),
  light('1.0.2', '0x5467b1947F47d0646704EB801E075e72aeAe8113'),
  light('1.1.0', '0xae8c656ad28F2B59a196AB61815C16A0AE1c3cba'),
  light('2.0.0', '0x8E8e658E22B12ada97B402fF0b044D6A325013C7'),
  multiOwner('2.0.0', '0xd2c27F9eE8E4355f71915ffD5568cB3433b6823D'),
]

/** The known wallet that a contract is; null for any other code, and for a known proxy with another implementation. */
export function knownWalletOf({ codeHash, implementation }: ContractCode): KnownImplementation | null {
  if (implementation === null) return null
  const { at: place, address } = implementation
  if (!KNOWN_PROXIES.some((proxy) => proxy.codeHash === codeHash && proxy.at === place)) return null
  return KNOWN_IMPLEMENTATIONS.find((candidate) => candidate.address === address && candidate.at === place) ?? null
}
