// A reorganisation that decides the fate of each removed transaction: kept in the same place, moved to the end,
// dropped, or replaced by another with the same nonce. For the tests and the soak.
import type { Hash } from '../../src/domain/units.ts'
import type { TestTransaction } from '../support/anvil.ts'
import type { World } from '../support/world.ts'

export const FATES = ['kept', 'moved', 'dropped', 'doubleSpent'] as const
export type Fate = (typeof FATES)[number]

interface WireTx {
  hash: Hash
  from: string
  nonce: `0x${string}`
  value: `0x${string}`
}

/** The fate of each removed transaction, by its hash. */
export type Outcome = ReadonlyMap<Hash, Fate>

/**
 * Replaces the last `depth` blocks. Calls `fateOf` once for each sender, because its nonces must stay in order; null
 * leaves its transactions out, as for our own, which the service has to send again. Only a sender's first transaction
 * is replaced; the rest of its transactions go with it.
 */
export async function reorganise(
  world: World,
  depth: number,
  fateOf: (sender: string) => Fate | null,
): Promise<Outcome> {
  const head = Number((await world.chain.block()).number)
  const again: [TestTransaction | Hash, number][] = []
  const fates = new Map<string, Fate | null>()
  const outcome = new Map<Hash, Fate>()
  for (let place = 0; place < depth; place++) {
    const number = `0x${(head - depth + 1 + place).toString(16)}`
    const block = await world.chain.rpc<{ transactions: WireTx[] }>('eth_getBlockByNumber', [number, true])
    for (const { hash, from, nonce, value } of block.transactions) {
      const isFirst = !fates.has(from)
      const fate = isFirst ? fateOf(from) : (fates.get(from) ?? null)
      fates.set(from, fate)
      if (fate === null) continue
      outcome.set(hash, fate)
      if (fate === 'kept') again.push([await world.raw(hash), place])
      if (fate === 'moved') again.push([await world.raw(hash), depth - 1])
      if (fate === 'doubleSpent' && isFirst) again.push([{ from, to: from, value, nonce }, place])
    }
  }
  await world.chain.reorg(depth, again)
  return outcome
}
