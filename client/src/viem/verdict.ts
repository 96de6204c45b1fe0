// Recomputes the verdict on a payment from the chain and from what the service publishes to everyone. What the service alone can know stays its claim:
// how many places others took, how much of an allocation is used, which payments are in flight.
import { type Block, erc20Abi, type Transaction, type TransactionReceipt } from 'viem'
import { getBlock, getTransaction, getTransactionReceipt, readContract } from 'viem/actions'
import type { LedgerClient } from '../client.ts'
import { nullOn } from '../errors.ts'
import type { Hex, Payment, Sale, TierVersion, Verdict } from '../types.ts'
import { same, verifyAllowlist, verifyAllowlisted } from './allowlist.ts'
import { factoryAbi } from './factory.ts'
import { type ChainClient, placeOf, type VerifyOptions } from './place.ts'
import { inForce, isClosing, isReplaced, type Position, selectSelling } from './selling.ts'

export interface VerifiedVerdict {
  /** False if something differs. Null if the verdict is not public, or if something could not be checked. */
  matches: boolean | null
  /** False if the service publishes no verdict: it has not judged the payment yet, or the decision is the operator's. */
  isPublic: boolean
  /** Names of the fields that differ: of the payment, and of its verdict's evidence. `reason`: the verdict does not follow from the evidence. */
  differences: string[]
  /** Names of the fields that your provider does not show, or no provider can. */
  unchecked: string[]
  reported: Payment
}

export interface VerifiedVerdicts {
  /** True if every verdict matches, and no payment is missing. False if one does not. Null if one could not be checked. */
  matches: boolean | null
  /** `payments` if the service lists none for a transfer that may buy; fields of the service's place. */
  differences: string[]
  /** One for each payment of the transaction. None if the service knows of no sale. */
  verdicts: VerifiedVerdict[]
}

/**
 * Recomputes the verdicts on a transaction's payments: the transfer, the tier and its version, opening and closing, list, allowance, holding, place.
 * Reads old states, so with a provider that is no archive some checks are left out. Throws the provider's error if it lacks the transaction.
 */
export async function verifyVerdict(
  ledger: LedgerClient,
  chain: ChainClient,
  txHash: Hex,
  options: VerifyOptions = {},
): Promise<VerifiedVerdicts> {
  const { factory, differences } = await placeOf(ledger, chain, options)
  const [transaction, receipt] = await Promise.all([
    getTransaction(chain, { hash: txHash }),
    getTransactionReceipt(chain, { hash: txHash }),
  ])
  const block = await getBlock(chain, { blockNumber: receipt.blockNumber })
  const answer = await ledger.getPayment(txHash).catch(nullOn(404))
  const sale = await ledger.getSale(receipt.blockNumber).catch(nullOn(404))
  const payments = answer?.payments ?? []
  const transfer: Transfer = { ledger, chain, factory, transaction, receipt, block, sale }
  const isMissing = !payments.some(({ verdict }) => verdict?.evidence.innerIndex === 0) && (await mayBuy(transfer))
  // A payment without a verdict does not show whether it is the transaction's own transfer.
  if (isMissing && payments.every(({ verdict }) => verdict)) differences.push('payments')
  const verdicts: VerifiedVerdict[] = []
  for (const payment of payments) verdicts.push(await verifyOne(transfer, payment, txHash))
  const all = verdicts.map(({ matches }) => matches)
  const isFalse = differences.length > 0 || all.includes(false)
  return { matches: isFalse ? false : all.includes(null) || sale === null ? null : true, differences, verdicts }
}

/** A transaction as it is on chain, and what the service publishes for its block; null if it has not followed to it. */
interface Transfer {
  ledger: LedgerClient
  chain: ChainClient
  factory: Hex
  transaction: Transaction
  receipt: TransactionReceipt
  block: Block
  sale: Sale | null
}

/** True if the service must list the transaction's own transfer. It lists none that failed, of nothing, or of its own accounts. */
async function mayBuy({ sale, chain, factory: address, transaction, receipt }: Transfer): Promise<boolean> {
  const { from, to, value } = transaction
  const walletAt = (one: string | null) => sale?.wallets.find((wallet) => same(wallet.address, one ?? ''))
  const wallet = walletAt(to)
  if (receipt.status !== 'success' || value === 0n || !wallet || walletAt(from)) return false
  if (wallet.closedBlock !== null && receipt.blockNumber > wallet.closedBlock) return false
  const call = { address, abi: factoryAbi } as const
  const own = await Promise.all([
    readContract(chain, { ...call, functionName: 'minter' }),
    readContract(chain, { ...call, functionName: 'distributor' }),
  ])
  return !own.some((one) => same(one, from))
}

