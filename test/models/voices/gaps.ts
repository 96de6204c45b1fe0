// How a survey proves that unread blocks hold nothing of ours, as a second reading of docs/ARCHITECTURE.md (Old blocks): the states of our
// accounts at both ends of a stretch must differ by what is known. If they differ by more, each half is looked at, down to four blocks, which are read.
// One state may be read for every 16 blocks, and 64 in any case.

export interface Change {
  block: number
  account: string
  nonces: number
  balanceWei: bigint
  storage: number
  /** True if reading its block explains it. */
  isShown: boolean
}
export interface World {
  accounts: readonly { name: string; kind: 'wallet' | 'signer' | 'factory' }[]
  changes: readonly Change[]
  /** Pairs of blocks: after the first, up to the second. No two overlap. */
  stretches: readonly (readonly [number, number])[]
  /** The blocks that cannot be read, and those whose states cannot. */
  unread: readonly number[]
  stateless: readonly number[]
}
export interface Outcome {
  proof: object
  read: number[]
  asked: string[]
}

export function prove(world: World): Outcome {
  const known = new Set<number>()
  const outcome = { read: [] as number[], asked: [] as string[] }
  let [isMissing, states] = [false, 0]
  const unexplained: number[] = []
  const unknownIn = (low: number, high: number, account: string) => {
    const own = world.changes.filter((one) => one.account === account && one.block > low && one.block <= high)
    const others = own.filter(({ block, isShown }) => !(isShown && known.has(block)))
    const sum = (of: (one: Change) => bigint) => others.reduce((total, one) => total + of(one), 0n)
    const storage = own.reduce((total, one) => total + one.storage, 0)
    return { nonces: sum((one) => BigInt(one.nonces)), wei: sum((one) => one.balanceWei), storage }
  }
  const look = (low: number, high: number, names: readonly string[]): void => {
    const differing = world.accounts.filter(({ name, kind }) => {
      if (!names.includes(name)) return false
      const { nonces, wei, storage } = unknownIn(low, high, name)
      if (kind === 'factory') return storage !== 0
      return nonces !== 0n || (kind === 'wallet' && wei !== 0n)
    })
    if (differing.length === 0) return
    if (high - low > 4) {
      const middle = low + Math.floor((high - low) / 2)
      states += 1
      const left = differing.map(({ name }) => name)
      outcome.asked.push(`${middle} ${left}`)
      if (world.stateless.includes(middle)) isMissing = true
      look(low, middle, left)
      look(middle, high, left)
      return
    }
    for (let block = low + 1; block <= high; block++) {
      outcome.read.push(block)
      known.add(block)
      if (world.unread.includes(block)) isMissing = true
    }
    const isOdd = differing.some(({ name, kind }) => {
      const { nonces, wei } = unknownIn(low, high, name)
      return kind === 'wallet' && (nonces !== 0n || wei < 0n)
    })
    if (isOdd) unexplained.push(low + 1)
  }
  for (const [low, high] of world.stretches)
    look(
      low,
      high,
      world.accounts.map(({ name }) => name),
    )
  const ends = world.stretches.flat()
  const most = ends.length === 0 ? 64 : Math.max(64, Math.floor((Math.max(...ends) - Math.min(...ends)) / 16))
  if (isMissing || states > most) return { ...outcome, proof: { kind: 'notToBeHad' } }
  if (unexplained.length === 0) return { ...outcome, proof: { kind: 'proven' } }
  return { ...outcome, proof: { kind: 'unexplained', block: Math.min(...unexplained) } }
}
