// Providers of the chain that a rebuild follows: payments to the first of two wallets, and their states.
import { account, word } from '../../db/direct-rows.ts'
import { nothing } from '../following/chains.ts'
import type { Block } from '../following/follow.ts'
import type * as model from './refollowed.ts'

export const WALLETS = [account(11), account(12)]
export const PRICE = 1_000n
export const txOf = (n: number) => word(7_000 + n)
export const valueFor = ({ kind }: model.Payment, n: number) => (kind === 'priced' ? PRICE : PRICE + 1n + BigInt(n))

/** The wallets' balances. */
export function balancesOf(world: model.World) {
  const paid = world.payments.filter(({ kind }) => kind !== 'failed')
  return (wallet: string, number: number) =>
    paid
      .filter(({ block }) => wallet === WALLETS[0] && block <= number)
      .reduce((sum, one) => sum + valueFor(one, world.payments.indexOf(one)), 0n)
}

/** The transfers in some blocks. */
export const transfersIn = (world: model.World, blocks: Block[]) =>
  world.payments.flatMap((one, n) =>
    blocks
      .filter(({ number }) => number === one.block)
      .map(({ number, hash, time }) => ({
        ...{ blockNumber: number, blockHash: hash, blockTime: time, txHash: txOf(n), txIndex: n, wallet: WALLETS[0] },
        ...{ from: account(5), valueWei: valueFor(one, n), succeeded: one.kind !== 'failed', type: 2 },
        ...{ isUnsigned: false, proof: 'agreed', codes: null },
      })),
  )

/** What a survey reads of these blocks. */
export function surveyOf(world: model.World, voices: number, blocks: Block[]) {
  const balanceOf = balancesOf(world)
  const state = (wallet: string, number: number) => ({
    ...{ nonce: world.keyless?.includes(wallet) ? 0 : 1, balanceWei: balanceOf(wallet, number), hasCode: false },
    ...{ codeHash: word(1), storageRoot: word(2) },
  })
  return {
    ...{ voices, loggedBlocks: async () => [], blocksOf: async () => [] },
    accountsAt: async (questions: { number: number; accounts: string[] }[]) =>
      world.keyless === null
        ? null
        : questions.map(({ number, accounts }) => ({
            block: blocks[number],
            accounts: new Map(accounts.map((one) => [one, state(one, number)])),
          })),
    async observeBlocks(numbers: number[], _: unknown, watching: unknown) {
      const read = numbers.map((number) => blocks[number] as Block)
      return { watching, blocks: read, ...nothing, transfers: transfersIn(world, read) }
    },
  }
}