/** The fields that differ from the chain, and those that we could not check. */
class Findings {
  readonly differences = new Set<string>()
  readonly unchecked = new Set<string>()

  /** Notes whether a field is right; null if that cannot be checked. */
  check(field: string, isRight: boolean | null): void {
    if (isRight === null) this.unchecked.add(field)
    else if (!isRight) this.differences.add(field)
  }
}

type Evidence = Verdict['evidence']

/** A payment with its verdict, and the chain that it is compared with. */
interface Review extends Transfer {
  sale: Sale
  payment: Payment
  kind: Verdict['kind']
  reason: Verdict['reason']
  evidence: Evidence
  at: Position
  findings: Findings
}

async function verifyOne(transfer: Transfer, answer: Payment, txHash: Hex): Promise<VerifiedVerdict> {
  const { sale, receipt, block } = transfer
  const { verdict } = answer
  const findings = new Findings()
  findings.check('txHash', same(answer.txHash, txHash))
  if (verdict && sale) {
    const { kind, reason, evidence } = verdict
    const at = {
      blockNumber: Number(receipt.blockNumber),
      txIndex: receipt.transactionIndex,
      innerIndex: evidence.innerIndex,
      timeSec: Number(block.timestamp),
    }
    const review: Review = { ...transfer, sale, payment: answer, kind, reason, evidence, at, findings }
    checkTransfer(review)
    await checkTerms(review)
  }
  const differences = [...findings.differences]
  const unchecked = [...findings.unchecked].filter((field) => !findings.differences.has(field))
  const isPublic = Boolean(verdict)
  const isWhole = isPublic && sale !== null && unchecked.length === 0
  const matches = differences.length > 0 ? false : isWhole || null
  return { matches, isPublic, differences, unchecked, reported: answer }
}

/** Compares a payment with its transaction. Who made an inner transfer, and of how much, only a trace can show. */
function checkTransfer({
  payment,
  kind,
  reason,
  evidence,
  at,
  transaction,
  receipt,
  block,
  sale,
  findings,
}: Review): void {
  const { from, to, value } = transaction
  const isOwn = evidence.innerIndex === 0
  findings.check('blockNumber', payment.blockNumber === at.blockNumber)
  findings.check('blockHash', evidence.blockHash === block.hash)
  findings.check('txIndex', evidence.txIndex === at.txIndex)
  findings.check('paidAt', payment.paidAt?.getTime() === at.timeSec * 1000)
  findings.check('from', isOwn ? same(payment.from ?? '', from) : null)
  findings.check('wallet', isOwn ? same(evidence.wallet, to ?? '') : null)
  findings.check('receivedWei', isOwn ? evidence.receivedWei === value : null)
  findings.check('valueWei', payment.valueWei === evidence.receivedWei)
  findings.check('tierId', payment.tierId === evidence.tierId)
  // A transfer that buys nothing gets no public verdict.
  findings.check('from', !sale.wallets.some(({ address }) => address === payment.from))
  const standing =
    kind === 'held' ? payment.status === 'held' && payment.reason === reason : SOLD.includes(payment.status)
  findings.check('status', standing && receipt.status === 'success' && evidence.receivedWei > 0n)
}

const SOLD: readonly Payment['status'][] = ['accepted', 'minting', 'minted']
/** Reasons that follow from the transfer and the published sale alone. */
const BY_SALE: readonly Verdict['reason'][] = ['oldWallet', 'wrongAmount', 'saleClosed', 'notOpenYet']
/** Reasons that rest on what only the service knows. */
const BY_SERVICE: readonly Verdict['reason'][] = ['recheck', 'contractWallet']

