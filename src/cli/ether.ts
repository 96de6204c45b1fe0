// Amounts as people read them. Scripts get wei: --json never rounds.
import { formatEther } from 'viem/utils'

/** Wei, or its decimal string, in ether, exactly. A dash where there is none. */
export function inEther(wei: bigint | string | null | undefined): string {
  return wei === null || wei === undefined ? '-' : formatEther(BigInt(wei))
}
