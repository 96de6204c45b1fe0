// What a rebuild copies: src/mending/rebuild/copy.ts leaves a new ledger, in which an earlier try had copied an older state, with what the second reading names; and again,
// if it is repeated.
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin } from '../../../src/db/core/sql.ts'
import { copyTerms } from '../../../src/mending/rebuild/copy.ts'
import { account, type Row, type Rows, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './copied.ts'
import { BLOCKS, continues, type Ledgers, openLedgers, type Pair, payment, verdictOf } from './copies.ts'

interface Column {
  table: string
  name: string
  type: string
}
let ledgers: Ledgers
let columns: Map<string, Column[]>
before(async () => {
  ledgers = await openLedgers()
  const all = await ledgers.within(
    {},
    (sql) => sql<Column[]>`
      SELECT c.relname AS table, attname AS name, format_type(atttypid, NULL) AS type
      FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY 1, attnum`,
  )
  columns = Map.groupBy(all, ({ table }) => table)
})
after(() => ledgers.close())

/** A value for this column of row `n`, another one in each variant. */
function valueFor({ table, name, type }: Column, n: number, variant: number): Row[string] {
  const special = SPECIAL[`${table}.${name}`] ?? SPECIAL[name]
  if (special) return special(n, variant)
  const k = 10 * n + (model.TERMS[table]?.includes(name) ? 0 : variant)
  if (type === 'boolean') return variant === 1
  if (type === 'hash') return word(k)
  if (type === 'address') return account(k)
  if (type === 'bytea') return `\\x${k.toString(16).padStart(64, '0')}`
  // More than a number of JavaScript holds.
  if (type === 'jsonb') return `{"wei": 1234567890123456789${k}}`
  if (type === 'wei') return 10n ** 30n + BigInt(k)
  if (type === 'text[]') return `{x${k}}`
  if (type.startsWith('timestamp')) return `2026-01-01T00:00:${k}.123456Z`
  return type === 'text' ? `x${k}` : k
}

/** What the schema asks of a column. */
const SPECIAL: Record<string, (n: number, variant: number) => Row[string]> = {
  version: (n) => n,
  opens_at: (n, variant) => 10 * n + variant,
  closes_at: (n, variant) => 1_000 + 10 * n + variant,
  min_wei: (n, variant) => 10 * n + variant,
  scopes: (_, variant) => (variant === 0 ? '{read}' : '{decide,read}'),
  'tiers.tier_id': () => 'x',
  'tiers.allowlist': () => null,
  'referral_codes.code': () => 'x',
  'credit_terms.interval_sec': (n, variant) => 7 * (10 * n + variant),
  'credit_terms.slot_sec': (n, variant) => 10 * n + variant,
  'credit_terms.id': (n) => n,
  // One residue has one rest.
  'attributions.residue_ref': () => word(1),
  'attributions.is_rest': () => true,
  'attributions.proof': (_, variant) => (variant === 0 ? 'trace' : 'stated'),
  'contract_wallet_modes.mode': (_, variant) => (variant === 0 ? 'hold' : 'all'),
  'passkeys.id': (n) => n,
  'admin_keys.id': (n) => n,
  'admin_keys.passkey_id': (_, variant) => (variant === 0 ? 1 : null),
  'passkey_invitations.id': (n) => n,
  'passkey_invitations.by_key': (_, variant) => (variant === 0 ? null : 1),
  'passkey_invitations.by_passkey': (_, variant) => (variant === 0 ? 1 : null),
  'passkey_invitations.passkey_id': () => null,
  'price_history.hour': (n) => `2026-01-01T0${n}:00:00Z`,
  'price_history.usd': (n, variant) => 2345.678 + n + variant,
}

const rowOf = (table: string, n: number, variant: number): Row =>
  Object.fromEntries((columns.get(table) ?? []).map((column) => [column.name, valueFor(column, n, variant)]))

/** What became of a row since an earlier try copied the old ledger's. `added`: there was none then. */
const life = fc.constantFrom('same', 'added', 'changed', 'gone')
type Life = typeof life extends fc.Arbitrary<infer T> ? T : never
/** Tables whose rows are never changed, or never removed. */
const LASTING: Record<string, Life[]> = {
  ...{
    referral_codes: ['same', 'added'],
    price_history: ['same', 'added'],
    proven_wallets: ['same', 'added', 'changed'],
  },
  ...{ passkeys: ['same', 'changed'], admin_keys: ['same', 'changed'], passkey_invitations: ['same', 'changed'] },
}
const lives = fc.record(
  Object.fromEntries(
    Object.keys(model.TERMS)
      .filter((name) => name !== 'tiers')
      .map((name) => [
        name,
        fc.array(LASTING[name] ? fc.constantFrom(...LASTING[name]) : life, { minLength: 1, maxLength: 2 }),
      ]),
  ),
)
const inOld = (one: Life) => one !== 'gone'
const inOwn = (one: Life) => one !== 'added'

/** Versions of the one tier, or changes of it: what the old ledger has, and what the new one. The rebuild may have begun one by older terms. */
const tier = fc.constantFrom<[old: string, own: string]>(
  ...([
    ['begun', 'begun'],
    ['begun', 'otherwise'],
    ['begun', 'planned'],
    ['begun', 'none'],
  ] as [string, string][]),
  ...([
    ['planned', 'planned'],
    ['planned', 'none'],
    ['cancelled', 'planned'],
    ['cancelled', 'begun'],
  ] as [string, string][]),
)
function tiersOf(statuses: readonly string[]): Row[] {
  const live = statuses.findLastIndex((status) => status === 'begun' || status === 'otherwise')
  return statuses
    .flatMap((status, index): Row[] => {
      if (status === 'none') return []
      const isBegun = status === 'begun' || status === 'otherwise'
      const row = rowOf('tiers', 1 + index, status === 'otherwise' ? 1 : 0)
      return [
        { ...row, live: index === live, cancelled: status === 'cancelled', ...(!isBegun && { from_block: null }) },
      ]
    })
    .toReversed()
}

const drawnTerms = fc.record({
  lives,
  tiers: fc.array(tier, { minLength: 1, maxLength: 3 }),
  modes: fc.array(life, { maxLength: 2 }),
  ownMode: fc.constantFrom(0, 0, 10),
  residues: fc.uniqueArray(
    fc.record({
      ref: fc.integer({ min: 1, max: 4 }),
      isResidue: fc.constantFrom(true, true, true, false),
      by: fc.constantFrom('ada', 'ada', 'pass'),
      isWithdrawn: fc.constantFrom(false, false, true),
    }),
    { maxLength: 3, selector: ({ ref }) => ref },
  ),
  traces: fc.uniqueArray(fc.record({ ref: fc.integer({ min: 1, max: 4 }), kept: fc.boolean() }), {
    ...{ maxLength: 3, selector: ({ ref }: { ref: number }) => ref },
  }),
  paused: fc.tuple(fc.boolean(), fc.boolean()),
  secondWei: fc.tuple(fc.constantFrom(null, 5, 6), fc.constantFrom(null, 5, 6)),
})

function termsOf(given: typeof drawnTerms extends fc.Arbitrary<infer T> ? T : never): Pair {
  const side = (isOld: boolean): Rows => {
    const has = isOld ? inOld : inOwn
    const tables = Object.entries(given.lives).map(([name, all]) => {
      const rows = all.flatMap((one, index) =>
        has(one) ? [rowOf(name, 1 + index, one === 'changed' && isOld ? 1 : 0)] : [],
      )
      return [name, name === 'attributions' ? rows.slice(0, 1) : rows.toReversed()] as const
    })
    const modes = given.modes.flatMap((one, index) =>
      has(one)
        ? [{ from_block: 10 + index, mode: one === 'changed' && isOld ? 'proven' : 'agreed', set_by: 'ada' }]
        : [],
    )
    return {
      ...Object.fromEntries(tables),
      tiers: tiersOf(given.tiers.map(([old, own]) => (isOld ? old : own))),
      ledger_state: [{ paused: given.paused[isOld ? 0 : 1], second_person_wei: given.secondWei[isOld ? 0 : 1] }],
      blocks: BLOCKS(isOld ? 7 : 8),
      evidence_modes: isOld ? [{ from_block: 0, mode: 'proven', set_by: 'pass' }, ...modes] : modes,
    }
  }
  const own = side(false)
  // A person's row cannot vanish: the next one only comes after it.
  const gone = given.modes.map((one, index) => (one === 'gone' ? 10 + index : -1))
  const ownModes = (own.evidence_modes ?? []).filter(({ from_block }) => !gone.includes(Number(from_block)))
  const isFree = ownModes.every(({ from_block }) => from_block !== given.ownMode)
  const begun = (own.tiers ?? []).find(({ from_block }) => from_block !== null)
  return {
    old: {
      ...side(true),
      payments: given.residues.map(({ ref, isResidue }) =>
        payment(ref, isResidue ? { tx_hash: null, from_address: null, state: 'held', reason: 'unattributed' } : {}),
      ),
      payment_verdicts: given.residues.map(({ ref, by, isWithdrawn }) => verdictOf(ref, ref, by, isWithdrawn)),
      residue_traces: [
        { ref: word(9), tries: 7, kept: true },
        { ref: word(4), tries: 3, kept: false },
      ],
    },
    own: {
      ...own,
      evidence_modes: [...ownModes, ...(isFree ? [{ from_block: given.ownMode, mode: 'agreed', set_by: 'pass' }] : [])],
      payments: begun ? [payment(5, { state: 'accepted', tier_id: 'x', tier_version: begun.version ?? null })] : [],
      payment_verdicts: [verdictOf(9, 5, 'pass', false)],
      residue_traces: given.traces.map(({ ref, kept }) => ({ ref: word(ref), tries: 2, kept })),
    },
  }
}

test('a copy of the terms leaves what the old ledger has now, whatever an earlier one took', async () => {
  const numbered = ['credit_terms', 'passkeys', 'admin_keys', 'passkey_invitations']
  await fc.assert(
    fc.asyncProperty(drawnTerms, (given) =>
      ledgers.compare(
        termsOf(given),
        (old, own) => copyTerms(old, poolWithin(own)),
        model.terms,
        (own) => continues(own, numbered),
      ),
    ),
    { numRuns: cases(15) },
  )
})