async function checkTerms(review: Review): Promise<void> {
  const { evidence, reason, at, sale, findings } = review
  const { kind, versions } = selectSelling(sale, evidence.receivedWei, at)
  const expected = isReplaced(sale, evidence.wallet, at) ? 'oldWallet' : kind === 'sells' ? null : kind
  findings.check('reason', (BY_SALE.includes(reason) ? reason : null) === expected)
  if (BY_SERVICE.includes(reason)) findings.check('reason', null)
  const { tierId, tierVersion } = evidence
  const version = versions.find((one) => one.tierId === tierId && one.version === tierVersion)
  findings.check(
    'tierVersion',
    version !== undefined || (versions.length === 0 && tierId === null && tierVersion === null),
  )
  if (!version) return findings.check('expectedWei', evidence.expectedWei === null)
  findings.check('expectedWei', evidence.expectedWei === version.priceWei)
  checkTimes(review, version)
  if (expected === null) await checkOpening(review, version)
  await checkList(review, version)
  await checkNodes(review, version)
  await checkHolding(review, version)
  checkPlace(review, version)
}

function checkTimes({ kind, reason, evidence, at, sale, findings }: Review, version: TierVersion): void {
  const { opensAt, closesAt, opensAfter, opened, graceSec } = version
  const hasTimes = opensAt !== null || closesAt !== null || opensAfter !== null
  const isShown = kind === 'accepted' ? hasTimes : reason !== null && SHOW_TIMES.includes(reason)
  findings.check('graceSec', evidence.graceSec === (isShown ? graceSec : null))
  for (const field of ['opensAt', 'closesAt'] as const)
    findings.check(field, evidence[field]?.getTime() === (isShown ? version[field]?.getTime() : undefined))
  findings.check('opensAfter', evidence.opensAfter === (isShown ? opensAfter : null))
  // A step may have opened behind a payment since that was held.
  const isLater = reason === 'notOpenYet' && evidence.opened === null
  findings.check('opened', isLater || samePlace(evidence.opened, isShown ? opened : null))
  const isGraced = inForce(sale, version.tierId) !== version || isClosing(version, at)
  findings.check('byGrace', evidence.byGrace === (kind === 'accepted' ? isGraced : null))
}

const SHOW_TIMES: readonly string[] = ['saleClosed', 'notOpenYet', 'soldOut']

const samePlace = (a: Evidence['opened'], b: Evidence['opened']): boolean =>
  a?.blockNumber === b?.blockNumber && a?.txIndex === b?.txIndex && a?.innerIndex === b?.innerIndex

/** The payment that opened a step must be one for the tier before it. That a step opened without a payment is the service's claim. */
async function checkOpening({ ledger, chain, findings }: Review, { opensAfter, opened }: TierVersion): Promise<void> {
  if (opensAfter === null || opened === null) return
  if (opened.txIndex < 0) return findings.check('opened', null)
  const index = { blockNumber: BigInt(opened.blockNumber), index: opened.txIndex }
  const opener = await getTransaction(chain, index).catch(() => null)
  const payment = opener && (await ledger.getPayment(opener.hash).catch(nullOn(404)))
  const isOfTier = payment?.payments?.some(
    ({ tierId, blockNumber }) => tierId === opensAfter && blockNumber === opened.blockNumber,
  )
  findings.check('opened', opener && isOfTier === true)
}

async function checkList(
  { ledger, payment, kind, reason, evidence, findings }: Review,
  { allowlist }: TierVersion,
): Promise<void> {
  if (kind !== 'accepted' && reason !== 'notListed') return findings.check('allowlist', evidence.allowlist === null)
  findings.check('allowlist', evidence.allowlist === allowlist)
  const { allocation, used } = evidence
  const isListed = allowlist === null || isBelow([used], allocation)
  findings.check('reason', isListed === (kind === 'accepted'))
  if (allowlist === null || payment.from === null) return
  const { matches, reported } = await verifyAllowlisted(ledger, allowlist as Hex, payment.from)
  findings.check(
    'allocation',
    reported.allocation === allocation && (matches ?? (await isAbsent(ledger, allowlist as Hex, payment.from))),
  )
}

/** True if a published list does not have a wallet; null if the operator has not published it. */
async function isAbsent(ledger: LedgerClient, root: Hex, wallet: Hex): Promise<boolean | null> {
  const { matches, allocations } = await verifyAllowlist(ledger, root)
  return matches && !allocations.has(wallet)
}

/** Reasons whose evidence has the allowance of the tier. */
const SHOW_ALLOWANCE: readonly Verdict['reason'][] = ['tierAllowance', 'recheck', 'contractWallet', null]

