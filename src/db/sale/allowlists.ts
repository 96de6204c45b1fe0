// The operator's allowlists: rows are added, never changed, and a list can be published. A wallet's allocation is found by index, and its proof needs only a few parts of the
// tree, so an answer costs as little for a million rows as for ten.

import type { ListUse } from '../../domain/judgement.ts'
import { NODE_BYTES, nodeCount, proofPlaces } from '../../domain/payers/allowlists.ts'
import type { TierVersion } from '../../domain/tiers.ts'
import type { Address, Hash } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

export const PAGE_NODES = 1_024

/** An allowlist without its rows. */
export interface Allowlist {
  root: Hash
  label: string
  entries: number
  /** The sum of the allocations. */
  allocated: number
  enteredAt: string
  enteredBy: string
  /** True if anyone may read all of it. */
  published: boolean
}

/** All lists, newest first. There are few. */
export async function readAllowlists(sql: Sql): Promise<Allowlist[]> {
  return await sql<Allowlist[]>`
    SELECT root, label, entries, allocated, iso(entered_at) AS "enteredAt", entered_by AS "enteredBy", published FROM allowlists ORDER BY id DESC`
}

export async function hasAllowlist(sql: Sql, root: Hash): Promise<boolean> {
  const [row] = await sql<{ there: boolean }[]>`SELECT EXISTS (SELECT FROM allowlists WHERE root = ${root}) AS there`
  return row?.there ?? false
}

