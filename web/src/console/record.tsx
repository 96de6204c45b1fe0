// Records as stored, and what changed in them.
import { Facts } from '../ui/page.tsx'
import { type FieldChange, inUnits } from './values.ts'

/** A record as stored, field by field; amounts in ether and in wei. */
export function Pairs({ of }: { of: Record<string, unknown> }) {
  return (
    <Facts
      of={Object.fromEntries(
        Object.entries(of).map(([name, value]) => [
          name,
          <code key={name} translate="no">
            {inUnits(name, value)}
          </code>,
        ]),
      )}
    />
  )
}

/** What changed, one line for each field: "priceWei: 1 → 2". */
export function Changes({ changes }: { changes: readonly FieldChange[] }) {
  return (
    <ul className="changes">
      {changes.map(({ name, before, after }) => (
        <li key={name}>
          {name}: <span className="before">{before}</span> → <strong>{after}</strong>
        </li>
      ))}
    </ul>
  )
}
