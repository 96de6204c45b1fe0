// Exports of nodes, credits, withdrawals and an owner's file over random histories of nodes that are minted, sold, credited and expelled, often within
// one block, and of the other tables over random books: each has the rows of the second reading, in their order, in any period.
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import {
  type Blocks,
  EXPORT_FORMS,
  EXPORT_KINDS,
  type ExportForm,
  openRows,
  ownerForm,
} from '../../../src/db/reads/exports.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { EXPORTS, exportLedger } from '../../../src/operator/acts/books/exports.ts'
import { account, at, openTables, type Row, type Rows, snapshotsIn, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { ADDRESSES, Books, histories } from '../rows/books.ts'
import * as model from './holders.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const OWNERS = [account(1), account(2), account(3)]
const to = fc.constantFrom(...OWNERS)
const node = fc.constantFrom(1, 1, 2, 3)
const wei = fc.constantFrom(0n, 1n, 5n * 10n ** 15n, 10n ** 18n, 10n ** 24n + 1n)
const block = fc.constantFrom(5, 5, 6, 7)
const happening: fc.Arbitrary<model.Happening> = fc
  .oneof(
    fc.record({ kind: fc.constant('mint' as const), block, node, to, cohort: fc.constantFrom(1, 1, 2) }),
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('transfer' as const), block, node, to }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('withdrawal' as const), block, node, to, wei, isFailed: fc.boolean() }),
    },
    fc.record({ kind: fc.constant('expulsion' as const), block, node }),
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('round' as const),
        block,
        amounts: fc.uniqueArray(fc.tuple(fc.constantFrom(1, 1, 2), wei), { selector: ([one]) => one, maxLength: 2 }),
      }),
    },
  )
  .map((one) => (one.kind === 'round' ? { ...one, amounts: new Map(one.amounts) } : one) as model.Happening)

