// A chain reader without snapshots: each reading is asked for by itself, as of a provider that takes no call without a contract.
import type { ChainReader } from '../../src/chain/port.ts'

export const askedSingly = (chain: ChainReader): ChainReader => ({ ...chain, snapshot: async () => null })
