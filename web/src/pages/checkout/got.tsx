// What the nodes of a tier really got in the last thirty days: in words, and day by day as a small plot. No promise of what they will get.
import type { Tier, TierFigures } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import { day } from '../../format.ts'
import { ledger, notBefore } from '../../ledger.ts'
import { Amount, Countdown, Unknown } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Shown } from '../../ui/states.tsx'
import { words } from '../../words/checkout.ts'
import { fill, rich } from '../../words/message.ts'

const EVERY_MS = 60_000
const t = words.got

/** One card for each tier on sale. */
export function Got({ tiers }: { tiers: readonly Tier[] }) {
  const onSale = tiers.filter((tier) => tier.onSale)
  if (onSale.length === 0) return null
  return (
    <Section title={t.title}>
      <div className="stack">
        <p className="note">{t.lead}</p>
        <ul className="tiers">
          {onSale.map((tier) => (
            <li key={tier.id} className="card tier">
              <header>
                <h3>{tier.label}</h3>
              </header>
              <GotOf tier={tier} />
            </li>
          ))}
        </ul>
      </div>
    </Section>
  )
}

/** Of one tier, where it is bought. */
export function GotOfOne({ tier }: { tier: Tier }) {
  return (
    <Section title={fill(t.titleOne, { tier: tier.label })}>
      <div className="stack">
        <GotOf tier={tier} />
        <p className="note">{t.sources}</p>
      </div>
    </Section>
  )
}

function GotOf({ tier: { id } }: { tier: Tier }) {
  const reading = useQuery({
    queryKey: ['figures', id],
    queryFn: ({ signal }) => ledger.getTierFigures(id, { signal }),
    refetchInterval: notBefore(() => EVERY_MS),
  })
  return <Shown reading={reading}>{(figures) => <Figures figures={figures} />}</Shown>
}

function Figures({ figures: { nodeCount, nextRoundAt, turn, day: perDay, days } }: { figures: TierFigures }) {
  const nodes = <strong>{fill(words.tiers.nodes, { n: nodeCount })}</strong>
  return (
    <>
      <ul className="terms">
        <li>{nextRoundAt ? rich(t.nextRound, { nodes, time: <Countdown to={nextRoundAt} /> }) : nodes}</li>
        {turn === null && <li>{t.none}</li>}
        {turn && <li>{rich(t.round, partsOf(turn))}</li>}
        {perDay && <li>{rich(t.day, partsOf(perDay))}</li>}
      </ul>
      {days.length > 1 && <Days days={days} />}
    </>
  )
}

type Range = NonNullable<TierFigures['turn' | 'day']>

const partsOf = ({ medianWei, medianUsd, lowWei, highWei }: Range) => ({
  median: <Amount wei={medianWei} />,
  usd: <Dollars usd={medianUsd} />,
  low: <Amount wei={lowWei} plain />,
  high: <Amount wei={highWei} plain />,
})

function Dollars({ usd }: { usd: number | null }) {
  if (usd === null) return <Unknown why={t.usdUnknown} />
  return fill(t.usd, { usd: usd.toLocaleString(undefined, { style: 'currency', currency: 'USD' }) })
}

const WIDTH = 300
const HEIGHT = 60

/** A line from the least to the most of each day, and a mark at its median. The same is said in words beside it. */
function Days({ days }: { days: TierFigures['days'] }) {
  const most = days.reduce((high, { highWei }) => (highWei > high ? highWei : high), 1n)
  const y = (wei: bigint) => HEIGHT - 2 - Number((wei * 1_000n) / most) * ((HEIGHT - 4) / 1_000)
  const x = (index: number) => ((index + 0.5) * WIDTH) / days.length
  const [first, last] = [days[0], days.at(-1)]
  return (
    <figure>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        width="100%"
        height={HEIGHT}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {days.map(({ dayAt, lowWei, medianWei, highWei }, index) => (
          <g key={dayAt.getTime()} stroke="currentColor">
            <line x1={x(index)} x2={x(index)} y1={y(lowWei)} y2={y(highWei)} strokeOpacity="0.4" strokeWidth="3" />
            <line x1={x(index) - 3} x2={x(index) + 3} y1={y(medianWei)} y2={y(medianWei)} strokeWidth="2" />
          </g>
        ))}
      </svg>
      <figcaption className="note">
        {first && last && fill(t.days, { first: day(first.dayAt), last: day(last.dayAt) })}
      </figcaption>
    </figure>
  )
}
