// A world whose service uses two providers. A test can make either of them lie.

import { setMode } from '../../src/db/blocks/evidence.ts'
import { inTransaction, type Pool } from '../../src/db/core/sql.ts'
import type { Block, EvidenceMode } from '../../src/domain/observed.ts'
import type { ChainReader } from '../../src/ports/chain.ts'
import { type FalseProvider, startFalseProvider } from '../chain/false-provider.ts'
import { startWorld, type World, type WorldOptions } from './world.ts'

export interface TwoProviders {
  world: World
  first: FalseProvider
  second: FalseProvider
}

/** Starts such a world. Both providers close with it. */
export async function startTwoProviders(options: Omit<WorldOptions, 'between'> = {}): Promise<TwoProviders> {
  const { between, providers } = throughTwo()
  const world = await startWorld({}, { between, ...options })
  const [first, second] = providers as [FalseProvider, FalseProvider]
  return { world, first, second }
}

/** Starts a world whose only provider a test can make lie. The provider closes with it. */
export async function startAlone(): Promise<{ world: World; liar: FalseProvider }> {
  const providers: FalseProvider[] = []
  const between = async (target: string) => {
    const provider = await startFalseProvider(target)
    providers.push(provider)
    return { urls: [provider.url], close: () => provider.close() }
  }
  const world = await startWorld({}, { between })
  const [liar] = providers as [FalseProvider]
  return { world, liar }
}

/**
 * Puts two providers in front of a world's chain, for `startWorld`. The list contains them once the world has started.
 */
export function throughTwo() {
  const providers: FalseProvider[] = []
  const between = async (target: string) => {
    for (let i = 0; i < 2; i++) providers.push(await startFalseProvider(target))
    const close = async () => {
      for (const provider of providers) await provider.close()
    }
    return { urls: providers.map(({ url }) => url), close }
  }
  return { between, providers }
}

/** Asks a world's chain through two providers that both tell the truth, so that what it calls final counts at once. */
export const twice = async (url: string) => ({ urls: [url, url], close: async () => {} })

/** Parts of a reader through which two providers call a block final. */
export const bothCallFinal = ({ providers }: ChainReader, final: Block) => ({
  finalized: async () => ({ ...final, voices: 2 }),
  providers: [...providers, ...providers],
})

/** Sets what the blocks after the cursor are worth. */
export const setModeTo = (pool: Pool, mode: EvidenceMode) =>
  inTransaction(pool, (sql) => setMode(sql, mode, { by: 'test' }))

/** Ends the providers' lies, and deletes their effects. From then on blocks must be proven. */
export async function endLies({ world, first, second }: TwoProviders): Promise<void> {
  for (const provider of [first, second]) provider.rule = () => undefined
  await world.pool`DELETE FROM troubles WHERE name IN ('halted', 'trouble proof', 'trouble halt')`
  await setModeTo(world.pool, 'proven')
}
