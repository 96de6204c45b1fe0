// What the judge knows about a page of payments, one after the other, as a second reading of docs/ARCHITECTURE.md (Judging, Pages), docs/ADMIN.md (Tiers: places, lists,
// steps; Contract wallets) and docs/RUNBOOK.md (Back up and restore). What an amount buys in a block is the model's own (../sale.ts), and so are wallets and modes.
//
// Choices in what the documents leave open:
// - What can buy nothing asks nothing of its wallet or of a tier: no lock, and no count.
// - A payment that comes too early for a step has the openings read again, for the whole page.
// - An undecided payment keeps its place for an hour. It counts for the opening of a step for longer, unless one provider alone tells of it.
import { allocationOf, choose, comesBefore, type Sale, supplyOf, type Version } from '../sale.ts'
import { type Mode, modeFor, type Wallet, walletSells } from '../wallets.ts'

export interface Payment {
  id: number
  from: string
  wallet: string
  valueWei: bigint
  block: number
  txIndex: number
  innerIndex: number
  time: number
  state: 'seen' | 'held' | 'accepted'
  /** The tier that a verdict named. */
  tierNo: number | null
  succeeded: boolean
  proof: 'proven' | 'agreed' | 'believed' | null
  unsignedType: number | null
  /** What people decided, oldest first. */
  decided: { verdict: string; isWithdrawn: boolean; by: string }[]
  /** The block of which a code of its payer is on record, and whether one was just read. */
  code: { stored: 'own' | 'forked' | null; isRead: boolean }
  /** How it has changed since the run read it. */
  changed: 'state' | 'reason' | 'block' | null
  isInPage: boolean
}
export interface Ledger {
  /** As it was when the run began: no step had opened. And as it is now. */
  before: Sale
  sale: Sale
  payments: Payment[]
  nodes: { owner: string; tierNo: number }[]
  caps: Map<number, number>
  lists: Map<string, Map<string, number>>
  wallets: Wallet[]
  modes: { fromBlock: number; mode: Mode }[]
  denied: string[]
  signedIn: string[]
  allowed: string[]
  walletMax: number
  recheckUpTo: number | null
  canAgree: boolean
  trustsProvider: boolean
  now: number
  height: number
  followed: number
}
export const numberOf = (tierId: string) => 1 + Number(tierId.slice(1))
const idOf = (tierNo: number) => `t${tierNo - 1}`
const HOUR = 3_600

const pageOf = ({ payments }: Ledger) => payments.filter(({ isInPage }) => isInPage)
const placeOf = (one: Payment) => ({
  number: one.block,
  time: one.time,
  txIndex: one.txIndex,
  innerIndex: one.innerIndex,
})
const standing = ({ decided }: Payment) => decided.filter(({ isWithdrawn, by }) => !isWithdrawn && by !== 'pass')

interface Selection {
  kind: 'onSale' | 'offSale' | 'notOpenYet' | 'none'
  tierNo: number | null
  versions: Version[]
}
function select(sale: Sale, payment: Payment): Selection {
  const choice = choose(sale, payment.valueWei, placeOf(payment))
  if (choice.kind === 'sells') return { kind: 'onSale', tierNo: numberOf(choice.tierId), versions: choice.versions }
  if (choice.version === null) return { kind: 'none', tierNo: null, versions: [] }
  const kind = choice.reason === 'notOpenYet' ? 'notOpenYet' : 'offSale'
  return { kind, tierNo: numberOf(choice.version.tierId), versions: [choice.version] }
}

/** The tier for which a payment's step waits; null if its step waits for none. */
function awaits(sale: Sale, payment: Payment): number | null {
  const { kind, versions } = select(sale, payment)
  const [one] = versions
  if (kind !== 'notOpenYet' || !one || one.opensAfter === null) return null
  if (one.opensAt !== null && payment.time < one.opensAt) return null
  return sale.openings.some(({ tierId }) => tierId === one.tierId) ? null : numberOf(one.opensAfter)
}

export class Page {
  readonly #ledger: Ledger
  readonly #sale: Sale
  readonly #page: Payment[]
  /** What the page has decided, with the tier in which it gave a place. */
  readonly #decided = new Map<Payment, { outcome: string; tierNo: number | null }>()

  constructor(ledger: Ledger) {
    this.#ledger = ledger
    this.#page = pageOf(ledger)
    this.#sale = this.#page.some((one) => awaits(ledger.before, one) !== null) ? ledger.sale : ledger.before
  }

