// Verdicts in words: each rule's finding as a sentence.
import { nearestTier } from '../../nearest.ts'
import { difference } from '../amounts.ts'
import { asText } from '../values.ts'

type Facts = Readonly<Record<string, unknown>>
/** Tiers with their current prices. */
export type Tiers = readonly { id: string; label: string; priceWei: bigint }[]

const inFlight = ({ inFlightOfTier, walletInFlight }: Facts) => {
  const count = Number(inFlightOfTier ?? walletInFlight ?? 0)
  return count === 0 ? '' : `, and ${count} under way`
}
const amount = (value: unknown) => (typeof value === 'bigint' ? value : BigInt(String(value ?? 0)))

/** What to do first about a payment that waits for a place. */
const PREPARE = 'Before you send it back, from whatever wallet, prepare its refund: it may still be minted.'

/** The finding of each rule. */
const SENTENCES: Readonly<Record<string, (of: Facts, tiers: Tiers) => string>> = {
  wrongAmount: ({ receivedWei }, tiers) => {
    const nearest = nearestTier(amount(receivedWei), tiers)
    const beside = nearest && `: ${difference(amount(receivedWei), nearest.priceWei)} than ${nearest.label}`
    return `It matched no tier’s price when it was paid${beside ?? ''}.`
  },
  saleClosed: ({ tierId }) => `Tier ${asText(tierId)} was off sale when it was paid.`,
  notOpenYet: ({ tierId }) => `Tier ${asText(tierId)} was not open yet when it was paid.`,
  soldOut: ({ tierId, sold, supply }) =>
    `Of ${asText(supply)} nodes of tier ${asText(tierId)}, ${asText(sold)} were sold before it. ${PREPARE}`,
  notListed: ({ allocation, used }) =>
    allocation === 0
      ? 'Its wallet is not on the list of the tier.'
      : `The list allows its wallet ${asText(allocation)} nodes, and ${asText(used)} are taken.`,
  tierAllowance: (of) =>
    `Its wallet has ${asText(of.nodesOfTier)} nodes of tier ${asText(of.tierId)}${inFlight(of)}; allowed are ${asText(of.allowance)}.`,
  walletLimit: (of) =>
    `Its wallet has ${asText(of.walletNodes)} nodes${inFlight(of)}; the contract lets it have ${asText(of.walletMax)}.`,
  holding: ({ unreadable, holdingReadWei, holdingNeededWei, holdingToken }) =>
    unreadable === true
      ? `Its balance of the token ${asText(holdingToken)} stayed unreadable for too long.`
      : `It held ${asText(holdingReadWei)} of the token ${asText(holdingToken)}; ${asText(holdingNeededWei)} are needed.`,
  senderDenied: () => 'Its wallet is on the deny list.',
  oldWallet: () => 'It was paid to a replaced wallet, when buyers already saw another one.',
  recheck: () =>
    'The database was restored from a backup, so later decisions about it are lost. Check that it has no node and no refund.',
  unattributed: () => 'It came by an internal call, and no account is proven to have sent it.',
  contractWallet: ({ unreadable, noCode }) =>
    unreadable === true
      ? 'Its sender’s code stayed unreadable for too long.'
      : noCode === true
        ? 'Its sender has no code now, though it sent by an internal call.'
        : 'Its sender is a contract that is not a known wallet.',
  mintReverted: () => 'The contract rejected its mint.',
  supplySpent: () => `The contract has as many nodes of its tier as it may ever have. ${PREPARE}`,
  mintedElsewhere: () => 'Another wallet’s node already has its ref.',
  refTaken: () => 'Another wallet’s node already has its ref.',
  refunding: ({ stoodAs }) =>
    `Its refund is being prepared: the service signs no mint for it. It was ${asText(stoodAs)} before.`,
  released: ({ tierId, receivedWei, expectedWei, heldFor }) => {
    const [receivedAmount, expectedAmount] = [amount(receivedWei), amount(expectedWei)]
    const price =
      receivedAmount === expectedAmount ? 'its price' : `${difference(receivedAmount, expectedAmount)} than its price`
    if (tierId === undefined) return 'It was released, and its wallet has room.'
    return `Released in tier ${asText(tierId)} for ${price}, though held for ${asText(heldFor)}.`
  },
  dismissed: ({ heldFor }) => `Dismissed after it was held for ${asText(heldFor)}: no node, no refund.`,
  accepted: ({ tierId, byGrace }) =>
    `The price of tier ${asText(tierId)}${byGrace === true ? ', which had just changed, so it counts by the grace period' : ''}, and no rule rejects it.`,
  self: () => 'From a payments wallet itself: no sale.',
  operator: () => 'From an account of the service: no sale.',
  zero: () => 'A transfer of nothing: no sale.',
  failed: () => 'The transfer failed on chain: it moved nothing.',
}

/** A verdict as a sentence; null if its rule has none. */
export function sentenceOf({ evidence }: { evidence: Facts }, tiers: Tiers): string | null {
  const rule = String(evidence.rule)
  return Object.hasOwn(SENTENCES, rule) ? (SENTENCES[rule]?.(evidence, tiers) ?? null) : null
}
