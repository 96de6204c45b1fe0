// The figures of metrics, health and doctor, counted from rows in memory, as a second reading of docs/METRICS.md and docs/RUNBOOK.md. Ages are seconds.

export interface Payment {
  state: string
  reason: string | null
  block: number
  age: number
  valueWei: bigint
  succeeded: boolean
  proof: string | null
  updatedAge: number
  refundingAge: number | null
  isWithdrawn: boolean
}
export interface Sent {
  sender: 'minter' | 'distributor' | 'former'
  state: string
  age: number
  attempts: (string | null)[]
}
export interface Ledger {
  headTime: number
  payments: Payment[]
  sent: Sent[]
  audit: { action: string; age: number }[]
  cohorts: { size: number; due: number }[]
  nodes: { isPaid: boolean; isGranted: boolean; isExpelled: boolean }[]
  passes: { name: string; startedAge: number; succeededAge: number | null; error: string | null }[]
  deliveries: { state: string; age: number }[]
  endpoints: { active: boolean; isDisabled: boolean }[]
  books: { dust: number; zero: number }[]
  traces: { asked: number; failed: number; isToday: boolean }[]
  paused: boolean | null
  halted: { reason: string } | null
  stuck: { lasts: boolean } | null
  drifts: number | null
  notSigning: string[]
  lostRoles: string[]
  funds: { role: string; low: boolean; neededWei: bigint }[]
  budget: { nodes: number; cohorts: number; low: string[]; spent: string | null } | null
  identityAge: number
}

const DAY_SEC = 86_400
const oldest = (ages: number[]) => (ages.length === 0 ? 0 : Math.max(...ages))

