// Every public verdict of random histories (ledgers.ts), recomputed twice: by the client from a chain and public answers, and by the second reading of the
// documents (verdicts.ts). Then with a lie in it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Interface, toQuantity } from 'ethers'
import fc from 'fast-check'
import { createClient, custom } from 'viem'
import { type LedgerClient, LedgerError, type Payment, type Sale } from '../../../client/src/index.ts'
import { revive } from '../../../client/src/revive.ts'
import { verifyVerdict } from '../../../client/src/viem/verdict.ts'
import type { Sql } from '../../../src/db/core/sql.ts'
import { inOne, readPaymentsIn } from '../../../src/db/reads/public-payments.ts'
import { readSale } from '../../../src/db/reads/public-verdicts.ts'
import { toJson } from '../../../src/lib/json.ts'
import { account, openTables, type Tables, word } from '../../db/direct-rows.ts'
import {
  type Drawn,
  drawn,
  type Ledger,
  LISTS,
  ledgerOf,
  MINTER,
  rowsOf,
  runOnce,
  tierNo,
  treeIn,
} from '../../db/judged-ledgers.ts'
import { cases, randomBelow } from '../../support/property.ts'
import { assertSame, isThrown, outcome } from './compared.ts'
import { withLie } from './lies.ts'
import { type Shown, verdictMatches } from './verdicts.ts'
import type { Dice } from './worlds.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

type PaymentHere = Ledger['payments'][number]
const FACTORY = account(99)
/** The transaction around an inner transfer. */
const INNER = { from: account(60), to: account(61), valueWei: 0n }
const ABI = new Interface([
  'function nodesOf(address) view returns (uint256[])',
  'function nodeInfo(uint256) view returns (address, uint256, uint256, uint256, uint256)',
  'function cohort(uint256) view returns (uint256, uint256, uint256, uint256, uint256)',
  'function maxPerWallet() view returns (uint256)',
  'function minter() view returns (address)',
  'function distributor() view returns (address)',
  'function balanceOf(address) view returns (uint256)',
])

/** What a contract answers. The factory has the ledger's nodes, numbered from 1, in one cohort per tier. */
function callIn(ledger: Ledger, data: string, block: number): string {
  const { name, args } = ABI.parseTransaction({ data }) ?? assert.fail(data)
  const [asked = ''] = args.toArray()
  const wallet = String(asked).toLowerCase()
  const numbers = ledger.nodes.flatMap(({ owner }, n) => (owner === wallet ? [1 + n] : []))
  const tierOf = () => tierNo(ledger.nodes[Number(asked) - 1]?.tierId ?? '')
  const held = ledger.payments.find((one) => one.from === wallet && one.block === block)?.heldWei
  if (name === 'balanceOf' && typeof held !== 'bigint') throw new Error('missing trie node')
  const answers: Record<string, () => unknown[]> = {
    nodesOf: () => [numbers],
    nodeInfo: () => [account(0), 0, 0, 0, tierOf()],
    cohort: () => [0, 0, 0, 0, asked],
    maxPerWallet: () => [ledger.walletCap],
    minter: () => [MINTER],
    distributor: () => [account(98)],
    balanceOf: () => [held],
  }
  return ABI.encodeFunctionResult(name, answers[name]?.() ?? [])
}

/** The chain as a provider shows it, for one payment. */
function chainOf(ledger: Ledger, paid: PaymentHere) {
  const mined = (hash: string) => {
    const one = ledger.payments.find(({ id }) => word(id) === hash) ?? assert.fail(hash)
    const place = {
      blockNumber: toQuantity(one.block),
      blockHash: word(one.block),
      transactionIndex: toQuantity(one.txIndex),
    }
    const isInner = one.payer !== null
    const { from, to, valueWei } = isInner ? INNER : { ...one, to: one.wallet }
    return { one, place, shown: { from, to, value: toQuantity(valueWei) } }
  }
  const request = async ({ method, params = [] }: { method: string; params?: unknown }) => {
    const [first, second] = params as [never, string]
    if (method === 'eth_call') {
      const { data } = first as { data: string }
      return callIn(ledger, data, Number(second))
    }
    if (method === 'eth_getBlockByNumber') {
      const one = Number(first) === paid.block ? paid : assert.fail(String(first))
      return { number: toQuantity(one.block), hash: word(one.block), timestamp: toQuantity(one.time), transactions: [] }
    }
    const { one, place, shown } = mined(first)
    if (method === 'eth_getTransactionByHash') return { hash: first, ...place, ...shown, type: '0x2' }
    assert.equal(method, 'eth_getTransactionReceipt')
    return { transactionHash: first, ...place, status: one.succeeded ? '0x1' : '0x0', logs: [], type: '0x2' }
  }
  return createClient({ transport: custom({ request }, { retryCount: 0 }) })
}

const shownOf = (ledger: Ledger, one: PaymentHere): Shown => ({
  ...{ block: one.block, time: one.time, blockHash: word(one.block), txIndex: one.txIndex },
  ...{ succeeded: one.succeeded, from: one.from, to: one.wallet, valueWei: one.valueWei },
  ...(one.payer !== null && INNER),
  nodesAt: () => ledger.nodes.filter(({ owner }) => owner === one.from).map(({ tierId }) => tierNo(tierId)),
  ...{ walletCap: ledger.walletCap, heldWei: one.heldWei },
  allocationOf: (root) => {
    const list = LISTS.find((each) => treeIn(ledger, each).root === root) ?? assert.fail(root)
    return ledger.lists.get(list)?.get(one.from) ?? 0
  },
})

