// What the client says of a node, the cover and an allowlist, and what a second reading of the documents says: over random chains, true answers and lies.
import { test } from 'node:test'
import fc from 'fast-check'
import { createClient, custom } from 'viem'
import { type Allowlisted, type Hex, type LedgerClient, LedgerError } from '../../client/src/index.ts'
import { verifyAllowlist, verifyAllowlisted } from '../../client/src/viem/allowlist.ts'
import { verifyCover, verifyNode } from '../../client/src/viem/verify.ts'
import { nodesOf } from '../models/tree.ts'
import { allocationMatches, listMatches, treeOf } from '../models/verified/allowlisted.ts'
import { headOf, type PlainChain, type SaidPlace, type Trusted } from '../models/verified/chain.ts'
import { assertBothSeen, assertSame, inOrder, isThrown, outcome } from '../models/verified/compared.ts'
import { type Lie, withLie } from '../models/verified/lies.ts'
import { providerOf } from '../models/verified/provider.ts'
import { type Reading, verifiedCover, verifiedNode } from '../models/verified/readings.ts'
import {
  coverOf,
  type Dice,
  FACTORY,
  hashOf,
  nodeOf,
  OTHER_FACTORY,
  one,
  readingWorld,
} from '../models/verified/worlds.ts'
import { cases, randomBelow } from '../support/property.ts'

const ELSEWHERE = { factoryAddress: OTHER_FACTORY.toUpperCase().replace('0X', '0x') }
const KNOWN: Trusted[] = [{}, {}, { chainId: 31_337 }, { factoryAddress: FACTORY }, ELSEWHERE, { chainId: 1 }]
const AGES: Trusted['maxAge'][] = [
  undefined,
  {},
  { blocks: 2 },
  { sec: 10 },
  { blocks: 1, sec: 10 },
  { blocks: 0, sec: 0 },
]

/** A chain, what the caller knows of it, and where the service says that it reads. */
function placed(dice: Dice) {
  const chain = readingWorld(dice)
  const maxAge = one(dice, AGES)
  const trusted = { ...one(dice, KNOWN), ...(maxAge && { maxAge }) }
  const isTrue = dice(3) > 0
  const place: SaidPlace = {
    chainId: isTrue ? 31_337 : one(dice, [31_337, 1]),
    factoryAddress: isTrue ? FACTORY : one(dice, [FACTORY, OTHER_FACTORY, null]),
  }
  const head = headOf(chain)
  const block = Math.max(0, one(dice, [0, head, head - 1, head - 2, 3, dice(head)]))
  return { chain, trusted, place, block, client: clientOf(chain) }
}

const clientOf = (chain: PlainChain) =>
  createClient({ transport: custom({ request: providerOf(chain) }, { retryCount: 0 }) })

/** None to two lies, mostly one or none. */
function lied<T extends object>(dice: Dice, said: T, nullable: readonly string[], others: readonly T[]): Lie<T> {
  let lie = { said, isOdd: false }
  for (let left = one(dice, [0, 0, 1, 1, 2]); left > 0 && !lie.isOdd; left--)
    lie = withLie(dice, lie.said, nullable, others)
  return lie
}

interface Case {
  isOdd: boolean
  said: unknown
  given: object
  found: () => Promise<Reading<unknown> & { reported: unknown }>
  expected: () => Reading<unknown>
}

/** @returns whether the second reading has it right. */
async function compare({ isOdd, said, given, found, expected }: Case): Promise<boolean> {
  const [verdict, second] = [await outcome(found), await outcome(expected)]
  const isRight = !isThrown(second) && second.matches === true
  if (isOdd) assertSame(isRight || isThrown(verdict) || verdict.matches !== true, true, { said, given })
  else assertSame(inOrder(verdict), inOrder(isThrown(second) ? second : { ...second, reported: said }), { said, given })
  return isRight
}

async function played(usual: number, play: (dice: Dice) => Promise<boolean>): Promise<void> {
  const seen = { right: 0, not: 0 }
  const counted = async (seed: number) => {
    seen[(await play(randomBelow(seed))) ? 'right' : 'not']++
  }
  await fc.assert(fc.asyncProperty(fc.integer(), counted), { numRuns: cases(usual) })
  assertBothSeen(seen)
}

test('the client judges a node as the second reading does, for the same reasons', async () => {
  await played(1000, async (dice) => {
    const { chain, trusted, place, block, client } = placed(dice)
    const nodes = ['5', '6', '1000000005'].flatMap((nodeId) =>
      (['nodeId', 'id'] as const).map((by) => nodeOf(dice, chain, block, nodeId, by)),
    )
    const truth = one(dice, nodes)
    const asked = BigInt(one(dice, [nodes[0], truth, truth, truth, truth, truth])?.[truth.matchedBy] ?? 0)
    let { said, isOdd } = lied(dice, truth, ['tierId', 'expelledAt', 'mintedAt'], nodes)
    if (said.chain && dice(3) === 0) {
      const lie = lied(
        dice,
        said.chain,
        [],
        nodes.flatMap((node) => node.chain ?? []),
      )
      said = { ...said, chain: lie.said }
      isOdd ||= lie.isOdd
    }
    const ledger = { getWellKnown: async () => place, getNode: async () => said } as unknown as LedgerClient
    return compare({
      ...{ isOdd, said, given: { chain, place, trusted, asked } },
      found: () => verifyNode(ledger, client, one(dice, [asked, `${asked}`, Number(asked)]), trusted),
      expected: () => verifiedNode(chain, place, trusted, asked, said),
    })
  })
})

