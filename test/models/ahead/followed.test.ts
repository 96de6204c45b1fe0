// Planned changes in the ledger's tables: blocks that are followed, taken back and followed again put in force what the second reading says.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { rewindTierChanges } from '../../../src/db/sale/tiers.ts'
import { applyChanges, readTierTimes } from '../../../src/follower/tier-changes.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { type Block, follow, inOrder, type Ledger, type Plan, type Told, told, type Version } from './ahead.ts'
import { numberOf, placeOf, toPlan, toVersion } from './code.ts'
import { LISTS, type Walk, walks } from './walks.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

function rowOf({ opened: _opened, names, ...fields }: { opened: unknown; names?: readonly string[] }): Row {
  const row: Record<string, unknown> = { entered_by: 'test', names: names ? `{${names.join(',')}}` : null, live: false }
  for (const [name, value] of Object.entries(fields))
    row[name.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`)] = value
  return row as Row
}

/** The rest of a planned row: what its constraints let be, and no term that is in force. */
const REST = { opensAt: null, closesAt: null, supply: 99, label: 'Unread', allowlist: null }

function planRow(ledger: Ledger, plan: Plan): Row {
  const { changes } = plan
  const holdingWei = changes.holdingWei ?? (changes.holdingToken ? 5n : 0n)
  const holdingToken = holdingWei === 0n ? null : (changes.holdingToken ?? `0x${'cc'.repeat(20)}`)
  return rowOf({ ...toPlan(ledger, plan), ...REST, ...changes, holdingWei, holdingToken } as never)
}

/** Whether the tables can have a change: the ways in reject what a row alone shows to be wrong. */
function isStorable({ changes: { opensAt, closesAt, holdingWei, holdingToken } }: Plan): boolean {
  if (opensAt && closesAt && closesAt <= opensAt) return false
  return !(holdingWei === 0n && holdingToken) && !(holdingWei && holdingToken === null)
}

function rowsOf(ledger: Ledger): Rows {
  const live = new Map(inOrder(ledger.versions).map((one) => [one.tierId, one]))
  return {
    allowlists: LISTS.map((root) => ({ root, label: root, entries: 1, allocated: 1, entered_by: 'test' })),
    tiers: [
      ...ledger.versions.map((one) => ({
        ...rowOf(toVersion(ledger, one) as never),
        live: live.get(one.tierId) === one,
      })),
      ...ledger.plans.map((one) => planRow(ledger, one)),
    ],
    tier_openings: ledger.opened.map(({ tierId, opensAfter }) => {
      const { blockNumber, txIndex, innerIndex } = placeOf(tierId, opensAfter)
      return {
        tier_id: tierId,
        opens_after: opensAfter,
        from_block: blockNumber,
        tx_index: txIndex,
        inner_index: innerIndex,
      }
    }),
  }
}

const NUMBERS = ['opens_at', 'closes_at']

/** The first block, if it is one of those that are followed. Behind them it is an estimate. */
const begun = (block: number, followed: Block[]) => (block > (followed.at(-1)?.number ?? 0) ? 'later' : block)

/** What the tables say that is stored, and which of it is the latest of its tier. */
async function readForce(sql: Sql, blocks: Block[]): Promise<object[]> {
  const rows = await sql<Record<string, unknown>[]>`
    SELECT tier_id, version, live, from_block, label, price_wei::text, on_sale, supply, opens_after, opens_at, closes_at, max_per_wallet, allowlist,
           holding_wei::text, holding_token, payout_bps
      FROM tiers WHERE from_block IS NOT NULL ORDER BY tier_id, version`
  return rows.map((row) => {
    const numbers = NUMBERS.map((name) => [name, row[name] === null ? null : Number(row[name])])
    return { ...row, ...Object.fromEntries(numbers), from_block: begun(Number(row.from_block), blocks) }
  })
}

function inForceOf({ versions }: Ledger, blocks: Block[]): object[] {
  const live = new Map(inOrder(versions).map((one) => [one.tierId, one]))
  const all = versions.toSorted((a, b) => (a.tierId < b.tierId ? -1 : a.tierId > b.tierId ? 1 : a.version - b.version))
  return all.map((one) => {
    const { label, onSale, supply, holdingToken } = one.terms
    return {
      ...{ tier_id: one.tierId, version: one.version, live: live.get(one.tierId) === one },
      from_block: begun(Number(one.fromBlock), blocks),
      ...{ label, price_wei: String(one.terms.priceWei), on_sale: onSale, supply, opens_after: one.terms.opensAfter },
      ...{ opens_at: one.terms.opensAt, closes_at: one.terms.closesAt, max_per_wallet: one.terms.maxPerWallet },
      ...{
        allowlist: one.terms.allowlist,
        holding_wei: String(one.terms.holdingWei),
        holding_token: holdingToken,
        payout_bps: one.terms.payoutBps,
      },
    }
  })
}

/** Follows blocks behind one, all in one range. */
async function followRange(sql: Sql, [before, ...blocks]: Block[]): Promise<void> {
  if (before === undefined || blocks.length === 0) return
  const cursor = { ...before, hash: word(before.number) as never }
  const times = await readTierTimes({ pool: sql } as never, { blocks } as never, cursor)
  await applyChanges({ log: silentLog }, sql, times, cursor)
}

/** The ledger once blocks are followed. */
const followAll = (ledger: Ledger, blocks: Block[]): Ledger =>
  blocks.slice(1).reduce((one, block) => follow(one, [], block), ledger)

/** What is in force once blocks are followed. */
const forceOf = (ledger: Ledger, blocks: Block[]): object[] => inForceOf(followAll(ledger, blocks), blocks)

const asJson = (value: object): object =>
  JSON.parse(JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one)))
const termsOf = ({ tierId, graceSec, terms }: Version) => ({ tierId, tierNo: numberOf(tierId), graceSec, ...terms })

/** An entry of the audit log is what the second reading says, with any reason that a reading may give. */
function compareEntry(entry: AuditRow | undefined, ledger: Ledger, one: Told): void {
  const { detail, ...row } = entry ?? assert.fail(`nothing tells ${fc.stringify(one)}`)
  const { tierId } = one.action === 'tierChanged' ? one.after : one.plan
  assert.deepEqual(row, { actor: 'pass', action: one.action, subject: tierId, request_id: null })
  if (one.action === 'tierUnfit') compareUnfit(detail, ledger, one)
  else {
    const { version, fromBlock } = one.after
    const after = { ...termsOf(one.after), version, fromBlock }
    assert.deepEqual(detail, asJson({ before: termsOf(one.before), after }))
  }
}

function compareUnfit(detail: object, ledger: Ledger, { plan, reasons }: Told & { action: 'tierUnfit' }): void {
  const { why, ...rest } = detail as { why: object }
  const { version, fromTime, names } = toPlan(ledger, plan)
  assert.deepEqual(rest, { tierId: plan.tierId, version, fromTime, names })
  const said = fc.stringify({ kind: null, otherId: null, untilTime: null, ...why })
  const all = reasons.map((reason) => fc.stringify(reason))
  assert.ok(all.includes(said), `${said} is not ${all}`)
}

interface AuditRow {
  actor: string
  action: string
  subject: string
  detail: object
  request_id: string | null
}

/** Everything in the audit log, in its order. */
async function compareAudit(sql: Sql, all: [Ledger, Told][]): Promise<void> {
  const rows = await sql<AuditRow[]>`SELECT actor, action, subject, detail, request_id FROM audit ORDER BY id`
  for (const [n, [ledger, one]] of all.entries()) compareEntry(rows[n], ledger, one)
  assert.equal(rows.length, all.length)
}

/** Until the changes of a range are stored, no other session takes places of their tiers. */
async function compareLocks(sql: Sql, all: [Ledger, Told][]): Promise<void> {
  const held = await sql<{ no: number }[]>`
    SELECT objid::int AS no FROM pg_locks WHERE locktype = 'advisory' AND classid = 8 AND pid = pg_backend_pid() ORDER BY 1`
  const tierNos = all.map(([, one]) => numberOf(one.action === 'tierChanged' ? one.after.tierId : one.plan.tierId))
  assert.deepEqual(
    held.map(({ no }) => no),
    [...new Set(tierNos)].toSorted((a, b) => a - b),
  )
}

test('blocks followed, removed and followed again give what one range gives', async () => {
  const compare = async ({ entered, blocks, ledger }: Walk, fork: number, shift: number) => {
    const start: Ledger = { ...ledger, ...entered, plans: entered.plans.filter(isStorable) }
    const kept = blocks.slice(0, 1 + (fork % blocks.length))
    const other = [...kept, ...blocks.slice(kept.length).map(({ number, time }) => ({ number, time: time + shift }))]
    await tables.within(rowsOf(start), async (sql) => {
      await followRange(sql, other)
      assert.deepEqual(await readForce(sql, other), forceOf(start, other), 'followed')
      const first = told(start, other.slice(1)).map((one): [Ledger, Told] => [start, one])
      await compareAudit(sql, first)
      await compareLocks(sql, first)
      await rewindTierChanges(sql, kept.at(-1)?.number ?? 0)
      assert.deepEqual(await readForce(sql, kept), forceOf(start, kept), 'taken back')
      await followRange(sql, blocks.slice(kept.length - 1))
      assert.deepEqual(await readForce(sql, blocks), forceOf(start, blocks), 'followed again')
      const rest = followAll(start, kept)
      const again = told(rest, blocks.slice(kept.length)).map((one): [Ledger, Told] => [rest, one])
      await compareAudit(sql, [...first, ...again])
    })
  }
  const shift = fc.constantFrom(0, 1, 1, 120)
  await fc.assert(fc.asyncProperty(walks(), fc.nat(20), shift, compare), { numRuns: cases(150) })
})