  mayBuy(one: Payment): boolean {
    return one.state === 'held' || !one.succeeded || select(this.#ledger.before, one).kind !== 'none'
  }

  lockedWallets(): string[] {
    return [...new Set(this.#page.filter((one) => this.mayBuy(one)).map(({ from }) => from))]
  }

  lockedTiers(): number[] {
    const taken = this.#page.flatMap((one) => {
      const tierNo = one.tierNo ?? select(this.#ledger.before, one).tierNo
      return [this.mayBuy(one) ? tierNo : null, awaits(this.#ledger.before, one)]
    })
    return [...new Set(taken.filter((one) => one !== null))].toSorted((a, b) => a - b)
  }

  isReleased(one: Payment): boolean {
    return one.state === 'held' && standing(one).at(-1)?.verdict === 'accepted'
  }

  isUnchanged = ({ changed }: Payment): boolean => changed === null

  /** What may be sold of a tier by decisions of now. */
  #most(tierNo: number): number | null {
    const latest = { number: Number.MAX_SAFE_INTEGER, time: Number.MAX_SAFE_INTEGER }
    return supplyOf(this.#ledger.sale, idOf(tierNo), latest, this.#ledger.caps.get(tierNo) ?? null)
  }

  /** Whether places of a tier are counted: it has or had a limit, and the page may take some. */
  #isCounted(tierNo: number): boolean {
    const hadSupply = this.#ledger.sale.versions.some((one) => one.tierId === idOf(tierNo) && one.supply !== null)
    return this.lockedTiers().includes(tierNo) && (this.#most(tierNo) !== null || hadSupply)
  }

  #sold(tierNo: number, { isBefore }: { isBefore: boolean }): number {
    const nodes = this.#ledger.nodes.filter((one) => one.tierNo === tierNo)
    const paid = this.#ledger.payments.filter((one) => one.state === 'accepted' && one.tierNo === tierNo)
    const given = isBefore ? [] : [...this.#decided.values()].filter((one) => one.tierNo === tierNo)
    return nodes.length + paid.length + given.length
  }

  /** The undecided payments whose price is a tier's, on sale to them or too early for its step. */
  #undecided(tierNo: number, isEarly: boolean): Payment[] {
    return this.#ledger.payments.filter((one) => {
      if (one.state !== 'seen' || one.changed === 'state' || !one.succeeded) return false
      const selection = select(this.#sale, one)
      const isMeant = isEarly ? awaits(this.#sale, one) !== null : selection.kind === 'onSale'
      if (!isMeant || selection.tierNo !== tierNo) return false
      const outcome = this.#decided.get(one)?.outcome
      return outcome === undefined || outcome === 'undecided' || (isEarly && outcome === 'early')
    })
  }

  room(payment: Payment, tierNo: number | null) {
    if (tierNo === null || !this.#isCounted(tierNo)) return { supply: null, sold: 0, reserved: 0 }
    const reserving = this.#undecided(tierNo, false).filter((one) => {
      return comesBefore(one, payment) && this.#ledger.now - one.time < HOUR
    })
    return { supply: this.#most(tierNo), sold: this.#sold(tierNo, { isBefore: false }), reserved: reserving.length }
  }

  use({ from }: Payment, tierNo: number | null) {
    const isLocked = this.lockedWallets().includes(from)
    const nodes = this.#ledger.nodes.filter((one) => isLocked && one.owner === from)
    const before = this.#ledger.payments.filter((one) => isLocked && one.from === from && one.state === 'accepted')
    const now = [...this.#decided].filter(([one, { tierNo: given }]) => one.from === from && given !== null)
    const inFlight = [...before.map((one) => one.tierNo), ...now.map(([, one]) => one.tierNo)]
    return {
      walletMax: this.#ledger.walletMax,
      walletNodes: nodes.length,
      walletInFlight: inFlight.length,
      tierNodes: nodes.filter((one) => one.tierNo === tierNo).length,
      tierInFlight: inFlight.filter((one) => one === tierNo && tierNo !== null).length,
    }
  }

  #mayOpen(payment: Payment): boolean {
    const tierNo = awaits(this.#sale, payment)
    const most = tierNo === null || !this.#isCounted(tierNo) ? null : this.#most(tierNo)
    if (tierNo === null || most === null) return false
    const { now, canAgree } = this.#ledger
    const mayTake = [...this.#undecided(tierNo, false), ...this.#undecided(tierNo, true)].filter((one) => {
      const isOld = now - one.time >= HOUR
      return comesBefore(one, payment) && !(isOld && canAgree && one.proof === 'believed')
    })
    return this.#sold(tierNo, { isBefore: false }) + mayTake.length >= most
  }

  #listed({ kind, versions }: Selection, from: string) {
    if (kind !== 'onSale') return []
    return versions.flatMap((version) => {
      const allocation = allocationOf(version, this.#ledger.lists, from)
      if (allocation === null) return []
      const tierNo = numberOf(version.tierId)
      const isUse = (one: Payment, tier: number | null) => one.from === from && tier === tierNo
      const before = this.#ledger.payments.filter((one) => one.state === 'accepted' && isUse(one, one.tierNo))
      const now = [...this.#decided].filter(([one, given]) => isUse(one, given.tierNo))
      return [{ root: version.allowlist, allocation, used: before.length + now.length }]
    })
  }

  #payer(payment: Payment) {
    const { from, innerIndex, unsignedType, proof, code, block } = payment
    if (unsignedType !== null) return { kind: 'unsigned', type: unsignedType, from }
    if (innerIndex === 0) return { kind: 'plain' }
    const { modes, height, trustsProvider } = this.#ledger
    const isKnown = this.mayBuy(payment)
    return {
      kind: 'inner',
      mode: modeFor(modes, block, height),
      signedIn: isKnown && this.#ledger.signedIn.includes(from),
      allowed: isKnown && this.#ledger.allowed.includes(from),
      oneProvider: proof !== 'agreed' && !trustsProvider,
      code: isKnown && code.stored === 'own' ? 'stored' : code.isRead ? 'read' : 'unread',
    }
  }

  facts(payment: Payment) {
    const ledger = this.#ledger
    const early = awaits(ledger.before, payment) !== null
    const selection = select(early ? this.#sale : ledger.before, payment)
    const { tierNo, kind } = selection
    const room = this.room(payment, tierNo)
    const most =
      kind === 'onSale' && tierNo !== null ? supplyOf(ledger.sale, idOf(tierNo), placeOf(payment), null) : null
    const limits = [most, room.supply].filter((one) => one !== null)
    const isRestored = ledger.recheckUpTo !== null && payment.block <= ledger.recheckUpTo
    return {
      ...{ from: payment.from, valueWei: payment.valueWei, succeeded: payment.succeeded, blockTime: payment.time },
      ...{ selection: [kind, ...selection.versions.map((one) => `${one.tierId} ${one.version}`)] },
      ...room,
      supply: limits.length === 0 ? null : Math.min(...limits),
      listed: this.#listed(selection, payment.from),
      mayOpen: early && this.#mayOpen(payment),
      wallets: ledger.wallets.map(({ wallet }) => wallet),
      isToOldWallet: !walletSells(ledger.wallets, payment.wallet, placeOf(payment)),
      senderDenied: ledger.denied.includes(payment.from),
      beforeRestore: isRestored && standing(payment).length === 0,
      ...this.use(payment, tierNo),
      restsOnOne: ledger.canAgree && payment.proof === 'believed',
      payer: this.#payer(payment),
    }
  }

  count(payment: Payment, outcome: string, tierNo: number | null): void {
    this.#decided.set(payment, { outcome, tierNo })
  }

  sales() {
    return this.lockedTiers().flatMap((tierNo) => {
      const supply = this.#isCounted(tierNo) ? this.#most(tierNo) : null
      const [before, sold] = [this.#sold(tierNo, { isBefore: true }), this.#sold(tierNo, { isBefore: false })]
      return supply === null || before === sold ? [] : [{ tierNo, supply, before, sold }]
    })
  }

  /** The block of which a payer's code is on record after the page: of its own one if it could be read. */
  codes() {
    return this.#ledger.payments.flatMap((one) => {
      const { stored, isRead } = one.code
      const reads = one.isInPage && one.innerIndex > 0 && this.mayBuy(one) && this.isUnchanged(one) && isRead
      if (stored === 'own') return [{ id: one.id, block: 'own', code: 'stored' }]
      if (reads) return [{ id: one.id, block: 'own', code: 'read' }]
      return stored === null ? [] : [{ id: one.id, block: 'forked', code: 'stored' }]
    })
  }
}
