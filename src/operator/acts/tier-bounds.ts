// Objections to the limits of a tier's new version: a supply below what is sold, and steps of a ladder that could never open, or would have to close
// again.
import type { Sql } from '../../db/core/sql.ts'
import { lockTiers } from '../../db/payments/lock-order.ts'
import { countPlacesOf } from '../../db/payments/supply.ts'
import type { TierInput, TierRow } from '../../db/sale/tiers.ts'
import { fieldNamed, type OperatorRefusal, refuseAct, refuseField } from '../act.ts'

type TierTerms = Pick<TierInput, 'tierId' | 'tierNo' | 'supply' | 'opensAfter'>

/** A step must wait for a tier that can sell out. Once open, a step never closes again, not even if an earlier tier gets more places. */
export function refuseLadder(
  rows: readonly TierRow[],
  terms: TierTerms,
  before: TierRow | null,
): OperatorRefusal | null {
  const live = new Map(rows.filter((row) => row.live).map((row) => [row.tierId, row]))
  const awaited = terms.opensAfter === null ? null : live.get(terms.opensAfter)
  if (awaited === undefined) return refuseField('invalid', 'opensAfter', `There is no tier ${terms.opensAfter}.`)
  if (awaited && awaited.tierId !== terms.tierId && awaited.supply === null)
    return refuseField('invalid', 'opensAfter', `Tier ${awaited.tierId} has no supply, so it is never sold out.`)
  // Ends after at most as many steps as there are tiers.
  for (let step = awaited ?? undefined; step; step = live.get(step.opensAfter ?? ''))
    if (step.tierId === terms.tierId) return refuseField('invalid', 'opensAfter', 'It would wait for itself.')
  const steps = [...live.values()].filter(({ opensAfter }) => opensAfter === terms.tierId)
  const waiting = steps.find(() => terms.supply === null)
  if (waiting)
    return refuseAct('conflict', `Tier ${waiting.tierId} opens once this one is sold out: it needs a supply.`)
  const open = steps.find(({ onSale, opened }) => onSale && opened !== null)
  if (open && (terms.supply ?? 0) > (before?.supply ?? 0))
    return refuseAct(
      'conflict',
      `Tier ${open.tierId} has opened after this one: ${fieldNamed('supply')} cannot be raised.`,
    )
  return null
}

/** Checks the supply under the tier's lock, so that no other session takes a place in the meantime. */
export async function refuseSupply(sql: Sql, { tierNo, supply }: TierTerms): Promise<OperatorRefusal | null> {
  await lockTiers(sql, [tierNo], { wait: true })
  if (supply === null) return null
  const { sold } = await countPlacesOf(sql, tierNo)
  if (supply >= sold) return null
  return refuseAct('conflict', `${sold} nodes of this tier are sold: ${fieldNamed('supply')} cannot be less.`)
}
