// What `node-ledger init` needs to set up a ledger in a test: answers, and ether for the accounts that it names.
import assert from 'node:assert/strict'
import { callRpc } from '../../packages/embed/rpc.ts'
import { developmentAccount } from '../../src/domain/development.ts'
import { until } from '../support/until.ts'

/** An account of the development chain, which signs for it. */
const RICH = developmentAccount(0).address
export const OWNER = developmentAccount(9).address
export const PAYMENTS = developmentAccount(8).address
const AMOUNTS = ['--min-wei', '0.0005ether', '--max-wei', '0.001ether', '--price-wei', '0.01ether']
export const ANSWERS = ['--owner', OWNER, '--payments', PAYMENTS, ...AMOUNTS, '--label', 'First of all']

/** Funds the accounts for which a stopped run wants ether. */
export async function fund(rpcUrl: string, said: string): Promise<void> {
  const accounts = [...said.matchAll(/^ {2}(?:minter|distributor|deployer) +(0x\w{40})/gm)].flatMap(
    ([, account]) => account ?? [],
  )
  assert.equal(accounts.length, 3, said)
  await giveEther(rpcUrl, accounts)
}

/**
 * Sends an ether to each account, and waits for the blocks. Never by `anvil_setBalance`: that changes the state of a block that is mined already, so
 * no proof of that block passes, and `doctor` fails if it asks about that very block.
 */
export async function giveEther(rpcUrl: string, accounts: readonly string[]): Promise<void> {
  const sent: unknown[] = []
  // One after the other, because anvil would give two of them the same nonce.
  for (const to of accounts)
    sent.push(await callRpc(rpcUrl, 'eth_sendTransaction', [{ from: RICH, to, value: '0xde0b6b3a7640000' }]))
  for (const hash of sent) await until('the ether arrives', () => callRpc(rpcUrl, 'eth_getTransactionReceipt', [hash]))
}
