// Whether a public verdict follows from the chain and from what the service publishes: a second reading of client/README.md (Checking for yourself) and
// of api/openapi.yaml (Verdict, Sale). The rules themselves are the models' own (../judge.ts, ../sale.ts, ../wallets.ts), which judge once more by the
// facts of the evidence.

// Choices in what the documents leave open:
// - Evidence has times if its rule examined them: with `saleClosed`, `notOpenYet`, `soldOut`, and with a sale of a tier that has times.
// - A supply may be lower than that of the version in force, because a lower one holds at once. It is never higher, and never missing.
import type { Payment, Sale as PublishedSale, TierVersion, Verdict } from '../../../client/src/index.ts'
import { type Facts, judge, type Outcome } from '../judge.ts'
import { choose, inForce, type Sale, type Version } from '../sale.ts'
import { walletSells } from '../wallets.ts'
import { sameText } from './chain.ts'

/** What the chain shows of a payment, its payer and the contract. */
export interface Shown {
  block: number
  time: number
  blockHash: string
  txIndex: number
  succeeded: boolean
  /** Of the transaction itself. */
  from: string
  to: string
  valueWei: bigint
  /** The tiers of the payer's nodes in a block. */
  nodesAt: (block: number) => number[]
  walletCap: number
  /** What the payer holds in the payment's block. */
  heldWei: bigint | null
  /** By the list's root. */
  allocationOf: (root: string) => number
}

type Evidence = Verdict['evidence']
const sec = (time: Date | null) => (time === null ? null : time.getTime() / 1000)

/** A version with its token, which the model's rules do without. */
type Named = Version & Pick<TierVersion, 'holdingToken'>

function saleOf({ versions }: PublishedSale): Omit<Sale, 'versions'> & { versions: Named[] } {
  return {
    versions: versions.map((one) => ({
      ...one,
      ...{ opensAt: sec(one.opensAt), closesAt: sec(one.closesAt), fromTime: sec(one.fromAt) ?? 0 },
    })),
    openings: versions.flatMap(({ tierId, opensAfter, opened }) =>
      opensAfter === null || opened === null ? [] : { tierId, opensAfter, ...opened, fromBlock: opened.blockNumber },
    ),
  }
}

/** A value as the models have it: times in seconds. */
const asTime = (value: unknown) => (value instanceof Date ? sec(value) : value)

const sum = (...parts: (number | null)[]) => parts.reduce<number>((total, part) => total + (part ?? 0), 0)

/** The facts for the judge. What the rule did not examine refuses nothing. */
function factsOf({ reason, evidence }: Verdict, terms: Version | null, isOld: boolean): Facts {
  const isExamined = (...reasons: Verdict['reason'][]) => [...reasons, null].includes(reason)
  const holds = isExamined('holding') ? evidence.holdingReadWei : (terms?.holdingWei ?? 0n)
  const most = Number.MAX_SAFE_INTEGER
  return {
    ...{ succeeded: true, valueWei: evidence.receivedWei, sender: 'buyer', toOldWallet: isOld, isDenied: false },
    ...{ choice: 'sells', mayOpen: false, waitedSec: most, retrySec: 0, restsOnOne: false },
    terms: [
      {
        version: 1,
        token: 1,
        allocation: terms?.allowlist && isExamined('notListed') ? evidence.allocation : null,
        maxPerWallet: terms?.maxPerWallet ?? most,
        ...{ holdingWei: terms?.holdingWei ?? 0n, heldWei: holds },
      },
    ],
    paidOfTier: evidence.used ?? 0,
    ofTier: sum(evidence.nodesOfTier, evidence.inFlightOfTier),
    ofWallet: sum(evidence.walletNodes, evidence.walletInFlight),
    walletCap: evidence.walletMax ?? most,
    ...{ beforeRestore: reason === 'recheck', payerMayBuy: reason !== 'contractWallet' },
    ...{ supply: evidence.supply, sold: evidence.sold ?? 0, reservedBefore: evidence.reserved ?? 0 },
  }
}

const inWords = ({ kind, reason }: Pick<Verdict, 'kind' | 'reason'>): Outcome =>
  kind === 'accepted' ? { kind: 'pass' } : { kind: 'held', why: String(reason) }

/** The evidence that a rule must show, with what it must say; left out: the rule does not say. */
function termsShown(
  { kind, reason }: Verdict,
  one: Named,
  sale: Sale,
  shown: Shown,
): Partial<Record<keyof Evidence, unknown>> {
  const isSale = kind === 'accepted'
  const isAmong = (...reasons: Verdict['reason'][]) => isSale || reasons.includes(reason)
  const isTimed = isSale
    ? one.opensAt !== null || one.closesAt !== null || one.opensAfter !== null
    : isAmong('saleClosed', 'notOpenYet', 'soldOut')
  const now = inForce(sale, one.tierId, { number: shown.block, time: shown.time })
  const isClosing = one.closesAt !== null && shown.time >= one.closesAt
  const hasHolding = isAmong('holding') && one.holdingWei > 0n
  const listed = isAmong('notListed') ? one.allowlist : null
  return {
    expectedWei: one.priceWei,
    byGrace: isSale ? now !== one || isClosing : null,
    ...{ graceSec: isTimed ? one.graceSec : null, opensAfter: isTimed ? one.opensAfter : null },
    ...{ opensAt: isTimed ? one.opensAt : null, closesAt: isTimed ? one.closesAt : null },
    allowlist: listed,
    ...(listed !== null && { allocation: shown.allocationOf(listed) }),
    allowance: isAmong('tierAllowance', 'recheck', 'contractWallet') ? one.maxPerWallet : null,
    ...(isAmong('walletLimit') && { walletMax: shown.walletCap }),
    ...{ holdingNeededWei: hasHolding ? one.holdingWei : null, holdingToken: hasHolding ? one.holdingToken : null },
  }
}