async function checkNodes(review: Review, { maxPerWallet, tierNo }: TierVersion): Promise<void> {
  const { reason, evidence, findings } = review
  const [showsTier, showsWallet] = [SHOW_ALLOWANCE.includes(reason), reason === null || reason === 'walletLimit']
  findings.check('allowance', evidence.allowance === (showsTier ? maxPerWallet : null))
  if (!showsTier && !showsWallet) return
  const held = await nodesHeld(review).catch(() => null)
  const ofTier = held?.tierNos.filter((one) => one === tierNo).length ?? null
  if (showsTier) {
    findings.check('nodesOfTier', ofTier === null ? null : evidence.nodesOfTier === ofTier)
    findings.check(
      'reason',
      isBelow([evidence.nodesOfTier, evidence.inFlightOfTier], maxPerWallet) === (reason !== 'tierAllowance'),
    )
  }
  if (!showsWallet) return
  findings.check('walletNodes', held && evidence.walletNodes === held.tierNos.length)
  findings.check('walletMax', held && evidence.walletMax === held.most)
  findings.check(
    'reason',
    isBelow([evidence.walletNodes, evidence.walletInFlight], evidence.walletMax) === (reason === null),
  )
}

/** Whether a sum is below a limit; null if a part is unknown, which no verdict can rest on. */
const isBelow = (parts: readonly (number | null)[], limit: number | null): boolean | null =>
  limit === null || parts.includes(null) ? null : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0) < limit

/** The tiers of the wallet's nodes in the block at which the service counted them, and the contract's cap. Null if it reports no block. */
async function nodesHeld({ chain, factory: address, payment, evidence }: Review) {
  if (evidence.countedAtBlock === null || payment.from === null) return null
  const call = { address, abi: factoryAbi, blockNumber: BigInt(evidence.countedAtBlock) } as const
  const most = Number(await readContract(chain, { ...call, functionName: 'maxPerWallet' }))
  const ids = await readContract(chain, { ...call, functionName: 'nodesOf', args: [payment.from] })
  const nodes = await Promise.all(
    ids.map((id) => readContract(chain, { ...call, functionName: 'nodeInfo', args: [id] })),
  )
  const cohorts = [...new Set(nodes.map((node) => node[4]))]
  const tierNos = await Promise.all(
    cohorts.map(async (id) => Number((await readContract(chain, { ...call, functionName: 'cohort', args: [id] }))[4])),
  )
  return { most, tierNos: nodes.map((node) => (node[4] === 0n ? null : tierNos[cohorts.indexOf(node[4])])) }
}

async function checkHolding(
  { chain, payment, reason, evidence, at, findings }: Review,
  version: TierVersion,
): Promise<void> {
  const isShown = (reason === null || reason === 'holding') && version.holdingToken !== null
  findings.check('holdingToken', evidence.holdingToken === (isShown ? version.holdingToken : null))
  findings.check('holdingNeededWei', evidence.holdingNeededWei === (isShown ? version.holdingWei : null))
  if (!isShown) return findings.check('reason', reason !== 'holding')
  const { holdingReadWei } = evidence
  findings.check('reason', (holdingReadWei !== null && holdingReadWei >= version.holdingWei) === (reason === null))
  const call = {
    address: version.holdingToken as Hex,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [payment.from as Hex],
    blockNumber: BigInt(at.blockNumber),
  } as const
  const heldWei = holdingReadWei === null ? null : await readContract(chain, call).catch(() => null)
  findings.check('holdingReadWei', heldWei === null ? null : holdingReadWei === heldWei)
}

function checkPlace({ reason, evidence, sale, findings }: Review, { tierId }: TierVersion): void {
  const { supply, sold, reserved, place } = evidence
  const isShown = reason === null || reason === 'soldOut'
  if (!isShown) findings.check('supply', supply === null && place === null)
  if (!isShown) return
  // A lower supply, or the contract's cap, may have applied when the service judged the payment.
  const most = inForce(sale, tierId)?.supply ?? null
  findings.check('supply', most === null || (supply !== null && supply <= most))
  const isFree = supply === null || isBelow([sold, reserved], supply) === true
  findings.check('reason', reason === null ? isFree : isBelow([sold], supply) === false && reserved !== null)
  findings.check('place', place === (reason === null && supply !== null && sold !== null ? sold + 1 : null))
}
