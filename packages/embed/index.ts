// The embedded PostgreSQL and chain, for a start with nothing configured. No production tree contains them: the service
// loads this file at run time, and only if its settings name no database or no chain (src/boot/embedded.ts).
export { EMBED_CHAIN_ID } from './anvil.ts'
export { EMBED_PARTS, startEmbeddedChain } from './chain.ts'
export { EmbedError } from './errors.ts'
export { lockDataDir } from './lock.ts'
export { startPostgres } from './postgres.ts'
export { findRunning, isChainLeft } from './running.ts'
