// What a run tells of the contract, by docs/ARCHITECTURE.md (reconcile), docs/ADMIN.md (Budget) and docs/RUNBOOK.md (drift, budgetLow, budgetSpent): a
// difference is on record for as long as it is there, and a budget that is low or spent is told when it becomes so.
//
// Choices in what the documents leave open:
// - A run that finds the same differences as the one before reports them, and tells the operator no second time.
// - A budget is read again after five minutes, in every pass while fewer than 100 nodes are left or for 25 blocks after an act of the contract's
//   owner, and at once if a mint found another end of it than the last reading.
// - A budget that is low in another way than before is told again.

export interface Cohort {
  cohort: number
  tierNo: number
  intervalSec: number
  nextDue: number
  size: number
  perNodeWei: bigint
}
export interface Node {
  nodeId: bigint
  owner: string
  creditedWei: bigint
  withdrawnWei: bigint
  cohort: number
}
export interface Side {
  nodes: Node[]
  cohorts: Cohort[]
  round: number
  outstandingWei: bigint
}

/** Every difference between two sides, in one form. */
export function differences(ledger: Side, chain: Side): string[] {
  const found: string[] = []
  const compare = (about: string, ours: object, theirs: object) => {
    for (const [name, value] of Object.entries(ours)) {
      const other = (theirs as Record<string, unknown>)[name]
      if (value !== other) found.push(`${about} ${name} ${value} ${other}`)
    }
  }
  const counters = (side: Side) => ({
    round: side.round,
    outstandingWei: side.outstandingWei,
    nodes: side.nodes.length,
  })
  compare('counter', counters(ledger), counters(chain))
  for (const one of ledger.nodes) {
    const other = chain.nodes.find(({ nodeId }) => nodeId === one.nodeId)
    if (other === undefined) found.push(`node ${one.nodeId} is not on the chain`)
    else compare(`node ${one.nodeId}`, one, other)
  }
  for (const { nodeId } of chain.nodes)
    if (!ledger.nodes.some((one) => one.nodeId === nodeId)) found.push(`node ${nodeId} is not in the ledger`)
  for (const one of ledger.cohorts)
    compare(`cohort ${one.cohort}`, one, chain.cohorts.find(({ cohort }) => cohort === one.cohort) ?? {})
  return found.sort()
}

export interface Budget {
  nodes: number
  cohorts: number
}
export type Spent = 'nodes' | 'cohorts' | null
export interface Known extends Budget {
  spent: Spent
  low: string[]
  soldOut: boolean
}
/** The row of the last reading. */
export interface Reading {
  outcome: object | null
  error: string | null
}
export interface Ledger {
  known: Known | null
  reading: Reading | null
  told: { action: string; detail: Known }[]
  /** How often waiting clients hear that the sale ended or goes on. */
  notices: number
}

/** What a pass changes. `found` is what a mint of the pass found; undefined if it planned none. `budget` is null if no provider tells it. */
export function runBudget(
  ledger: Ledger,
  pass: { budget: Budget | null; found: Spent | undefined; agoSec: number | null; blocksSinceAct: number | null },
  cohortsPerTier: number,
): void {
  const before = ledger.known
  const spent = pass.found === undefined ? (before?.spent ?? null) : pass.found
  const isFresh = pass.agoSec !== null && pass.agoSec < 300 && before !== null && before.nodes >= 100
  const hasActed = pass.blocksSinceAct !== null && pass.blocksSinceAct < 25
  if (isFresh && before.spent === spent && !hasActed) return
  if (pass.budget === null) {
    ledger.reading = { outcome: ledger.reading?.outcome ?? null, error: 'no answer' }
    return
  }
  ledger.reading = { outcome: {}, error: null }
  const { nodes, cohorts } = pass.budget
  const low = [...(nodes === 0 ? ['nodes'] : []), ...(cohorts === 0 || cohorts < cohortsPerTier ? ['cohorts'] : [])]
  const known = { nodes, cohorts, spent, low, soldOut: nodes === 0 || spent !== null }
  const tell = (action: string) => ledger.told.push({ action, detail: known })
  if (low.join() !== (before?.low ?? []).join()) tell(low.length > 0 ? 'budgetLow' : 'budgetRestored')
  if (spent !== null && spent !== before?.spent) tell('budgetSpent')
  if (known.soldOut !== (before?.soldOut ?? false)) ledger.notices += 1
  ledger.known = known
}
