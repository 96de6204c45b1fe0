// The operator's console: the sign-in, and the sections behind it.
import { useEffect, useState } from 'react'
import { Link, useParams } from 'wouter'
import { useSite } from '../site.ts'
import { InConsoleTop } from '../ui/layout.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import { Acts } from './act.tsx'
import { leave, onShutOut, ownKey, useAdmin } from './admin.ts'
import { Door } from './door.tsx'
import { SetHeading } from './heading.ts'
import { Audit } from './ledger/audit.tsx'
import { Books } from './ledger/books.tsx'
import { Keys } from './ledger/keys.tsx'
import { Nodes } from './ledger/nodes.tsx'
import { Proposals } from './ledger/proposals.tsx'
import { RoundsConsole } from './ledger/rounds.tsx'
import { State } from './ledger/state.tsx'
import { Transactions } from './ledger/transactions.tsx'
import { Trends } from './ledger/trends.tsx'
import { Webhooks } from './ledger/webhooks.tsx'
import { ContractWalletsConsole } from './payments/contract-wallets.tsx'
import { DenyList } from './payments/deny-list.tsx'
import { Payments } from './payments/payments.tsx'
import { AllowlistsConsole } from './sale/allowlists.tsx'
import { ReferralsConsole } from './sale/referrals.tsx'
import { TermsConsole } from './sale/terms.tsx'
import { TiersConsole } from './sale/tiers.tsx'
import { Wallets } from './sale/wallets.tsx'
import './console.css'

const SECTIONS = {
  '': ['Overview', State],
  payments: ['Payments', Payments],
  nodes: ['Nodes', Nodes],
  proposals: ['Approvals', Proposals],
  tiers: ['Tiers', TiersConsole],
  allowlists: ['Allowlists', AllowlistsConsole],
  referrals: ['Referrals', ReferralsConsole],
  wallets: ['Payments wallet', Wallets],
  'contract-wallets': ['Contract wallets', ContractWalletsConsole],
  senders: ['Deny list', DenyList],
  rounds: ['Rounds', RoundsConsole],
  terms: ['Terms', TermsConsole],
  transactions: ['Transactions', Transactions],
  trends: ['Trends', Trends],
  books: ['Books', Books],
  webhooks: ['Webhooks', Webhooks],
  keys: ['Keys', Keys],
  audit: ['Audit log', Audit],
} as const
type Section = keyof typeof SECTIONS

/** The sections, grouped by what the operator looks for: work, the sale, payouts, and the service itself. */
const GROUPS: readonly (readonly [name: string, sections: readonly Section[]])[] = [
  ['Today', ['', 'payments', 'nodes', 'proposals']],
  ['Sale', ['tiers', 'allowlists', 'referrals', 'wallets', 'contract-wallets', 'senders']],
  ['Payouts', ['rounds', 'terms']],
  ['Reports', ['trends', 'books', 'transactions', 'audit']],
  ['Service', ['webhooks', 'keys']],
]

export function Console() {
  const { section = '' } = useParams<{ section?: string }>()
  const [place, setPlace] = useState<'outside' | 'inside' | 'shutOut'>('outside')
  useEffect(() => onShutOut(() => setPlace('shutOut')), [])
  if (place !== 'inside') {
    return (
      <div className="door">
        <Page title="Operator console">
          <Door wasInside={place === 'shutOut'} onOpen={() => setPlace('inside')} />
        </Page>
      </div>
    )
  }
  return <Inside section={section in SECTIONS ? (section as Section) : ''} onLeave={() => setPlace('outside')} />
}

function Inside({ section, onLeave }: { section: Section; onLeave: () => void }) {
  const [name, Shown] = SECTIONS[section]
  const [heading, setHeading] = useState<string | null>(null)
  const { name: site } = useSite()
  const needs = section === 'keys' ? 'operate' : 'read'
  // Runs after the page's own effect, which sets the console's general title.
  useEffect(() => {
    document.title = `${name} · Operator console · ${site}`
  }, [name, site])
  return (
    <div className="console">
      <Whose onLeave={onLeave} />
      <Side section={section} />
      <div className="work">
        <Page key={section} title="Operator console" heading={heading ?? name}>
          {ownKey()?.scopes.includes(needs) ? (
            <SetHeading value={setHeading}>
              <Acts>
                <Shown />
              </Acts>
            </SetHeading>
          ) : (
            <Empty title={`Your key lacks “${needs}”.`}>
              <p>Ask another operator for a key that has it.</p>
            </Empty>
          )}
        </Page>
      </div>
    </div>
  )
}

/** How much waits in a section. */
function useCounts(): { [Name in Section]?: number | undefined } {
  const payments = useAdmin('payments/counts').data
  const proposals = useAdmin('proposals').data?.proposals
  const held = payments?.open.filter(({ status }) => status === 'held')
  return {
    payments: held?.reduce((sum, { count }) => sum + count, 0),
    nodes: payments?.unpaidNodes,
    proposals: proposals?.filter(({ state }) => state === 'open').length,
  }
}

/** The list of sections. */
function Side({ section }: { section: Section }) {
  // On a phone, a button opens the list; on a desktop it is always there.
  const [isOpen, setOpen] = useState(false)
  const counts = useCounts()
  return (
    <div className="side">
      <button
        type="button"
        className="button menu"
        aria-expanded={isOpen}
        aria-controls="sections"
        onClick={() => setOpen(!isOpen)}
      >
        <span>
          <Waits count={Object.values(counts).reduce<number>((sum, n) => sum + (n ?? 0), 0)} /> Menu
        </span>
        <span>{SECTIONS[section][0]}</span>
      </button>
      <nav id="sections" className={isOpen ? 'sections open' : 'sections'} aria-label="Sections of the console">
        {GROUPS.map(([group, sections]) => (
          <div key={group} className="group">
            <span className="note">{group}</span>
            {sections.map((path) => (
              <div key={path} className="entry">
                <Link
                  className="section"
                  href={path === '' ? '/console' : `/console/${path}`}
                  aria-current={path === section ? 'page' : undefined}
                  onClick={() => setOpen(false)}
                >
                  {SECTIONS[path][0]}
                </Link>
                <Waits count={counts[path] ?? 0} />
              </div>
            ))}
          </div>
        ))}
      </nav>
    </div>
  )
}

const Waits = ({ count }: { count: number }) =>
  count > 0 && (
    <span className="count">
      {count.toLocaleString()}
      <span className="visually-hidden"> to do</span>
    </span>
  )

/** In the console's header: whose key is in use, by its label in the audit log and its scopes unless it has all, and the way out. */
function Whose({ onLeave }: { onLeave: () => void }) {
  const own = ownKey()
  if (own === null) return null
  return (
    <InConsoleTop>
      <span className="note">{own.id === null ? own.label : `${own.label}: ${own.scopes.join(', ')}`}</span>
      <button
        type="button"
        className="button quiet"
        onClick={() => {
          leave()
          onLeave()
        }}
      >
        Sign out
      </button>
    </InConsoleTop>
  )
}
