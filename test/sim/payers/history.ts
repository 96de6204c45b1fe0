// The contracts' part of a conformance history: calls of paying contracts, and the traces of their blocks, by each
// tracing method, as the service reads them.
import { readBlockTransfers } from '../../../src/chain/evidence/trace/block.ts'
import type { RpcReads } from '../../../src/chain/rpc/rpc.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import type { Hex, TestChain } from '../../support/anvil.ts'
import type { Dice } from '../../support/faults/dice.ts'
import { forwardTo, leakOf, splitTo } from '../../support/forwarder.ts'
import { creationOf, endingCode, IMPLEMENTATION_SLOT, payingConstructor } from '../model/contracts.ts'
import type { Payers } from './contracts.ts'

interface Play {
  chain: TestChain
  dice: Dice
  at(account: number): Address
  factory: Address
  payers: Payers
}

export interface PayingCall {
  to: Address | null
  data: Hex
  value: bigint
}

/** Accounts whose transfers we compare, beside the contracts. */
const WATCHED = [3, 5, 6, 7, 8, 9, 10]
const REFUSING_CODE = '0x60006000fd'

/** The wallet's code in a block: mostly none, else one that refuses, or one that sends a little of its own away. */
export function walletCode(dice: Dice): Hex {
  const drawn = dice.roll('wallet code')
  if (drawn < 0.1) return REFUSING_CODE
  return drawn < 0.25 ? leakOf(7n) : '0x'
}

/** A call of a paying contract, of each kind. */
export function payingCall(
  { dice, at, payers }: Play,
  { recipient, amount }: { recipient(): Address; amount(): bigint },
): PayingCall {
  const forwarder = dice.pick('forwarder', [payers.forwarder, payers.other, payers.delegating, payers.known])
  const calls: (() => PayingCall)[] = [
    () => ({ to: forwarder, data: forwardTo(recipient()), value: amount() }),
    () => ({ to: forwarder, data: forwardTo(recipient()), value: amount() }),
    () => {
      const transfers = Array.from({ length: dice.between('split', 0, 4) }, () => [recipient(), amount()] as const)
      const total = transfers.reduce((sum, [, value]) => sum + value, 0n)
      return { to: payers.splitter, data: splitTo(...transfers), value: dice.pick('share', [total, total, total / 2n]) }
    },
    () => ({ to: payers.ending, data: '0x', value: amount() }),
    () => ({ to: null, data: payingConstructor(recipient()), value: amount() }),
    () => ({ to: null, data: endingCode(recipient()), value: amount() }),
    () => ({ to: null, data: creationOf(endingCode(recipient())), value: amount() }),
    () => ({ to: at(3), data: forwardTo(recipient()), value: dice.pick('with', [0n, 0n, amount()]) }),
  ]
  return dice.pick('paying call', calls)()
}

/** A block's inner transfers, and the codes of the contracts. */
export async function lookInside(
  { chain, at, factory, payers }: Play,
  { number, hash, name }: { number: Hex; hash: Hash; name(txHash: Hash): string },
): Promise<unknown> {
  const watched = [...WATCHED.map(at), factory, ...Object.values(payers)]
  const call = async (method: string, params: readonly unknown[]) => ({
    ok: true,
    result: await chain.rpc(method, params),
  })
  const asked = { at: { number: Number(number), hash }, wallets: watched }
  const found = await readBlockTransfers({ call } as unknown as RpcReads, asked)
  const traced = found?.map(({ txHash, txIndex, direction, wallet, index, other, valueWei }) =>
    [name(txHash), txIndex, direction, wallet, index, other, valueWei].join(' '),
  )
  const read = (method: string, ...slot: Hex[]) =>
    Promise.all(Object.values(payers).map((of) => chain.rpc<Hex>(method, [of, ...slot, { blockHash: hash }])))
  return {
    traced: traced ?? 'none',
    codes: await read('eth_getCode'),
    words: await read('eth_getStorageAt', IMPLEMENTATION_SLOT),
  }
}
