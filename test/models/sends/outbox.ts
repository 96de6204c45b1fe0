// The outbox over rows in memory, as a second reading of docs/DATA-MODEL.md and of the words at src/db/sends: intents, their signed attempts, and what the
// ledger knows of an account's nonces.

export interface Intent {
  id: number
  kind: string
  sender: string
  nonce: number
  refs: string[]
  guard: { number: number; hash: string } | null
  validUntil: number | null
  state: 'pending' | 'mined' | 'reverted' | 'displaced'
  block: number | null
  blockHash: string | null
  txHash: string | null
  gasUsed: number | null
  feeWei: bigint | null
  valueWei: bigint | null
  to: string | null
  gasLimit: number
  /** Seconds since it was made. */
  age: number
}
export interface Attempt {
  txHash: string
  outboxId: number
  attempt: number
  maxFeeWei: bigint
  tipWei: bigint
  signedAtBlock: number
  sends: number
  isSent: boolean
  outcome: string | null
}
export interface Ledger {
  intents: Intent[]
  attempts: Attempt[]
  bases: Map<string, { nonce: number; block: number }>
  blocks: { number: number; hash: string; time: number }[]
  cursor: { number: number; hash: string; time: number }
  baseFeeWei: (bigint | null)[]
  /** The payments that mints carry, by ref. */
  payments: Map<string, { state: string; hasNode: boolean; skippedAge: number | null }>
  nextId: number
}

const max = (numbers: number[]) => (numbers.length === 0 ? null : Math.max(...numbers))
const min = (numbers: number[]) => (numbers.length === 0 ? null : Math.min(...numbers))
const of = (ledger: Ledger, sender: string) => ledger.intents.filter((one) => one.sender === sender)
const pendingOf = (ledger: Ledger, sender: string) =>
  of(ledger, sender)
    .filter(({ state }) => state === 'pending')
    .toSorted((a, b) => a.nonce - b.nonce)
const attemptsOf = (ledger: Ledger, id: number) =>
  ledger.attempts.filter(({ outboxId }) => outboxId === id).toSorted((a, b) => a.attempt - b.attempt)

export type Signed = Pick<Attempt, 'txHash' | 'maxFeeWei' | 'tipWei' | 'signedAtBlock'>

export function attempted(ledger: Ledger, outboxId: number, signed: Signed): void {
  const attempt = attemptsOf(ledger, outboxId).length + 1
  ledger.attempts.push({ ...signed, outboxId, attempt, sends: 0, isSent: false, outcome: null })
}

export function stored(
  ledger: Ledger,
  intent: Pick<Intent, 'kind' | 'sender' | 'nonce' | 'refs' | 'guard' | 'validUntil' | 'gasLimit'>,
  signed: Signed,
): number {
  const nothing = { block: null, blockHash: null, txHash: null, gasUsed: null, feeWei: null, valueWei: null, to: null }
  const id = ledger.nextId++
  ledger.intents.push({ ...intent, ...nothing, id, state: 'pending', age: 0 })
  attempted(ledger, id, signed)
  return id
}

export function handedOver(ledger: Ledger, txHash: string, outcome: string): void {
  for (const one of ledger.attempts)
    if (one.txHash === txHash)
      Object.assign(one, { sends: one.sends + 1, isSent: true, outcome: outcome.slice(0, 500) })
}

export const readPending = (ledger: Ledger, sender: string) =>
  pendingOf(ledger, sender).flatMap((one) => {
    const last = attemptsOf(ledger, one.id).at(-1)
    return last === undefined ? [] : [{ intent: one, last }]
  })

export function knownNonces(ledger: Ledger, sender: string) {
  const all = of(ledger, sender)
  const base = ledger.bases.get(sender)?.nonce
  const next = max([...all.map(({ nonce }) => nonce + 1), ...(base === undefined ? [] : [base])])
  if (next === null) return null
  const followed = pendingOf(ledger, sender)[0]?.nonce ?? next
  return { next, followed }
}

export function freeNonce(ledger: Ledger, sender: string): number | null {
  const base = ledger.bases.get(sender)?.nonce
  const settled = of(ledger, sender).filter(({ state }) => state !== 'pending')
  const shown = max([...settled.map(({ nonce }) => nonce + 1), ...(base === undefined ? [] : [base])])
  const first = pendingOf(ledger, sender)[0]
  return shown !== null && first !== undefined && shown < first.nonce ? shown : null
}

