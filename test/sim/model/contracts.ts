// The small contracts of the simulation, identified by their code: those that pay a wallet as contract wallets do. Any
// other code refuses everything. Defines a contract; state.ts has the effects.
import type { Address } from '../../../src/domain/units.ts'
import type { Hex } from '../../support/anvil.ts'
import { FORWARD, SPLIT } from '../../support/forwarder.ts'

/** What a contract does when called. */
export type Contract =
  /** Forwards the received value to the address in its calldata. */
  | { kind: 'forwarder' }
  /** Pays each address in its calldata the value beside it. */
  | { kind: 'splitter' }
  /** Sends an amount of its own to the address in its calldata. */
  | { kind: 'leaking'; amount: bigint }
  /** Destroys itself, and leaves its ether to its heir. */
  | { kind: 'ending'; heir: Address }
  | { kind: 'refusing' }

/** A key's account that delegates to a contract's code (EIP-7702). */
export const DELEGATION = /^0xef0100([0-9a-f]{40})$/

/** The code of a proxy whose implementation is in the slot of EIP-1967 (Solady's LibClone), as the wallets of several makers have it. */
export const PROXY =
  '0x363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3'
export const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

const push20 = (address: Address) => `73${address.slice(2)}`

/** `leakOf` of test/support/forwarder.ts. */
const LEAKING = /^0x5f5f5f5f66([0-9a-f]{14})5f355af100$/

/** SELFDESTRUCT(heir). */
export const endingCode = (heir: Address): Hex => `0x${push20(heir)}ff`
const ENDING = /^0x73([0-9a-f]{40})ff$/

/** Creation code that sends all received value to an address, and leaves no code: CALL(GAS, to, CALLVALUE, 0, 0, 0, 0), STOP. */
export const payingConstructor = (to: Address): Hex => `0x5f5f5f5f34${push20(to)}5af100`
const PAYING = /^0x5f5f5f5f3473([0-9a-f]{40})5af100$/

/** Creation code that leaves a contract: CODECOPY(0, 9, size), RETURN(0, size). */
export const creationOf = (code: Hex): Hex =>
  `0x60${((code.length - 2) / 2).toString(16).padStart(2, '0')}8060095f395ff3${code.slice(2)}`
const CREATION = /^0x60[0-9a-f]{2}8060095f395ff3((?:[0-9a-f]{2})+)$/

/** The behaviour of a code. */
export function contractOf(code: Hex): Contract {
  if (code === FORWARD) return { kind: 'forwarder' }
  if (code === SPLIT) return { kind: 'splitter' }
  const amount = LEAKING.exec(code)?.[1]
  if (amount) return { kind: 'leaking', amount: BigInt(`0x${amount}`) }
  const heir = ENDING.exec(code)?.[1]
  return heir ? { kind: 'ending', heir: `0x${heir}` as Address } : { kind: 'refusing' }
}

/** A constructor's effect besides leaving code. */
export type Creation = { kind: 'code'; code: Hex } | { kind: 'pays'; to: Address } | { kind: 'ends'; heir: Address }

/** The creation of one of these; null for any other. */
export function creationIn(data: Hex): Creation | null {
  const code = CREATION.exec(data)?.[1]
  if (code) return { kind: 'code', code: `0x${code}` }
  const to = PAYING.exec(data)?.[1]
  if (to) return { kind: 'pays', to: `0x${to}` as Address }
  const heir = ENDING.exec(data)?.[1]
  return heir ? { kind: 'ends', heir: `0x${heir}` as Address } : null
}
