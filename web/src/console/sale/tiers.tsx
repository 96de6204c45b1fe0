// The tiers with their versions, and how to put them on and off sale.
import { count, ether, exactTime, figure, plainEther, times } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { Mark, Time } from '../../ui/facts.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type Tier, useAdmin } from '../admin.ts'
import { Exact } from '../exact.tsx'
import { columnsOf } from '../list.tsx'

/** The current text of each field that a new version may change. */
function presentOf({ versions }: Tier): Record<string, { was: string }> {
  const { graceSec: _, priceWei, ...others } = versions.at(-1) ?? {}
  const texts = { ...others, ...(priceWei !== undefined && { priceWei: plainEther(priceWei) }) }
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { was: String(text ?? '') }]))
}

/** A tier as buyers see it; undefined until the public list has it. */
const usePublicTier = (tierId: string) => useTiers().data?.find(({ id }) => id === tierId)

/** How the sale of a tier stands, in the words that buyers read. */
const STANDS = { open: 'on sale', upcoming: 'not open yet', soldOut: 'sold out', closed: 'not on sale' } as const
const TONES = { open: 'good', upcoming: 'calm', soldOut: 'calm', closed: 'calm' } as const

function Standing({ tier: { tierId, onSale } }: { tier: Tier }) {
  const state = usePublicTier(tierId)?.state ?? (onSale ? 'open' : 'closed')
  return <Mark tone={TONES[state]}>{STANDS[state]}</Mark>
}

function Sold({ tier: { tierId, sold, supply } }: { tier: Tier }) {
  const most = usePublicTier(tierId)?.supply ?? supply
  if (most === null) return figure(sold)
  return (
    <>
      {figure(sold)} of {figure(most)} <meter min={0} max={most} value={sold} aria-hidden="true" />
    </>
  )
}

const Reserved = ({ tier }: { tier: Tier }) => figure(usePublicTier(tier.tierId)?.reserved ?? 0)

/** Who may buy a tier: its list by the name that the operator gave it, and the tokens to hold. */
function SoldTo({ tierId, allowlist }: { tierId: string; allowlist: string | null }) {
  const lists = useAdmin('allowlists').data?.allowlists ?? []
  const tier = usePublicTier(tierId)
  const list = lists.find(({ root }) => root === allowlist)?.label ?? allowlist?.slice(0, 10)
  const who = [
    ...(list ? [`the list “${list}”`] : []),
    ...(tier?.holdingWei
      ? [`holders of ${ether(tier.holdingWei, tier.holdingDecimals ?? 18)} ${tier.holdingSymbol}`]
      : []),
  ]
  return <span title={allowlist ?? undefined}>{who.join(', ') || 'anyone'}</span>
}

export function TiersConsole() {
  const tiers = useAdmin('tiers')
  return (
    <Section
      title="Tiers"
      aside={
        <ActButton
          main
          label="Create a tier"
          act="tiers"
          says="It is on sale from the next block on. The next pass opens its groups on the contract."
        />
      }
    >
      <Shown reading={tiers} lines={6}>
        {({ tiers: all }) =>
          all.length === 0 ? (
            <Empty title="No tier yet.">Nothing can be bought until there is one.</Empty>
          ) : (
            <div className="stack">
              {all.map((tier) => (
                <TierVersions key={tier.tierId} tier={tier} />
              ))}
            </div>
          )
        }
      </Shown>
    </Section>
  )
}

const timeOf = (unix: number | null) => (unix === null ? '' : exactTime(new Date(unix * 1000)))

type Version = Tier['versions'][number]

/** How the sale of a tier stands, and the terms of its newest version. Leaves out what is not bounded. */
function Terms({
  of: { priceWei, payoutBps, maxPerWallet, opensAt, opensAfter, closesAt, allowlist },
  tier,
}: TermsProps) {
  return (
    <Facts
      className="facts terms"
      of={{
        Price: <Exact wei={priceWei} hinted />,
        Rate: times(payoutBps),
        'Per wallet': maxPerWallet,
        Sold: <Sold tier={tier} />,
        'Being paid for': <Reserved tier={tier} />,
        'Sold to': <SoldTo tierId={tier.tierId} allowlist={allowlist} />,
        ...(opensAt !== null && { Opens: timeOf(opensAt) }),
        ...(opensAfter !== null && { 'Opens after': opensAfter }),
        ...(closesAt !== null && { Closes: timeOf(closesAt) }),
      }}
    />
  )
}

interface TermsProps {
  of: Version
  tier: Tier
}

const COLUMNS = columnsOf<Version>(
  [
    'version',
    'fromBlock',
    ['price', 'priceWei'],
    ['rate', 'payoutBps'],
    ['per wallet', 'maxPerWallet'],
    'supply',
    ['opens', 'opensAt'],
    'opensAfter',
    ['closes', 'closesAt'],
    ['sold to', 'allowlist'],
    'onSale',
    'enteredBy',
    'enteredAt',
  ],
  {
    cells: {
      payoutBps: ({ payoutBps }) => times(payoutBps),
      supply: ({ supply }) => supply ?? 'no limit',
      allowlist: ({ allowlist }) => allowlist?.slice(0, 10) ?? 'anyone',
    },
  },
)

/** The changes that are entered ahead, the next first. */
function Planned({ tier: { tierId, planned } }: { tier: Tier }) {
  if (planned.length === 0) return null
  return (
    <ul aria-label="Planned">
      {planned.map(({ version, fromTime, says, unfit }) => (
        <li key={version}>
          From <Time at={new Date(fromTime * 1000)} ahead />: {says} {unfit && <Mark tone="bad">{unfit}</Mark>}{' '}
          <ActButton
            label="Cancel change"
            act="tiers/{tierId}/cancel"
            params={{ tierId }}
            body={{ version }}
            says={`The change from ${timeOf(fromTime)} will not take effect.`}
          />
        </li>
      ))}
    </ul>
  )
}

function TierVersions({ tier }: { tier: Tier }) {
  const newest = tier.versions.at(-1)
  return (
    <div className="sub tier-terms">
      <header className="bar">
        <h2>
          {tier.label} <code translate="no">{tier.tierId}</code> <Standing tier={tier} />
        </h2>
        <div className="buttons">
          <ActButton
            label="New version"
            act="tiers/{tierId}"
            params={{ tierId: tier.tierId }}
            says="Changes apply from the next block on, or from the time that you enter. The service judges a payment by the terms of its block, and the old price still buys this tier for a grace period."
            more={presentOf(tier)}
          />
          <ActButton
            label={tier.onSale ? 'Take off sale' : 'Put on sale'}
            act="tiers/{tierId}/sale"
            params={{ tierId: tier.tierId }}
            body={{ onSale: !tier.onSale }}
            {...(!tier.onSale && { fields: [] })}
            says={
              tier.onSale
                ? 'Quotes end immediately, but it still sells for a grace period. Later payments are held with the reason “sale closed”.'
                : 'It can be bought from the next block on.'
            }
          />
        </div>
      </header>
      {newest && <Terms of={newest} tier={tier} />}
      <Planned tier={tier} />
      <details className="checked">
        <summary className="note">{count(tier.versions.length, 'version')}</summary>
        <Table
          caption={`Versions of ${tier.label}`}
          rows={[...tier.versions].reverse()}
          keyOf={({ version }) => String(version)}
          columns={COLUMNS}
          first={10}
        />
      </details>
    </div>
  )
}
