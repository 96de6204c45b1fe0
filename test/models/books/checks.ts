// The books of several payments wallets, check after check, as a second reading of docs/ARCHITECTURE.md (The payments wallets' balances): each wallet's books
// begin before the first block that is read for it, and what moved otherwise becomes a residue of the blocks that can be told apart. No trace explains anything.

export type Proof = 'proven' | 'agreed' | 'believed'
export interface Reading {
  wei: bigint
  proof: Proof
}
export interface Moved {
  block: number
  wei: bigint
  /** Whether a transaction shows it, and whether that is one of the wallet's own. */
  isSeen: boolean
  isOwn: boolean
}
export interface Residue {
  fromBlock: number
  block: number
  wei: bigint
  isWide: boolean
  /** Seconds until proofs are asked again; null if it is proven. */
  proveIn: number | null
}
export interface Wallet {
  wallet: string
  watchedFrom: number
  closedBlock: number | null
  base: { block: number; wei: bigint } | null
  audited: { block: number; proof: Proof } | null
  /** What the ledger has booked of transactions. */
  booked: Moved[]
  residues: Residue[]
}
export interface Told {
  action: 'unattributed' | 'unattributedOutflow' | 'residueWithdrawn'
  wallet: string
  detail: Record<string, unknown>
}
export interface Books {
  startBlock: number
  isProven: boolean
  trusts: boolean
  wallets: Wallet[]
  told: Told[]
  toldUnproven: boolean
}
/** What the providers show during one check. A balance is null if that state is pruned. */
export interface Shown {
  head: number
  /** Whether any provider has the block before the first one. */
  hasBlock(number: number): boolean
  balance(wallet: string, block: number): Reading | null
  /** Whether the head's balance of the wallet is not answered, or the ledger moves while it is asked. */
  fails(wallet: string): 'silent' | 'moves' | null
}
interface Difference {
  fromBlock: number
  block: number
  wei: bigint
  proof: Proof
  beforeWei: bigint | null
  afterWei: bigint
}

const AGAIN_SEC = 600
const STRENGTH: Proof[] = ['believed', 'agreed', 'proven']
const weaker = (a: Proof, b: Proof): Proof => (STRENGTH.indexOf(a) < STRENGTH.indexOf(b) ? a : b)

/** All that the ledger has of a wallet up to a block. */
const upTo = (one: Wallet, block: number): bigint =>
  [...one.booked, ...one.residues].reduce((sum, each) => (each.block <= block ? sum + each.wei : sum), 0n)
const expected = (one: Wallet, block: number): bigint => (one.base?.wei ?? 0n) + upTo(one, block)

export const inBooks = (one: Wallet) => (one.base === null ? null : expected(one, Number.MAX_SAFE_INTEGER))

interface Why {
  proven: { block: number; wei: bigint } | null
  figures: Record<string, string>
}
const NOTHING: Why = { proven: null, figures: {} }

function withdraw(books: Books, one: Wallet, residue: Residue, { proven, figures }: Why): void {
  one.residues = one.residues.filter((each) => each !== residue)
  const { wallet, base } = one
  books.told.push({
    ...{ action: 'residueWithdrawn', wallet },
    detail: {
      wallet,
      valueWei: String(residue.wei),
      fromBlock: residue.fromBlock,
      blockNumber: residue.block,
      ...figures,
    },
  })
  if (base === null) return
  one.audited = { block: base.block, proof: 'believed' }
  if (proven?.block !== base.block) return
  one.base = { block: base.block, wei: proven.wei - upTo(one, base.block) }
  one.audited.proof = 'proven'
}

/** Residues that rest on a word, and are due: those that proofs contradict go, and wide ones once a state between can be read. */
function prove(books: Books, shown: Shown): void {
  const due = books.wallets
    .flatMap((one) => one.residues.map((residue) => ({ one, residue })))
    .filter(({ residue }) => residue.proveIn !== null && residue.proveIn <= 0)
    .toSorted((a, b) => (a.residue.proveIn ?? 0) - (b.residue.proveIn ?? 0) || a.residue.block - b.residue.block)
  for (const { one, residue } of due) {
    const first = residue.fromBlock - 1
    residue.proveIn = AGAIN_SEC
    if (residue.isWide && shown.balance(one.wallet, Math.floor((first + residue.block) / 2)) !== null) {
      withdraw(books, one, residue, NOTHING)
      continue
    }
    const [before, after] = [shown.balance(one.wallet, first), shown.balance(one.wallet, residue.block)]
    if (before?.proof !== 'proven' || after?.proof !== 'proven') continue
    const booked = upTo(one, residue.block) - upTo(one, first)
    const figures = { balanceBeforeWei: `${before.wei}`, balanceAfterWei: `${after.wei}`, bookedWei: `${booked}` }
    if (after.wei - before.wei !== booked)
      withdraw(books, one, residue, { proven: { block: first, wei: before.wei }, figures })
    else if (!residue.isWide) residue.proveIn = null
  }
}

