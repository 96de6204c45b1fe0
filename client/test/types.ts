// Only the compiler checks this file: what callers may rely on in the types of the answers.
import type {
  Deployment,
  Distribution,
  LedgerClient,
  Node,
  NodeDetail,
  Payment,
  Tier,
  Turn,
  Wallet,
} from '../src/index.ts'
import type { components } from '../src/schema.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <T extends true>(): T | undefined => undefined

holds<Equal<Tier['priceWei'], bigint>>()
holds<Equal<Tier['holdingToken'], `0x${string}` | null>>()
holds<Equal<Node['priceWei'], bigint | null>>()
holds<Equal<Node['mintedAt'], Date | null>>()
holds<Equal<Node['nodeId'], string>>()
holds<Equal<Node['owner'], `0x${string}`>>()
holds<Equal<NonNullable<NodeDetail['chain']>['creditedWei'], bigint>>()
holds<Equal<NodeDetail['credits'][number]['amountWei'], bigint>>()
holds<Equal<Distribution['turns'][number]['due'], Date>>()
holds<Equal<Turn['seed'], `0x${string}` | null>>()
holds<Equal<Payment['status'], components['schemas']['Payment']['status']>>()
holds<Equal<Payment['txHash'], `0x${string}`>>()
holds<Equal<Deployment['factoryAddress'], `0x${string}` | null>>()
holds<Equal<Wallet['unrecordedNodeIds'], string[] | null>>()
holds<Equal<Awaited<ReturnType<LedgerClient['getPrice']>>, number | null>>()
holds<Equal<Awaited<ReturnType<LedgerClient['getMe']>>, Wallet | null>>()

// A body is one or the other, and the compiler makes callers handle an answer's null.
declare const ledger: LedgerClient
declare const node: Node
// @ts-expect-error: neither hash nor id
ledger.syncNode({})
// @ts-expect-error: may be null
node.priceWei + 1n
// @ts-expect-error: an amount is no number
node.creditedWei + 1
