// What is on sale, on one page: a card for each tier with its price, what is left, and its conditions. Also explains how buying works.
import type { Tier } from '@node-ledger/client'
import { type ReactNode, Suspense } from 'react'
import { Link } from 'wouter'
import { nextTurnOf, paidByTier } from '../../cadence.ts'
import {
  creditInWords,
  ether,
  etherAsNumber,
  everySpan,
  everyTime,
  sentenceCase,
  shortEther,
  times,
} from '../../format.ts'
import { useDeployment, useRounds, useTiers } from '../../ledger.ts'
import { useSite } from '../../site.ts'
import { Course } from '../../ui/bars.tsx'
import { later } from '../../ui/boundary.tsx'
import { Countdown, Mark, Price, Time } from '../../ui/facts.tsx'
import { Facts, Page, Section } from '../../ui/page.tsx'
import { TierPicture } from '../../ui/picture.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { words } from '../../words/checkout.ts'
import { fill, rich } from '../../words/message.ts'
import { Claim } from '../payment/claim.tsx'

// It is below the fold.
const Questions = later(async () => (await import('./questions.tsx')).Questions)

const t = words.tiers
const strong = (text: ReactNode) => <strong>{text}</strong>

export function Tiers() {
  const tiers = useTiers()
  return (
    <Page title={t.title} lead={t.lead}>
      <Claim />
      <Shown reading={tiers} shape="cards">
        {(all) => <Offers tiers={all} />}
      </Shown>
      <HowItWorks />
      <Suspense>
        <Questions />
      </Suspense>
    </Page>
  )
}

/** True if nobody can buy the tier, now or later. */
const isOver = ({ state }: Tier): boolean => state === 'soldOut' || state === 'closed'

/** Tiers that can be bought, or will be, have their cards. The others are folded. */
function Offers({ tiers }: { tiers: readonly Tier[] }) {
  const over = tiers.filter(isOver)
  return (
    <>
      <TierCards tiers={tiers.filter((tier) => !isOver(tier))} />
      {over.length > 0 && (
        <details className="checked">
          <summary>{fill(t.over, { n: over.length })}</summary>
          <TierCards tiers={over} />
        </details>
      )}
    </>
  )
}

/** How it works in three steps, with the time between two credits by the terms. */
export function HowItWorks() {
  const { data: rounds = [] } = useRounds()
  const { chain } = useSite()
  const next = nextTurnOf(rounds, Date.now())
  const credit = useTiers().data?.[0]?.credit
  return (
    <Section title={t.how}>
      <ol className="how">
        <li>
          <h3>{t.pay}</h3>
          <p>{fill(t.payHow, { chain: chain ?? t.thisChain })}</p>
        </li>
        <li>
          <h3>{t.arrives}</h3>
          <p>{t.arrivesHow}</p>
        </li>
        <li>
          <h3>{credit ? fill(t.earnsEvery, { span: everySpan(credit.intervalSec) }) : t.earns}</h3>
          <p>
            {t.earnsHow} {next && rich(t.next, { time: <Countdown to={next} isTurn /> })}
          </p>
        </li>
      </ol>
    </Section>
  )
}

const ORDER: readonly Tier['state'][] = ['open', 'upcoming', 'soldOut', 'closed']

interface TierCardsProps {
  tiers: readonly Tier[]
  /** How many cards to show, if not all. */
  most?: number
}

