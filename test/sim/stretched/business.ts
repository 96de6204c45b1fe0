// A sale on a chain of many blocks, a few of which hold part of it: payments, each with its mint a few blocks later,
// one round a day, withdrawals, nodes that change hands, and payments that buy nothing.
import { encodeFunctionData } from 'viem'
import { encodeCall } from '../../../src/chain/send/signer-account.ts'
import { type Address, address, type Hash, wei } from '../../../src/domain/units.ts'
import type { FactoryCall } from '../../../src/ports/sending.ts'
import type { Hex, TestChain, TestTransaction } from '../../support/anvil.ts'
import { FOREVER } from '../../support/factory.ts'
import { deployContracts, ETHER, ownerAbi } from '../../support/world.ts'
import { BLOCK_SEC, StretchedChain } from './chain.ts'

export const DAY_SEC = 86_400
const PRICE_WEI = ETHER / 100n
const TURN_WEI = wei(ETHER / 1_000n)
/** Blocks from a payment's to its mint's. */
const MINTED_AFTER = 3
/** One payment in so many buys nothing; one buyer in so many withdraws, and one transfers the node. */
const WRONG_EVERY = 100
const WITHDRAWN_EVERY = 50
const HANDED_ON_EVERY = 80
/** Accounts that buy, of the development accounts. */
const BUYERS = { first: 5, count: 15 }

export interface SparseBusiness {
  stretched: StretchedChain
  factory: Address
  token: Address
  head: number
  /** What a ledger must find. */
  expected: { nodes: number; payments: number; rounds: number; withdrawals: number }
}

interface Opened extends SparseBusiness {
  at(account: number): Address
  /** The height of the last block with business, and the time of the next turn. */
  last: number
  nextDue: number
  turnSec: number
}

/** Plays the sale on `blocks` blocks, with a turn every `turnSec`. */
export async function playSparseBusiness(blocks: number, payments: number, turnSec = DAY_SEC): Promise<SparseBusiness> {
  const business = await openSale(blocks, turnSec)
  const step = Math.floor((blocks - business.last) / (payments + 1))
  const middle = Math.ceil(payments / 2)
  for (let n = 1; n <= payments; n++) {
    await sell(business, n, n * step)
    if (n === middle) await empty(business)
  }
  return business
}

async function openSale(head: number, turnSec: number): Promise<Opened> {
  let contracts = { factory: '' as Address, token: '' as Address }
  const accountOf = (model: TestChain) => (index: number) => address(model.accounts[index]?.address ?? '')
  const stretched = await StretchedChain.begin(head, async (model) => {
    contracts = await deployContracts(model, 250n)
    return [...[1, 2, 3].map(accountOf(model)), contracts.factory]
  })
  // The first sale is before it, because no turn is paid to a cohort without nodes.
  const nextDue = (Math.floor(stretched.timeOf(10) / turnSec) + 2) * turnSec
  const expected = { nodes: 0, payments: 0, rounds: 0, withdrawals: 0 }
  const business = {
    stretched,
    ...contracts,
    head,
    expected,
    at: accountOf(stretched.model),
    last: 10,
    nextDue,
    turnSec,
  }
  const openings = [{ tierNo: 1, firstDue: nextDue, intervalSec: turnSec }]
  await act(business, business.last + 1, 1, { kind: 'openCohorts', first: 1, openings, validUntil: FOREVER })
  return business
}

/** The payments wallet sends some of its ether. If it never sent, it might be a future contract's address, and no block of it could be surveyed. */
async function empty(business: Opened): Promise<void> {
  await mine(business, business.last + 1, { from: business.at(3), to: business.at(0), value: quantity(PRICE_WEI) })
}

/** The nth payment, from a height on, and its consequences. */
async function sell(business: Opened, n: number, number: number): Promise<void> {
  const { at, expected } = business
  await payTurns(business, number)
  const buyer = at(BUYERS.first + (n % BUYERS.count))
  const isWrong = n % WRONG_EVERY === 0
  const [ref] = await mine(business, number, {
    from: buyer,
    to: at(3),
    value: quantity(PRICE_WEI + (isWrong ? 1n : 0n)),
  })
  expected.payments++
  if (isWrong) return
  await payTurns(business, number + MINTED_AFTER)
  const orders = [{ to: buyer, cohort: 1, ref: ref as Hash }]
  await act(business, number + MINTED_AFTER, 1, { kind: 'mint', orders, guard: null, validUntil: FOREVER })
  expected.nodes++
  const id = BigInt(expected.nodes)
  if (n % HANDED_ON_EVERY === 0) await own(business, buyer, 'transferFrom', [buyer, at(BUYERS.first), id])
  if (n % WITHDRAWN_EVERY !== 0 || expected.rounds === 0) return
  // The first node stays with its buyer.
  const first = at(BUYERS.first + 1)
  await own(business, first, 'withdraw', [1n, first, 1n])
  expected.withdrawals++
}

/** Pays the turns due by a height, each in the first possible block. */
async function payTurns(business: Opened, upTo: number): Promise<void> {
  const { stretched, expected } = business
  while (business.nextDue <= stretched.timeOf(upTo)) {
    const firstDue = business.nextDue
    const number = Math.ceil((firstDue - stretched.timeOf(0)) / BLOCK_SEC)
    business.nextDue += business.turnSec
    expected.rounds++
    const credits = [{ cohort: 1, firstDue, skipped: 0, paid: 1, amountPerNodeWei: TURN_WEI }]
    const valueWei = wei(TURN_WEI * BigInt(expected.nodes))
    const round = expected.rounds
    await act(business, number, 2, { kind: 'credit', round, credits, valueWei, guard: null, validUntil: FOREVER })
  }
}

const quantity = (value: bigint): Hex => `0x${value.toString(16)}`

/** Mines a call of one of the service's accounts. */
async function act(business: Opened, number: number, account: number, call: FactoryCall): Promise<void> {
  const { data, valueWei } = encodeCall(call, { withGuard: false })
  await mine(business, number, { from: business.at(account), to: business.factory, data, value: quantity(valueWei) })
}

/** Mines a call of a node's owner in the next block. */
async function own(business: Opened, from: Address, functionName: string, args: readonly unknown[]): Promise<void> {
  const data = encodeFunctionData({ abi: ownerAbi, functionName, args } as never)
  await mine(business, business.last + 1, { from, to: business.factory, data })
}

/** Mines at a height, or in the next block if that is taken. Throws if the transaction failed, because the sale would be another one. */
async function mine(business: Opened, number: number, transaction: TestTransaction): Promise<Hash[]> {
  business.last = Math.max(number, business.last + 1)
  const hashes = await business.stretched.mineAt(business.last, [{ gas: '0x1000000', ...transaction }])
  const receipt = (await business.stretched.rpc('eth_getTransactionReceipt', hashes)) as { status: string }
  if (receipt.status !== '0x1') throw new Error(`a transaction of the sale failed in block ${business.last}`)
  return hashes
}
