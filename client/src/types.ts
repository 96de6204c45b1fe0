// What the methods return: the shapes of the OpenAPI document, with amounts as bigint, times as Date, and addresses and
// hashes as viem writes them. All types derive from the document, so nothing is written twice.
import type { components } from './schema.ts'

type Schemas = components['schemas']

/** An address or a hash: `0x` and lower-case hex. */
export type Hex = `0x${string}`

type AmountKey = `${string}Wei`
type TimeKey = `${string}At` | 'due' | 'since'
type HexKey =
  | 'owner'
  | 'from'
  | 'seed'
  | 'holdingToken'
  | 'address'
  | 'root'
  | `${string}Address`
  | 'txHash'
  | `${string}TxHash`

/** The revived type of a field. `null` stays `null`, because it means "could not be checked", never zero. */
type Field<Key, Value> = Key extends AmountKey
  ? Swap<Value, bigint>
  : Key extends TimeKey
    ? Swap<Value, Date>
    : Key extends HexKey
      ? Swap<Value, Hex>
      : Revived<Value>
type Swap<Value, To> = Value extends string ? To : Value

/** A JSON answer as this client returns it. */
export type Revived<Value> = Value extends readonly (infer Item)[]
  ? Revived<Item>[]
  : Value extends object
    ? { [Key in keyof Value]: Field<Key, Value[Key]> }
    : Value

export interface Stats extends Revived<Schemas['Stats']> {}
export interface Tier extends Revived<Schemas['Tier']> {}
/** The terms that decide on payments in a block: the tiers' versions and the payments wallets. */
export interface Sale extends Revived<Schemas['Sale']> {}
export interface TierVersion extends Revived<Schemas['TierVersion']> {}
/** The judge's verdict on a payment, with its evidence. */
export interface Verdict extends Revived<Schemas['Verdict']> {}
/** A page of a published allowlist. */
export interface AllowlistPage extends Revived<Schemas['AllowlistPage']> {}
/** How many nodes an allowlist lets a wallet buy. */
export interface Allowlisted extends Revived<Schemas['Allowlisted']> {}
/** A referral code. */
export interface Referral extends Revived<Schemas['Referral']> {}
export interface OwnReferral extends Revived<Schemas['OwnReferral']> {}
/** What the nodes of a tier received. */
export interface Quote extends Revived<Schemas['Quote']> {}
/** Whether a wallet can buy a tier, one check for each rule. */
export interface CanBuy extends Revived<Schemas['CanBuy']> {}
/** One of the checks of {@link CanBuy}. */
export type BuyerCheck = CanBuy['checks'][number]
/** A deployment: its chain, its contract, its payments wallet. */
export interface Deployment extends Revived<Schemas['Deployment']> {}
export interface Cover extends Revived<Schemas['Cover']> {}
export interface Node extends Revived<Schemas['Node']> {}
export interface NodeDetail extends Revived<Schemas['NodeDetail']> {}
export interface ChainNode extends Revived<Schemas['ChainNode']> {}
export interface Credit extends Revived<Schemas['Credit']> {}
export interface Withdrawal extends Revived<Schemas['Withdrawal']> {}
export interface Distribution extends Revived<Schemas['Distribution']> {}
export interface Turn extends Revived<Schemas['Turn']> {}
/** The single turns of a round. */
export interface SingleTurns extends Revived<Schemas['SingleTurns']> {}
export interface SingleTurn extends Revived<Schemas['SingleTurn']> {}
export interface Transaction extends Revived<Schemas['Transaction']> {}
export interface Payment extends Revived<Schemas['Payment']> {}
export interface Wallet extends Revived<Schemas['Wallet']> {}
export interface Health extends Revived<Schemas['Health']> {}

/** A wallet, or the payments of a transaction, to watch. */
export type Watched = { address: string } | { payment: string }

/**
 * An event carries a state, not a change. `current` ends each batch and lists every entry; entries that it omits no
 * longer exist.
 */
export type LedgerEvent =
  | { event: 'payment'; data: Payment; id: null }
  | { event: 'node'; data: Node; id: null }
  | { event: 'current'; data: { payments: Hex[]; nodes: string[] }; id: string }

export interface SyncedNodes {
  node: Node
  /** True if this call found a node that the ledger did not have. */
  created: boolean
  /** All nodes of that mint that the caller owns. */
  nodes: Node[]
}
