// Answers of the methods: the shapes of the OpenAPI document with amounts as bigint, times as Date and addresses and hashes
// as viem writes them. The document is the source; nothing is written twice here.
import type { components } from './schema.ts'

type Schemas = components['schemas']

/** An address or a hash: `0x` and lower-case hex. */
export type Hex = `0x${string}`

type AmountKey = `${string}Wei`
type TimeKey = `${string}At` | 'due' | 'since'
type HexKey = 'owner' | 'from' | 'seed' | 'holdingToken' | 'address' | `${string}Address` | 'txHash' | `${string}TxHash`

/** `null` stays `null`: it means "could not be checked", never zero. */
type Field<Key, Value> = Key extends AmountKey
  ? Swap<Value, bigint>
  : Key extends TimeKey
    ? Swap<Value, Date>
    : Key extends HexKey
      ? Swap<Value, Hex>
      : Revived<Value>
type Swap<Value, To> = Value extends string ? To : Value

/** A JSON answer as this client gives it. */
export type Revived<Value> = Value extends readonly (infer Item)[]
  ? Revived<Item>[]
  : Value extends object
    ? { [Key in keyof Value]: Field<Key, Value[Key]> }
    : Value

export interface Stats extends Revived<Schemas['Stats']> {}
export interface Tier extends Revived<Schemas['Tier']> {}
export interface Quote extends Revived<Schemas['Quote']> {}
export interface Cover extends Revived<Schemas['Cover']> {}
export interface Node extends Revived<Schemas['Node']> {}
export interface NodeDetail extends Revived<Schemas['NodeDetail']> {}
export interface ChainNode extends Revived<Schemas['ChainNode']> {}
export interface Credit extends Revived<Schemas['Credit']> {}
export interface Withdrawal extends Revived<Schemas['Withdrawal']> {}
export interface Distribution extends Revived<Schemas['Distribution']> {}
export interface Turn extends Revived<Schemas['Turn']> {}
/** A round's turns one by one. */
export interface SingleTurns extends Revived<Schemas['SingleTurns']> {}
export interface SingleTurn extends Revived<Schemas['SingleTurn']> {}
export interface Payment extends Revived<Schemas['Payment']> {}
export interface Wallet extends Revived<Schemas['Wallet']> {}
export interface Health extends Revived<Schemas['Health']> {}

/** A deployment: its chain, its contract, its payments wallet. */
export interface Deployment {
  chainId: number
  /** A JSON-RPC URL meant for everybody; `null` where the operator offers none. */
  rpcUrl: string | null
  factoryAddress: Hex | null
  paymentAddress: Hex | null
  apiBase: string
  /** True for a demonstration on a chain of its own. */
  embedded: boolean
}

export interface SyncedNodes {
  node: Node
  /** True if this call found a node that the ledger did not have. */
  created: boolean
  /** All nodes of that mint which are the caller's. */
  nodes: Node[]
}