export function TierCards({ tiers, most }: TierCardsProps) {
  const mostOf = useMostPerWallet()
  const all = useTiers().data ?? tiers
  if (tiers.length === 0) return <Empty title={t.none} />
  const inOrder = tiers.toSorted(
    (a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || Number(a.priceWei - b.priceWei),
  )
  return (
    <ul className="tiers">
      {inOrder.slice(0, most).map((tier) => (
        <li key={tier.id} className={isSold(tier) ? 'card tier' : 'card tier shut'}>
          <header>
            <TierPicture payoutBps={tier.payoutBps} />
            <h2>{tier.label}</h2>
            <Standing tier={tier} />
          </header>
          <p className="price">
            <Price wei={tier.priceWei} />
          </p>
          <LastPaid tier={tier} />
          <Facts
            of={{
              [t.perWallet]: fill(t.nodes, { n: mostOf(tier) }),
              [t.supply]: tier.remaining !== null && leftInWords(tier),
              ...(isBoundToSome(tier) && { [t.whoMay]: whoMayBuy(tier).join(', ') }),
              ...(tier.state === 'open' && tier.closesAt && { [t.closes]: <Time at={tier.closesAt} ahead /> }),
              ...plannedFacts(tier),
            }}
          />
          <p className="act">
            {isSold(tier) ? (
              <Link href={`/buy/${tier.id}`} className="button wide">
                {fill(t.buy, { tier: tier.label })}
              </Link>
            ) : (
              <Opening tier={tier} tiers={all} />
            )}
          </p>
        </li>
      ))}
    </ul>
  )
}

/** What the next planned change brings a buyer, and when. */
function plannedFacts(tier: Tier): Record<string, ReactNode> {
  const [next] = tier.planned
  if (!next) return {}
  const becomes = [
    next.priceWei !== tier.priceWei && `${ether(next.priceWei)} ETH`,
    next.allowlistRoot !== tier.allowlistRoot && (next.allowlistRoot === null ? t.public : t.forList),
    next.onSale !== tier.onSale && (next.onSale ? t.onSale : t.offSale),
  ].filter((change) => change !== false)
  return { [becomes.join(', ') || t.newTerms]: <Time at={next.startsAt} ahead /> }
}

/** When a tier that cannot be bought now can be, if anyone knows. */
function Opening({ tier, tiers }: { tier: Tier; tiers: readonly Tier[] }) {
  if (tier.state === 'upcoming' && tier.opensAt)
    return (
      <span title={everyTime(tier.opensAt)}>{rich(t.opens, { time: strong(<Countdown to={tier.opensAt} />) })}</span>
    )
  if (tier.state === 'upcoming' && tier.opensAfter) return fill(t.opensAfter, { tier: labelOf(tiers, tier.opensAfter) })
  return null
}

/** A tier is nearly sold once this share of its supply is sold; the same as in the service. */
const NEARLY = 0.9
const isNearlySold = ({ remaining, supply }: Tier) =>
  remaining !== null && supply !== null && supply - remaining >= supply * NEARLY

/** Shows the state of a tier's sale, unless it is simply open, or the card says when it opens. */
function Standing({ tier }: { tier: Tier }) {
  if (tier.state === 'upcoming' && (tier.opensAt ?? tier.opensAfter) !== null) return null
  const why = whyNotSold(tier)
  if (why !== null) return <Mark tone="calm">{why}</Mark>
  return isNearlySold(tier) && <Mark tone="warn">{t.nearly}</Mark>
}

/** What a round may pay a node of a tier by its terms, and what the last one paid. */
export function LastPaid({ tier }: { tier: Tier }) {
  const { data: rounds = [] } = useRounds()
  const last = paidByTier(rounds, tier.id, 1)[0]
  const range = tier.credit && rangeInWords(tier.credit)
  const than = thanInWords(tier, useTiers().data ?? [])
  return (
    <div className="paid">
      <p>
        {range && rich(t.mayPay, { strong, range })}
        {last && !range && rich(t.lastPaid, { strong, amount: creditInWords(last.wei) })}
        {range && (
          <span>
            {than}
            {last && (
              <span className="latest">
                {than && ' · '}
                {fill(t.last, { amount: creditInWords(last.wei) })}
              </span>
            )}
          </span>
        )}
      </p>
    </div>
  )
}

/** How many rounds the checkout shows. */
const PAID_MAX = 12

/** What the last rounds paid a node of a tier, as bars and in words that are only heard. */
export function TierCourse({ tier }: { tier: Tier }) {
  const payouts = paidByTier(useRounds().data ?? [], tier.id, PAID_MAX)
  const last = payouts.at(-1)
  if (!last) return null
  return (
    <>
      <Course
        bars={payouts.map(({ round, at, wei }) => ({
          key: round,
          value: etherAsNumber(wei),
          title: `${everyTime(at)}: ${shortEther(wei)} ETH`,
        }))}
        most={tier.credit && mostIn(tier.credit)}
        shown={fill(t.shown, { n: payouts.length, tier: tier.label })}
        next={sentenceCase(fill(t.last, { amount: creditInWords(last.wei) }))}
      />
      <p className="visually-hidden">
        {fill(t.before, { amounts: payouts.map(({ wei }) => `${shortEther(wei)} ETH`).join(', ') })}
      </p>
    </>
  )
}

/** A rate of which others are multiples. */
const PLAIN_BPS = 10_000

/** How many times the rewards of a plain tier a tier has; nothing if there is no plain tier, or it is one itself. */
function thanInWords({ payoutBps }: Tier, tiers: readonly Tier[]): string {
  const plain = tiers.find((tier) => tier.payoutBps === PLAIN_BPS && isSold(tier))
  return plain && payoutBps !== PLAIN_BPS ? fill(t.than, { rate: times(payoutBps), tier: plain.label }) : ''
}

export type Credit = NonNullable<Tier['credit']>

/** What a round may pay a node; one amount if there is but one. */
export function rangeInWords({ minWei, maxWei }: Credit): string {
  const [least, most] = [creditInWords(minWei), creditInWords(maxWei)]
  return least === most ? least : fill(t.fromTo, { least, most })
}

/** The most that a round may pay a node, to draw and in words. */
export const mostIn = ({ maxWei }: Credit) => ({
  value: etherAsNumber(maxWei),
  text: fill(t.most, { amount: creditInWords(maxWei) }),
})

/** All steps of the ladder to which a tier belongs, in order, and how far the sale has come. Renders nothing for a tier without a ladder. */
export function Ladder({ tiers, of }: { tiers: readonly Tier[]; of: Tier }) {
  const steps = stepsOf(tiers, of)
  if (steps.length < 2) return null
  return (
    <ol className="checks" aria-label={t.ladder}>
      {steps.map((tier) => (
        <li key={tier.id} aria-current={tier.id === of.id ? 'step' : undefined}>
          {rich(t.inLadder, {
            strong: (text) => (
              <strong>{tier.id === of.id ? text : <Link href={`/buy/${tier.id}`}>{text}</Link>}</strong>
            ),
            tier: tier.label,
            amount: ether(tier.priceWei),
            stands: standsInWords(tier, tiers),
          })}
        </li>
      ))}
    </ol>
  )
}

function standsInWords(tier: Tier, tiers: readonly Tier[]): ReactNode {
  if (tier.state === 'upcoming' && tier.opensAfter) return fill(t.opensAfter, { tier: labelOf(tiers, tier.opensAfter) })
  return whyNotSold(tier) ?? (tier.remaining === null ? t.open : leftInWords(tier))
}

/** The steps of a sale, from its first. */
export function stepsOf(tiers: readonly Tier[], of: Tier): Tier[] {
  const before = (step: Tier) => tiers.find(({ id }) => id === step.opensAfter)
  let first = of
  // This ends: no step can come before itself, because the service refuses a circle.
  for (let earlier = before(of); earlier; earlier = before(earlier)) first = earlier
  const steps = [first]
  for (const step of steps) steps.push(...tiers.filter(({ opensAfter }) => opensAfter === step.id))
  return steps
}

/** The name of a tier, as buyers see it. */
export const labelOf = (tiers: readonly Tier[], id: string): string => tiers.find((tier) => tier.id === id)?.label ?? id

/** True if the tier can be bought now. */
export const isSold = (tier: Tier): boolean => whyNotSold(tier) === null

/** Why a tier cannot be bought now, in a word or two; null if it can. */
const whyNotSold = ({ state, soldOut }: Tier): string | null =>
  state === 'open' ? (soldOut ? t.soldOut : null) : t.states[state]

/** How many nodes of a tier are left, how many are reserved for payments in progress, and whether the contract enforces the limit. */
export const leftInWords = ({ remaining, supply, reserved, enforcedBy }: Tier): ReactNode =>
  rich(enforcedBy.supply === 'contract' ? t.leftByContract : t.left, {
    strong,
    n: remaining ?? 0,
    supply: supply ?? 0,
    beingPaid: reserved > 0 ? fill(t.beingPaid, { n: reserved }) : '',
  })

/** How many nodes of a tier a wallet may hold: the tier's own limit, or the contract's for all tiers if that is lower. */
export function useMostPerWallet(): (tier: Tier) => number {
  const { data } = useDeployment()
  return ({ maxPerWallet }) => Math.min(maxPerWallet, data?.maxPerWallet ?? maxPerWallet)
}

export const isBoundToSome = ({ openTo }: Tier) => openTo !== 'everyone'

/** Who may buy a tier, in words: wallets on its allowlist, holders of its token, or anyone. */
export function whoMayBuy(tier: Tier): string[] {
  const bounds = [...(tier.allowlistRoot ? [t.listed] : []), ...(tier.holdingWei > 0n ? [holdingInWords(tier)] : [])]
  return bounds.length > 0 ? bounds : [t.anyone]
}

/** The required holding for a tier, in words. */
function holdingInWords({ holdingWei, holdingToken, holdingSymbol, holdingDecimals }: Tier): string {
  const symbol = holdingSymbol ?? fill(t.tokensOf, { token: String(holdingToken) })
  return fill(t.forHolders, { amount: ether(holdingWei, holdingDecimals ?? 18), symbol })
}
