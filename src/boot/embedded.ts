// Loads the embedded PostgreSQL and the embedded chain (packages/embed). Production installations do not contain them, so nothing may import them
// statically.
import { existsSync } from 'node:fs'
import { KnownError } from '../lib/errors.ts'

export type Embedded = typeof import('../../packages/embed/index.ts')

/** Loads both. If this installation does not contain them, throws a KnownError that names the settings to set instead. */
export async function loadEmbedded(): Promise<Embedded> {
  if (existsSync(new URL('../../packages/embed', import.meta.url))) return await import('../../packages/embed/index.ts')
  throw new KnownError(
    'refused',
    'This installation has no embedded PostgreSQL and no embedded chain. Set DATABASE_URL, RPC_URL and FACTORY_ADDRESS.',
  )
}
