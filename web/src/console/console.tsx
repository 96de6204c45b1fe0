// The operator's console: the key at the door, and its sections.
import { LedgerError } from '@node-ledger/client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link, useParams } from 'wouter'
import { Page, Section } from '../ui/page.tsx'
import { Failed } from '../ui/states.tsx'
import { Acts } from './act.tsx'
import { enter, leave } from './admin.ts'
import { Books } from './books.tsx'
import { Nodes } from './nodes.tsx'
import { Payments } from './payments.tsx'
import { RoundsConsole } from './rounds.tsx'
import { Senders } from './senders.tsx'
import { Audit, Transactions } from './sent.tsx'
import { State } from './state.tsx'
import { TermsConsole } from './terms.tsx'
import { TiersConsole } from './tiers.tsx'
import { Wallets } from './wallets.tsx'
import { Webhooks } from './webhooks.tsx'

const SECTIONS = {
  '': ['State', State],
  payments: ['Payments', Payments],
  senders: ['Deny list', Senders],
  nodes: ['Nodes', Nodes],
  rounds: ['Rounds', RoundsConsole],
  tiers: ['Tiers', TiersConsole],
  terms: ['Terms', TermsConsole],
  wallets: ['Wallets', Wallets],
  transactions: ['Transactions', Transactions],
  webhooks: ['Webhooks', Webhooks],
  books: ['Books', Books],
  audit: ['Audit log', Audit],
} as const

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
  const [, Shown] = SECTIONS[section as keyof typeof SECTIONS] ?? SECTIONS['']
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
        <button
          type="button"
          className="button quiet"
          onClick={() => {
            leave()
            setInside(false)
          }}
        >
          Leave
        </button>
      </div>
      <Acts>
        <Shown />
      </Acts>
    </Page>
  )
}

function Door({ opened }: { opened: () => void }) {
  const knock = useMutation({ mutationFn: enter, onSuccess: opened })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    knock.mutate(String(new FormData(event.currentTarget).get('key')).trim())
  }
  return (
    <Section title="Your key">
      <form className="stack narrow" onSubmit={submit}>
        <label className="field">
          <span>Admin key</span>
          <input name="key" type="password" required autoComplete="off" />
        </label>
        {knock.error && <Failed error={inWords(knock.error)} />}
        <button type="submit" className="button main" disabled={knock.isPending}>
          {knock.isPending ? 'Trying…' : 'Enter'}
        </button>
        <p className="note">
          One of the keys of <code>ADMIN_KEY</code>; on an embedded ledger it is in <code>secrets.json</code> of the
          data directory. It is kept in this page’s memory alone, and gone when you leave or reload.
        </p>
      </form>
    </Section>
  )
}

function inWords(error: Error): Error {
  if (!(error instanceof LedgerError)) return error
  if (error.status === 401) return new Error('The service does not know this key.')
  if (error.status === 404) return new Error('This service has no operator key configured: set ADMIN_KEY.')
  return error
}
