// Compares the code of an account that delegates to a contract (EIP-7702) with the code hash of its proven state: such code is the delegate's
// address after three bytes, so that its hash can be recomputed from the address alone.
import type { Address, Hash } from '../../domain/units.ts'
import { hashOf } from './items.ts'
import { compared, type Verdict } from './verdict.ts'

const MARK = Buffer.from('ef0100', 'hex')

/** The hash of the code of an account that delegates to `to`. */
const delegationHash = (to: Address): Hash => hashOf(Buffer.concat([MARK, Buffer.from(to.slice(2), 'hex')]))

/** Whether an account whose proven state has this code hash delegates to `to`. */
export const proveDelegation = (codeHash: Hash, to: Address): Verdict =>
  compared('delegation', codeHash, delegationHash(to))