export function displaced(ledger: Ledger, sender: string, nonce: number, at: { number: number; hash: string }) {
  const given = pendingOf(ledger, sender).filter((one) => one.nonce < nonce)
  for (const one of given) Object.assign(one, { state: 'displaced', block: at.number, blockHash: at.hash })
  return given.map(({ id }) => id).toSorted((a, b) => a - b)
}

export interface Use {
  sender: string
  nonce: number
  txHash: string
  succeeded: boolean
  block: number
  blockHash: string
  gasUsed: number
  feeWei: bigint
  valueWei: bigint
  to: string | null
}

export function mined(ledger: Ledger, uses: Use[], signers: string[]) {
  const settled: { outboxId: number; kind: string; state: string; txHash: string }[] = []
  const foreign: string[] = []
  for (const { sender, nonce, txHash, succeeded, ...rest } of uses) {
    const isOurs = ledger.attempts.some((one) => one.txHash === txHash)
    const intent = pendingOf(ledger, sender).find((one) => one.nonce === nonce)
    if (intent !== undefined) {
      Object.assign(intent, { ...rest, txHash, state: isOurs ? (succeeded ? 'mined' : 'reverted') : 'displaced' })
      settled.push({ outboxId: intent.id, kind: intent.kind, state: intent.state, txHash })
    }
    if (!signers.includes(sender) || (intent !== undefined && intent.state !== 'displaced')) continue
    foreign.push(txHash)
    const id = ledger.nextId++
    if (of(ledger, sender).some((one) => one.nonce === nonce)) continue
    const none = { refs: [], guard: null, validUntil: null, age: 0, gasLimit: rest.gasUsed }
    ledger.intents.push({ ...rest, ...none, id, sender, nonce, txHash, kind: 'foreign', state: 'displaced' })
  }
  return { settled, foreign }
}

export function rewound(ledger: Ledger, height: number): number {
  for (const [sender, { block }] of ledger.bases) if (block > height) ledger.bases.delete(sender)
  const isAbove = ({ block }: Intent) => block !== null && block > height
  ledger.intents = ledger.intents.filter((one) => one.kind !== 'foreign' || !isAbove(one))
  const reopened = ledger.intents.filter(isAbove)
  const nothing = { block: null, blockHash: null, txHash: null, gasUsed: null, feeWei: null, valueWei: null, to: null }
  for (const one of reopened) Object.assign(one, { ...nothing, state: 'pending' })
  return reopened.length
}

const blockAt = (ledger: Ledger, number: number | null) => ledger.blocks.find((one) => one.number === number)

/** True if an intent failed by its own fault: neither too old nor on another fork. */
function counts(ledger: Ledger, one: Intent): boolean {
  if (one.state === 'mined') return true
  if (one.state !== 'reverted' || one.validUntil === null || one.block === null) return false
  if (one.validUntil < (blockAt(ledger, one.block)?.time ?? 0)) return false
  if (one.guard === null) return true
  const back = one.block - one.guard.number
  return blockAt(ledger, one.guard.number)?.hash === one.guard.hash && back >= 1 && back <= 256
}

function didNothing(ledger: Ledger, { kind, refs, age }: Intent): boolean {
  const payments = refs.flatMap((ref) => ledger.payments.get(ref) ?? [])
  if (kind !== 'mint' || payments.some(({ hasNode }) => hasNode)) return false
  return payments.some(({ state, skippedAge }) => state === 'accepted' && !(skippedAge !== null && skippedAge <= age))
}

export function reverts(ledger: Ledger, sender: string, look: number) {
  const last = of(ledger, sender)
    .filter((one) => counts(ledger, one))
    .toSorted((a, b) => b.nonce - a.nonce)
    .slice(0, look)
  const failed = last.map((one) => one.state === 'reverted' || didNothing(ledger, one))
  const inARow = failed.includes(false) ? failed.indexOf(false) : failed.length
  return { inARow, lastTime: failed[0] === true ? (blockAt(ledger, last[0]?.block ?? null)?.time ?? null) : null }
}

