// What `node-ledger init` needs to set up a ledger in a test: answers, and ether for the accounts that it names.
import assert from 'node:assert/strict'
import { callRpc } from '../../packages/embed/rpc.ts'
import { developmentAccount } from '../../src/domain/development.ts'

export const OWNER = developmentAccount(9).address
export const PAYMENTS = developmentAccount(8).address
const AMOUNTS = ['--min-wei', '0.0005ether', '--max-wei', '0.001ether', '--price-wei', '0.01ether']
export const ANSWERS = ['--owner', OWNER, '--payments', PAYMENTS, ...AMOUNTS, '--label', 'First of all']

/** Funds the accounts for which a stopped run wants ether. */
export async function fund(rpcUrl: string, said: string): Promise<void> {
  const accounts = [...said.matchAll(/^ {2}(?:minter|distributor|deployer) +(0x\w{40})/gm)].map(
    ([, account]) => account,
  )
  assert.equal(accounts.length, 3, said)
  for (const account of accounts) await callRpc(rpcUrl, 'anvil_setBalance', [account, '0xde0b6b3a7640000'])
}