function countBy<T>(all: T[], nameOf: (one: T) => string | null): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const one of all) {
    const name = nameOf(one)
    if (name !== null) counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** How many acts of these kinds were recorded less than a day ago. */
const ofLastDay = ({ audit }: Ledger, ...actions: string[]) =>
  audit.filter(({ action, age }) => actions.includes(action) && age < DAY_SEC).length

/** Nodes in a cohort with neither payment nor grant. */
const unpaid = ({ nodes }: Ledger) =>
  nodes.filter(({ isPaid, isGranted, isExpelled }) => !isPaid && !isGranted && !isExpelled).length
const nodesOf = (cohorts: Ledger['cohorts']) => cohorts.reduce((sum, { size }) => sum + size, 0)
export const dueNodes = ({ cohorts, headTime }: Ledger) => nodesOf(cohorts.filter(({ due }) => due <= headTime))
export const scheduledNodes = ({ cohorts }: Ledger) => nodesOf(cohorts)

const held = ({ payments }: Ledger) => payments.filter(({ state }) => state === 'held')

/** The oldest held payment is the one of the lowest block. */
function oldestHeld(ledger: Ledger): number {
  const [first] = held(ledger).toSorted((a, b) => a.block - b.block)
  return first?.age ?? 0
}

const refundingAges = (ledger: Ledger) =>
  held(ledger).flatMap(({ reason, refundingAge, isWithdrawn }) =>
    reason === 'refunding' && refundingAge !== null && !isWithdrawn ? [refundingAge] : [],
  )

export type Samples = Record<string, number>

function ofSenders(ledger: Ledger, samples: Samples): void {
  for (const role of ['minter', 'distributor'] as const) {
    const label = `{sender=${role}}`
    const pending = ledger.sent.filter(({ sender, state }) => sender === role && state === 'pending')
    samples[`outbox_pending${label}`] = pending.length
    samples[`outbox_attempts${label}`] = oldest(pending.map(({ attempts }) => attempts.length))
    samples[`outbox_pending_age_seconds${label}`] = oldest(pending.map(({ age }) => age))
    samples[`role_lost${label}`] = Number(ledger.lostRoles.includes(role))
    samples[`signer_down${label}`] = Number(ledger.notSigning.includes(role))
    const funds = ledger.funds.find((one) => one.role === role)
    if (funds === undefined) continue
    samples[`sender_needed_ether${label}`] = Number(funds.neededWei) / 1e18
    samples[`sender_funds_low${label}`] = Number(funds.low)
  }
}

function ofBudget({ budget }: Ledger, samples: Samples): void {
  if (budget === null) return
  for (const what of ['nodes', 'cohorts'] as const) {
    samples[`minter_budget{what=${what}}`] = budget[what]
    samples[`minter_budget_low{what=${what}}`] = Number(budget.low.includes(what))
    samples[`minter_budget_spent{what=${what}}`] = Number(budget.spent === what)
  }
}

const add = (samples: Samples, name: string, counts: Record<string, number>) => {
  for (const [label, count] of Object.entries(counts)) samples[`${name}{${label}}`] = count
}

/** What a scrape shows, without `node_ledger_`. */
export function samplesOf(ledger: Ledger): Samples {
  const open = countBy(ledger.payments, ({ state }) => (['seen', 'accepted', 'minting'].includes(state) ? state : null))
  const pending = ledger.deliveries.filter(({ state }) => state === 'pending')
  const samples: Samples = {
    due_nodes: dueNodes(ledger),
    scheduled_nodes: scheduledNodes(ledger),
    payments_held_oldest_age_seconds: oldestHeld(ledger),
    refund_oldest_age_seconds: oldest(refundingAges(ledger)),
    refund_alarms: ofLastDay(
      ledger,
      ...['mintedThoughRefunding', 'mintedThoughRefunded', 'refundTooEarly'],
      ...['refundOfMinted', 'refundOfOrphaned', 'refundGone'],
    ),
    passes_stuck: Number(ledger.stuck?.lasts ?? false),
    paused: Number(ledger.paused ?? false),
    nodes_unpaid: unpaid(ledger),
    foreign_transactions: ofLastDay(ledger, 'foreignTransaction', 'restored'),
    refs_taken: ofLastDay(ledger, 'refTaken', 'mintedElsewhere'),
    refused_answers: ofLastDay(ledger, 'proofFailed', 'guardRefused'),
    paid_nodes_expelled: ofLastDay(ledger, 'paidNodeExpelled'),
    tier_changes_unfit: ofLastDay(ledger, 'tierUnfit'),
    webhook_pending: pending.length,
    // The event that came first is the oldest.
    webhook_oldest_pending_age_seconds: pending[0]?.age ?? 0,
    webhook_failed: ledger.deliveries.filter(({ state }) => state === 'failed').length,
    webhook_endpoints_disabled: ledger.endpoints.filter(({ active, isDisabled }) => active && isDisabled).length,
  }
  if (ledger.drifts !== null) samples.drift = ledger.drifts
  const byState = { seen: 0, accepted: 0, minting: 0, ...open, held: held(ledger).length }
  for (const [state, count] of Object.entries(byState)) samples[`payments{status=${state}}`] = count
  for (const [reason, count] of Object.entries(countBy(held(ledger), ({ reason }) => reason)))
    samples[`payments_held{reason=${reason}}`] = count
  const sum = (counts: number[]) => counts.reduce((total, one) => total + one, 0)
  const today = ledger.traces.filter(({ isToday }) => isToday)
  add(samples, 'junk_transfers', {
    ...{
      'kind=dust': sum(ledger.books.map(({ dust }) => dust)),
      'kind=zero': sum(ledger.books.map(({ zero }) => zero)),
    },
  })
  add(samples, 'block_traces', {
    'outcome=asked': sum(today.map(({ asked }) => asked)),
    'outcome=failed': sum(today.map(({ failed }) => failed)),
  })
  for (const reason of ['otherChain', 'tooDeep', 'pastFinalized', 'mintedTwice', 'unproven'])
    samples[`halted{reason=${reason}}`] = Number(ledger.halted?.reason === reason)
  for (const { name, succeededAge } of ledger.passes)
    if (succeededAge !== null) samples[`pass_last_success_timestamp_seconds{pass=${name}}`] = -succeededAge
  ofSenders(ledger, samples)
  ofBudget(ledger, samples)
  return samples
}

/** What the health report says. */
export function healthOf(ledger: Ledger) {
  const tick = ledger.passes.find(({ name }) => name === 'credit')
  return {
    secondsSinceLastTick: tick?.startedAge ?? null,
    secondsWithoutSuccess: tick?.succeededAge ?? ledger.identityAge,
    paused: ledger.paused ?? false,
    halted: ledger.halted?.reason ?? null,
    isStuck: ledger.stuck?.lasts ?? false,
    notSigning: ledger.notSigning.toSorted(),
    dueNodes: dueNodes(ledger),
    scheduledNodes: scheduledNodes(ledger),
  }
}

/** What the doctor reads. `ours`: the senders whose keys are set; null means any. */
export function doctorOf(ledger: Ledger, ours: string[] | null) {
  const pending = ledger.sent.filter(({ state, sender }) => state === 'pending' && (ours?.includes(sender) ?? true))
  const isUnfunded = ({ attempts }: Sent) => attempts.at(-1) === 'insufficientFunds'
  const byReason = Object.entries(countBy(held(ledger), ({ reason }) => reason))
  return {
    runs: ledger.passes
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, startedAge, succeededAge, error }) => ({
        ...{ name, error, secondsAgo: startedAge, secondsWithoutSuccess: succeededAge ?? ledger.identityAge },
      })),
    held: byReason
      .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
      .map(([reason, payments]) => ({ reason, payments })),
    trouble: {
      reverted: ledger.sent.filter(({ state, age }) => state === 'reverted' && age < DAY_SEC).length,
      pending: pending.length,
      oldestPendingSec: pending.length === 0 ? null : oldest(pending.map(({ age }) => age)),
      cooldowns: ledger.audit.filter(({ action, age }) => action === 'senderRests' && age < 900).length,
      unfunded: [...new Set(pending.filter(isUnfunded).map(({ sender }) => sender))].sort(),
    },
    thefts: {
      foreign: ledger.audit.filter(({ action, age }) => {
        return ['foreignTransaction', 'restored'].includes(action) && age < 7 * DAY_SEC
      }).length,
      refs: held(ledger).filter(({ reason }) => reason === 'mintedElsewhere').length,
    },
    unproven: ledger.payments.filter(({ state, proof, updatedAge, succeeded, valueWei }) => {
      if (proof !== 'believed' || updatedAge <= 600) return false
      return state === 'accepted' || (state === 'seen' && succeeded && valueWei === 7n)
    }).length,
  }
}
