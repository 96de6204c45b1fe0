// A chain with one account of ours, as two providers show it: blocks, a pool, forks, uses of the key by others. It knows the truth; the model beside it
// knows what the service may know.
import { account, word } from '../../db/direct-rows.ts'
import type { Answers, Block, Use } from './account.ts'

/** What happens to the account in a block, one thing after the other. */
export const HAPPENS = ['ours', 'oursFails', 'foreign', 'hidden'] as const
export type Happens = (typeof HAPPENS)[number]

/** A use as the follower is shown it. */
export interface Shown {
  use: Use
  txIndex: number
}
export const SENDER = account(2)
const FIRST_BLOCK = 100

export class Chain {
  blocks: Block[] = []
  readonly shown = new Map<string, Shown[]>()
  pool = new Map<string, number>()
  lags: number[]
  lies: (number | null)[]
  #count = 0
  readonly firstNonce = 3

  /** `hides`: uses may be hidden from the follower, as those by authorizations are. */
  readonly #hides: boolean
  constructor(providers: number, hides: boolean) {
    this.#hides = hides
    this.lags = Array.from({ length: providers }, () => 0)
    this.lies = this.lags.map(() => 0)
    this.mine([], 12)
  }

  get head(): Block {
    return this.blocks.at(-1) as Block
  }

  /** The account's next nonce as of the block at a height. */
  nonceAt(number: number): number {
    return this.firstNonce + this.blocks.filter((one) => one.number <= number).flatMap(({ uses }) => uses).length
  }

  fresh = (): string => word(1_000_000 + this.#count++)

  mine(plan: Happens[], sec: number): void {
    const [number, hash] = [FIRST_BLOCK + this.blocks.length, this.fresh()]
    const block: Block = { number, hash, time: (this.blocks.at(-1)?.time ?? 1_000) + sec, uses: [] }
    this.blocks.push(block)
    this.shown.set(hash, [])
    for (const [txIndex, one] of plan.entries())
      this.#happen(block, one === 'hidden' && !this.#hides ? 'foreign' : one, txIndex)
  }

  #happen(block: Block, one: Happens, txIndex: number): void {
    const next = this.nonceAt(block.number)
    const add = (use: Partial<Use>) => {
      const whole = { nonce: next, txHash: this.fresh(), succeeded: true, isSeen: true, ...use }
      block.uses.push(whole)
      if (whole.isSeen) this.shown.get(block.hash)?.push({ use: whole, txIndex })
    }
    if (one === 'ours' || one === 'oursFails') {
      // Of several attempts with this nonce a block takes the last one that the pool has.
      const txHash = [...this.pool].findLast(([, nonce]) => nonce === next)?.[0]
      if (txHash !== undefined) add({ txHash, succeeded: one === 'ours' })
    }
    if (one === 'foreign') add({})
    if (one === 'hidden') add({ isSeen: false })
  }

  /** Drops the last blocks. Their transactions of ours are in the pool again, or they are lost. */
  drop(depth: number, returns: boolean): void {
    const gone = this.blocks.splice(Math.max(1, this.blocks.length - depth))
    if (!returns) for (const { uses } of gone) for (const { txHash } of uses) this.pool.delete(txHash)
  }

  receive(txHash: string, nonce: number): boolean {
    if (nonce < this.nonceAt(this.head.number)) return false
    this.pool.delete(txHash)
    this.pool.set(txHash, nonce)
    return true
  }

  /** The height of a provider's latest block. */
  heightOf(provider: number): number {
    return Math.max(FIRST_BLOCK, this.head.number - (this.lags[provider] as number))
  }

  answers(followed: Block): Answers {
    const says = (provider: number): number | null => {
      const lie = this.lies[provider] as number | null
      return lie === null ? null : Math.max(0, this.nonceAt(this.heightOf(provider)) + lie)
    }
    const isKnown = this.blocks.some(({ hash }) => hash === followed.hash)
    const has = (provider: number) =>
      isKnown && this.lies[provider] !== null && this.heightOf(provider) >= followed.number
    const all = this.lags.map((_, provider) => provider)
    return {
      latest: all.map(says),
      atFollowed: all.map((one) => (has(one) ? this.nonceAt(followed.number) : null)),
    }
  }
}
