// The tiers with their versions, and putting them on and off sale.
import { times } from '../../format.ts'
import { Mark } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton, type FieldOf } from '../act.tsx'
import { amountWas } from '../act-form.ts'
import { type Tier, useAdmin } from '../admin.ts'
import { ENTERED } from '../columns.tsx'
import { Exact } from '../exact.tsx'

const whole = (text: string) => Number(text)
const TERMS: readonly FieldOf<'tiers/{tierId}'>[] = [
  { name: 'label', label: 'Name', placeholder: 'Basic' },
  { name: 'priceWei', label: 'Price in ether', ether: true, placeholder: '0.01' },
  { name: 'maxPerWallet', label: 'Nodes a wallet', placeholder: '10', read: whole },
  { name: 'payoutBps', label: 'Rate in basis points (10000 is the base rate)', placeholder: '10000', read: whole },
  { name: 'holdingWei', label: 'Tokens to be held, in their smallest unit (0: open to anyone)', placeholder: '0' },
  { name: 'holdingToken', label: 'Address of that token', placeholder: '0x…' },
]
const SALE_ENDS: readonly FieldOf<'tiers/{tierId}/sale'>[] = [
  {
    name: 'atOnce',
    label: 'What is on sale now',
    choices: [
      ['', 'still sells for the grace'],
      ['true', 'ends with the next block: a mistake'],
    ],
    read: (text) => text === 'true',
  },
  { name: 'graceSec', label: 'Another grace, in seconds', placeholder: '900', read: whole },
]
const required = (field: FieldOf<'tiers/{tierId}'>): FieldOf<'tiers'> => ({
  ...field,
  required: field.name === 'label' || field.name === 'priceWei' || field.name === 'maxPerWallet',
})

/** The present text of a field of a tier. */
function presentOf({ versions }: Tier, name: string): { was?: string } {
  const last = versions.at(-1)
  if (!last) return {}
  const { label, priceWei, maxPerWallet, payoutBps, holdingWei, holdingToken } = last
  if (name === 'priceWei') return amountWas(priceWei)
  const texts: Record<string, string | null> = {
    label,
    maxPerWallet: String(maxPerWallet),
    payoutBps: String(payoutBps),
    holdingWei: String(holdingWei),
    holdingToken,
  }
  return { was: texts[name] ?? '' }
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
          fields={[{ name: 'tierId', label: 'Id', required: true, placeholder: 'basic' }, ...TERMS.map(required)]}
          did={() => 'Created.'}
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

const COLUMNS: readonly Column<Tier['versions'][number]>[] = [
  { heading: 'Version', figure: true, cell: ({ version }) => version },
  { heading: 'From block', figure: true, cell: ({ fromBlock }) => fromBlock.toLocaleString() },
  { heading: 'Price', figure: true, cell: ({ priceWei }) => <Exact wei={priceWei} /> },
  { heading: 'Rate', figure: true, cell: ({ payoutBps }) => times(payoutBps) },
  { heading: 'A wallet', figure: true, cell: ({ maxPerWallet }) => maxPerWallet },
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
            says="What you change holds from the next block on. A payment is judged by the terms of its block, and what was on sale before still buys this tier for a grace."
            fields={[...TERMS.map((field) => ({ ...field, ...presentOf(tier, field.name) })), ...SALE_ENDS]}
            did={({ changed }) =>
              changed ? 'The new version is entered.' : 'It stood so already: no version was added.'
            }
          />
          <ActButton
            label={tier.onSale ? 'Take off sale' : 'Put on sale'}
            act="tiers/{tierId}/sale"
            params={{ tierId: tier.tierId }}
            body={{ onSale: !tier.onSale }}
            fields={tier.onSale ? SALE_ENDS : []}
            says={
              tier.onSale
                ? 'Quotes end at once, and it still sells for a grace. Later payments are held with the reason saleClosed.'
                : 'It can be bought from the next block on.'
            }
            did={() => 'Done.'}
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
