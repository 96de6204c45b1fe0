// A tier that nobody can buy now: what it is, why and until when, and what is on sale instead.
import type { Tier } from '@node-ledger/client'
import { Link } from 'wouter'
import { ether, everyTime } from '../../format.ts'
import { Countdown, Price, Time } from '../../ui/facts.tsx'
import { TierPicture } from '../../ui/picture.tsx'
import { words } from '../../words/checkout.ts'
import { fill, rich } from '../../words/message.ts'
import { Terms } from './offered.tsx'
import { isSold, LastPaid, labelOf, stepsOf, TierCards } from './tiers.tsx'

const t = words.buy

/** The tier, why no buyer can pay now, and until when. The page continues automatically once the service reports that the tier is open. */
export function NotNow({ tier, tiers }: { tier: Tier; tiers: readonly Tier[] }) {
  const { state, onSale, opensAt, closesAt } = tier
  const step = stepsOf(tiers, tier).find(isSold)
  return (
    <div className="not-now">
      <TierPicture payoutBps={tier.payoutBps} />
      <p className="price">
        <Price wei={tier.priceWei} />
      </p>
      <LastPaid tier={tier} />
      {state === 'upcoming' && <Terms tier={tier} />}
      <div className="notice" role="status">
        {state === 'upcoming' && opensAt ? (
          <Opening at={opensAt} />
        ) : (
          <p>
            {state === 'closed' && onSale ? rich(t.closedAt, { time: <Time at={closesAt} /> }) : whyNot(tier, tiers)}
          </p>
        )}
        {step && (
          <Link href={`/buy/${step.id}`} className="button main">
            {fill(t.buyStep, { tier: step.label, amount: ether(step.priceWei) })}
          </Link>
        )}
      </div>
    </div>
  )
}

/** How long until a tier opens, and when that is. */
const Opening = ({ at }: { at: Date }) => (
  <>
    <p className="price">{rich(words.tiers.opens, { time: <Countdown to={at} /> })}</p>
    <p className="note">{fill(t.opening, { at: everyTime(at) })}</p>
  </>
)

/** Why this tier cannot be bought now, in a sentence. */
function whyNot(tier: Tier, tiers: readonly Tier[]): string {
  const { state, supply, opensAfter } = tier
  if (state === 'open') return t.soldOut
  if (state === 'soldOut') return fill(t.allSold, { supply: supply ?? 0 })
  if (state === 'closed') return t.notOnSale
  if (opensAfter !== null) return fill(t.upcomingStep, { tier: labelOf(tiers, opensAfter) })
  return t.upcoming
}

/** What a visitor can buy instead. */
export function Instead({ tiers }: { tiers: readonly Tier[] }) {
  const sold = tiers.filter(isSold)
  if (sold.length === 0) return null
  return (
    <section className="offer" aria-labelledby="instead">
      <header className="bar">
        <h2 id="instead">{words.tiers.onSaleNow}</h2>
        <Link href="/buy">{words.tiers.all}</Link>
      </header>
      <TierCards tiers={sold} most={3} />
    </section>
  )
}