/** In the order of the chain, without what cannot happen. The nodes begin in a block before, or in the first of these. */
function placed(some: model.Happening[], first: { to: string; cohort: number; isEarly: boolean }[]): model.Placed[] {
  const mints = first.map((one, n) => ({ ...one, kind: 'mint' as const, node: 1 + n, block: one.isEarly ? 4 : 5 }))
  const minted = new Set<number>()
  const expelled = new Set<number>()
  const all = [...mints, ...some].toSorted((a, b) => a.block - b.block)
  return all
    .filter((one) => {
      if (one.kind === 'round') return true
      if (one.kind === 'mint') return !minted.has(one.node) && minted.add(one.node)
      if (one.kind === 'expulsion')
        return minted.has(one.node) && !expelled.has(one.node) && Boolean(expelled.add(one.node))
      return minted.has(one.node)
    })
    .map((one, n) => ({ ...one, place: 1 + n }))
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
/** Blocks of two hours, of which the ledger has the price of one. */
const timeOf = (number: number) => 3_600 * (number < 6 ? 100 : 101) + number
const USD = '2000.5'
const turnsOf = (all: model.Placed[], cohort: number, upTo: number) =>
  all.filter((one) => one.kind === 'round' && one.place < upTo && one.amounts.has(cohort))
const sum = (all: bigint[]) => all.reduce((a, b) => a + b, 0n)
const amountOf = (one: model.Placed, cohort: number) => (one.kind === 'round' ? (one.amounts.get(cohort) ?? 0n) : 0n)

function nodeRows(all: model.Placed[]): Rows {
  const out = all.filter((one) => one.kind === 'expulsion')
  const withdrawn = (id: number) =>
    sum(all.flatMap((one) => (one.kind === 'withdrawal' && one.node === id && !one.isFailed ? [one.wei] : [])))
  const minted = all.filter((one) => one.kind === 'mint')
  return {
    nodes: minted.map(({ node: id, cohort, place, block: number }) => {
      const before = turnsOf(all, cohort, place)
      return {
        ...{ node_id: id, owner: model.holderOf(all, id), cohort: out.some((one) => one.node === id) ? null : cohort },
        ...{ ref: word(id), payment_id: null, turns_at_mint: before.length, withdrawn_wei: withdrawn(id) },
        ...{ per_node_at_mint_wei: sum(before.map((one) => amountOf(one, cohort))), mint_tx_hash: word(100 + place) },
        ...{ minted_at: at(timeOf(number)), ...inBlock(number) },
      }
    }),
    expulsions: out.map(({ node: id, place, block: number }) => {
      const { cohort = 0, place: from = 0 } = minted.find((one) => one.node === id) ?? {}
      const turns = turnsOf(all, cohort, place)
      const since = turns.filter((one) => one.place > from)
      return {
        ...{ node_id: id, cohort, credited_wei: sum(since.map((one) => amountOf(one, cohort))), ...inBlock(number) },
        ...{ turn_count: turns.length, expelled_at: at(timeOf(number)), tx_hash: word(100 + place) },
      }
    }),
    node_transfers: all.flatMap((one): Row[] => {
      if (one.kind !== 'mint' && one.kind !== 'transfer') return []
      const from = one.kind === 'mint' ? account(0) : account(99)
      return [
        {
          ...{ node_id: one.node, from_address: from, to_address: one.to, log_index: one.place },
          ...{ tx_hash: word(100 + one.place), ...inBlock(one.block) },
        },
      ]
    }),
  }
}

function rowsOf(all: model.Placed[]): Rows {
  const rounds = all.filter((one) => one.kind === 'round')
  const last = all.length + 1
  return {
    ...nodeRows(all),
    cursors: [{ name: 'follow', ...inBlock(HEAD.number), block_time: HEAD.time }],
    price_history: [{ hour: at(3_600 * 100), usd: Number(USD), quoted_at: at(3_600 * 100) }],
    cohorts: [1, 2].map((cohort) => {
      const turns = turnsOf(all, cohort, last)
      const perNode = sum(turns.map((one) => amountOf(one, cohort)))
      const counted = { per_node_wei: perNode, turn_count: turns.length }
      return { cohort, tier_no: 1, interval_sec: 60, next_due: 9_000, ...counted, ...inBlock(1) }
    }),
    rounds: rounds.map(({ place, block: number }) => ({
      ...{ round: place, mode: 'treasury', total_wei: 0n, node_count: 1, tx_hash: word(100 + place) },
      ...{ created_at: at(timeOf(number)), ...inBlock(number) },
    })),
    turns: rounds.flatMap(({ place, amounts }) =>
      [...amounts].map(([cohort, amount]) => ({
        ...{ round: place, cohort, turn_no: 1 + turnsOf(all, cohort, place).length, due: 1_000 + place, turns: 1 },
        ...{ amount_wei: amount, node_count: 1, tier_id: 'basic', proof: 'agreed' },
      })),
    ),
    withdrawals: all.flatMap((one): Row[] => {
      if (one.kind !== 'withdrawal') return []
      return [
        {
          ...{ id: one.place, node_id: one.node, amount_wei: one.wei, to_address: one.to },
          ...{ withdrawn_total_wei: one.isFailed ? null : one.wei, log_index: one.isFailed ? null : one.place },
          ...{ status: one.isFailed ? 'failed' : 'sent', tx_hash: word(100 + one.place) },
          ...{ created_at: at(timeOf(one.block)), ...inBlock(one.block) },
        },
      ]
    }),
  }
}

/** A form's rows by the names of its columns. */
async function read(sql: Sql, form: ExportForm, blocks: Blocks | null): Promise<Record<string, string | null>[]> {
  const name = Math.random().toString(36).slice(2)
  const next = await openRows(sql, name, form, blocks)
  const found: Record<string, string | null>[] = []
  for (let rows = await next(); rows.length > 0; rows = await next())
    for (const row of rows) found.push(Object.fromEntries(form.columns.map((column, n) => [column, row[n] ?? null])))
  return found
}
const within = (number: number, blocks: Blocks | null) =>
  blocks === null || (number > blocks.after && number <= blocks.upTo)
const shown = (number: number) => at(timeOf(number)).replace('.000Z', 'Z')
const secondsOf = (time: string | null | undefined) => time?.replace('.000Z', 'Z')

/** An amount in ether, and in dollars to the cent. */
function pricedOf(amount: bigint, number: number) {
  const digits = String(amount).padStart(19, '0')
  const ether = `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, '')
  if (number >= 6) return { amountEther: ether, usdPerEther: null, amountUsd: null }
  const cents = (amount * 20_005n * 100n + 5n * 10n ** 18n) / (10n * 10n ** 18n)
  const usd = String(cents).padStart(3, '0')
  return { amountEther: ether, usdPerEther: USD, amountUsd: `${usd.slice(0, -2)}.${usd.slice(-2)}` }
}

async function compareFiles(sql: Sql, all: model.Placed[], blocks: Blocks | null): Promise<void> {
  for (const owner of OWNERS) {
    const file = model.fileOf(all, owner).filter((one) => within(one.block, blocks))
    const rows = (await read(sql, ownerForm(owner as never), blocks)).map((row) => ({ ...row, at: secondsOf(row.at) }))
    const expected = file.map((one) => ({
      ...{ kind: one.kind, at: shown(one.block), nodeId: String(one.node), amountWei: String(one.wei) },
      ...{ ...pricedOf(one.wei, one.block), distributionId: one.kind === 'credit' ? String(one.place) : null },
      ...{ toAddress: one.to, txHash: word(100 + one.place), blockNumber: String(one.block) },
    }))
    assert.deepEqual(rows, expected, `file of ${owner}`)
  }
  const inOrder = (row: Record<string, unknown>) => `${row.distributionId} ${row.cohort} ${row.nodeId}`.padStart(20)
  const credits = await read(sql, EXPORT_FORMS.credits, blocks)
  const credited = model.movementsOf(all).filter((one) => one.kind === 'credit' && within(one.block, blocks))
  assert.deepEqual(
    credits.map(({ cohort, ...row }) => ({ ...row, createdAt: secondsOf(row.createdAt) })).toSorted(byText(inOrder)),
    credited
      .map((one) => ({
        ...{ distributionId: String(one.place), nodeId: String(one.node), owner: model.holderOf(all, one.node) },
        ...{ tierId: 'basic', amountWei: String(one.wei), txHash: word(100 + one.place), assurance: 'agreed' },
        ...{ blockNumber: String(one.block), createdAt: shown(one.block) },
        dueAt: new Date(1_000 * (1_000 + one.place)).toISOString(),
      }))
      .toSorted(byText(inOrder)),
  )
}
const byText = (of: (row: Record<string, unknown>) => string) => (a: object, b: object) =>
  of(a as never) < of(b as never) ? -1 : 1

async function compareNodes(sql: Sql, all: model.Placed[], blocks: Blocks | null): Promise<void> {
  const nodes = await read(sql, EXPORT_FORMS.nodes, blocks)
  const minted = all.filter((one) => one.kind === 'mint').toSorted((a, b) => a.node - b.node)
  const of = (kind: string, id: number) =>
    model.movementsOf(all).flatMap((one) => (one.kind === kind && one.node === id ? [one.wei] : []))
  assert.deepEqual(
    nodes.map(({ nodeId, owner, cohort, creditedWei, withdrawnWei, balanceWei, mintTxHash, blockNumber }) => {
      return { nodeId, owner, cohort, creditedWei, withdrawnWei, balanceWei, mintTxHash, blockNumber }
    }),
    minted
      .filter((one) => within(one.block, blocks))
      .map((one) => {
        const [credited, withdrawn] = [sum(of('credit', one.node)), sum(of('withdrawal', one.node))]
        const isOut = all.some((other) => other.kind === 'expulsion' && other.node === one.node)
        return {
          ...{ nodeId: String(one.node), owner: model.holderOf(all, one.node), cohort: isOut ? '0' : `${one.cohort}` },
          ...{ creditedWei: String(credited), withdrawnWei: String(withdrawn) },
          ...{ balanceWei: String(credited - withdrawn), mintTxHash: word(100 + one.place) },
          blockNumber: String(one.block),
        }
      }),
  )
  const withdrawals = await read(sql, EXPORT_FORMS.withdrawals, blocks)
  assert.deepEqual(
    withdrawals.map(({ id, nodeId, status, amountWei, toAddress }) => [id, nodeId, status, amountWei, toAddress]),
    all.flatMap((one) => {
      if (one.kind !== 'withdrawal' || !within(one.block, blocks)) return []
      const status = one.isFailed ? 'failed' : 'sent'
      return [[String(one.place), String(one.node), status, String(one.wei), one.to]]
    }),
  )
}

const HEAD = { number: 7, hash: word(7), time: timeOf(7) }

/** Whole files, of which two may be under way. A period needs a followed block. */
async function compareWhole(sql: Sql, blocks: Blocks | null, isFollowed: boolean): Promise<void> {
  if (!isFollowed) await sql`DELETE FROM cursors`
  const chain = { block: async (number: number) => ({ number, hash: word(number), time: timeOf(number) }) }
  const deps = { readPool: snapshotsIn(sql), chain, rules: { startBlock: 1 } }
  const range = blocks && { from: String(blocks.after + 1), to: String(blocks.upTo) }
  const ask = (kind: string) => {
    const route = EXPORTS[EXPORT_KINDS.indexOf(kind as never)]
    if (kind === 'credits' && route) return route(deps as never, { ...range } as never)
    const address = kind === 'owner' ? { address: OWNERS[0] } : {}
    return exportLedger(deps as never, { kind, ...address, ...range } as never)
  }
  const wholes = async (kinds: readonly string[]) => {
    const files = await Promise.all(kinds.map(ask))
    return await Promise.all(
      files.map(async (file) => {
        if (isOperatorRefusal(file)) return file.because
        return { text: await text(file.stream), name: file.filename }
      }),
    )
  }
  const expected = (kind: string, form: ExportForm, rows: Record<string, string | null>[]) => {
    if (blocks !== null && !isFollowed) return 'unavailable'
    const head = isFollowed ? HEAD : null
    const name = `node-ledger-${kind}-${head?.number ?? 0}.csv`
    return { text: model.fileText(kind, form.columns, rows, head), name }
  }
  const found = async (kind: string, form: ExportForm) => expected(kind, form, await read(sql, form, blocks))
  const nodes = await found('nodes', EXPORT_FORMS.nodes)
  const withdrawals = await found('withdrawals', EXPORT_FORMS.withdrawals)
  assert.deepEqual(await wholes(['nodes', 'withdrawals', 'credits']), [nodes, withdrawals, 'notYet'])
  const credits = await found('credits', EXPORT_FORMS.credits)
  const owners = await found('owner', ownerForm(OWNERS[0] as never))
  assert.deepEqual(await wholes(['credits', 'owner']), [credits, owners])
}

const period = fc.constantFrom(null, null, { after: 4, upTo: 5 }, { after: 5, upTo: 7 }, { after: 5, upTo: 6 })

test('an owner’s file has what was theirs at the time, and exports have every row once', async () => {
  const first = fc.array(fc.record({ to, cohort: fc.constantFrom(1, 1, 2), isEarly: fc.boolean() }), { maxLength: 2 })
  const compare = async (some: model.Happening[], begun: never, blocks: Blocks | null, isFollowed: boolean) => {
    const all = placed(some, begun)
    await tables.within(rowsOf(all), async (sql) => {
      await compareFiles(sql, all, blocks)
      await compareNodes(sql, all, blocks)
      await compareWhole(sql, blocks, isFollowed)
    })
  }
  const some = fc.array(happening, { minLength: 2, maxLength: 12 })
  await fc.assert(fc.asyncProperty(some, first as never, period, fc.constantFrom(true, true, false), compare), {
    numRuns: cases(50),
  })
})

/** The columns of a table that a file shows, by the file's names, and the order of its rows. */
const SHOWN: Record<string, { table: string; key: string[]; columns: Record<string, string>; leavesOut?: string }> = {
  payments: {
    ...{ table: 'payments', key: ['id'] },
    columns: { ref: 'ref', txHash: 'tx_hash', from: 'from_address', valueWei: 'value_wei', state: 'state', id: 'id' },
  },
  refunds: {
    ...{ table: 'refunds', key: ['block_number', 'payment_ref'], leavesOut: 'commission_of' },
    columns: { paymentRef: 'payment_ref', refundTxHash: 'tx_hash', from: 'from_address', to: 'to_address' },
  },
  transactions: {
    ...{ table: 'outbox', key: ['nonce'] },
    columns: { sender: 'sender', nonce: 'nonce', kind: 'kind', state: 'state', to: 'to_address', feeWei: 'fee_wei' },
  },
  outflows: {
    ...{ table: 'wallet_outflows', key: ['block_number', 'ref'] },
    columns: { ref: 'ref', txHash: 'tx_hash', to: 'to_address', valueWei: 'value_wei', feeWei: 'fee_wei' },
  },
}

test('a table of the books has each of its rows of the period once, in its order', async () => {
  const compare = async (events: never, blocks: { after: number; upTo: number } | null) => {
    const books = new Books()
    for (const one of events as Parameters<Books['enter']>[0][]) books.enter(one)
    const identity = {
      chain_id: 1,
      genesis_hash: 'none',
      factory: ADDRESSES.factory,
      start_block: 0,
      started_at: '2026-01-01T00:00:00Z',
    }
    await tables.within({ ...books.rows, ledger_state: [identity] }, async (sql) => {
      for (const [kind, { table, key, columns, leavesOut }] of Object.entries(SHOWN)) {
        const rows = (books.rows[table] ?? []).filter((row) => {
          if (leavesOut !== undefined && row[leavesOut] !== null) return false
          return row.block_number !== null && within(Number(row.block_number), blocks)
        })
        const cell = (value: unknown) => (value === null || value === undefined ? null : String(value))
        const sorted = rows.toSorted((a, b) => {
          for (const one of key) if (a[one] !== b[one]) return (a[one] as never) < (b[one] as never) ? -1 : 1
          return 0
        })
        const names = { ...columns, blockNumber: 'block_number' }
        const expected = sorted.map((row) =>
          Object.fromEntries(Object.entries(names).map(([name, column]) => [name, cell(row[column])])),
        )
        const found = await read(sql, EXPORT_FORMS[kind as keyof typeof EXPORT_FORMS], blocks)
        const kept = found.map((row) => Object.fromEntries(Object.keys(names).map((name) => [name, row[name] ?? null])))
        assert.deepEqual(kept, expected, kind)
      }
    })
  }
  const blocks = fc.constantFrom(null, { after: 4, upTo: 5 }, { after: 5, upTo: 9 }, { after: 3, upTo: 4 })
  await fc.assert(fc.asyncProperty(histories as never, blocks, compare), { numRuns: cases(30) })
})
