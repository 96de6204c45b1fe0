// The statement by double entry, from docs/BOOKS.md (The statement) and the tables of migrations/0001_schema.sql. A journal says which ether moved from
// whom to whom in which block. Each account's lines are read off it twice: by name, and as the difference of its balances. What the ledger cannot know is
// `other`.
//
// Choices in what the document leaves open:
// - Which of two transfers to one recipient in a transaction is a refund does not matter, if their values are equal. If not, it is the one of the
//   recorded value.
// - A transaction that took the nonce of an intent is one by hand, whatever the intent was. If it made a round, its value is the round's.
// - What a wallet sends to itself arrives, and is sent.

export type Party = 'outside' | 'wallet1' | 'wallet2' | 'factory' | 'minter' | 'distributor'
export interface Entry {
  block: number
  from: Party
  to: Party
  wei: bigint
  /** What the payer paid for gas. No account of ours receives it. */
  feeWei: bigint
  /** How the giving account books it; null if the ledger does not watch it, or cannot know. */
  out: string | null
  /** How the receiving account books it. */
  in: string | null
}
export interface Period {
  after: number
  upTo: number
}

const inPeriod = (one: { block: number }, { after, upTo }: Period) => one.block > after && one.block <= upTo

/** The lines of an account: sum and number of entries by name. Fees are lines of their own. */
export function linesOf(journal: Entry[], account: Party, period: Period): Map<string, { count: number; wei: bigint }> {
  const lines = new Map<string, { count: number; wei: bigint }>()
  const book = (what: string, wei: bigint) => {
    const line = lines.get(what) ?? { count: 0, wei: 0n }
    lines.set(what, { count: line.count + 1, wei: line.wei + wei })
  }
  for (const one of journal) {
    if (!inPeriod(one, period)) continue
    const moves = one.wei > 0n
    if (moves && one.to === account && one.in !== null) book(one.in, one.wei)
    if (one.from !== account) continue
    if (moves && one.out !== null) book(one.out, -one.wei)
    if (one.feeWei > 0n) book(account.startsWith('wallet') ? 'fees' : 'gas', -one.feeWei)
  }
  return lines
}

/** By how much the account's balance changed, by what moved. */
export function changeOf(journal: Entry[], account: Party, period: Period): bigint {
  let wei = 0n
  for (const one of journal) {
    if (!inPeriod(one, period)) continue
    if (one.to === account) wei += one.wei
    if (one.from === account) wei -= one.wei + one.feeWei
  }
  return wei
}

/** What of the change no line of the account can have. */
export function otherOf(journal: Entry[], account: Party, period: Period): bigint {
  let wei = 0n
  for (const one of journal) {
    if (!inPeriod(one, period)) continue
    if (one.to === account && one.in === null) wei += one.wei
    if (one.from === account && one.out === null) wei -= one.wei
  }
  return wei
}
