// The package's main entry. It has no dependency and runs nothing on import.
export {
  type CallOptions,
  type ClientOptions,
  createClient,
  type EventsOptions,
  type LedgerClient,
  type ListOptions,
  type NodeId,
  type TurnsOptions,
} from './client.ts'
export { LedgerError } from './errors.ts'
export { type FollowedPayment, type FollowOptions, followPayment, followPayments } from './follow.ts'
export { type Most, mostOf } from './most.ts'
export type { RetryOptions } from './transport.ts'
export type * from './types.ts'
export { type WatchedWallet, type WatchOptions, watchAddress, watchPayment } from './watch.ts'
