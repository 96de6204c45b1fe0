// Deploys contracts on a test chain, in mined transactions, from their authors' published bytecode in npm packages.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type Address, address, type Hash } from '../../../src/domain/units.ts'
import type { Hex, TestChain, TestTransaction } from '../anvil.ts'

export interface Mined {
  txHash: Hash
  /** The address of the created contract. */
  created: Address
  logs: { address: Hex; data: Hex; topics: [Hex, ...Hex[]] }[]
}

/** The bytecode in a package's artifact, by its path below node_modules. */
export function artifact(path: string): { bytecode: Hex; deployedBytecode: Hex } {
  const file = new URL(`../../../node_modules/${path}`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Sends a transaction and mines it. If it reverts, the test fails. */
export async function mined(chain: TestChain, transaction: TestTransaction): Promise<Mined> {
  const txHash = (await chain.send({ gas: '0x800000', ...transaction })) as Hash
  await chain.mine()
  const { status, contractAddress, logs } = await chain.rpc<{ status: Hex; contractAddress: Hex; logs: Mined['logs'] }>(
    'eth_getTransactionReceipt',
    [txHash],
  )
  assert.equal(status, '0x1', `${txHash} failed`)
  return { txHash, created: contractAddress && address(contractAddress), logs }
}
