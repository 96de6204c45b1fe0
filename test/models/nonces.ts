// Which EIP-7702 authorizations used up a nonce of an account, by EIP-7702 (Behavior: the sender's nonce is increased first; then each authorization of
// the list in its order counts if its nonce is its account's next one, which it increases) and docs/ARCHITECTURE.md (Foreign use). The model carries out
// block after block, transaction after transaction.

// Choice: an account whose next nonce is not known is followed from its first transaction on.

export interface Use {
  sender: string
  nonce: number
  blockNumber: number
  txIndex: number
}

/** The authorizations that count, by their places in the list. */
export function counting(known: Map<string, number>, sent: Use[], authorizations: Use[]): number[] {
  const next = new Map(known)
  const found: number[] = []
  const places = [...sent, ...authorizations].map((one) => [one.blockNumber, one.txIndex] as const)
  const lastBlock = Math.max(0, ...places.map(([block]) => block))
  const lastIndex = Math.max(0, ...places.map(([, index]) => index))
  for (let block = 0; block <= lastBlock; block++) {
    for (let index = 0; index <= lastIndex; index++) {
      const isHere = (one: Use) => one.blockNumber === block && one.txIndex === index
      for (const one of sent.filter(isHere)) next.set(one.sender, one.nonce + 1)
      authorizations.forEach((one, place) => {
        if (!isHere(one) || next.get(one.sender) !== one.nonce) return
        next.set(one.sender, one.nonce + 1)
        found.push(place)
      })
    }
  }
  return found
}