/** Enters a list; its parts are added afterwards. @returns its number; null if the list is already there. */
export async function insertAllowlist(
  sql: Sql,
  { root, label, entries, allocated, enteredBy }: Omit<Allowlist, 'enteredAt' | 'published'>,
): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    INSERT INTO allowlists (root, label, entries, allocated, entered_by) VALUES (${root}, ${label}, ${entries}, ${allocated}, ${enteredBy})
    ON CONFLICT (root) DO NOTHING RETURNING id`
  return row?.id ?? null
}

/** Lets anyone read all of a list, for good. @returns false if it was published before. */
export async function publishAllowlist(sql: Sql, root: Hash): Promise<boolean> {
  return (await sql`UPDATE allowlists SET published = true WHERE root = ${root} AND NOT published`).count > 0
}

/** How many wallets a page of a published list has at most: an answer of about 150 kB. */
const PUBLISHED_PAGE = 2_000

/** A page of a published list: the wallets behind an address, in order of address. Null if there is no such list, or if it is not published. */
export async function readPublished(
  sql: Sql,
  root: Hash,
  after: Address,
): Promise<{ root: Hash; total: number; entries: object[] } | null> {
  const [page] = await sql<{ root: Hash; total: number; entries: object[] }[]>`
    SELECT root, entries AS total, (SELECT coalesce(json_agg(e), '[]') FROM (
        SELECT address, allocation FROM allowlist_entries WHERE list = l.id AND address > ${after}
        ORDER BY address LIMIT ${sql.unsafe(String(PUBLISHED_PAGE))}) e) AS entries
    FROM allowlists l WHERE root = ${root} AND published`
  return page ?? null
}

/** The largest allocation of a list; 0 if there is no such list. Reads all its rows. */
export async function readLargestAllocation(sql: Sql, root: Hash): Promise<number> {
  const [row] = await sql<{ largest: number }[]>`
    SELECT coalesce(max(allocation), 0) AS largest FROM allowlist_entries WHERE list = (SELECT id FROM allowlists WHERE root = ${root})`
  return row?.largest ?? 0
}

/** Rows of a list, and some of its tree's nodes: whole pages from `firstPage` on, except that the very last page may be short. */
export interface AllowlistPart {
  addresses: readonly Address[]
  allocations: readonly number[]
  leaves: readonly number[]
  firstPage: number
  nodes: Uint8Array
}

export async function insertAllowlistPart(
  sql: Sql,
  list: number,
  { addresses, allocations, leaves, firstPage, nodes }: AllowlistPart,
): Promise<void> {
  const bytes = PAGE_NODES * NODE_BYTES
  await sql`
    INSERT INTO allowlist_entries (list, address, allocation, leaf)
    SELECT ${list}::int, * FROM unnest(${[...addresses]}::text[], ${[...allocations]}::int[], ${[...leaves]}::int[])`
  await sql`
    INSERT INTO allowlist_nodes (list, page, nodes)
    SELECT ${list}::int, ${firstPage}::int + n, substr(b.of, n * ${bytes}::int + 1, ${bytes}::int)
    FROM (SELECT ${Buffer.from(nodes)}::bytea) AS b(of), generate_series(0, ${Math.ceil(nodes.length / bytes) - 1}::int) n`
}

/** The allocations of wallets on lists, keyed by `root wallet`. Leaves out wallets that are not listed. */
export async function readAllocations(
  sql: Sql,
  roots: readonly Hash[],
  wallets: readonly Address[],
): Promise<Map<string, number>> {
  if (roots.length === 0 || wallets.length === 0) return new Map()
  const rows = await sql<{ root: Hash; address: Address; allocation: number }[]>`
    SELECT l.root, e.address, e.allocation FROM allowlists l JOIN allowlist_entries e ON e.list = l.id
    WHERE l.root = ANY(${[...roots]}::text[]) AND e.address = ANY(${[...wallets]}::text[])`
  return new Map(rows.map(({ root, address, allocation }) => [`${root} ${address}`, allocation]))
}

/**
 * Counts the payments that use up an allocation, keyed by `tier number wallet`. These are payments accepted, being minted or minted, whatever
 * happened to the nodes, and payments that a signed mint may still mint. Hold the wallet's lock while you count and use an allocation.
 */
export async function readUsed(
  sql: Sql,
  tierNos: readonly number[],
  wallets: readonly Address[],
): Promise<Map<string, number>> {
  if (tierNos.length === 0 || wallets.length === 0) return new Map()
  const rows = await sql<{ tierNo: number; wallet: Address; used: number }[]>`
    SELECT t.tier_no AS "tierNo", p.from_address AS wallet, count(*) AS used
    FROM payments p JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version
    WHERE p.from_address = ANY(${[...wallets]}::text[]) AND t.tier_no = ANY(${[...tierNos]}::int[]) AND p.state <> 'ignored'
      AND (p.state IN ('accepted', 'minting', 'minted') OR p.state = 'held' AND p.reason = 'refunding' AND p.outbox_id IS NOT NULL)
    GROUP BY 1, 2`
  return new Map(rows.map(({ tierNo, wallet, used }) => [`${tierNo} ${wallet}`, used]))
}

/**
 * Reads allocations and their use for all lists that these tiers ever named. It reads them all because a step of a ladder may open while we judge the
 * page.
 */
export async function readListUse(
  sql: Sql,
  versions: readonly TierVersion[],
  { tierNos, wallets }: { tierNos: readonly number[]; wallets: readonly Address[] },
): Promise<ListUse> {
  const versionsWithList = versions.filter(({ tierNo, allowlist }) => allowlist !== null && tierNos.includes(tierNo))
  const roots = versionsWithList.flatMap(({ allowlist }) => allowlist ?? [])
  const tierNumbers = [...new Set(versionsWithList.map(({ tierNo }) => tierNo))]
  return {
    allocations: await readAllocations(sql, [...new Set(roots)], wallets),
    used: await readUsed(sql, tierNumbers, wallets),
  }
}

/** A wallet's allocation on a list, with the proof. If the wallet is not on the list, the allocation is 0 and the proof null. */
export interface Allowlisted {
  allocation: number
  proof: Hash[] | null
}

/** A wallet's place on a list; null if there is no such list. */
export async function readAllowlisted(sql: Sql, root: Hash, address: Address): Promise<Allowlisted | null> {
  const [list] = await sql<{ id: number; entries: number; allocation: number | null; leaf: number | null }[]>`
    SELECT l.id, l.entries, e.allocation, e.leaf FROM allowlists l
      LEFT JOIN allowlist_entries e ON e.list = l.id AND e.address = ${address} WHERE l.root = ${root}`
  if (!list) return null
  const { id, allocation, leaf, entries } = list
  if (allocation === null || leaf === null || leaf >= nodeCount(entries)) return { allocation: 0, proof: null }
  const rows = await sql<{ node: Hash }[]>`
    SELECT '0x' || encode(substr(p.nodes, place % ${PAGE_NODES}::int * ${NODE_BYTES}::int + 1, ${NODE_BYTES}::int), 'hex') AS node
    FROM unnest(${proofPlaces(leaf)}::int[]) WITH ORDINALITY AS n(place, nth)
      JOIN allowlist_nodes p ON p.list = ${id} AND p.page = place / ${PAGE_NODES}::int ORDER BY nth`
  return { allocation, proof: rows.map(({ node }) => node) }
}
