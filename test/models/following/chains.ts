// Providers as the follower reads them, each over a list of blocks from block 0 on.
import { account, word } from '../../db/direct-rows.ts'
import type { Block, Provider } from './follow.ts'

/** Some blocks after `parent`. Each salt makes other ones. */
export function blocksAfter(parent: Block | null, count: number, salt: number): Block[] {
  const blocks: Block[] = []
  for (let last = parent; blocks.length < count; last = blocks.at(-1) as Block) {
    const number = (last?.number ?? -1) + 1
    const parentHash = last?.hash ?? word(0)
    blocks.push({
      number,
      hash: word(1_000_000 * (1 + salt) + number),
      parentHash,
      time: 1_000 + 12 * number,
      prevrandao: word(7),
    })
  }
  return blocks
}

export const FACTORY = account(0xfac)
const STATE = { nonce: 1, balanceWei: 0n, hasCode: true, codeHash: word(1), storageRoot: word(2) }

/** How a provider fails: with the fault that the test makes of these words. */
export interface Fails {
  silent: () => Error
  parted: () => Error
}

/** What the follower asks of a provider that has these blocks, with `asked` for each question. */
export function readerOf(provider: Provider, fails: Fails, asked: (question: string) => void) {
  let ids = 0
  const { blocks } = provider
  const answer = async <T>(question: string, read: () => T) => {
    asked(question)
    if (provider.isSilent) throw fails.silent()
    return read()
  }
  const block = (number: number) => (number < provider.lacksBelow ? null : (blocks[number] ?? null))
  const accountsAt = async (questions: { number: number; accounts: string[] }[]) => {
    if (provider.lacksBelow > 0) return null
    return questions.map(({ number, accounts }) => ({
      block: blocks[number],
      accounts: new Map(accounts.map((one) => [one, STATE])),
    }))
  }
  return {
    providers: [],
    chainId: () => answer('chainId', () => (provider.strayFrom !== null && ids++ >= provider.strayFrom ? 2 : 1)),
    head: (options?: { toFollow?: boolean }) => answer(`head ${options?.toFollow}`, () => blocks.at(-1)),
    block: (number: number) => answer(`block ${number}`, () => block(number)),
    proofs: { require: () => undefined },
    survey: { voices: 1, accountsAt, loggedBlocks: async () => [], blocksOf: async () => [] },
    async observe(from: number, to: number, parent: string | null, watching: unknown) {
      asked(`observe ${from}`)
      if (provider.isSilent) throw fails.silent()
      const read = blocks.slice(from, to + 1)
      if (read[0] === undefined || (parent !== null && read[0].parentHash !== parent)) throw fails.parted()
      return { watching, blocks: read, ...nothing }
    },
  }
}
export const nothing = {
  fees: [],
  transfers: [],
  outflows: [],
  sent: [],
  failedWithdrawals: [],
  events: [],
}
