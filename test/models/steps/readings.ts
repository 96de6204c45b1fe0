// Which wallets a run reads from the chain when it has time for a few only, and when it reads them again, as a second reading of docs/ARCHITECTURE.md
// (Judging). A wallet whose facts no provider gives holds up its own later payments only.

// Choices in what the documents leave open:
// - Four wallets are read at a time, each at its earliest payment. Those that were never read come first, then who has waited longest.
// - Each pause is half of the payment's age, five minutes at most, and ends once the payment is held for it.
// - What can buy nothing is judged last, and reads nothing.
// - A code that was read once stays: what a provider says later of that block changes nothing, although it is asked.

export interface Payment {
  id: number
  wallet: string
  block: number
  time: number
  /** A call inside a transaction made it, so its payer's code decides; and its tier asks for a token. */
  isInner: boolean
  price: 'holders' | 'plain' | 'none'
  state: 'seen' | 'accepted' | 'held'
  reason: string | null
  /** What its verdict says that was read, and last: the code, what the wallet held, or that no provider gave it. */
  shows: string | null
  retryAt: number | null
  /** The payer's code, once it was read, and whether the operator allowed the payer when the payment was held for it. */
  code: Wallet['code']
  wasAllowed: boolean
}
/** What the chain says of a wallet in this run; null if it says nothing. */
export interface Wallet {
  code: 'delegation' | 'contract' | null
  heldWei: bigint | null
}
export interface Run {
  /** Contracts that the operator allows to buy, which may change between two runs. */
  allowed: string[]
  now: number
  /** It ends once it has read so much. */
  most: number
  /** It judges no more payments than that, those that may buy something before the others. */
  limit: number
  wallets: Map<string, Wallet>
}
type Known = Partial<Wallet>

export const NEEDED_WEI = 5n
export const RETRY_SEC = { holders: 900, plain: 300, none: 0 }
const AT_ONCE = 4
const PAUSE_SEC_MAX = 300

/** @returns true if it is decided by what is known. */
function decide(payment: Payment, { heldWei, ...known }: Known, { now, allowed }: Run): boolean {
  payment.code ??= known.code ?? null
  const code = payment.code ?? known.code
  const isLate = now - payment.time >= RETRY_SEC[payment.price]
  const isAllowed = allowed.includes(payment.wallet)
  const become = (state: 'accepted' | 'held', reason: string | null, shows: string | null) => {
    Object.assign(payment, { state, reason, shows, wasAllowed: isAllowed })
    return true
  }
  if (payment.price === 'none') return become('held', 'wrongAmount', null)
  const missing = (fact: unknown) => fact === undefined || (fact === null && !isLate)
  if (payment.isInner) {
    if (missing(code)) return false
    const mayBuy = code === 'delegation' || (code === 'contract' && isAllowed)
    if (!mayBuy) return become('held', 'contractWallet', code ?? 'unreadable')
  }
  if (payment.price === 'plain') return become('accepted', null, code ?? null)
  if (missing(heldWei)) return false
  const isEnough = typeof heldWei === 'bigint' && heldWei >= NEEDED_WEI
  const shows = heldWei?.toString() ?? 'unreadable'
  return isEnough ? become('accepted', null, shows) : become('held', 'holding', shows)
}

/** Reads what the payments need, the codes of all of them first. @returns those that are decided. */
function read(payments: Payment[], run: Run, asked: string[]): Payment[] {
  const { now, wallets } = run
  const known = new Map<Payment, Known>()
  let left = payments.filter((one) => !decide(one, {}, run))
  for (const fact of ['code', 'heldWei'] as const) {
    for (const one of left) {
      if (fact === 'code' ? !one.isInner : one.price !== 'holders') continue
      asked.push(`${fact} ${one.wallet} ${one.block}`)
      known.set(one, { ...known.get(one), [fact]: wallets.get(one.wallet)?.[fact] ?? null })
    }
    left = left.filter((one) => !decide(one, known.get(one) ?? {}, run))
  }
  for (const one of left) {
    const pause = Math.min(Math.floor((now - one.time) / 2), PAUSE_SEC_MAX)
    one.retryAt = Math.max(now, Math.min(now + pause, one.time + RETRY_SEC[one.price]))
  }
  return payments.filter((one) => !left.includes(one))
}

/** Those that wait for no pause, of their own or of an earlier payment of their wallet. */
function openAt(payments: Payment[], now: number): Payment[] {
  const rests = new Set<string>()
  return payments.filter(({ state, wallet, retryAt }) => {
    if (state === 'seen' && retryAt !== null && retryAt > now) rests.add(wallet)
    return state === 'seen' && !rests.has(wallet)
  })
}

/** Decides what needs no reading. @returns the others of each wallet, with what waits behind them. */
function undecidedByWallet(open: Payment[], run: Run): Payment[][] {
  const queues = new Map<string, Payment[]>()
  for (const one of open) {
    if (one.price === 'none') continue
    const before = queues.get(one.wallet)
    if (before) before.push(one)
    else if (!decide(one, {}, run)) queues.set(one.wallet, [one])
  }
  return [...queues.values()]
}

/** Judges payments, which are in the order of the chain, until the run's time is over. @returns what it read, in order. */
export function judgeBriefly(payments: Payment[], run: Run): string[] {
  const asked: string[] = []
  const isOver = () => asked.length >= run.most
  for (const one of payments) if (one.state !== 'seen') one.retryAt = null
  const waiting = openAt(payments, run.now)
  const priced = waiting.filter(({ price }) => price !== 'none')
  const first = [...priced, ...waiting.filter(({ price }) => price === 'none')].slice(0, run.limit)
  // What is held for its payer is judged again once the operator says something else of the payer.
  const changed = payments.filter(
    (one) => one.reason === 'contractWallet' && one.wasAllowed !== run.allowed.includes(one.wallet),
  )
  const judged = [...first, ...changed.slice(0, run.limit)]
  const open = payments.filter((one) => judged.includes(one))
  if (isOver()) return asked
  const inTurn = undecidedByWallet(open, run).toSorted(([a], [b]) => (a?.retryAt ?? 0) - (b?.retryAt ?? 0))
  for (let place = 0; place < inTurn.length; place += AT_ONCE) {
    let some = inTurn.slice(place, place + AT_ONCE)
    while (some.length > 0) {
      if (isOver()) return asked
      const decided = read(
        some.flatMap(([next]) => next ?? []),
        run,
        asked,
      )
      some = some.filter(([next]) => next && decided.includes(next)).map((queue) => queue.slice(1))
    }
  }
  if (!isOver()) for (const one of open) if (one.price === 'none') decide(one, {}, run)
  return asked
}
