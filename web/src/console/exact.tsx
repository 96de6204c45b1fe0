// Amounts for the operator: ether as everywhere, with the wei at hand.
import { DECIMALS_MAX, shortEther, zerosAfter } from '../format.ts'
import { Amount } from '../ui/facts.tsx'

/** An amount, with its wei on hover. `null` means "could not be checked". */
export function Exact({ wei, aligned = false }: { wei: bigint | null; aligned?: boolean }) {
  if (wei === null) return <Amount wei={null} />
  return (
    <span title={`${wei} wei`}>
      <Amount wei={wei} plain places={aligned ? DECIMALS_MAX : undefined} />
    </span>
  )
}

/** An amount in a line that opens at a press, and so is no button itself. */
export function Aligned({ wei }: { wei: bigint }) {
  const short = shortEther(wei)
  return (
    <span className="amount" title={`${wei} wei`}>
      <span data-zeros={zerosAfter(short)}>{short}</span> ETH
    </span>
  )
}