/** Whether nothing is missing that the rule examined. */
function isWhole({ reason, evidence }: Verdict, isListed: boolean): boolean {
  const ofList = isListed && [null, 'notListed'].includes(reason) ? [evidence.used, evidence.allocation] : []
  const ofTier = SHOW_TIER.includes(reason) ? [evidence.nodesOfTier, evidence.inFlightOfTier] : []
  const ofWallet = [null, 'walletLimit'].includes(reason) ? [evidence.walletNodes, evidence.walletInFlight] : []
  return ![...ofList, ...ofTier, ...ofWallet].includes(null)
}

const SHOW_TIER: readonly Verdict['reason'][] = [null, 'tierAllowance', 'recheck', 'contractWallet']

/** Whether the chain shows otherwise what evidence says of the payer's nodes and tokens. */
function isAsOnChain({ reason, evidence }: Verdict, tierNo: number, shown: Shown): boolean {
  const { countedAtBlock, nodesOfTier, walletNodes, holdingNeededWei, holdingReadWei } = evidence
  if (
    holdingNeededWei !== null &&
    holdingReadWei !== null &&
    shown.heldWei !== null &&
    holdingReadWei !== shown.heldWei
  )
    return false
  if (countedAtBlock === null) return true
  const nodes = shown.nodesAt(countedAtBlock)
  if (SHOW_TIER.includes(reason) && nodesOfTier !== nodes.filter((one) => one === tierNo).length) return false
  return ![null, 'walletLimit'].includes(reason) || walletNodes === nodes.length
}

function isTransfer(said: Payment, { kind, reason, evidence }: Verdict, shown: Shown, wallets: string[]): boolean {
  const isInner = evidence.innerIndex > 0
  const states = kind === 'accepted' ? ['accepted', 'minting', 'minted'] : ['held']
  return (
    shown.succeeded &&
    said.blockNumber === shown.block &&
    sec(said.paidAt) === shown.time &&
    evidence.blockHash === shown.blockHash &&
    evidence.txIndex === shown.txIndex &&
    (isInner || (sameText(said.from, shown.from) && sameText(evidence.wallet, shown.to))) &&
    // A transaction's own transfer is listed as such.
    (isInner ? !wallets.includes(shown.to) : evidence.receivedWei === shown.valueWei) &&
    evidence.receivedWei > 0n &&
    said.valueWei === evidence.receivedWei &&
    said.tierId === evidence.tierId &&
    states.includes(said.status) &&
    (kind === 'accepted' || said.reason === reason) &&
    !wallets.includes(said.from ?? '')
  )
}

/** False if a payment with its verdict contradicts the chain, the published sale, or itself. */
export function verdictMatches(said: Payment, verdict: Verdict, published: PublishedSale, shown: Shown): boolean {
  const { evidence } = verdict
  const wallets = published.wallets.map((one) => {
    return {
      wallet: one.address,
      fromBlock: one.fromBlock,
      fromTime: sec(one.fromAt) ?? 0,
      graceSec: one.graceSec,
      stolen: false,
    }
  })
  const block = { number: shown.block, time: shown.time, txIndex: shown.txIndex, innerIndex: evidence.innerIndex }
  const addresses = wallets.map(({ wallet }) => wallet)
  if (!isTransfer(said, verdict, shown, addresses)) return false
  const sale = saleOf(published)
  const choice = choose(sale, evidence.receivedWei, block)
  const isOld = !walletSells(wallets, evidence.wallet, block)
  const named = sale.versions.find(
    ({ tierId, version }) => tierId === evidence.tierId && version === evidence.tierVersion,
  )
  const isMeant =
    choice.kind === 'sells'
      ? named !== undefined && choice.versions.includes(named)
      : choice.version === (named ?? null)
  if (!isMeant || (evidence.tierId === null) !== (named === undefined)) return false
  const outcome: Outcome =
    choice.kind === 'sells' || isOld
      ? judge(factsOf(verdict, named ?? null, isOld))
      : { kind: 'held', why: choice.reason }
  if (JSON.stringify(outcome) !== JSON.stringify(inWords(verdict))) return false
  if (named === undefined) return evidence.expectedWei === null && evidence.tierVersion === null
  const terms = termsShown(verdict, named, sale, shown)
  if (!Object.entries(terms).every(([field, value]) => asTime(evidence[field as keyof Evidence]) === value))
    return false
  const { tierNo = 0 } =
    published.versions.find(({ tierId, version }) => tierId === named.tierId && version === named.version) ?? {}
  if (!isWhole(verdict, named.allowlist !== null)) return false
  return isAsOnChain(verdict, tierNo, shown) && hasPlace(verdict, inForce(sale, named.tierId, block)?.supply ?? null)
}

/** Whether evidence about places fits the supply of the version in force, and itself. */
function hasPlace({ kind, reason, evidence }: Verdict, supply: number | null): boolean {
  const { sold, place } = evidence
  if (kind === 'held' && reason !== 'soldOut') return evidence.supply === null && place === null
  if (supply !== null && (evidence.supply === null || evidence.supply > supply)) return false
  if (evidence.supply === null) return place === null
  return sold !== null && evidence.reserved !== null && place === (kind === 'accepted' ? sold + 1 : null)
}
