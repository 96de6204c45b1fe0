// The admin keys of the ledger: listed, made (shown once) and revoked.
import { CopyButton } from '../../ui/copy.tsx'
import { Mark, Time, type Tone } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type AdminKey, ownKey, useAdmin } from '../admin.ts'
import { PAGE } from '../pager.tsx'

export function Keys() {
  const reading = useAdmin('keys')
  return (
    <Section title="Admin keys" aside={<MakeKey />}>
      <Shown reading={reading} lines={4}>
        {({ keys, environment }) => (
          <div className="stack">
            {keys.length === 0 ? (
              <Empty title="The ledger has no key.">
                <p>Make one for each person and each machine, with the rights they need.</p>
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

function MakeKey() {
  const scopes = ownKey()?.scopes ?? []
  return (
    <ActButton
      main
      label="Make a key"
      act="keys"
      says="It opens at once, on every instance, and is shown this once. The label is the name in the audit log."
      fields={[
        { name: 'label', label: 'Label: whose it is', required: true, placeholder: 'grace' },
        {
          name: 'scopes',
          label: 'Scopes: what it may do',
          required: true,
          value: scopes.join(', '),
          read: (text) => text.split(/[\s,]+/).filter((scope) => scope !== ''),
        },
        { name: 'expires', label: 'Ends in', value: '90d', placeholder: '90d or 8h' },
      ]}
      did={({ key, label }) => (
        <div className="stack">
          <p>The key of {label}. It is not shown again.</p>
          <p>
            <code className="whole">{key}</code> <CopyButton text={key ?? ''} what="Key" />
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
