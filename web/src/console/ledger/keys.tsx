// The admin keys of the ledger, people's passkeys and invitations: listed, made (shown once) and revoked.

import type { Reading } from '../../ledger.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Mark, Time, type Tone } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type AdminKey, type Invitation, ownKey, type Passkey, type Read, useAdmin } from '../admin.ts'
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

/** Passkeys, and who is invited to make one. */
function People({ reading }: { reading: Reading<Read<'keys'>> }) {
  return (
    <Section title="People" aside={<Invite />}>
      <Shown reading={reading} lines={2}>
        {({ passkeys, invitations }) => (
          <div className="stack">
            {passkeys.length === 0 ? (
              <Empty title="Nobody has a passkey.">
                <p>
                  Invite each person, with the rights they need: they sign in by their device, and have no key to lose.
                </p>
              </Empty>
            ) : (
              <Table
                caption="Passkeys"
                rows={passkeys}
                keyOf={({ id }) => String(id)}
                columns={PASSKEYS}
                first={PAGE}
              />
            )}
            {invitations.length > 0 && (
              <Table
                caption="Invitations"
                rows={invitations}
                keyOf={({ id }) => String(id)}
                columns={INVITATIONS}
                first={PAGE}
              />
            )}
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
            {keys.length === 0 ? (
              <Empty title="The ledger has no key.">
                <p>Make one for each machine, and for each person without a passkey, with the rights they need.</p>
              </Empty>
            ) : (
              <Table caption="Admin keys" rows={keys} keyOf={({ id }) => String(id)} columns={COLUMNS} first={PAGE} />
            )}
            <p className="note">
              {environment.length > 0 && `In ADMIN_KEY, with every right: ${environment.join(', ')}. `}
              The ledger knows keys by their digests alone. A revoked key opens nothing within three seconds.
            </p>
          </div>
        )}
      </Shown>
    </Section>
  )
}

const labelField = { name: 'label', label: 'Label: whose it is', required: true, placeholder: 'grace' } as const
const scopesField = () =>
  ({
    name: 'scopes',
    label: 'Scopes: what it may do',
    required: true,
    value: (ownKey()?.scopes ?? []).join(', '),
    read: (text: string) => text.split(/[\s,]+/).filter((scope) => scope !== ''),
  }) as const

function Invite() {
  return (
    <ActButton
      main
      label="Invite a person"
      act="keys/invite"
      says="They get a link, by which their device makes a passkey: once, within 24 hours. Give it to them alone. To the rule of the second person the two of you count as one."
      fields={[
        labelField,
        scopesField(),
        { name: 'expires', label: 'The passkey ends in', value: '365d', placeholder: '365d or 90d' },
      ]}
      did={({ link, label }) => (
        <div className="stack">
          <p>The link for {label}. It is not shown again.</p>
          <p>
            <code translate="no" className="whole">
              {link}
            </code>{' '}
            <CopyButton text={link ?? ''} what="Link" />
          </p>
        </div>
      )}
    />
  )
}

function MakeKey() {
  return (
    <ActButton
      main
      label="Make a key"
      act="keys"
      says="It opens at once, on every instance, and is shown this once. The label is the name in the audit log."
      fields={[
        labelField,
        scopesField(),
        { name: 'expires', label: 'Ends in', value: '90d', placeholder: '90d or 8h' },
      ]}
      did={({ key, label }) => (
        <div className="stack">
          <p>The key of {label}. It is not shown again.</p>
          <p>
            <code translate="no" className="whole">
              {key}
            </code>{' '}
            <CopyButton text={key ?? ''} what="Key" />
          </p>
        </div>
      )}
    />
  )
}

const TONES: Record<AdminKey['state'], Tone> = { open: 'good', expired: 'calm', revoked: 'calm' }

const COLUMNS: readonly Column<AdminKey>[] = [
  { heading: 'Key', figure: true, cell: ({ id }) => id },
  { heading: 'Label', cell: ({ label }) => label },
  { heading: 'May', cell: ({ scopes }) => scopes.join(', ') },
  { heading: 'State', cell: ({ state }) => <Mark tone={TONES[state]}>{state}</Mark> },
  { heading: 'Last used', cell: ({ usedAt }) => <Time at={usedAt} none="never" /> },
  { heading: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} ahead /> },
  { heading: 'Made by', cell: ({ madeBy }) => madeBy },
  {
    heading: 'Decide',
    cell: ({ id, label, state }) =>
      state === 'open' && (
        <ActButton
          label="Revoke"
          act="keys/{id}/revoke"
          params={{ id: String(id) }}
          says={`Key ${id} of ${label} opens nothing any more, on any instance, within three seconds.`}
          did={() => 'It is revoked.'}
          danger
        />
      ),
  },
]

const PASSKEYS: readonly Column<Passkey>[] = [
  { heading: 'Passkey', figure: true, cell: ({ id }) => id },
  { heading: 'Label', cell: ({ label }) => label },
  { heading: 'May', cell: ({ scopes }) => scopes.join(', ') },
  { heading: 'State', cell: ({ state }) => <Mark tone={TONES[state]}>{state}</Mark> },
  { heading: 'Sessions', figure: true, cell: ({ sessions }) => sessions },
  { heading: 'Signed in', cell: ({ usedAt }) => <Time at={usedAt} none="never" /> },
  { heading: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} ahead /> },
  { heading: 'Invited by', cell: ({ invitedBy }) => invitedBy },
  {
    heading: 'Decide',
    cell: ({ id, label, state }) =>
      state === 'open' && (
        <ActButton
          label="Revoke"
          act="passkeys/{id}/revoke"
          params={{ id: String(id) }}
          says={`Passkey ${id} of ${label} signs in no more, and its sessions open nothing, on any instance, within three seconds.`}
          did={() => 'It is revoked.'}
          danger
        />
      ),
  },
]

const INVITATIONS: readonly Column<Invitation>[] = [
  { heading: 'Invitation', figure: true, cell: ({ id }) => id },
  { heading: 'Label', cell: ({ label }) => label },
  { heading: 'May', cell: ({ scopes }) => scopes.join(', ') },
  { heading: 'Waits until', cell: ({ expiresAt }) => <Time at={expiresAt} ahead /> },
  { heading: 'Made by', cell: ({ madeBy }) => madeBy },
  {
    heading: 'Decide',
    cell: ({ id, label }) => (
      <ActButton
        label="Take back"
        act="invitations/{id}/revoke"
        params={{ id: String(id) }}
        says={`The link for ${label} makes no passkey any more.`}
        did={() => 'It is taken back.'}
        danger
      />
    ),
  },
]
