// Records as they were written down, and what changed in them.
import { type FieldChange, inUnits } from './values.ts'

/** A record as it was written down, field by field; amounts in ether and in wei. */
export function Pairs({ of }: { of: Record<string, unknown> }) {
  return (
    <dl className="facts">
      {Object.entries(of).map(([name, value]) => (
        <div key={name} className="pair">
          <dt>{name}</dt>
          <dd>
            <code translate="no">{inUnits(name, value)}</code>
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** What changed, a line for each field: "priceWei: 1 → 2". */
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
