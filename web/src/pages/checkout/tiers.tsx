// The tiers on sale, their conditions, and the party that enforces each.
import type { Tier } from '@node-ledger/client'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { ether, everyTime, times } from '../../format.ts'
import { useDeployment, useTiers } from '../../ledger.ts'
import { Amount, Mark } from '../../ui/facts.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { words } from '../../words/checkout.ts'
import { fill, rich } from '../../words/message.ts'

const t = words.tiers
const strong = (text: ReactNode) => <strong>{text}</strong>

export function Tiers() {
  const tiers = useTiers()
  return (
    <Page title={t.title} lead={t.lead}>
      <Shown reading={tiers} shape="cards">
        {(all) => <TierCards tiers={all} />}
      </Shown>
    </Page>
  )
}

export function TierCards({ tiers }: { tiers: readonly Tier[] }) {
  const mostOf = useMostPerWallet()
  if (tiers.length === 0) return <Empty title={t.none} />
  const byPrice = [...tiers].sort(
    (a, b) => Number(b.state === 'open') - Number(a.state === 'open') || Number(a.priceWei - b.priceWei),
  )
  return (
    <ul className="tiers">
      {byPrice.map((tier) => (
        <li key={tier.id} className="card tier">
          <header>
            <h2>{tier.label}</h2>
            {whyNotSold(tier) && <Mark tone="calm">{whyNotSold(tier)}</Mark>}
          </header>
          <p className="price">
            <Amount wei={tier.priceWei} exact />
          </p>
          <ul className="terms">
            <li>{rich(t.rate, { strong, rate: times(tier.payoutBps) })}</li>
            <li>{rich(t.upTo, { strong, nodes: fill(t.nodes, { n: mostOf(tier) }) })}</li>
            {whoMayBuy(tier).map((who) => (
              <li key={who}>{who}</li>
            ))}
            {tier.remaining !== null && <li>{leftInWords(tier)}</li>}
            {tier.state === 'upcoming' && tier.opensAt && <li>{fill(t.opens, { at: everyTime(tier.opensAt) })}</li>}
            {tier.state === 'upcoming' && tier.opensAfter && (
              <li>{fill(t.opensAfter, { tier: labelOf(tiers, tier.opensAfter) })}</li>
            )}
            {tier.state === 'open' && tier.closesAt && <li>{fill(t.closes, { at: everyTime(tier.closesAt) })}</li>}
          </ul>
          {whyNotSold(tier) === null && (
            <Link href={`/buy/${tier.id}`} className="button main">
              {fill(t.buy, { tier: tier.label })}
            </Link>
          )}
        </li>
      ))}
    </ul>
  )
}

/** All steps of the ladder that a tier belongs to, in their order, and where the sale stands; nothing for a tier that stands alone. */
export function Ladder({ tiers, of }: { tiers: readonly Tier[]; of: Tier }) {
  const steps = stepsOf(tiers, of)
  if (steps.length < 2) return null
  return (
    <ol className="checks" aria-label={t.ladder}>
      {steps.map((tier) => (
        <li key={tier.id} aria-current={tier.id === of.id ? 'step' : undefined}>
          {rich(t.step, { strong, tier: tier.label, amount: ether(tier.priceWei), stands: standsInWords(tier, tiers) })}
        </li>
      ))}
    </ol>
  )
}

function standsInWords(tier: Tier, tiers: readonly Tier[]): ReactNode {
  if (tier.state === 'upcoming' && tier.opensAfter) return fill(t.opensAfter, { tier: labelOf(tiers, tier.opensAfter) })
  return whyNotSold(tier) ?? (tier.remaining === null ? t.isOpen : leftInWords(tier))
}

function stepsOf(tiers: readonly Tier[], of: Tier): Tier[] {
  const before = (step: Tier) => tiers.find(({ id }) => id === step.opensAfter)
  let first = of
  // A step is never its own: the service refuses a circle.
  for (let earlier = before(of); earlier; earlier = before(earlier)) first = earlier
  const steps = [first]
  for (const step of steps) steps.push(...tiers.filter(({ opensAfter }) => opensAfter === step.id))
  return steps
}

/** The name of a tier, as buyers see it. */
export const labelOf = (tiers: readonly Tier[], id: string): string => tiers.find((tier) => tier.id === id)?.label ?? id

/** Why a tier cannot be bought now, in a word or two; null if it can. */
const whyNotSold = ({ state, soldOut }: Tier): string | null =>
  state === 'open' ? (soldOut ? t.soldOut : null) : t.states[state]

/** What is left of a tier, how many of it somebody is paying for, and whether the contract keeps to it. */
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

/** Who may buy a tier, in words: those on its list, holders of its token, or anyone. */
export function whoMayBuy(tier: Tier): string[] {
  const bounds = [...(tier.allowlistRoot ? [t.listed] : []), ...(tier.holdingWei > 0n ? [holdingInWords(tier)] : [])]
  return bounds.length > 0 ? bounds : [t.open]
}

/** The required holding of a tier, in words. */
function holdingInWords({ holdingWei, holdingToken, holdingSymbol, holdingDecimals }: Tier): string {
  const symbol = holdingSymbol ?? fill(t.tokensOf, { token: String(holdingToken) })
  return fill(t.forHolders, { amount: ether(holdingWei, holdingDecimals ?? 18), symbol })
}
