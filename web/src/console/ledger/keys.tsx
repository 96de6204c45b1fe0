// The ledger's admin keys, and people's passkeys and invitations: listed, created (shown once) and revoked.

import { LISTS } from '../../../../api/admin-acts.ts'
import type { Reading } from '../../ledger.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { ActButton, itsLine } from '../act.tsx'
import { ownKey, type Read, type Shape, useAdmin } from '../admin.ts'
import { columnsOf } from '../list.tsx'
import { PAGE } from '../pager.tsx'

export function Keys() {
  const reading = useAdmin('keys')
  return (
    <>
      <People reading={reading} />
      <Machines reading={reading} />
    </>
  )
}

/** Passkeys, and people invited to create one. */
function People({ reading }: { reading: Reading<Read<'keys'>> }) {
  return (
    <Section title="People" aside={<Invite />}>
      <Shown reading={reading} lines={2}>
        {({ passkeys, invitations }) => (
          <div className="stack">
            <Table
              caption="Passkeys"
              rows={passkeys}
              keyOf={({ id }) => String(id)}
              columns={PASSKEYS}
              first={PAGE}
              empty={
                <Empty title="No passkeys yet.">
                  Invite each person, with the scopes they need: they sign in with their device, and have no key to
                  lose.
                </Empty>
              }
            />
            <Table
              caption="Invitations"
              rows={invitations}
              keyOf={({ id }) => String(id)}
              columns={INVITATIONS}
              first={PAGE}
              empty={null}
            />
          </div>
        )}
      </Shown>
    </Section>
  )
}

function Machines({ reading }: { reading: Reading<Read<'keys'>> }) {
  return (
    <Section title="Admin keys" aside={<MakeKey />}>
      <Shown reading={reading} lines={4}>
        {({ keys, environment }) => (
          <div className="stack">
            <Table
              caption="Admin keys"
              rows={keys}
              keyOf={({ id }) => String(id)}
              columns={COLUMNS}
              first={PAGE}
              empty={
                <Empty title="No key made here yet.">
                  {environment.length > 0 && `The key of the settings (${environment.join(', ')}) has every right. `}
                  Make one for each machine, and for each person without a passkey, with the scopes they need.
                </Empty>
              }
            />
            {keys.length > 0 && (
              <p className="note">
                {environment.length > 0 && `In ADMIN_KEY, with every right: ${environment.join(', ')}. `}
                The ledger stores only digests of keys. A revoked key stops working within three seconds.
              </p>
            )}
          </div>
        )}
      </Shown>
    </Section>
  )
}

const ownScopes = () => ({ scopes: { value: (ownKey()?.scopes ?? []).join(', ') } })

/** The result of an act that created a secret. The secret is shown only this once. */
const shownOnce = (says: string, secret: string | null, what: string) => (
  <div className="stack">
    {itsLine({ says })}
    <p>
      <code translate="no" className="whole">
        {secret}
      </code>{' '}
      <CopyButton text={secret ?? ''} what={what} />
    </p>
  </div>
)

function Invite() {
  return (
    <ActButton
      main
      label="Invite a person"
      act="keys/invite"
      says="They get a link with which their device makes a passkey, once, within 24 hours. Do not share it with anyone else. For the second-person rule, the two of you count as one person."
      more={ownScopes()}
      did={({ says, link }) => shownOnce(says, link, 'Link')}
    />
  )
}

function MakeKey() {
  return (
    <ActButton
      label="Make a key"
      act="keys"
      says="It works immediately on every instance. You see it only once. The audit log shows its label."
      more={ownScopes()}
      did={({ says, key }) => shownOnce(says, key, 'Key')}
    />
  )
}

const COLUMNS = columnsOf<Shape<'AdminKey'>>(LISTS.keys.columns, {
  hides: ['madeAt', 'revokedBy'],
  decide: ({ id, label, state }) =>
    state === 'open' && (
      <ActButton
        label="Revoke"
        act="keys/{id}/revoke"
        params={{ id: String(id) }}
        says={`Within three seconds, every instance rejects key ${id} of ${label}.`}
        danger
      />
    ),
})

const PASSKEYS = columnsOf<Shape<'Passkey'>>(
  ['id', 'label', 'scopes', 'state', 'sessions', ['signed in', 'usedAt'], 'expiresAt', 'invitedBy'],
  {
    decide: ({ id, label, state }) =>
      state === 'open' && (
        <ActButton
          label="Revoke"
          act="passkeys/{id}/revoke"
          params={{ id: String(id) }}
          says={`Within three seconds, every instance rejects passkey ${id} of ${label} and its sessions.`}
          danger
        />
      ),
  },
)

const INVITATIONS = columnsOf<Shape<'Invitation'>>(['id', 'label', 'scopes', ['waits until', 'expiresAt'], 'madeBy'], {
  decide: ({ id, label }) => (
    <ActButton
      label="Cancel invitation"
      act="invitations/{id}/revoke"
      params={{ id: String(id) }}
      says={`The link for ${label} stops working.`}
      danger
    />
  ),
})
