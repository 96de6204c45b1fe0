// Compares a verdict of src/chain/prove with what the second reading (test/models/proofs) says of the same answer: the kind, the count and the words.
import assert from 'node:assert/strict'
import { proveReceipts, proveTransactions, withChainId } from '../../../src/chain/prove/body.ts'
import { proveHeader, settlesOthers } from '../../../src/chain/prove/header.ts'
import { isUnsigned, namesSender, proveSender, proveTransaction } from '../../../src/chain/prove/transaction.ts'
import { type Verdict, wordsOf } from '../../../src/chain/prove/verdict.ts'
import { provenHeader, toldOfHeader } from '../../models/proofs/header.ts'
import { isObject, type Told, type Wire } from '../../models/proofs/items.ts'
import {
  isOfUnsignedType,
  isUnsigned as isUnsignedByModel,
  toldOfReceipts,
  toldOfSender,
  toldOfTransaction,
  toldOfTransactions,
} from '../../models/proofs/lists.ts'

/** Fails if a verdict is not what must be said, or is put into other words. */
function assertTold(found: Verdict, expected: Told & { beside?: string }, part: string, given: unknown): void {
  const why = JSON.stringify(given)
  if (expected.kind === 'unprovable') {
    assert.deepEqual([found.kind, found.part], ['unprovable', part], why)
    const words = wordsOf(found)
    assert.ok(
      words.startsWith(`${expected.name} `) || words === expected.name,
      `${words}, not ${expected.name}: ${why}`,
    )
    return
  }
  assert.deepEqual(found, { ...expected, part }, why)
  const beside = expected.kind === 'contradicted' && expected.beside ? `, ${expected.beside}` : ''
  const words =
    expected.kind === 'proven' ? 'proven' : `given ${expected.given}, computed ${expected.computed}${beside}`
  assert.equal(wordsOf(found), words)
}

/** @returns what the second reading proves of the header. */
export function compareHeader(block: unknown) {
  const expected = provenHeader(block)
  const { added, ...found } = proveHeader(block)
  const why = JSON.stringify(block)
  assertTold(found as Verdict, expected ? { kind: 'proven' } : toldOfHeader(block), 'header', block)
  // Two fields with the same bytes may stand for each other.
  assert.equal(added?.length ?? 0, expected?.added.length ?? 0, why)
  if (isObject(block)) {
    const hasBoth = block.settledHeight != null && block.extDataHash != null
    assert.equal(settlesOthers(block), hasBoth && (expected?.form ?? 'avalanche') === 'avalanche', why)
  }
  return expected
}

export async function compareTransaction(tx: unknown): Promise<{ hash: Told['kind']; sender: Told['kind'] }> {
  const [told, sender] = [toldOfTransaction(tx), toldOfSender(tx)]
  assertTold(proveTransaction(tx), told, 'transaction', tx)
  assertTold(await proveSender(tx), sender, 'sender', tx)
  if (isObject(tx)) {
    assert.equal(isUnsigned(tx), isUnsignedByModel(tx), JSON.stringify(tx))
    assert.equal(namesSender(tx), isOfUnsignedType(tx), JSON.stringify(tx))
  }
  return { hash: told.kind, sender: sender.kind }
}

/** `raw`: the bytes that the provider gives for an item that we cannot encode. */
export async function compareTransactions(
  block: Wire,
  raw: (index: number) => Uint8Array | null = () => null,
  chainId: string | null = null,
): Promise<Told['kind']> {
  const { verdict, count } = await proveTransactions(withChainId(block, chainId), async (index) => raw(index))
  const whole = { ...block, transactions: filled(block.transactions, chainId) }
  const { count: expected, ...told } = await toldOfTransactions(whole, raw)
  assertTold(verdict, told, 'transactions', whole)
  assert.equal(count, expected, JSON.stringify(block))
  return told.kind
}

export async function compareReceipts(block: Wire, receipts: unknown): Promise<Told['kind']> {
  const { verdict, count } = await proveReceipts(block, receipts)
  const { count: expected, ...told } = await toldOfReceipts(block, receipts)
  assertTold(verdict, told, 'receipts', receipts)
  assert.equal(count, expected, JSON.stringify({ block, receipts }))
  return told.kind
}

/** The transactions with the chain's id, where a type has one and it is left out. */
export function filled(transactions: unknown, chainId: string | null): unknown {
  if (!Array.isArray(transactions) || chainId === null) return transactions
  const lacks = (tx: unknown) => isObject(tx) && tx.chainId == null && Number(tx.type ?? 0) > 0
  return transactions.map((tx) => (lacks(tx) ? { ...(tx as Wire), chainId } : tx))
}
