// What really happened in a soak, and the lines that say so. A figure that was not counted while it happened is not here.
import { FAILPOINTS, type Failpoint } from '../../src/lib/failpoint.ts'
import { FAULTS, type Fault } from '../support/faults/names.ts'
import type { Fate } from './fates.ts'

export interface SoakCounts {
  eras: number
  cycles: number
  checks: number
  payments: number
  claims: number
  nodes: number
  turns: number
  withdrawals: number
  reorganisations: number
  blocksTakenBack: number
  serviceKills: number
  failpointKills: number
  postgresKills: number
  stops: number
  lockCuts: number
  failedStarts: number
  losses: number
  duplicates: number
  /** Most memory an instance was seen to hold. */
  rssMiB: number
  /** Milliseconds from the last fault until everything was at rest by itself. */
  recoveriesMs: number[]
  faults: Map<Fault, number>
  points: Map<Failpoint, number>
  /** Reorganisations by depth. */
  depths: Map<number, number>
  fates: Map<Fate, number>
}

export function noCounts(): SoakCounts {
  const business = { payments: 0, claims: 0, nodes: 0, turns: 0, withdrawals: 0 }
  const kills = { serviceKills: 0, failpointKills: 0, postgresKills: 0, stops: 0, lockCuts: 0, failedStarts: 0 }
  const chain = { reorganisations: 0, blocksTakenBack: 0, depths: new Map(), fates: new Map() }
  const met = { faults: new Map(), points: new Map() }
  return {
    ...{ eras: 0, cycles: 0, checks: 0, losses: 0, duplicates: 0, rssMiB: 0, recoveriesMs: [] },
    ...business,
    ...kills,
    ...chain,
    ...met,
  }
}

export function addTo<K>(counts: Map<K, number>, key: K, more = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}

/** Kills of the service, at random and at named points. */
export const killsOf = ({ serviceKills, failpointKills }: SoakCounts) => serviceKills + failpointKills

/** The faults and the points that never happened. */
export function missing({ faults, points }: SoakCounts): { faults: Fault[]; points: Failpoint[] } {
  return {
    faults: FAULTS.filter((fault) => !faults.has(fault)),
    points: FAILPOINTS.filter((point) => !points.has(point)),
  }
}

/** Share of all faults and points that happened, 0 to 1. */
export function coverage(counts: SoakCounts): number {
  const never = missing(counts)
  const all = FAULTS.length + FAILPOINTS.length
  return (all - never.faults.length - never.points.length) / all
}

/** The counts as lines to print. */
export function report(counts: SoakCounts): string[] {
  const { faults, points, depths, fates, recoveriesMs, ...numbers } = counts
  const sorted = recoveriesMs.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  const never = missing(counts)
  const list = (map: Map<string | number, number>) =>
    [...map].map(([name, count]) => `${name} ${count}`).join(', ') || 'none'
  return [
    ...Object.entries(numbers).map(([name, value]) => `${name.padEnd(18)} ${value}`),
    `recovery, ms       p50 ${at(0.5)}, p99 ${at(0.99)}, max ${sorted.at(-1) ?? 0} (${sorted.length} times)`,
    `depths             ${list(new Map([...depths].sort(([a], [b]) => a - b)))}`,
    `fates              ${list(fates)}`,
    `faults             ${list(new Map([...faults].sort(([a], [b]) => a.localeCompare(b))))}`,
    `points             ${list(points)}`,
    `happened           ${(coverage(counts) * 100).toFixed(1)} % of ${FAULTS.length} faults and ${FAILPOINTS.length} points`,
    ...(never.faults.length + never.points.length > 0
      ? [`never              ${[...never.faults, ...never.points].join(', ')}`]
      : []),
  ]
}
