// What becomes of payments and transactions by a range of blocks, as a second reading of docs/ARCHITECTURE.md (Sending, Minting), docs/RUNBOOK.md (Held payments and the alerts of
// nodes and keys) and docs/ADMIN.md (Payments): a node minted to the payer in the tier that was paid for is the payment's. The ledger reports everything else that a block shows.
//
// Choices in what the documents leave open:
// - A payment whose ref another node has is held and reported once. One that is already decided keeps its state, and is reported.
// - A skip for a closed cohort or a spent budget changes nothing: the payment waits for the next mint.
// - A cohort is odd if no terms explain it: neither its phase and its interval, nor its phase and an interval that the contract's owner has set. Terms
//   explain what is opened up to an hour after they ended. A cohort from before the first terms were entered is not odd.
// - After a restore it reports no transaction that the outbox lacks, and a judged payment without a tier may have been released in what was lost.

export interface Payment {
  ref: string
  payer: string
  wei: bigint
  succeeded: boolean
  state: string
  reason: string | null
  /** The number of the tier that it bought. */
  tier: number | null
  outbox: number | null
  nodeId: number | null
  /** It comes with the range. */
  isNew: boolean
}
export interface Node {
  nodeId: number
  ref: string
  mintedTo: string
  cohort: number
  isNew: boolean
  isPaid: boolean
  isExpelled: boolean
}
export interface Cohort {
  cohort: number
  tier: number
  intervalSec: number
  openedIntervalSec: number
  firstDue: number
  openedAt: number
}
export interface Terms {
  enteredAt: number
  from: number
  intervalSec: number
  slotSec: number
}
export interface Intent {
  id: number
  kind: string
  sender: string
  nonce: number
  hash: string
  state: string
  minedAs: string | null
}
export interface Sent {
  sender: string
  nonce: number
  hash: string
  succeeded: boolean
}
export interface World {
  payments: Payment[]
  nodes: Node[]
  cohorts: Cohort[]
  /** Oldest first. */
  terms: Terms[]
  intents: Intent[]
  /** The account that the service signs with now. */
  minter: string
  /** Refs of nodes that a person was asked to confirm before. */
  asked: string[]
  sent: Sent[]
  skips: { ref: string; reason: number }[]
  taken: { ref: string; nodeId: number; to: string }[]
  opened: number[]
  set: number[]
  isRestored: boolean
}
export type Told = [action: string, subject: string, detail: object]
export interface Outcome {
  told: Told[]
  verdicts: { ref: string; reason: string }[]
}

const PRICES: Record<number, bigint> = { 1: 10n, 2: 20n }
const DECIDED = ['refunded', 'dismissed', 'ignored']

/** Changes the world as the range does, and says what people hear. */
export function settle(world: World): Outcome {
  const outcome: Outcome = { told: [], verdicts: [] }
  const settled = settleSends(world, outcome)
  adopt(world, outcome)
  for (const cohort of world.cohorts.filter((one) => world.opened.includes(one.cohort) && isOdd(world, one)))
    outcome.told.push([
      'cohortOdd',
      String(cohort.cohort),
      { intervalSec: cohort.intervalSec, firstDue: cohort.firstDue },
    ])
  for (const skip of world.skips) skipOrder(world, outcome, skip)
  for (const { ref, nodeId, to } of world.taken)
    if (world.nodes.find((one) => one.nodeId === nodeId)?.mintedTo !== to)
      outcome.told.push(['refTaken', ref, { nodeId: String(nodeId), to }])
  for (const node of world.nodes)
    if (node.isExpelled && node.isPaid)
      outcome.told.push(['paidNodeExpelled', node.ref, { nodeId: String(node.nodeId) }])
  // A transaction is in a block, and these payments have no node by it.
  for (const payment of world.payments)
    if (payment.state === 'minting' && settled.some(({ id, kind }) => kind === 'mint' && id === payment.outbox))
      Object.assign(payment, { state: 'accepted', reason: null })
  return outcome
}

function settleSends(world: World, { told }: Outcome): Intent[] {
  const { intents, sent, minter, isRestored } = world
  return sent.flatMap((one) => {
    const isOfNonce = ({ sender, nonce }: Intent) => sender === one.sender && nonce === one.nonce
    const intent = intents.find(isOfNonce)
    const isOurs = intents.some(({ hash }) => hash === one.hash)
    if (one.sender === minter && !isOurs) {
      if (!isRestored) told.push(['foreignTransaction', one.hash, {}])
      if (!intent) intents.push({ ...one, id: 0, kind: 'foreign', state: 'displaced', minedAs: one.hash })
    }
    if (!intent) return []
    const state = !isOurs ? 'displaced' : one.succeeded ? 'mined' : 'reverted'
    Object.assign(intent, { state, minedAs: one.hash })
    if (state !== 'mined')
      told.push([state, one.hash, { outboxId: intent.id, kind: intent.kind, state, txHash: one.hash }])
    return [intent]
  })
}

