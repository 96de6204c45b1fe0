// Amounts for the operator: ether as everywhere, with the wei at hand.
import { Amount } from '../ui/facts.tsx'

/** An amount, with its wei on hover. `null` means "could not be checked". */
export function Exact({ wei }: { wei: bigint | null }) {
  if (wei === null) return <Amount wei={null} />
  return (
    <span title={`${wei} wei`}>
      <Amount wei={wei} plain />
    </span>
  )
}
