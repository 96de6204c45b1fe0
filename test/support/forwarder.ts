// A contract that forwards value, like a Safe, a forwarder or a bundler: the value reaches a wallet by an internal
// call, in a transaction to another address.
import assert from 'node:assert/strict'
import type { Address, Hash } from '../../src/domain/units.ts'
import type { Hex } from './anvil.ts'
import type { World } from './world.ts'

/** Where `putForwarder` puts the code by default. */
export const FORWARDER = '0x00000000000000000000000000000000000f0f0f' as Address

/**
 * Runtime code that forwards the received value to the address in its calldata, with all gas and no data, and succeeds
 * whatever the result: CALL(GAS, CALLDATALOAD(0), CALLVALUE, 0, 0, 0, 0), STOP.
 */
export const FORWARD = '0x6000600060006000346000355af100'

/** The calldata that names the recipient: its address as one word. */
export const forwardTo = (to: Address): Hex => `0x${to.slice(2).padStart(64, '0')}`

/**
 * Runtime code that pays several recipients: while the calldata has words left, CALL(GAS, first word, second word, 0,
 * 0, 0, 0), then the next two. It succeeds whatever the results.
 */
export const SPLIT = '0x60005b368110156022576000600060006000846020013585355af1506040016002565b00'

/** The calldata of such a payment. */
export const splitTo = (...transfers: readonly (readonly [to: Address, valueWei: bigint])[]): Hex =>
  `0x${transfers.map(([to, valueWei]) => forwardTo(to).slice(2) + valueWei.toString(16).padStart(64, '0')).join('')}`

/** Puts the code at an address: an account's own, or the default. */
export async function putForwarder(world: World, at = FORWARDER): Promise<void> {
  await world.chain.rpc('anvil_setCode', [at, FORWARD])
}

/**
 * Pays the payments wallet, or `to`, through the forwarder at `by`, in a mined transaction from account `from`. Returns
 * the transaction and its block. Throws if that failed.
 */
export async function payInside(
  world: World,
  valueWei: bigint,
  { from = 9, by = FORWARDER, to = world.at(3) } = {},
): Promise<{ txHash: Hash; block: number }> {
  const txHash = await world.call(from, by, forwardTo(to), valueWei)
  assert.equal(await world.succeeded(txHash), true)
  return { txHash, block: Number((await world.chain.block()).number) }
}

/** Pays the payments wallet through several forwarders in one block, and follows the block. @returns the transactions, in order. */
export async function payAtOnce(
  world: World,
  ...transfers: (readonly [by: number, valueWei: bigint])[]
): Promise<Hash[]> {
  const sent: Hash[] = []
  for (const [by, valueWei] of transfers)
    sent.push(
      await world.chain.send({
        from: world.at(9),
        to: world.at(by),
        data: forwardTo(world.at(3)),
        gas: '0x200000',
        value: `0x${valueWei.toString(16)}`,
      }),
    )
  await world.settle()
  return sent
}

/** Code that sends this value from its own balance to the address in its calldata. */
export const leakOf = (valueWei: bigint): Hex => `0x5f5f5f5f66${valueWei.toString(16).padStart(14, '0')}5f355af100`

/** Gives the world's passes a provider that traces no blocks, so value from internal calls becomes a residue. Tracing one transaction still works. */
export function traceNothing(world: World): World {
  Object.assign(world.ctx.chain, { blockTransfers: async () => null })
  return world
}

/** Where tests put the code of `splitterOf`. */
export const SPLITTER = '0x0000000000000000000000000000000000000e01' as Address

/** Code that pays the wallet each of these values from its own balance, on any call. */
export const splitterOf = (wallet: Address, values: readonly bigint[]): Hex =>
  `0x${values.map((value) => `5f5f5f5f6b${value.toString(16).padStart(24, '0')}73${wallet.slice(2)}5af150`).join('')}`

/** The ledger's inner transfers and residues, ordered by position; orphaned ones last. */
export const storedInner = (world: World) =>
  world.pool<
    {
      txHash: Hash | null
      innerIndex: number
      from: Address | null
      value: bigint
      block: number | null
      stands: string
    }[]
  >`
    SELECT tx_hash AS "txHash", inner_index AS "innerIndex", from_address AS "from", value_wei AS value, block_number AS block,
      concat_ws(' ', state, reason) AS stands FROM payments WHERE inner_index > 0 OR tx_hash IS NULL
    ORDER BY block_number, tx_index, inner_index, id`

/** Their values, and their states. */
export const innerStands = async (world: World) =>
  (await storedInner(world)).map(({ value, stands }) => [value, stands] as const)
