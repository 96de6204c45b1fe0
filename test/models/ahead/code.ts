// The forms of the code for what the second reading has: stored versions, and planned changes whose other terms do not count.
import type { PlannedChange, StoredVersion, TermName } from '../../../src/domain/sale/changes.ts'
import type { Sale } from '../sale.ts'
import type { Ledger, Plan, Terms, Version } from './ahead.ts'

type Place = NonNullable<StoredVersion['opened']>
/** Behind which place a step sells, by the names of both tiers. */
export const placeOf = (tierId: string, opensAfter: string): Place => {
  const txIndex = Number(tierId.slice(1)) * 10 + Number(opensAfter.slice(1))
  return { blockNumber: 11, txIndex, innerIndex: 1 }
}

function openedOf({ opened }: Ledger, tierId: string, opensAfter: string | null): Place | null {
  const step = opened.find((one) => one.tierId === tierId && one.opensAfter === opensAfter)
  return step ? placeOf(step.tierId, step.opensAfter) : null
}

const enteredAt = (entry: number): string => new Date(1_700_000_000_000 + entry).toISOString()

export const numberOf = (tierId: string): number => 1 + Number(tierId.slice(1))

export function toVersion(ledger: Ledger, { terms, entry, ...one }: Version): StoredVersion {
  const opened = openedOf(ledger, one.tierId, terms.opensAfter)
  const stored = { ...one, ...terms, tierNo: numberOf(one.tierId), opened, enteredAt: enteredAt(entry) }
  return stored as unknown as StoredVersion
}

/** The terms that a planned change does not name, so that a reading which uses one of them differs. */
const UNREAD: Terms = {
  ...{ label: 'Unread', priceWei: 10n, maxPerWallet: 99, payoutBps: 1, onSale: true, holdingRetrySec: 1, supply: 99 },
  ...{ holdingWei: 7n, holdingToken: null, holdingSymbol: 'U', holdingDecimals: 1, allowlist: `0x${'cc'.repeat(32)}` },
  ...{ opensAt: 9, closesAt: 8, opensAfter: 't2' },
}

export function toPlan(ledger: Ledger, { changes, entry, key: _key, ...one }: Plan): PlannedChange {
  const { opensAfter } = changes
  const opened = opensAfter === undefined ? placeOf('t7', 't7') : openedOf(ledger, one.tierId, opensAfter)
  const names = Object.keys(changes) as TermName[]
  const own = { tierNo: numberOf(one.tierId), enteredAt: enteredAt(entry), opened, names, fromBlock: null }
  return { ...one, ...UNREAD, ...changes, ...own } as unknown as PlannedChange
}

/** The ledger as the second reading of the choice of a tier has it. */
export function toSale({ versions, opened }: Ledger): Sale {
  return {
    versions: versions.map(({ terms, fromBlock, ...one }) => ({ ...one, ...terms, fromBlock: fromBlock ?? 0 })),
    openings: opened.map((step) => {
      const { blockNumber, ...place } = placeOf(step.tierId, step.opensAfter)
      return { ...step, ...place, fromBlock: blockNumber }
    }),
  }
}
