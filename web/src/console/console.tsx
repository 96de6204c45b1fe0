// The operator's console: the key at the door, and its sections.
import { LedgerError } from '@node-ledger/client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { Link, useParams } from 'wouter'
import { useSite } from '../site.ts'
import { Page, Section as Part } from '../ui/page.tsx'
import { Empty, Failed } from '../ui/states.tsx'
import { Acts } from './act.tsx'
import { enter, keptKey, leave, ownKey } from './admin.ts'
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
import { TermsConsole } from './sale/terms.tsx'
import { TiersConsole } from './sale/tiers.tsx'
import { Wallets } from './sale/wallets.tsx'

const SECTIONS = {
  '': ['State', State],
  trends: ['Trends', Trends],
  payments: ['Payments', Payments],
  senders: ['Deny list', DenyList],
  nodes: ['Nodes', Nodes],
  rounds: ['Rounds', RoundsConsole],
  tiers: ['Tiers', TiersConsole],
  terms: ['Terms', TermsConsole],
  wallets: ['Wallets', Wallets],
  'contract-wallets': ['Contract wallets', ContractWalletsConsole],
  transactions: ['Transactions', Transactions],
  webhooks: ['Webhooks', Webhooks],
  keys: ['Keys', Keys],
  proposals: ['Second person', Proposals],
  books: ['Books', Books],
  audit: ['Audit log', Audit],
} as const
type Section = keyof typeof SECTIONS

export function Console() {
  const { section = '' } = useParams<{ section?: string }>()
  const [inside, setInside] = useState(false)
  if (!inside) {
    return (
      <Page title="Operator console" lead="For the operator of this ledger.">
        <Door opened={() => setInside(true)} />
      </Page>
    )
  }
  return <Inside section={section in SECTIONS ? (section as Section) : ''} left={() => setInside(false)} />
}

function Inside({ section, left }: { section: Section; left: () => void }) {
  const [name, Shown] = SECTIONS[section]
  const { name: site } = useSite()
  const needs = section === 'keys' ? 'operate' : 'read'
  // After the page's own effect, which sets it to what the console is called as a whole.
  useEffect(() => {
    document.title = `${name} · Operator console · ${site}`
  }, [name, site])
  return (
    <Page title="Operator console">
      <div className="bar">
        <nav className="sections" aria-label="Sections of the console">
          {Object.entries(SECTIONS).map(([path, [name]]) => (
            <Link
              key={path}
              className="section"
              href={path === '' ? '/console' : `/console/${path}`}
              aria-current={path === section ? 'page' : undefined}
            >
              {name}
            </Link>
          ))}
        </nav>
        <div className="buttons">
          <WhoseKey />
          <button
            type="button"
            className="button quiet"
            onClick={() => {
              leave()
              left()
            }}
          >
            Leave
          </button>
        </div>
      </div>
      {ownKey()?.scopes.includes(needs) ? (
        <Acts>
          <Shown />
        </Acts>
      ) : (
        <Empty title={`Your key lacks “${needs}”.`}>
          <p>Another operator can give you a key that has it.</p>
        </Empty>
      )}
    </Page>
  )
}

/** Who acts here: the label in the audit log, and what the key may do where that is not everything. */
function WhoseKey() {
  const own = ownKey()
  if (own === null) return null
  return <span className="note">{own.id === null ? own.label : `${own.label}: ${own.scopes.join(', ')}`}</span>
}

function Door({ opened }: { opened: () => void }) {
  const knock = useMutation({
    mutationFn: ({ key, keep }: { key: string; keep: boolean }) => enter(key, keep),
    onSuccess: opened,
  })
  const { mutate } = knock
  useEffect(() => {
    const key = keptKey()
    if (key !== null) mutate({ key, keep: true })
  }, [mutate])
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    mutate({ key: String(form.get('key')).trim(), keep: form.get('keep') !== null })
  }
  return (
    <Part title="Your key">
      <form className="stack narrow" onSubmit={submit}>
        <label className="field">
          <span>Admin key</span>
          <input name="key" type="password" required autoComplete="off" />
        </label>
        <label className="bar">
          <span>Keep it for this tab until I leave</span>
          <input name="keep" type="checkbox" />
        </label>
        {knock.error && <Failed error={inWords(knock.error)} />}
        <button type="submit" className="button main" disabled={knock.isPending}>
          {knock.isPending ? 'Trying…' : 'Enter'}
        </button>
        <p className="note">
          A key of the ledger, which another operator or <code>node-ledger admin-keys create</code> makes, or one of{' '}
          <code>ADMIN_KEY</code>; on an embedded ledger that is in <code>secrets.json</code> of the data directory. It
          is kept in this page’s memory alone, and gone when you leave or reload, unless you have it kept for this tab:
          then a script that got into this page could read it.
        </p>
      </form>
    </Part>
  )
}

function inWords(error: Error): Error {
  if (!(error instanceof LedgerError)) return error
  if (error.status === 401) return new Error('The service does not know this key.')
  if (error.status === 404)
    return new Error('This service has no admin key: make one with "node-ledger admin-keys create".')
  return error
}
