// The audit log: each act by the operator or the service, with the fields that it changed.
import { Link } from 'wouter'
import { ADDRESS, checksummed, HASH, sentenceCase, short } from '../../format.ts'
import { Empty } from '../../ui/states.tsx'
import { ownKey } from '../admin.ts'
import { listSection } from '../list.tsx'
import { Changes, Pairs } from '../record.tsx'
import { actorOf, changesOf, inUnits, inWords, SERVICE } from '../values.ts'

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
const FIELDS_SHOWN = 4

/** A field in few words: "price 0.08 ETH". */
const gistOf = (name: string, text: string) =>
  `${inWords(name)} ${/^0x/.test(text) ? short(text) : text.replace(/ \(\d+ wei\)$/, '')}`

interface DetailProps {
  of: Record<string, unknown>
  /** What the entry names already. */
  subject: string | null
}

function Detail({ of: { before, after, reason, ...others }, subject }: DetailProps) {
  const changes = changesOf(before, after).filter((change) => change.after !== reason && change.after !== subject)
  const rest = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null && value !== subject))
  const fields = [
    ...changes.map(({ name, after: text }) => gistOf(name, text)),
    ...Object.entries(rest).map(([name, value]) => gistOf(name, inUnits(name, value))),
  ]
  const more = fields.length - FIELDS_SHOWN
  return (
    <>
      {typeof reason === 'string' && reason !== '' && <p>“{reason}”</p>}
      {more > 0 ? (
        <details>
          <summary className="gist note">
            {fields.slice(0, FIELDS_SHOWN).join(', ')} and {more} more
          </summary>
          {changes.length > 0 && <Changes changes={changes} />}
          {Object.keys(rest).length > 0 && <Pairs of={rest} />}
        </details>
      ) : (
        <>
          {changes.length > 0 && <Changes changes={changes} />}
          <p className="note">{fields.slice(changes.length).join(', ')}</p>
        </>
      )}
    </>
  )
}

/** The operator's own label, which is also the actor of their actions. */
const ownActor = () => {
  const own = ownKey()
  return own ? [[own.label, `by ${own.label}`] as const] : []
}

export const Audit = listSection('audit', {
  title: 'Audit log',
  empty: <Empty title="Nothing yet.">Every action adds a row here.</Empty>,
  filters: [
    { name: 'subject', label: 'Hash, address, tier or node' },
    { name: 'actor', label: 'By whom', choices: () => [['', 'anyone'], [SERVICE, 'automatic'], ...ownActor()] },
  ],
  hides: ['actor', 'subject', 'detail'],
  cells: {
    action: ({ action, actor, subject, detail }) => (
      <>
        <p>
          <strong>{ACTIONS[action] ?? sentenceCase(inWords(action))}</strong> <Subject of={subject} />{' '}
          <span className="note">{actor === SERVICE ? 'automatic' : `by ${actorOf(actor)}`}</span>
        </p>
        <Detail of={action === 'evidenceSet' ? { ...detail, ...modesIn(detail) } : detail} subject={subject} />
      </>
    ),
  },
})
