// The part for React: readings and a purchase as hooks. It has no store and no provider: give each hook your client.
export { type Purchase, type PurchaseHandlers, type PurchaseState, type PurchaseStep, usePurchase } from './purchase.ts'
export { type EveryOptions, useCanBuy, useOwner, usePayment, useQuote, useStats, useTiers } from './readings.ts'
export type { Reading } from './source.ts'
