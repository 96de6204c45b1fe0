// Amounts for the operator: ether as everywhere, plus the exact wei.
import { ether } from '../format.ts'
import { Amount } from '../ui/facts.tsx'

interface ExactProps {
  wei: bigint | null
  /** Shows the wei only in the tooltip, if space is short. */
  hinted?: boolean
}

/** An amount with its wei. `null` means "could not be checked". */
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
