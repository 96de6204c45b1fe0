// Encodes the calls of the contract's owner as transactions for the owner's wallet to sign, each with a readable description. It must never sign or
// send anything. The owner's key is not here, and no code that sends may import this file.
import type { AbiParameterToPrimitiveType } from 'viem'
import { encodeFunctionData, parseAbi } from 'viem/utils'
import type { Address } from '../../domain/units.ts'

const OWNER_ABI = parseAbi([
  'function capTier(uint256 tier, uint256 most)',
  'function setMinter(address newMinter, address former, uint256 nodes, uint256 cohorts)',
  'function refillMinter(address minter, uint256 nodes, uint256 nodesMost, uint256 cohorts, uint256 cohortsMost)',
  'function setDistributor(address newDistributor, address former, uint256 floorGwei, uint256 ceilingGwei)',
  'function setBounds(address distributor, uint256 floorGwei, uint256 ceilingGwei)',
  'function setSwapsAllowance(address distributor, uint256 allowance, uint256 former)',
  'function setInterval(uint256 cohort, uint256 interval)',
  'function addNotOwed(uint256 window, uint256 from, uint256 until)',
  'function endNotOwed(uint256 window, uint256 until)',
  'function expel(bytes32[] refs)',
  'function pause()',
  'function unpause()',
])

type OwnerFunction = (typeof OWNER_ABI)[number]

/** A call that the contract's owner makes: its name and named arguments. */
export type OwnerCall = {
  [One in OwnerFunction as One['name']]: { name: One['name'] } & {
    [Input in One['inputs'][number] as Input['name']]: AbiParameterToPrimitiveType<Input>
  }
}[OwnerFunction['name']]

/** A transaction for the owner's wallet to sign; that wallet is usually a multisig. */
export interface OwnerTransaction {
  /** The factory. */
  to: Address
  valueWei: bigint
  data: `0x${string}`
  /** The call for people to read: its name, and its arguments with their names. */
  call: string
}

/** Encodes a call by the owner to a factory, with the arguments in the contract's order. */
export function ownerTransaction(factory: Address, call: OwnerCall): OwnerTransaction {
  const { name, ...args } = call
  const { inputs } = OWNER_ABI.find((item) => item.name === name) ?? { inputs: [] }
  const values = inputs.map((input) => (args as Record<string, unknown>)[input.name])
  const data = encodeFunctionData({ abi: OWNER_ABI, functionName: name, args: values } as never)
  const argTexts = inputs.map((input, index) => `${input.name}: ${String(values[index])}`)
  return { to: factory, valueWei: 0n, data, call: `${name}(${argTexts.join(', ')})` }
}
