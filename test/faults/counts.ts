// The events of a soak, counted as they happened, and the lines that report them. If an event was not counted then, it is not here.
import { readFileSync } from 'node:fs'
import { FAILPOINTS, type Failpoint } from '../../src/lib/failpoint.ts'
import { FAULTS, type Fault } from '../support/faults/names.ts'
import type { Fate } from './fates.ts'

export interface SoakCounts {
  eras: number
  /** Those of them with a lying provider. */
  erasWithLiar: number
  cycles: number
  checks: number
  payments: number
  /** Those of them that a contract made, by a call. */
  byContracts: number
  claims: number
  nodes: number
  turns: number
  withdrawals: number
  reorganisations: number
  blocksReorganised: number
  serviceKills: number
  failpointKills: number
  postgresKills: number
  stops: number
  lockCuts: number
  /** Transfers of 0 and 1 wei. */
  junk: number
  /** Our transactions that lost their nonce to one sent by hand. */
  cancelled: number
  /** The operator's decisions about held payments. */
  decisions: number
  failedStarts: number
  /** Times that the tier with a supply was sold out at rest. */
  sellOuts: number
  /** False answers by lie. */
  lies: Map<string, number>
  /** Lies told alone, each of them reported. */
  liesTold: Map<string, number>
  /** The gas, wei, of our transactions that came to nothing, for each lie told alone. */
  lieGasWei: bigint[]
  losses: number
  duplicates: number
  /** The highest memory of an instance. */
  rssMiB: number
  /** Milliseconds from the last fault until everything was at rest again. */
  recoveriesMs: number[]
  faults: Map<Fault, number>
  points: Map<Failpoint, number>
  /** Reorganisations by depth. */
  depths: Map<number, number>
  fates: Map<Fate, number>
  /** Ways in which an instance was misconfigured, and ran so; `waysDue` lists the required ones. */
  ways: Map<string, number>
  waysDue: readonly string[]
  /** Draws of each. */
  waysDrawn: Map<string, number>
}

export function noCounts(waysDue: readonly string[] = []): SoakCounts {
  const business = { payments: 0, byContracts: 0, claims: 0, nodes: 0, turns: 0, withdrawals: 0 }
  const kills = { serviceKills: 0, failpointKills: 0, postgresKills: 0, stops: 0, lockCuts: 0, failedStarts: 0 }
  const edges = { junk: 0, cancelled: 0, decisions: 0 }
  const chain = { reorganisations: 0, blocksReorganised: 0, depths: new Map(), fates: new Map() }
  const met = { faults: new Map(), points: new Map(), lies: new Map(), liesTold: new Map() }
  return {
    eras: 0,
    erasWithLiar: 0,
    sellOuts: 0,
    lieGasWei: [],
    cycles: 0,
    checks: 0,
    losses: 0,
    duplicates: 0,
    rssMiB: 0,
    recoveriesMs: [],
    ...business,
    ...kills,
    ...edges,
    ...chain,
    ...met,
    ways: new Map(),
    waysDrawn: new Map(),
    waysDue,
  }
}

export function addTo<K>(counts: Map<K, number>, key: K, more = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}

/** Kills of the service, at random and at named points. */
export const killsOf = ({ serviceKills, failpointKills }: SoakCounts) => serviceKills + failpointKills

/** The faults, points and ways that never happened. */
export function missing({ faults, points, ways, waysDue }: SoakCounts) {
  return {
    faults: FAULTS.filter((fault) => !faults.has(fault)),
    points: FAILPOINTS.filter((point) => !points.has(point)),
    ways: waysDue.filter((way) => !ways.has(way)),
  }
}

/** Share of all faults, points and ways that happened, 0 to 1. */
export function coverage(counts: SoakCounts): number {
  const never = missing(counts)
  const all = FAULTS.length + FAILPOINTS.length + counts.waysDue.length
  return (all - never.faults.length - never.points.length - never.ways.length) / all
}

/** The counts as lines to print. */
export function report(counts: SoakCounts): string[] {
  const { faults, points, depths, fates, recoveriesMs, ways, waysDue, waysDrawn: _, ...others } = counts
  const { lies, liesTold, lieGasWei, ...numbers } = others
  const gas = lieGasWei.toSorted((a, b) => Number(a - b))
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
    `lies               ${list(lies)}`,
    `lies told          ${list(liesTold)}`,
    `gas per lie, gwei  p50 ${inGwei(gas[gas.length >> 1])}, max ${inGwei(gas.at(-1))} (${gas.length} times)`,
    `points             ${list(points)}`,
    ...(waysDue.length > 0 ? [`misconfigured      ${list(ways)}`] : []),
    `happened           ${(coverage(counts) * 100).toFixed(1)} % of ${FAULTS.length} faults, ${FAILPOINTS.length} points and ${waysDue.length} ways`,
    ...(coverage(counts) < 1 ? [`never              ${Object.values(never).flat().join(', ')}`] : []),
  ]
}

const inGwei = (wei = 0n) => Math.round(Number(wei) / 1e9)

/** Memory of a process; 0 if it is gone. */
export function rssMiB(pid: number): number {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)
  } catch {
    return 0
  }
}
