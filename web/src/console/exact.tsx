// Amounts as the operator reads them: ether as everywhere, and the exact wei with it.
import { ether } from '../format.ts'
import { Amount } from '../ui/facts.tsx'

interface ExactProps {
  wei: bigint | null
  /** Where there is no room for it: the wei are in the hint alone. */
  hinted?: boolean
}

/** An amount with its wei. `null`: could not be checked. */
export function Exact({ wei, hinted = false }: ExactProps) {
  if (wei === null) return <Amount wei={null} />
  const text = `${wei} wei`
  if (hinted)
    return (
      <span title={text}>
        <Amount wei={wei} plain />
      </span>
    )
  return (
    <span className="exact">
      {ether(wei)} ETH <span className="note">{text}</span>
    </span>
  )
}
