// A survey of old blocks, as a second reading of docs/ARCHITECTURE.md (Old blocks): it finds everything that moved value, used a nonce or changed the factory, up to where a
// wallet changed in a way that no transaction explains, and it is worth nothing if anything that it needs is missing.

export type Kind =
  | 'pays'
  | 'fails'
  | 'out'
  | 'outFails'
  | 'outToFactory'
  | 'inner'
  | 'innerOut'
  | 'hidden'
  | 'sent'
  | 'sentToFactory'
  | 'role'
  | 'hiddenRole'
  | 'roleOfWallet'
  | 'roleOfNone'
  | 'mint'
  | 'hiddenMint'
  | 'withdrawFails'
export interface Thing {
  block: number
  kind: Kind
  /** The account whose thing it is. */
  who: string
  valueWei: bigint
  index: number
}
export interface Account {
  name: string
  kind: 'wallet' | 'signer'
  nonce: number
  /** From this block on it has code; null: never. */
  codeFrom: number | null
}
export interface Wallet {
  name: string
  watchedFrom: number
  closed: number | null
}
export interface World {
  accounts: Account[]
  wallets: Wallet[]
  things: Thing[]
  /** The newest final block; null: none. */
  final: number | null
  lacks: 'nothing' | 'logs' | 'states' | 'laterStates' | 'blocks' | 'parent' | 'end'
}

const NONCES: Kind[] = ['out', 'outFails', 'outToFactory', 'hidden', 'sent', 'sentToFactory']
/** What the factory's logs show. */
export const LOGGED: Kind[] = ['role', 'roleOfWallet', 'roleOfNone', 'mint']
const STORES: Kind[] = [...LOGGED, 'hiddenRole', 'hiddenMint']
export const FEE = 3n

/** What a thing does to the balance of its account. */
const change = ({ kind, valueWei }: Thing): bigint => {
  if (kind === 'pays' || kind === 'inner') return valueWei
  if (kind === 'out' || kind === 'outToFactory') return -FEE - valueWei
  if (kind === 'outFails') return -FEE
  return kind === 'innerOut' ? -valueWei : 0n
}

/** The state of an account at the end of a block. */
export function stateAt({ accounts, things }: World, name: string, number: number) {
  const account = accounts.find((one) => one.name === name)
  const own = things.filter(({ block, who }) => who === name && block <= number)
  return {
    nonce: (account?.nonce ?? 1) + own.filter(({ kind }) => NONCES.includes(kind)).length,
    balanceWei: 1_000_000n + own.reduce((sum, one) => sum + change(one), 0n),
    hasCode: account?.codeFrom !== null && (account?.codeFrom ?? 0) <= number,
    changes: things.filter(({ kind, block }) => STORES.includes(kind) && block <= number).length,
  }
}

const isWatched = ({ watchedFrom, closed }: Wallet, block: number) =>
  watchedFrom <= block && (closed === null || closed >= block)
export const watchedAt = ({ wallets }: World, block: number) =>
  wallets.filter((one) => isWatched(one, block)).map(({ name }) => name)

/** The last block up to which the wallets are the same. */
export function lastOf({ wallets }: World, from: number, to: number): number {
  let last = from
  const same = (block: number) => wallets.every((one) => isWatched(one, block) === isWatched(one, from))
  while (last < to && same(last + 1)) last++
  return last
}

/** True if nothing can be surveyed from this block on. */
export function isUseless(world: World, from: number): boolean {
  const { lacks, final } = world
  if (['logs', 'states', 'laterStates', 'parent'].includes(lacks)) return true
  return watchedAt(world, from).some((name) => {
    const before = stateAt(world, name, from - 1)
    if (before.hasCode) return true
    // A contract could have been at an address that has sent nothing.
    if (before.nonce > 0) return false
    if (final === null) return true
    const later = stateAt(world, name, final)
    return later.nonce === 0 || later.hasCode
  })
}

/** The blocks, but for the one before the range, at which the factory's storage is compared: the ends of each stretch of blocks without logs, and the last block. */
export function ends({ things }: World, from: number, to: number): number[] {
  const isLogged = (number: number) => things.some(({ kind, block }) => block === number && LOGGED.includes(kind))
  const ends = new Set([to])
  for (let number = from; number <= to; number++) {
    if (isLogged(number)) continue
    if (number > from && isLogged(number - 1)) ends.add(number - 1)
    if (isLogged(number + 1)) ends.add(number)
  }
  return [...ends].toSorted((a, b) => a - b)
}

/** The things of a range that change something which a survey watches. */
export const effects = (world: World, from: number, to: number, signers: string[]): Thing[] =>
  world.things.filter(({ block, kind, who }) => {
    if (block < from || block > to || kind === 'fails' || kind === 'withdrawFails') return false
    return STORES.includes(kind) || watchedAt(world, from).includes(who) || signers.includes(who)
  })

/** The first block in which a wallet used a nonce or lost value without a transaction. */
export const unexplained = (world: World, from: number, to: number): number | null =>
  world.things
    .filter(
      ({ kind, who, block }) =>
        (kind === 'hidden' || kind === 'innerOut') &&
        watchedAt(world, from).includes(who) &&
        block >= from &&
        block <= to,
    )
    .map(({ block }) => block)
    .toSorted((a, b) => a - b)[0] ?? null