const asAnswered = <T>(answer: unknown) => revive(JSON.parse(toJson(answer))) as T
const none = async () => {
  throw new LedgerError('none', { status: 404, retryable: false, retryAfter: null })
}

/** The service: its own reads, but for the lists, of which the database has no trees. Every list is published. */
async function serviceOf(sql: Sql, ledger: Ledger, one: PaymentHere, lie: (payment: Payment) => Payment) {
  const rows = await readPaymentsIn(sql, word(one.id) as never)
  const answer = rows?.every(({ status }) => status === 'ignored') ? null : rows
  const payment = answer && asAnswered<Payment>(inOne(answer))
  const sale = asAnswered<Sale>(await readSale(sql, BigInt(one.block)))
  const listOf = (root: string) => LISTS.find((list) => treeIn(ledger, list).root === root) ?? assert.fail(root)
  const entriesOf = (root: string) =>
    [...(ledger.lists.get(listOf(root)) ?? []), [account(200 + Number(listOf(root))), 1] as const].map(
      ([address, allocation]) => ({ address, allocation }),
    )
  const service = {
    getWellKnown: async () => ({ chainId: 1, factoryAddress: FACTORY }),
    getPayment: payment ? async () => ({ ...payment, payments: payment.payments?.map(lie) }) : none,
    getSale: async () => sale,
    getAllowlisted: async (root: string, address: string) => {
      const leaf = entriesOf(root).findIndex((entry) => entry.address === address)
      const proof = leaf < 0 ? null : treeIn(ledger, listOf(root)).proofOf(leaf)
      return { root, address, allocation: entriesOf(root)[leaf]?.allocation ?? 0, proof }
    },
    getAllowlist: none,
  }
  return { payment: payment?.payments?.[0] ?? null, sale, service: service as unknown as LedgerClient }
}

interface Case {
  sql: Sql
  ledger: Ledger
  one: PaymentHere
  dice: Dice
  /** Evidence of other payments, for lies. */
  others: readonly Evidence[]
}
type Evidence = NonNullable<Payment['verdict']>['evidence']
const same = (payment: Payment) => payment
const ALWAYS = ['txIndex', 'innerIndex', 'blockHash', 'wallet', 'receivedWei']
const nullableOf = (evidence: Evidence) => Object.keys(evidence).filter((field) => !ALWAYS.includes(field))

/** Recomputes the verdict on a payment, by both readings. @returns what is public of it; null if nothing is. */
async function assertRight({ sql, ledger, one }: Omit<Case, 'dice' | 'others'>) {
  const { payment, sale, service } = await serviceOf(sql, ledger, one, same)
  const verified = await verifyVerdict(service, chainOf(ledger, one), word(one.id) as never)
  const differences = [verified, ...verified.verdicts].flatMap((each) => each.differences)
  assertSame(differences, [], { one, payment, sale })
  const verdict = payment?.verdict
  if (!verdict) return null
  assertSame(verdictMatches(payment, verdict, sale, shownOf(ledger, one)), true, { one, payment, sale })
  return { payment, verdict, sale }
}

/** @returns whether a lie goes unnoticed; null if nothing is public of the payment, or the lie has another type. */
async function hidesLie({ dice, others, ...rest }: Case): Promise<boolean | null> {
  const truth = await assertRight(rest)
  if (truth === null) return null
  const { sql, ledger, one } = rest
  const { evidence } = truth.verdict
  // Mostly about what the rule examined.
  const told = Object.entries(evidence).filter(([, value]) => value !== null || dice(8) === 0)
  const part = withLie(dice, Object.fromEntries(told) as Evidence, nullableOf(evidence), others)
  if (part.isOdd) return null
  const lie = { said: { ...evidence, ...part.said } }
  const verdict = { ...truth.verdict, evidence: lie.said }
  const payment = { ...truth.payment, verdict }
  const { service } = await serviceOf(sql, ledger, one, () => payment)
  const answer = await outcome(() => verifyVerdict(service, chainOf(ledger, one), word(one.id) as never))
  const isHidden = !isThrown(answer) && answer.matches !== false
  const second = await outcome(() => verdictMatches(payment, verdict, truth.sale, shownOf(ledger, one)))
  assertSame(isHidden, second === true, { one, lie: lie.said, truth, answer })
  return isHidden
}

test('both readings recompute every public verdict, and agree about each lie in one', async () => {
  const lies = { hidden: 0, noticed: 0 }
  const recompute = async (sql: Sql, ledger: Ledger, dice: Dice) => {
    const others: Evidence[] = []
    for (const one of ledger.payments) {
      const truth = await assertRight({ sql, ledger, one })
      if (truth) others.push(truth.verdict.evidence)
    }
    for (const one of ledger.payments) {
      const isHidden = await hidesLie({ sql, ledger, one, dice, others })
      if (isHidden !== null) lies[isHidden ? 'hidden' : 'noticed']++
    }
  }
  const play = async (given: Drawn, seed: number) => {
    const ledger = ledgerOf(given)
    await tables.within(rowsOf(ledger), async (sql) => {
      for (let run = 0; run < 4; run++) await runOnce(sql, ledger, given.page)
      await recompute(sql, ledger, randomBelow(seed))
    })
  }
  await fc.assert(fc.asyncProperty(drawn, fc.integer(), play), { numRuns: cases(60), endOnFailure: true })
  assert.ok(lies.noticed > 10 && lies.hidden > 0, JSON.stringify(lies))
})
