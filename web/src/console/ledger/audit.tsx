// The audit log: each act by the operator or the service, with the fields that it changed.
import { Link } from 'wouter'
import { HASH } from '../../format.ts'
import { Empty } from '../../ui/states.tsx'
import { listSection } from '../list.tsx'
import { Changes, Pairs } from '../record.tsx'
import { changesOf } from '../values.ts'

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

export const Audit = listSection('audit', {
  title: 'Audit log',
  empty: <Empty title="Nothing yet.">Every action adds a row here.</Empty>,
  cells: { subject: ({ subject }) => <Subject of={subject} />, detail: ({ detail }) => <Detail of={detail} /> },
})
