// The operator's pause switch. While it is on, no round is credited, but payments are still followed, judged and minted. Only the owner's wallet can
// pause the contract itself. Also the act that lets halted passes continue.
import { clearHalt, type HaltReason, readHalt } from '../../db/blocks/halts.ts'
import { readState, writeState } from '../../db/core/state.ts'
import { dropGuard, readGuard } from '../../db/sends/guard.ts'
import { refuseAct } from '../act.ts'
import { type Changing, defineAct } from '../define-act.ts'
import * as field from '../input.ts'

/** `changed` is false if the switch was already in that position. */
export interface PauseState {
  paused: boolean
  changed: boolean
}

const setPaused =
  (isPaused: boolean) =>
  async ({ sql, record }: Changing): Promise<PauseState> => {
    const before = await readState(sql, 'paused')
    const hasChanged = await writeState(sql, 'paused', isPaused)
    if (hasChanged) record({ action: isPaused ? 'paused' : 'unpaused', before, after: isPaused })
    return { paused: isPaused, changed: hasChanged }
  }

export const pause = defineAct({
  path: 'pause',
  scope: 'operate',
  command: 'pause',
  summary: 'pause rounds; the service still follows, judges and mints',
  details: 'A round that was already sent completes. The service pays missed turns later, one after the other.',
  examples: ['pause --reason "the treasury moves" --yes'],
  fields: { reason: field.REASON },
  asks: 'Stop crediting, until "node-ledger resume"?',
  otherwise: 'Crediting continues.',
  change: setPaused(true),
  preview: ({ changed }) =>
    changed ? 'No round is sent. Turns that fall due are paid after the pause.' : 'Crediting is paused already.',
  says: ({ changed }) =>
    changed ? 'Crediting is paused. The service still accepts payments and mints.' : 'Crediting was paused already.',
})

export const resume = defineAct({
  path: 'resume',
  scope: 'operate',
  summary: 'credit rounds again; turns that were missed are paid one after the other',
  fields: { reason: field.REASON },
  change: setPaused(false),
  preview: ({ changed }) =>
    changed
      ? 'Rounds are sent again. Turns that were missed are paid one after the other.'
      : 'Crediting is not paused.',
  says: ({ changed }) => (changed ? 'Crediting continues.' : 'Crediting was not paused.'),
})

/** What happens once a halt is cleared, by its reason. */
const AFTER_HALT: Readonly<Record<HaltReason, string>> = {
  otherChain: 'The passes continue if RPC_URL leads to the chain of this ledger again. If not, they halt again.',
  tooDeep:
    'Unless the provider was wrong, the passes will halt again, because a ledger cannot be rewound so far. Rebuild it with "node-ledger rebuild" and point DATABASE_URL at the new one.',
  mintedTwice:
    'Unless the provider was wrong, the passes will halt again. Rebuild the ledger with "node-ledger rebuild" and point DATABASE_URL at the new one.',
  unproven:
    'Unless the provider was wrong, or a newer version can prove such blocks, the passes will halt again. "node-ledger evidence set agreed" continues without proof.',
  pastFinalized: 'The passes then follow the current chain, and undo what is no longer on it.',
}

export const clearHaltByHand = defineAct({
  path: 'halt/clear',
  scope: 'operate',
  summary: 'let halted passes look at the chain again; they halt again if nothing has changed',
  fields: { dryRun: field.flag('only show what it would do'), reason: field.REASON },
  change: async ({ sql, actor }, { dryRun, reason: note }) => {
    const halt = dryRun ? await readHalt(sql) : await clearHalt(sql, actor.name, { requestId: actor.requestId, note })
    return halt === null ? refuseAct('conflict', 'The passes are not halted.') : { dryRun, cleared: halt }
  },
  says: ({ dryRun, cleared }) =>
    `${dryRun ? '' : 'Cleared: the next passes look at the chain again. '}${AFTER_HALT[cleared.reason]}`,
})

/** The next start may then run without the fork guard, if the contract sees other block hashes. */
export const dropForkGuard = defineAct({
  path: null,
  scope: 'operate',
  summary: 'run without the fork guard from the next start on',
  fields: { reason: field.REASON },
  asks: 'Turn the fork guard off?',
  otherwise: 'The fork guard stays on.',
  change: async ({ sql, record }) => {
    const before = await readGuard(sql)
    if (before !== 'used') return refuseAct('conflict', 'The ledger uses no fork guard.')
    await dropGuard(sql)
    record({ action: 'guardDropped', before, after: 'dropped' })
    return { guard: 'dropped' }
  },
  preview: () =>
    'From the next start on, mints and rounds carry no fork guard if the contract sees other block hashes than the provider: they then wait for final blocks. Compare the contract’s hashOf with an explorer first.',
  says: 'Restart the service: it checks the chain again.',
})
