// Ledgers that have followed some blocks, with what runs left on record, and their rows.
import fc from 'fast-check'
import { type Rows, word } from '../../db/direct-rows.ts'
import { FACTORY } from './chains.ts'
import type * as model from './follow.ts'

export const START = 5
export const often = <T>(usual: T, ...rare: T[]) =>
  fc.constantFrom<T>(...Array.from({ length: 4 + 5 * rare.length }, () => usual), ...rare)
export const drawnLedger = fc.record({
  oldest: fc.constantFrom(START, START, START + 1, START + 4),
  followed: fc.constantFrom(null, 0, 3, 9, 9, 9),
  isEmbedded: often(false, true),
  isOtherGenesis: often(false, true),
  finalizedBelow: fc.constantFrom(null, 0, 1, 2, 4, 20),
  halt: often<model.Ledger['halt']>('none', 'open', 'sealed'),
  mendingOver: fc.constantFrom(null, -1, 0, 1, 5),
  stuckAt: fc.constantFrom(null, 0, 0, 1),
  stuckRuns: fc.constantFrom(1, 2, 3),
})

/** The ledger after it has followed these blocks, and its rows. */
export function ledgerOf(given: typeof drawnLedger extends fc.Arbitrary<infer T> ? T : never, blocks: model.Block[]) {
  const last = given.followed === null ? null : given.oldest + given.followed
  const next = last === null ? START : last + 1
  const ledger: model.Ledger = {
    ...{ start: START, isEmbedded: given.isEmbedded, genesisHash: given.isOtherGenesis ? word(9) : word(1_000_000) },
    headers: last === null ? [] : blocks.slice(given.oldest, last + 1),
    finalized: given.finalizedBelow === null || last === null ? null : last - given.finalizedBelow,
    halt: given.halt,
    mendingTo: given.mendingOver === null ? null : next - 1 + given.mendingOver,
    stuck:
      given.stuckAt === null
        ? null
        : { block: next + given.stuckAt, rule: 'before', runs: given.stuckRuns, isOld: true },
    isTold: false,
    audit: [],
  }
  const { finalized, stuck, mendingTo, genesisHash } = ledger
  const trouble = (name: string, value: object) => ({ name, value: JSON.stringify(value) })
  const since = '2026-01-01T00:00:00Z'
  const rows: Rows = {
    cursors: ledger.headers
      .slice(-1)
      .map(({ number, hash, time }) => ({ name: 'follow', block_number: number, block_hash: hash, block_time: time })),
    blocks: ledger.headers.map(({ parentHash, ...one }) => ({ ...one, parent_hash: parentHash })),
    evidence_modes: [{ from_block: 0, mode: 'agreed', set_by: 'test' }],
    ledger_state: [
      { finalized_block: finalized, finalized_hash: finalized === null ? null : word(3), mending_to: mendingTo },
      { chain_id: 1, genesis_hash: given.isEmbedded ? 'embedded' : genesisHash, factory: FACTORY, start_block: START },
      { started_at: '2026-01-01' },
    ],
    troubles: [
      ...(stuck === null
        ? []
        : [
            trouble('stuck', {
              block: stuck.block,
              rule: stuck.rule,
              runs: stuck.runs,
              host: null,
              since,
              lasts: false,
            }),
          ]),
      ...(ledger.halt === 'none'
        ? []
        : [trouble('halted', { reason: 'tooDeep', since, detail: {}, looks: 1, sealed: ledger.halt === 'sealed' })]),
    ],
  }
  return { ledger, rows }
}

/** Nothing is on record. */
export const QUIET = {
  ...{ oldest: START, followed: 0, isEmbedded: false, isOtherGenesis: false, finalizedBelow: null },
  ...({ halt: 'none', mendingOver: null, stuckAt: null, stuckRuns: 1 } as const),
}
