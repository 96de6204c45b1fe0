// The commands `node-ledger owner …`: previews of the transactions that the contract's owner may sign. They print, and never send.
import type { Fields, OperatorRefusal } from '../../operator/act.ts'
import {
  type OwnerDeps,
  type OwnerPreview,
  previewBounds,
  previewDistributor,
  previewExpel,
  previewMinter,
  previewPause,
  previewRefill,
  showPowers,
} from '../../operator/owner.ts'
import { withOwnerPreviews } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { inEther } from '../ether.ts'
import { accepted, fieldsOf } from '../operator.ts'
import { fields } from '../output.ts'

/** `owner show`. */
export async function show({ io, out }: Call): Promise<ExitCode> {
  return await withOwnerPreviews(io, async (deps) => {
    const powers = await showPowers(deps)
    const { blockNumber, owner, pendingOwner, minter, budget, distributor, bounds, swapsAllowanceWei, paused } = powers
    await out.result(powers, () =>
      fields([
        ['factory', deps.governance.factory],
        ['as of', `block ${blockNumber}`],
        ['owner', owner],
        ['offered to', BigInt(pendingOwner) === 0n ? null : pendingOwner],
        ['minter', `${minter}, may mint ${budget.nodes} nodes and open ${budget.cohorts} cohorts`],
        [
          'distributor',
          `${distributor}, may credit a node ${inEther(bounds.floorWei)} to ${inEther(bounds.ceilingWei)} ether for a turn`,
        ],
        ['from surplus', `${inEther(swapsAllowanceWei)} ether`],
        ['paused', paused ? 'yes: nothing is opened, minted or credited' : 'no'],
      ]),
    )
    return EXIT.done
  })
}

type Preview = (deps: OwnerDeps, input: Fields) => Promise<OwnerPreview | OperatorRefusal>

const previewing =
  (preview: Preview, given: Fields = {}) =>
  (call: Call): Promise<ExitCode> =>
    withOwnerPreviews(call.io, async (deps) => {
      const found = accepted(await preview(deps, { ...fieldsOf(call), ...given }), call)
      await call.out.result(found, () => describe(found))
      if (found.refusal !== null) call.out.say(`The contract would refuse it now: ${found.refusal}.`)
      return EXIT.done
    })

/** `owner refill-minter`. */
export const refillMinter = previewing(previewRefill)
/** `owner set-minter`. */
export const setMinter = previewing(previewMinter)
/** `owner set-distributor`. */
export const setDistributor = previewing(previewDistributor)
/** `owner set-bounds`. */
export const setBounds = previewing(previewBounds)
/** `owner expel`. */
export const expel = previewing(previewExpel)
/** `owner pause`. */
export const pause = previewing(previewPause, { paused: true })
/** `owner unpause`. */
export const unpause = previewing(previewPause, { paused: false })

function describe({ owner, transaction, before, after, notes, refusal }: OwnerPreview): string {
  const changes = Object.keys({ ...before, ...after }).map(
    (name) => [name, `${before[name] ?? '-'} -> ${after[name] ?? '-'}`] as const,
  )
  return [
    fields([
      ['signed by', owner],
      ['to', transaction.to],
      ['value', '0'],
      ['data', transaction.data],
      ['which is', transaction.call],
      ['would go through', refusal === null ? 'yes, as of now' : `no: ${refusal}`],
    ]),
    fields(changes),
    ...(notes.length === 0 ? [] : [notes.join('\n')]),
  ].join('\n\n')
}
