// The tiers with their versions, and how to put them on and off sale.
import { count, exactTime, plainEther, times } from '../../format.ts'
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

/** The list of a tier, by the start of its root. */
const ListOf = ({ allowlist }: Pick<Version, 'allowlist'>) =>
  allowlist ? (
    <code translate="no" title={allowlist}>
      {allowlist.slice(0, 10)}
    </code>
  ) : (
    'anyone'
  )

/** The terms of the newest version. Leaves out what is not bounded. */
function Terms({
  of: { priceWei, payoutBps, maxPerWallet, supply, opensAt, opensAfter, closesAt, allowlist },
}: TermsProps) {
  return (
    <Facts
      className="facts terms"
      of={{
        Price: <Exact wei={priceWei} hinted />,
        Rate: times(payoutBps),
        'Per wallet': maxPerWallet,
        Supply: supply ?? 'no limit',
        'Sold to': <ListOf allowlist={allowlist} />,
        ...(opensAt !== null && { Opens: timeOf(opensAt) }),
        ...(opensAfter !== null && { 'Opens after': opensAfter }),
        ...(closesAt !== null && { Closes: timeOf(closesAt) }),
      }}
    />
  )
}

interface TermsProps {
  of: Version
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
      allowlist: ListOf,
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
        <h3>
          {tier.label} <code translate="no">{tier.tierId}</code>{' '}
          <Mark tone={tier.onSale ? 'good' : 'calm'}>{tier.onSale ? 'on sale' : 'off sale'}</Mark>
        </h3>
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
                ? 'Quotes end at once, but it still sells for a grace period. Later payments are held with the reason “sale closed”.'
                : 'It can be bought from the next block on.'
            }
          />
        </div>
      </header>
      {newest && <Terms of={newest} />}
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