export function standingGuard(ledger: Ledger, sender: string) {
  const [one] = of(ledger, sender)
    .filter(({ guard, state }) => guard !== null && (state === 'mined' || state === 'reverted'))
    .toSorted((a, b) => b.nonce - a.nonce)
  if (one?.guard == null || one.state !== 'reverted' || !counts(ledger, one) || !blockAt(ledger, one.block)) return null
  const { id: outboxId, block: minedIn, txHash, gasUsed, feeWei, guard } = one
  return { outboxId, guardBlock: guard.number, guardHash: guard.hash, minedIn, txHash, gasUsed, feeWei }
}

export const mayStillMint = (ledger: Ledger, ref: string) =>
  ledger.intents.some(({ state, kind, refs, validUntil, guard }) => {
    if (state !== 'pending' || kind !== 'mint' || !refs.includes(ref)) return false
    const known = blockAt(ledger, guard?.number ?? null)
    return (validUntil ?? 0) >= ledger.cursor.time && (known === undefined || known.hash === guard?.hash)
  })

const firstSigned = (ledger: Ledger, id: number) => min(attemptsOf(ledger, id).map((one) => one.signedAtBlock))

export const stuck = (ledger: Ledger, blocks: number) =>
  ledger.intents
    .filter(({ state }) => state === 'pending')
    .flatMap((one) => {
      const first = firstSigned(ledger, one.id)
      if (first === null || ledger.cursor.number - first < blocks) return []
      const attempts = attemptsOf(ledger, one.id)
      const last = attempts.at(-1)
      return {
        ...{ id: one.id, sender: one.sender, nonce: one.nonce, kind: one.kind },
        ...{ pendingBlocks: ledger.cursor.number - first, attempts: attempts.length },
        ...{ lastOutcome: last?.outcome ?? null, maxFeeWei: last?.maxFeeWei, baseFeeWei: ledger.baseFeeWei.at(-1) },
        isOver: (one.validUntil ?? 0) < ledger.cursor.time,
        isBehind: pendingOf(ledger, one.sender).some(({ nonce }) => nonce < one.nonce),
      }
    })
    .toSorted((a, b) => (a.sender === b.sender ? a.nonce - b.nonce : a.sender < b.sender ? -1 : 1))

export function lastGasPrice(ledger: Ledger, sender: string): bigint | null {
  const last = of(ledger, sender)
    .filter(({ gasUsed }) => gasUsed !== null && gasUsed > 0)
    .toSorted((a, b) => b.id - a.id)[0]
  if (last?.gasUsed == null) return null
  const gas = BigInt(last.gasUsed)
  return ((last.feeWei ?? 0n) + gas - 1n) / gas
}

/** A page of the operator's list: newest first. */
export const listed = (
  ledger: Ledger,
  asked: { sender: string | null; status: string | null; before: number | null; limit: number },
) =>
  ledger.intents
    .filter(({ id, sender, state }) => {
      if (asked.before !== null && id >= asked.before) return false
      return [null, sender].includes(asked.sender) && [null, state].includes(asked.status as never)
    })
    .toSorted((a, b) => b.id - a.id)
    .slice(0, asked.limit)
    .map((one) => {
      const first = firstSigned(ledger, one.id)
      const isOurs = one.kind !== 'foreign'
      return {
        ...{ id: one.id, sender: one.sender, nonce: one.nonce, status: one.state, txHash: one.txHash, to: one.to },
        kind: one.state === 'displaced' && isOurs ? `${one.kind} (displaced)` : one.kind,
        ...{ valueWei: textOf(one.valueWei), feeWei: textOf(one.feeWei), gasUsed: one.gasUsed, gasLimit: one.gasLimit },
        blockNumber: one.block,
        pendingBlocks: one.state !== 'pending' || first === null ? null : Math.max(0, ledger.cursor.number - first),
        pendingSec: one.state === 'pending' ? one.age : null,
        orders: one.refs.length,
        payments: one.refs.map((ref) => ({ ref, status: ledger.payments.get(ref)?.state ?? null })),
        attempts: attemptsOf(ledger, one.id).map((each) => ({
          ...{ txHash: each.txHash, attempt: each.attempt, sends: each.sends, signedAtBlock: each.signedAtBlock },
          ...{ maxFeeWei: String(each.maxFeeWei), maxPriorityFeeWei: String(each.tipWei), lastOutcome: each.outcome },
        })),
      }
    })

const textOf = (wei: bigint | null) => (wei === null ? null : String(wei))
