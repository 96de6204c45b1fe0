// The tiers with their versions, and how to put them on and off sale.
import { columnOf } from '../../../../src/operator/columns.ts'
import { ether, exactTime, figure, plainEther, times } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { Mark, Time } from '../../ui/facts.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type Shape, useAdmin } from '../admin.ts'
import { Heads } from '../lines.tsx'
import { columnsOf } from '../list.tsx'
import { Menu } from '../menu.tsx'

/** The current text of each field that a new version may change. */
function presentOf({ versions }: Shape<'Tier'>): Record<string, { was: string }> {
  const { graceSec: _, priceWei, ...others } = versions.at(-1) ?? {}
  const texts = { ...others, ...(priceWei !== undefined && { priceWei: plainEther(priceWei) }) }
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { was: String(text ?? '') }]))
}

/** A tier as buyers see it; undefined until the public list has it. */
const usePublicTier = (tierId: string) => useTiers().data?.find(({ id }) => id === tierId)

/** The state of a tier's sale, as buyers read it. */
const STANDS = { open: 'on sale', upcoming: 'not open yet', soldOut: 'sold out', closed: 'not on sale' } as const
const TONES = { open: 'good', upcoming: 'calm', soldOut: 'calm', closed: 'calm' } as const

function Standing({ tier: { tierId, onSale, versions } }: { tier: Shape<'Tier'> }) {
  const state = usePublicTier(tierId)?.state ?? (onSale ? 'open' : 'closed')
  const opensAt = versions.at(-1)?.opensAt ?? null
  return (
    <span>
      <Mark tone={TONES[state]}>
        {state === 'upcoming' && opensAt !== null ? (
          <span>
            Opens <Time at={new Date(opensAt * 1000)} ahead />
          </span>
        ) : (
          STANDS[state]
        )}
      </Mark>
    </span>
  )
}

function Sold({ tier: { tierId, sold, supply } }: { tier: Shape<'Tier'> }) {
  const most = usePublicTier(tierId)?.supply ?? supply
  if (most === null) return figure(sold)
  return (
    <>
      {figure(sold)} of {figure(most)} <meter min={0} max={most} value={sold} aria-hidden="true" />
    </>
  )
}

const Reserved = ({ tier }: { tier: Shape<'Tier'> }) => figure(usePublicTier(tier.tierId)?.reserved ?? 0)

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
  if (who.length === 0) return <span className="none">anyone</span>
  return <span title={allowlist ?? undefined}>{who.join(', ')}</span>
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
          says="The next pass opens its groups on the contract."
          warning="It is on sale from the next block on, unless you enter when it opens."
          more={{
            label: { placeholder: 'Early bird' },
            tierId: { hint: 'It stands in links, and cannot be changed.', follows: ['label', idOf] },
            maxPerWallet: { placeholder: '5' },
            payoutBps: { placeholder: '10000' },
          }}
        />
      }
    >
      <Shown reading={tiers} lines={6}>
        {({ tiers: all }) =>
          all.length === 0 ? (
            <Empty title="No tier yet.">Nothing can be bought until there is one.</Empty>
          ) : (
            <>
              <div className="headed of-tiers">
                <Heads of={HEADINGS} />
              </div>
              <ul className="rows lined of-tiers">
                {all.map((tier) => (
                  <TierRow key={tier.tierId} tier={tier} />
                ))}
              </ul>
            </>
          )
        }
      </Shown>
    </Section>
  )
}

/** An id for a name: "early-bird" for "Early bird". */
const idOf = (label: string) =>
  label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 32)

const timeOf = (unix: number | null) => (unix === null ? '' : exactTime(new Date(unix * 1000)))

type Version = Shape<'Tier'>['versions'][number]

const HEADINGS = ['Tier', 'State', 'Price', 'Rate', 'Sold', 'Per wallet', 'Sold to'] as const

/** A tier on one line: the state of its sale, and the terms of its newest version. */
function TierLine({ of: { priceWei, payoutBps, maxPerWallet, allowlist }, tier }: TermsProps) {
  return (
    <>
      <strong>{tier.label}</strong>
      <Standing tier={tier} />
      <span data-heading="Price" title={`${priceWei} wei`}>
        {ether(priceWei)} ETH
      </span>
      <span data-heading="Rate">{times(payoutBps)}</span>
      <span data-heading="Sold">
        <Sold tier={tier} />
      </span>
      <span data-heading="Per wallet">{maxPerWallet}</span>
      <span data-heading="To">
        <SoldTo tierId={tier.tierId} allowlist={allowlist} />
      </span>
    </>
  )
}

/** What the line of a tier leaves out. */
function More({ of: { opensAt, opensAfter, closesAt }, tier }: TermsProps) {
  return (
    <Facts
      of={{
        Id: <code translate="no">{tier.tierId}</code>,
        'Being paid for': <Reserved tier={tier} />,
        ...(opensAt !== null && { Opens: timeOf(opensAt) }),
        ...(opensAfter !== null && { 'Opens after': opensAfter }),
        ...(closesAt !== null && { Closes: timeOf(closesAt) }),
      }}
    />
  )
}

interface TermsProps {
  of: Version
  tier: Shape<'Tier'>
}

const FIELDS = [
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
] as const

/** The columns in which a version has something to show. */
const columnsFor = (versions: readonly Version[]) =>
  columnsOf<Version>(
    FIELDS.filter((column) => {
      const { field } = columnOf(column)
      return versions.some((version) => (version[field as keyof Version] ?? null) !== null)
    }),
    {
      cells: {
        payoutBps: ({ payoutBps }) => times(payoutBps),
        supply: ({ supply }) => supply ?? 'no limit',
        allowlist: ({ allowlist }) => allowlist?.slice(0, 10) ?? 'anyone',
      },
    },
  )

/** The changes that are entered ahead, the next first. */
function Planned({ tier: { tierId, planned } }: { tier: Shape<'Tier'> }) {
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

function TierRow({ tier }: { tier: Shape<'Tier'> }) {
  const newest = tier.versions.at(-1)
  return (
    <li>
      <details>
        <summary>{newest && <TierLine of={newest} tier={tier} />}</summary>
        <div className="stack detail">
          {newest && <More of={newest} tier={tier} />}
          <Table
            caption={`Versions of ${tier.label}`}
            rows={[...tier.versions].reverse()}
            keyOf={({ version }) => String(version)}
            columns={columnsFor(tier.versions)}
            first={10}
          />
        </div>
      </details>
      <Menu label={`Actions for ${tier.label}`}>
        <ActButton
          label="New version"
          act="tiers/{tierId}"
          params={{ tierId: tier.tierId }}
          says="Changes apply from the next block on, or from the time that you enter. The service judges a payment by the terms of its block, and the old price still buys this tier for a grace period."
          more={presentOf(tier)}
        />
        <ActButton
          label={tier.onSale ? 'Take off sale' : 'Put on sale'}
          act="tiers/{tierId}"
          params={{ tierId: tier.tierId }}
          body={{ onSale: !tier.onSale }}
          fields={tier.onSale ? ['graceSec', 'immediately', 'fromTime'] : []}
          says={
            tier.onSale
              ? 'Quotes end immediately, but it still sells for a grace period. Later payments are held with the reason “sale closed”.'
              : 'It can be bought from the next block on.'
          }
        />
      </Menu>
      <Planned tier={tier} />
    </li>
  )
}
