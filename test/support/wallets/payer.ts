// Buyers beyond the chain's own accounts, as many as a test needs. Each has a key, which signs their one transaction.
import { privateKeyToAccount } from 'viem/accounts'
import type { Hex, TestChain } from '../anvil.ts'

const ETHER = 10n ** 18n
/** Base of the payers' keys: an arbitrary number, far from all other keys of a test. */
const KEYS = 0xb0b0n << 128n
/** Above any base fee that a test reaches. */
const FEES = { maxFeePerGas: 100n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n }
const TRANSFER_GAS = 21_000n

const payerOf = (number: number) => privateKeyToAccount(`0x${(KEYS + BigInt(number)).toString(16).padStart(64, '0')}`)

/** Gives payer `number` ether for the transaction. The head's header does not prove that state, but the next block's does. */
export const fundPayer = (chain: TestChain, number: number, value: bigint): Promise<void> =>
  chain.setBalance(payerOf(number).address, value + ETHER)

/** Gives payer `number` the ether and makes them send it. @returns the transaction's hash; no block has it yet. */
export async function payFrom(
  chain: TestChain,
  number: number,
  { to, value }: { to: string; value: bigint },
): Promise<Hex> {
  await fundPayer(chain, number, value)
  return payFunded(chain, number, { to, value })
}

/** Makes payer `number`, who has the ether, send it. @returns the transaction's hash; no block has it yet. */
export async function payFunded(
  chain: TestChain,
  number: number,
  { to, value }: { to: string; value: bigint },
): Promise<Hex> {
  const payer = payerOf(number)
  const fields = { type: 'eip1559', chainId: chain.chainId, nonce: 0, gas: TRANSFER_GAS, ...FEES } as const
  return chain.rpc('eth_sendRawTransaction', [await payer.signTransaction({ ...fields, to: to as Hex, value })])
}
