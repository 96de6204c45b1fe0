// What a line of the table is: what a provider tells, and where it stands. It never plays one.
import type { Address } from '../../src/domain/units.ts'
import type { Rule } from '../chain/false-provider.ts'
import type { TestChain } from '../support/anvil.ts'

/** No line mints so many nodes. */
export const MADE_UP_NODE = 3n

/** What a rule may read: the chain without any provider between, and the accounts of the line. */
export interface Scene {
  chain: TestChain
  /** Another node of the same history, which has blocks of its own from `from` on. */
  fork: TestChain
  factory: Address
  at: (account: number) => Address
  /** The block of the line's business. Before it, both providers tell the truth. */
  from: number
}

/** A provider's answers in a scene. */
export type Told = (scene: Scene) => Rule

/**
 * Where the false provider stands. `first`, `second`: beside an honest one. `both`: two that tell the same. `only`: there is no other. `restart`:
 * asked first, from a restart of the service on. `later`: asked first, and false in the second answer that it could change, alone. `three`: the only
 * one, for three passes. `agreed`, `agreedSecond`: asked first or second, beside an honest one, by a ledger that requires no proofs.
 */
export type Place = 'first' | 'second' | 'both' | 'only' | 'restart' | 'later' | 'three' | 'agreed' | 'agreedSecond'

export const BESIDE: readonly Place[] = ['first']
export const USUAL: readonly Place[] = ['first', 'only']
export const WITHOUT_PROOFS: readonly Place[] = ['agreed', 'agreedSecond']
export const MORE: readonly Place[] = ['first', 'both', 'only']

export interface Line {
  name: string
  tells: Told
  stands: readonly Place[]
  /** False if the ledger uses nothing of what is false. Then no person needs to hear of it while the sale goes on. */
  isTold?: false
  /** True if an only provider that tells it keeps the ledger where it is, and no answer shows that. */
  isUnseen?: true
  /** True if it is a whole history. Beside another, the sale stops above their last common block until they agree, and it is told. */
  isFork?: true
  /** True if a stranger asks the service meanwhile for a node that does not exist (POST /api/nodes/sync). */
  isAskedFor?: true
}
