// The tiers with their versions, and how to put them on and off sale.
import { exactTime, plainEther, times } from '../../format.ts'
import { Mark } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type Tier, useAdmin } from '../admin.ts'
import { ENTERED } from '../columns.tsx'
import { Exact } from '../exact.tsx'

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
          says="It is on sale from the next block on. Its groups are opened on the contract by the next pass."
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

const COLUMNS: readonly Column<Tier['versions'][number]>[] = [
  { heading: 'Version', figure: true, cell: ({ version }) => version },
  { heading: 'From block', figure: true, cell: ({ fromBlock }) => fromBlock.toLocaleString() },
  { heading: 'Price', figure: true, cell: ({ priceWei }) => <Exact wei={priceWei} /> },
  { heading: 'Rate', figure: true, cell: ({ payoutBps }) => times(payoutBps) },
  { heading: 'A wallet', figure: true, cell: ({ maxPerWallet }) => maxPerWallet },
  { heading: 'Supply', figure: true, cell: ({ supply }) => supply ?? 'no limit' },
  { heading: 'Opens', cell: ({ opensAt }) => timeOf(opensAt) },
  { heading: 'Opens after', cell: ({ opensAfter }) => opensAfter ?? '' },
  { heading: 'Closes', cell: ({ closesAt }) => timeOf(closesAt) },
  {
    heading: 'List',
    cell: ({ allowlist }) =>
      allowlist ? (
        <code translate="no" title={allowlist}>
          {allowlist.slice(0, 10)}
        </code>
      ) : (
        'anyone'
      ),
  },
  { heading: 'On sale', cell: ({ onSale }) => (onSale ? 'yes' : 'no') },
  ENTERED,
]

function TierVersions({ tier }: { tier: Tier }) {
  return (
    <div className="sub">
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
            says="Changes hold from the next block on. The service judges a payment by the terms of its block, and the old price still buys this tier for a grace period."
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
                ? 'Quotes end at once, and it still sells for a grace period. Later payments are held with the reason saleClosed.'
                : 'It can be bought from the next block on.'
            }
          />
        </div>
      </header>
      <Table
        caption={`Versions of ${tier.label}`}
        rows={[...tier.versions].reverse()}
        keyOf={({ version }) => String(version)}
        columns={COLUMNS}
        first={3}
      />
    </div>
  )
}