/** Halves the blocks until each difference is in one block, or in blocks that cannot be told apart. */
function locate(one: Wallet, shown: Shown, low: Low, high: { block: number } & Reading): Difference[] {
  const ahead = high.wei - expected(one, high.block)
  if (ahead === low.ahead) return []
  if (high.block - low.block <= 1) {
    const beforeWei = low.knownAt === low.block ? low.wei : null
    const difference = { fromBlock: low.knownAt + 1, block: high.block, wei: ahead - low.ahead, beforeWei }
    return [{ ...difference, proof: weaker(low.proof, high.proof), afterWei: high.wei }]
  }
  const block = Math.floor((low.block + high.block) / 2)
  const reading = shown.balance(one.wallet, block)
  if (reading === null) return locate(one, shown, { ...low, block }, high)
  const middle = { ...reading, block, knownAt: block, ahead: reading.wei - expected(one, block) }
  return [...locate(one, shown, low, middle), ...locate(one, shown, middle, high)]
}
interface Low extends Reading {
  block: number
  knownAt: number
  ahead: bigint
}

/** @returns how much arrived that nothing explains. */
function file(books: Books, one: Wallet, differences: Difference[]): number {
  const before = [...one.residues]
  let filed = 0
  for (const difference of differences) {
    // What is known of these blocks was wrong: all of it is located again, at the next check.
    const over = before.filter((each) => each.fromBlock <= difference.fromBlock && each.block >= difference.block)
    for (const each of over) if (one.residues.includes(each)) withdraw(books, one, each, NOTHING)
    if (over.length > 0) continue
    fileOne(books, one, difference)
    if (difference.wei > 0n) filed += 1
  }
  return filed
}

function fileOne(books: Books, one: Wallet, { fromBlock, block, wei, proof, beforeWei, afterWei }: Difference): void {
  const isWide = beforeWei === null
  // A fee of its own transaction is no hash's, so it proves nothing.
  const isOwn = fromBlock === block && one.booked.some((each) => each.isOwn && each.block === block)
  const rests = isOwn && proof === 'proven' ? 'agreed' : proof
  one.residues.push({ fromBlock, block, wei, isWide, proveIn: rests === 'proven' && !isWide ? null : 0 })
  books.told.push({
    ...{ action: wei > 0n ? 'unattributed' : 'unattributedOutflow', wallet: one.wallet },
    detail: {
      ...{ rule: 'unattributed', wallet: one.wallet, fromBlock, toBlock: block, proof: rests, filed: true },
      ...{ balanceBeforeWei: beforeWei === null ? null : String(beforeWei), balanceAfterWei: String(afterWei) },
      ...{ expectedWei: String(afterWei - wei), valueWei: String(wei < 0n ? -wei : wei) },
    },
  })
}

/** Begins the books of a wallet. @returns false if nothing shows with what. */
function begin(books: Books, one: Wallet, shown: Shown, last: number): boolean {
  const before = firstOf(books, one)
  if (!shown.hasBlock(before)) return false
  const first = shown.balance(one.wallet, before)
  const found = first ?? shown.balance(one.wallet, last)
  if (found === null) return false
  const block = first === null ? last : before
  one.base = { block, wei: first === null ? found.wei - upTo(one, last) : found.wei }
  one.audited = { block, proof: found.proof }
  return true
}

const firstOf = (books: Books, one: Wallet): number => Math.max(0, Math.max(books.startBlock, one.watchedFrom) - 1)

/** Whether the last block's balance can be used, and how it fails if it is asked for. */
interface Asked {
  last: number
  fails: 'silent' | 'moves' | null
}
function asked(one: Wallet, shown: Shown): Asked {
  if (one.closedBlock !== null && one.closedBlock < shown.head) return { last: one.closedBlock, fails: null }
  return { last: shown.head, fails: shown.fails(one.wallet) }
}

/** One check of one wallet. @returns how much arrived that nothing explains, or that the ledger has moved. */
function checkOne(books: Books, one: Wallet, shown: Shown): number | 'moved' {
  const { last, fails } = asked(one, shown)
  const failed = fails === 'moves' ? 'moved' : 0
  if (one.base === null) {
    const before = firstOf(books, one)
    const readsLast = shown.hasBlock(before) && shown.balance(one.wallet, before) === null
    if (readsLast && fails !== null) return failed
    if (!begin(books, one, shown, last)) return 0
  }
  if (one.audited === null || one.audited.block === last) return 0
  const reading = fails === 'silent' ? null : shown.balance(one.wallet, last)
  if (reading === null) return failed
  return compare(books, one, { last, fails, reading }, shown)
}

function compare(
  books: Books,
  one: Wallet,
  { last, fails, reading }: Asked & { reading: Reading },
  shown: Shown,
): number | 'moved' {
  const agrees = reading.wei === expected(one, last)
  const isEnough = reading.proof === 'proven' || (reading.proof === 'agreed' && !books.isProven) || books.trusts
  if (!agrees && !isEnough) books.toldUnproven = true
  if (fails === 'moves') return 'moved'
  if (one.audited === null || (!agrees && !isEnough)) return 0
  const { block, proof } = one.audited
  const low = { block, knownAt: block, wei: expected(one, block), proof, ahead: 0n }
  const filed = agrees ? 0 : file(books, one, locate(one, shown, low, { ...reading, block: last }))
  if (expected(one, last) === reading.wei) one.audited = { block: last, proof: reading.proof }
  return filed
}

/** @returns how many residues arrived in all wallets. */
export function check(books: Books, shown: Shown): number {
  prove(books, shown)
  const isOpen = ({ watchedFrom, closedBlock, audited }: Wallet) =>
    watchedFrom <= shown.head && (closedBlock === null || audited === null || audited.block < closedBlock)
  let filed = 0
  for (const one of books.wallets.filter(isOpen)) {
    const found = checkOne(books, one, shown)
    if (found === 'moved') break
    filed += found
  }
  return filed
}
