// The audit log: each act by the operator or the service, with the fields that it changed.
import { Link } from 'wouter'
import { HASH } from '../../format.ts'
import { Time } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import type { AuditEntry } from '../admin.ts'
import { PAGE, Pager, usePages } from '../pager.tsx'
import { Changes, Pairs } from '../record.tsx'
import { changesOf, inWords } from '../values.ts'

const AUDIT: readonly Column<AuditEntry>[] = [
  { heading: 'When', cell: ({ at }) => <Time at={new Date(at)} /> },
  { heading: 'Who', cell: ({ actor }) => actor },
  { heading: 'Did', cell: ({ action }) => <span title={action}>{inWords(action)}</span> },
  { heading: 'To', cell: ({ subject }) => <Subject of={subject} /> },
  { heading: 'What changed', cell: ({ detail }) => <Detail of={detail} /> },
]

/** The subject of an entry. A hash may be a payment's. If it is not, the page to which it links says so. */
function Subject({ of }: { of: string | null }) {
  if (of === null) return <span className="none">–</span>
  const text = (
    <code translate="no" className="outcome">
      {of}
    </code>
  )
  return HASH.test(of) ? <Link href={`/console/payments/${of}`}>{text}</Link> : text
}

function Detail({ of: { before, after, reason, ...others } }: { of: Record<string, unknown> }) {
  const changes = changesOf(before, after)
  const rest = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null))
  return (
    <div className="stack">
      {typeof reason === 'string' && reason !== '' && <p className="whole">“{reason}”</p>}
      {changes.length > 0 && <Changes changes={changes} />}
      {Object.keys(rest).length > 0 && <Pairs of={rest} />}
    </div>
  )
}

export function Audit() {
  const { page, place } = usePages('audit')
  return (
    <Section title="Audit log">
      <Shown reading={page} lines={8}>
        {({ entries, nextCursor }) => (
          <>
            <Table
              caption="Audit log"
              rows={entries}
              keyOf={({ id }) => String(id)}
              columns={AUDIT}
              first={PAGE}
              empty={<Empty title="Nothing yet.">Every act leaves a row here.</Empty>}
            />
            <Pager place={place} next={nextCursor} />
          </>
        )}
      </Shown>
    </Section>
  )
}
