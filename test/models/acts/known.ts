// Which contracts are known wallets, as a second reading of docs/ADMIN.md (Contract wallets: "a known wallet has the code and implementation listed") and of
// the words at the lists: an account counts only if its proxy and its implementation are both on the list, each at its place.

export interface Code {
  codeHash: string
  implementation: { at: string; address: string } | null
}
export interface Lists {
  proxies: readonly { codeHash: string; at: string }[]
  implementations: readonly { address: string; at: string }[]
}

const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

export function isKnown({ codeHash, implementation }: Code, lists: Lists): boolean {
  if (implementation === null) return false
  const { at, address } = implementation
  if (!lists.implementations.some((one) => same(one.address, address) && one.at === at)) return false
  return lists.proxies.some((one) => same(one.codeHash, codeHash) && one.at === at)
}