test('the client judges the cover as the second reading does, for the same reasons', async () => {
  await played(1000, async (dice) => {
    const { chain, trusted, place, block, client } = placed(dice)
    const others = [0, headOf(chain)].map((other) => coverOf(dice, chain, other))
    const truth = coverOf(dice, chain, block)
    const fields = Object.keys(truth)
    const { said, isOdd } =
      dice(9) === 0
        ? { said: Object.fromEntries(fields.map((field) => [field, null])) as unknown as typeof truth, isOdd: false }
        : lied(dice, truth, fields, others)
    const ledger = { getWellKnown: async () => place, getCover: async () => said } as unknown as LedgerClient
    return compare({
      ...{ isOdd, said, given: { chain, place, trusted } },
      found: () => verifyCover(ledger, client, trusted),
      expected: () => verifiedCover(chain, place, trusted, said),
    })
  })
})

test('an allocation is right by the client if it is by the second reading', async () => {
  await played(1000, async (dice) => {
    const addresses = Array.from({ length: 1 + dice(6) }, (_, index) => hashOf(`wallet ${index}`).slice(0, 42))
    const wallets = addresses.map((address) => ({ address, allocation: dice(4) }))
    const { root, proofOf } = treeOf(wallets)
    const answers = wallets.map(
      ({ address, allocation }, index): Allowlisted =>
        ({ root, address, allocation, proof: proofOf(index) }) as Allowlisted,
    )
    const none = { root, address: hashOf('nobody').slice(0, 42), allocation: 0, proof: null } as Allowlisted
    const truth = one(dice, [...answers, none])
    const { said, isOdd } = lied(dice, truth, ['proof'], [...answers, none])
    const spelt = <T extends string>(text: T) => (dice(2) ? text : text.toUpperCase().replace('0X', '0x')) as T
    const ledger = { getAllowlisted: async () => said } as unknown as LedgerClient
    const asked = [spelt(root), truth.address] as const
    const verdict = await outcome(() => verifyAllowlisted(ledger, ...asked))
    const expected = await outcome(() => allocationMatches(root, truth.address, said))
    if (isOdd) assertSame(expected === true || isThrown(verdict) || verdict.matches !== true, true, { root, said })
    else assertSame(verdict, { matches: expected, reported: said }, { root, truth, said })
    return expected === true
  })
})

interface Listed {
  address: string
  allocation: number
}

/** A service that publishes these wallets by pages, and says that there are `total`. `asked`: after which wallet. */
function publisherOf(entries: readonly Listed[], { page, total }: { page: number; total: number }) {
  const asked: (string | undefined)[] = []
  const getAllowlist = async (_: string, after?: string) => {
    asked.push(after)
    const from = entries.findIndex(({ address }) => address === after) + 1
    return { total, entries: entries.slice(from, from + page) }
  }
  return { ledger: { getAllowlist } as unknown as LedgerClient, asked }
}

test('a published list is right if its root follows from all of it', async () => {
  const wallets = Array.from({ length: 6 }, (_, at) => ({
    address: hashOf(`wallet ${at}`).slice(0, 42),
    allocation: at,
  }))
  for (let count = 0; count <= wallets.length; count++) {
    const list = wallets.slice(0, count)
    const [root = hashOf('no root') as Hex] = count === 0 ? [] : nodesOf(list)
    for (const said of [list, list.toReversed(), list.slice(1), [...list, ...wallets.slice(count, count + 1)]])
      for (const page of [1, 2, count, 7])
        for (const total of [said.length, said.length - 1, said.length + 1]) {
          const { ledger, asked } = publisherOf(said, { page: Math.max(1, page), total })
          const found = await verifyAllowlist(ledger, root.toUpperCase().replace('0X', '0x') as Hex)
          // A service that says that there are fewer is not asked for the others.
          const pages = Math.max(1, Math.ceil(Math.min(total, said.length) / Math.max(1, page)))
          const read = said.slice(0, pages * Math.max(1, page))
          assertSame(found.matches, listMatches(root, read), { root, said, page, total })
          assertSame(
            [...found.allocations],
            read.map(({ address, allocation }) => [address, allocation]),
            said,
          )
          assertSame(asked.length - pages, total > said.length && read.length > 0 ? 1 : 0, { asked, said, page, total })
        }
  }
})

test('a list that is not published is not judged, and any other failure is thrown', async () => {
  const failing = (error: Error) => ({ getAllowlist: () => Promise.reject(error) }) as unknown as LedgerClient
  const errorOf = (status: number) => new LedgerError('no', { status, retryable: false, retryAfter: null } as never)
  const root = hashOf('root') as Hex
  assertSame(await verifyAllowlist(failing(errorOf(404)), root), { matches: null, allocations: new Map() }, root)
  for (const error of [errorOf(500), Object.assign(new Error('other'), { status: 404 })])
    assertSame(await outcome(() => verifyAllowlist(failing(error), root)), 'threw', error)
})

test('a reading is too old one block and one second behind both bounds', async () => {
  const dice = randomBelow(3)
  const world = readingWorld(dice)
  const head = headOf(world)
  const timeOf = (block: number) => world.blocks[block]?.timeSec ?? 0
  const place = { chainId: 31_337, factoryAddress: FACTORY }
  for (const block of [0, head - 3, head]) {
    const said = { ...coverOf(dice, world, block), checkedAt: null }
    const ledger = { getWellKnown: async () => place, getCover: async () => said } as unknown as LedgerClient
    for (const blocks of [-1, 0, 1].map((by) => head - block + by))
      for (const sec of [-1, 0, 1].map((by) => timeOf(head) - timeOf(block) + by)) {
        const trusted = { maxAge: { blocks, sec } }
        await compare({
          ...{ isOdd: false, said, given: { world, place, trusted } },
          found: () => verifyCover(ledger, clientOf(world), trusted),
          expected: () => verifiedCover(world, place, trusted, said),
        })
      }
  }
})