const HOUR_SEC = 3_600

function isOdd({ set, terms }: World, { cohort, openedAt, openedIntervalSec, firstDue }: Cohort): boolean {
  if (openedAt < Math.min(...terms.map(({ enteredAt }) => enteredAt))) return false
  const explaining = terms.filter(({ from, intervalSec, slotSec }, n) => {
    const end = terms[n + 1]?.from ?? Number.POSITIVE_INFINITY
    const isInTime = from <= openedAt && openedAt < end + HOUR_SEC
    return isInTime && firstDue % slotSec === 0 && (set.includes(cohort) || intervalSec === openedIntervalSec)
  })
  return explaining.length === 0
}

/** The refs that the range says something new about. */
function refsOf({ nodes, payments, taken, set }: World): string[] {
  const fresh = nodes.filter((node) => node.isNew || payments.some((one) => one.isNew && one.ref === node.ref))
  const ofCohorts = nodes.filter((node) => set.includes(node.cohort) && !node.isPaid && !node.isExpelled)
  return [...fresh.map(({ ref }) => ref), ...taken.map(({ ref }) => ref), ...ofCohorts.map(({ ref }) => ref)]
}

function adopt(world: World, { told, verdicts }: Outcome): void {
  const refs = refsOf(world)
  for (const node of world.nodes.filter(({ ref }) => refs.includes(ref))) {
    const payment = world.payments.find(({ ref }) => ref === node.ref)
    if (!payment || payment.state === 'minted') continue
    const tier = world.cohorts.find(({ cohort }) => cohort === node.cohort)?.tier ?? 0
    const fits = payment.payer === node.mintedTo ? fitOf(world, payment, node) : 'other'
    const wasDecided = DECIDED.includes(payment.state)
    if (fits === 'other') {
      if (wasDecided && payment.payer === node.mintedTo)
        told.push(['mintedElsewhere', payment.ref, { nodeId: node.nodeId, tierNo: tier }])
      loseRef(payment, { told, verdicts })
      continue
    }
    tellSurprise(payment, told)
    if (fits === 'unknown' && !world.asked.includes(payment.ref))
      told.push(['nodeToConfirm', payment.ref, { nodeId: node.nodeId, tierNo: tier, valueWei: String(payment.wei) }])
    node.isPaid = true
    Object.assign(payment, { state: 'minted', reason: null, tier: payment.tier ?? tier, nodeId: node.nodeId })
  }
}

/** Whether the node is of the tier that was paid for. */
function fitOf(world: World, payment: Payment, node: Node): 'own' | 'other' | 'unknown' {
  const cohort = world.cohorts.find((one) => one.cohort === node.cohort) as Cohort
  if (!payment.succeeded || isOdd(world, cohort)) return 'other'
  if (payment.tier !== null) return payment.tier === cohort.tier ? 'own' : 'other'
  if (payment.wei === PRICES[cohort.tier]) return 'own'
  if (Object.values(PRICES).includes(payment.wei)) return 'other'
  return payment.state === 'seen' || world.isRestored ? 'unknown' : 'other'
}

function tellSurprise({ ref, state, reason }: Payment, told: Told[]): void {
  const detail = { before: state, heldFor: reason }
  if (state === 'held' && reason === 'refunding')
    told.push(['mintedThoughRefunding', ref, { ...detail, says: 'Do not send it back.' }])
  else if (state === 'refunded') told.push(['mintedThoughRefunded', ref, detail])
  else if (['held', 'dismissed', 'ignored'].includes(state)) told.push(['mintedThoughNotAccepted', ref, detail])
}

function loseRef(payment: Payment, { told, verdicts }: Outcome): void {
  const { ref, state, reason, succeeded } = payment
  if (!succeeded || DECIDED.includes(state) || reason === 'mintedElsewhere' || reason === 'refunding') return
  Object.assign(payment, { state: 'held', reason: 'mintedElsewhere' })
  verdicts.push({ ref, reason: 'mintedElsewhere' })
  told.push(['mintedElsewhere', ref, {}])
}

const REASONS: Record<number, string | null> = { 1: 'walletLimit', 2: null, 4: null, 5: 'supplySpent' }

function skipOrder(
  { payments }: World,
  { told, verdicts }: Outcome,
  { ref, reason: code }: World['skips'][number],
): void {
  const reason = code in REASONS ? (REASONS[code] ?? null) : 'mintReverted'
  if (reason === 'mintReverted') told.push(['mintSkipped', ref, { reason: code }])
  const payment = payments.find((one) => one.ref === ref && ['accepted', 'minting'].includes(one.state))
  if (!payment || reason === null) return
  Object.assign(payment, { state: 'held', reason })
  verdicts.push({ ref, reason })
}
