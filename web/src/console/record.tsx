// Records as stored, and what changed in them.
import { Facts } from '../ui/page.tsx'
import { type FieldChange, headingOf, inUnits, inWords, NONE, PLAIN } from './values.ts'

/** A record, field by field; amounts in ether and in wei. */
export function Pairs({ of }: { of: Record<string, unknown> }) {
  return (
    <Facts
      of={Object.fromEntries(
        Object.entries(of).map(([name, value]) => [
          headingOf(name),
          <code key={name} translate="no">
            {inUnits(name, value)}
          </code>,
        ]),
      )}
    />
  )
}

/** What changed, one line for each field: "supply: 1 → 2", or "supply: 2" if it is new. A plain value has no name. */
export function Changes({ changes }: { changes: readonly FieldChange[] }) {
  return (
    <ul className="changes">
      {changes.map(({ name, before, after }) => (
        <li key={name}>
          {name !== PLAIN && `${inWords(name)}: `}
          {before !== NONE && <span className="before">{before} → </span>}
          <strong>{after}</strong>
        </li>
      ))}
    </ul>
  )
}
