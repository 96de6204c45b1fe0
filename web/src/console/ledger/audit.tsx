// The audit log: each act by the operator or the service, with the fields that it changed.
import { Link } from 'wouter'
import { ADDRESS, checksummed, HASH, sentenceCase, short } from '../../format.ts'
import { Empty } from '../../ui/states.tsx'
import { listSection } from '../list.tsx'
import { Changes, Pairs } from '../record.tsx'
import { changesOf, inUnits, inWords, SERVICE } from '../values.ts'

/** The subject of an entry. A hash may be a payment's. If it is not, the page to which it links shows that. */
function Subject({ of }: { of: string | null }) {
  if (of === null) return null
  const text = (
    <code className="hex" translate="no" title={of}>
      {/^0x/.test(of) ? short(ADDRESS.test(of) ? checksummed(of) : of) : of}
    </code>
  )
  return HASH.test(of) ? <Link href={`/console/payments/${of}`}>{text}</Link> : text
}

/** Actions whose names do not explain themselves. */
const ACTIONS: Readonly<Record<string, string>> = { evidenceSet: 'Required evidence changed' }
const MODES: Readonly<Record<string, string>> = { proven: 'a proof of each block', agreed: 'two providers agree' }

/** What a change of the evidence changed, in words. */
const modesIn = ({ before, after }: Record<string, unknown>) => ({
  before: MODES[String(before)] ?? before,
  after: MODES[String(after)] ?? after,
})

/** So many fields are shown at first; more are behind a press. */
const FIELDS_SHOWN = 2

function Detail({ of: { before, after, reason, ...others } }: { of: Record<string, unknown> }) {
  const changes = changesOf(before, after).filter((change) => change.after !== reason)
  const rest = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null))
  const fields = [
    ...changes.map(({ name, after: text }) => `${inWords(name)} ${text}`),
    ...Object.entries(rest).map(([name, value]) => `${inWords(name)} ${inUnits(name, value)}`),
  ].map((text) => text.replace(/ \(\d+ wei\)$/, ''))
  const whole = (
    <>
      {changes.length > 0 && <Changes changes={changes} />}
      {Object.keys(rest).length > 0 && <Pairs of={rest} />}
    </>
  )
  return (
    <>
      {typeof reason === 'string' && reason !== '' && <p>“{reason}”</p>}
      {fields.length > FIELDS_SHOWN ? (
        <details>
          <summary className="gist">
            <span className="note">{fields.join(', ')}</span>
          </summary>
          {whole}
        </details>
      ) : (
        whole
      )}
    </>
  )
}

export const Audit = listSection('audit', {
  title: 'Audit log',
  empty: <Empty title="Nothing yet.">Every action adds a row here.</Empty>,
  hides: ['actor', 'subject', 'detail'],
  cells: {
    action: ({ action, actor, subject, detail }) => (
      <>
        <p>
          <strong>{ACTIONS[action] ?? sentenceCase(inWords(action))}</strong> <Subject of={subject} />{' '}
          <span className="note">{actor === SERVICE ? 'automatic' : `by ${actor}`}</span>
        </p>
        <Detail of={action === 'evidenceSet' ? { ...detail, ...modesIn(detail) } : detail} />
      </>
    ),
  },
})
