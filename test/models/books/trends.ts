// The operator's trends over rows in memory, as a second reading of docs/BOOKS.md (trends) and api/admin.yaml: hours or days in UTC, each with what its blocks
// brought, by the states of now.

export interface Payment {
  time: number
  state: string
  wei: bigint
}
export interface Sent {
  /** Null while it is in no block. */
  time: number | null
  kind: 'mint' | 'openCohorts' | 'credit' | 'foreign'
  sender: string
  hasHash: boolean
  gas: number
  feeWei: bigint
}
export interface Ledger {
  /** When the followed block was made; null before the first. */
  head: number | null
  payments: Payment[]
  nodes: number[]
  rounds: { time: number; nodes: number; wei: bigint }[]
  sent: Sent[]
  minter: string | null
  distributor: string | null
}

/** An account with one role shows it, whatever it sent. */
function purposeOf({ minter, distributor }: Ledger, { sender, kind }: Sent): 'mint' | 'round' | 'other' {
  const roles = [...(sender === minter ? ['mint' as const] : []), ...(sender === distributor ? ['round' as const] : [])]
  if (roles.length === 1 && roles[0]) return roles[0]
  if (kind === 'foreign') return 'other'
  return kind === 'credit' ? 'round' : 'mint'
}

const amounts = (some: { wei: bigint }[]) => ({
  count: some.length,
  valueWei: String(some.reduce((sum, { wei }) => sum + wei, 0n)),
})

export function trends(ledger: Ledger, { hours, by, until }: { hours: number; by: 'hour' | 'day'; until: number }) {
  const length = by === 'hour' ? 3_600 : 86_400
  const first = Math.floor((until - hours * 3_600) / length)
  return Array.from({ length: Math.floor(until / length) - first + 1 }, (_, n) => {
    const begin = (first + n) * length
    const isIn = (time: number | null) => time !== null && time >= begin && time < begin + length
    const paid = (state: string) => amounts(ledger.payments.filter((one) => one.state === state && isIn(one.time)))
    const gas = (purpose: string) => {
      const some = ledger.sent.filter((one) => one.hasHash && isIn(one.time) && purposeOf(ledger, one) === purpose)
      return {
        ...{ transactions: some.length, gasUsed: some.reduce((sum, one) => sum + one.gas, 0) },
        feeWei: String(some.reduce((sum, one) => sum + one.feeWei, 0n)),
      }
    }
    const isReached = ledger.head !== null && begin <= ledger.head
    const found = {
      ...{ sold: paid('minted'), held: paid('held'), refunded: paid('refunded'), dismissed: paid('dismissed') },
      nodes: ledger.nodes.filter(isIn).length,
      rounds: amounts(ledger.rounds.filter(({ time, nodes }) => nodes > 0 && isIn(time))),
      ...{ mintGas: gas('mint'), roundGas: gas('round'), otherGas: gas('other') },
    }
    return { begin, ledger: isReached ? found : null }
  })
}
