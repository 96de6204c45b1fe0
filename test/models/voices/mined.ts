// When a transaction counts as mined, as a second reading of docs/ARCHITECTURE.md (Proof of blocks; Finality) and the port's words: transaction, receipt and header
// must be of one block, or it is not known how it ended. Of several providers two must say the same of all of it.

/** A provider's chain at some moment: where the transaction is in it, and what of it the provider has. */
export interface Moment {
  /** Null: the transaction is not there. `block` null: it is pending. */
  tx: { block: { number: number; fork: string } | null; index: number; valueWei: bigint; to: string | null } | null
  /** How it ended in that block; null: there is no receipt, or a part of it is missing. */
  ended: 'well' | 'badly' | 'tooLarge' | null
  /** Whether the provider has the header of the block, or still another fork's. */
  header: 'own' | 'other' | 'none'
}
/** A provider that answers three questions, one after the other. `change`: before which of them its chain becomes another. */
export interface Provider {
  before: Moment
  after: Moment
  change: number
  /** The question that it does not answer, or answers with another transaction's; 3: it answers all. */
  fails: number
}
export interface View {
  block: { number: number; fork: string } | null
  index: number
  valueWei: bigint
  to: string | null
  succeeded: boolean | null
}

const at = ({ before, after, change }: Provider, question: number): Moment => (question < change ? before : after)
const isSame = (a: Moment, b: Moment) =>
  a.tx?.block != null &&
  b.tx?.block != null &&
  a.tx.block.number === b.tx.block.number &&
  a.tx.block.fork === b.tx.block.fork

/** What one provider says of it. */
export function view(provider: Provider): View | null | 'fault' {
  const [first, second] = [at(provider, 0), at(provider, 1)]
  if (provider.fails === 0) return 'fault'
  if (first.tx === null) return null
  const said = { ...first.tx, succeeded: null }
  if (first.tx.block === null) return said
  if (provider.fails === 1) return 'fault'
  if (!isSame(first, second) || second.ended === null || second.ended === 'tooLarge') return said
  return { ...said, succeeded: second.ended === 'well' }
}

/** As mined, with the fork whose header has its time; null if it is not, or not known to be. */
export function mined(provider: Provider): View | null | 'fault' {
  const found = view(provider)
  if (found === null || found === 'fault' || found.block === null || found.succeeded === null)
    return found === 'fault' ? found : null
  if (provider.fails === 2) return 'fault'
  const third = at(provider, 2)
  return third.header === 'own' && isSame(at(provider, 0), third) ? found : null
}

const textOf = (one: View) =>
  [one.block?.number, one.block?.fork, one.index, one.valueWei, one.to, one.succeeded].join(' ')

/** As all providers together say it. It is a fault only if none of them answers. */
export function agreed(providers: Provider[]): View | null | 'fault' {
  const said = providers.map(mined)
  if (said.every((one) => one === 'fault')) return 'fault'
  const heard = said.filter((one) => one !== null && one !== 'fault')
  const votes = heard.map((one) => heard.filter((other) => textOf(other) === textOf(one)).length)
  const most = Math.max(0, ...votes)
  if (most < Math.min(2, providers.length)) return null
  const first = heard[votes.indexOf(most)] as View
  return heard.some((other, n) => votes[n] === most && textOf(other) !== textOf(first)) ? null : first
}
