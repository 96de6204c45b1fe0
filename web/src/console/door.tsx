// How the operator enters the console: with an invitation, a passkey, or a key.
import { LedgerError } from '@node-ledger/client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { Time } from '../ui/facts.tsx'
import { Section } from '../ui/page.tsx'
import { Failed, Shown } from '../ui/states.tsx'
import { enter, keptKey } from './admin.ts'
import { codeInPage, forgetCode, makePasskey, signIn, useInvitation, usePasskeyOffer } from './passkeys.ts'

interface DoorProps {
  /** True if the key in use has expired, or was revoked. */
  wasInside: boolean
  onOpen: () => void
}

export function Door({ wasInside, onOpen }: DoorProps) {
  const [code, setCode] = useState(codeInPage)
  const [keep, setKeep] = useState(false)
  useEffect(() => {
    // If someone opens an invitation link in a tab that already shows the console, only the address changes.
    const readCode = () => setCode(codeInPage())
    addEventListener('hashchange', readCode)
    return () => removeEventListener('hashchange', readCode)
  }, [])
  const keeping = { keep, setKeep }
  if (code !== null) {
    const leave = () => {
      forgetCode()
      setCode(null)
    }
    return <Invitation code={code} {...keeping} onOpen={onOpen} leave={leave} />
  }
  return (
    <>
      {wasInside && (
        <p className="notice" role="status">
          Your key was revoked or has expired. Anything that you had not sent is lost.
        </p>
      )}
      <ByPasskey {...keeping} onOpen={onOpen} />
      <ByKey {...keeping} onOpen={onOpen} />
    </>
  )
}

interface Keeping {
  /** True if the tab keeps the key, whichever way the operator signs in. */
  keep: boolean
  setKeep: (keep: boolean) => void
}
type WayProps = Keeping & { onOpen: () => void }

function Keep({ what, keep, setKeep }: Keeping & { what: string }) {
  return (
    <label className="bar agree">
      <input type="checkbox" checked={keep} onChange={({ target }) => setKeep(target.checked)} />
      <span>Keep {what} for this tab until I sign out</span>
    </label>
  )
}

/** Signs in with a passkey. Shown if anyone can do that here. */
function ByPasskey({ onOpen, ...keeping }: WayProps) {
  const offer = usePasskeyOffer()
  const entry = useMutation({ mutationFn: () => signIn(keeping.keep), onSuccess: onOpen })
  if (!offer.data?.offered) return null
  return (
    <Section title="Your passkey">
      <div className="stack narrow">
        <Keep what="my session" {...keeping} />
        {entry.error && <Failed error={entry.error} />}
        <button type="button" className="button main" disabled={entry.isPending} onClick={() => entry.mutate()}>
          {entry.isPending ? 'Waiting for your device…' : 'Sign in with a passkey'}
        </button>
        <p className="note">
          Your device asks for your fingerprint, your face or a PIN. You stay signed in for at most eight hours.
        </p>
      </div>
    </Section>
  )
}

function Invitation({ code, onOpen, leave, ...keeping }: WayProps & { code: string; leave: () => void }) {
  const invitation = useInvitation(code)
  const making = useMutation({
    mutationFn: () => makePasskey(code, keeping.keep),
    onSuccess: () => {
      forgetCode()
      onOpen()
    },
  })
  return (
    <Section title="You are invited">
      <div className="stack narrow">
        <Shown reading={invitation} lines={2}>
          {({ label, scopes, passkeyExpiresAt }) => (
            <>
              <p>
                To act here as <strong>{label}</strong>, with these scopes: {scopes.join(', ')}. Your device makes a
                passkey, with which you can sign in until <Time at={passkeyExpiresAt} ahead />.
              </p>
              <Keep what="my session" {...keeping} />
              {making.error && <Failed error={making.error} />}
              <button type="button" className="button main" disabled={making.isPending} onClick={() => making.mutate()}>
                {making.isPending ? 'Waiting for your device…' : 'Make a passkey'}
              </button>
              <p className="note">
                It stays on your device or in your password manager; the service gets only its public key. The link
                works once.
              </p>
            </>
          )}
        </Shown>
        <button type="button" className="button quiet" onClick={leave}>
          I have a key or a passkey already
        </button>
      </div>
    </Section>
  )
}

function ByKey({ onOpen, ...keeping }: WayProps) {
  const knock = useMutation({
    mutationFn: ({ key, keep }: { key: string; keep: boolean }) => enter(key, keep),
    onSuccess: onOpen,
  })
  const { mutate } = knock
  useEffect(() => {
    const key = keptKey()
    if (key !== null) mutate({ key, keep: true })
  }, [mutate])
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    mutate({ key: String(new FormData(event.currentTarget).get('key')).trim(), keep: keeping.keep })
  }
  return (
    <Section title="Your key" isHeardOnly>
      <form className="stack narrow" onSubmit={submit}>
        <label className="field">
          <span>Admin key</span>
          <input name="key" type="password" required placeholder="nlk_…" autoComplete="off" />
        </label>
        <Keep what="it" {...keeping} />
        {knock.error && <Failed error={inWords(knock.error)} />}
        <button type="submit" className="button main" disabled={knock.isPending}>
          {knock.isPending ? 'Signing in…' : 'Sign in'}
        </button>
        <details className="note">
          <summary>Which key, and where it is kept</summary>
          Enter a key of the ledger, from another operator or from{' '}
          <code translate="no">node-ledger admin-keys create</code>, or a key of <code translate="no">ADMIN_KEY</code>.
          An embedded ledger has that in <code translate="no">secrets.json</code> of the data directory. This page keeps
          it only in memory, until you sign out or reload. If you keep it for this tab, a script that got into this page
          could read it. The same applies to the session that a passkey opens.
        </details>
      </form>
    </Section>
  )
}

function inWords(error: Error): Error {
  if (!(error instanceof LedgerError)) return error
  if (error.status === 401) return new Error('The service does not know this key.')
  if (error.status === 404)
    return new Error('This service has no admin key: make one with "node-ledger admin-keys create".')
  return error
}
