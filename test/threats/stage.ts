// A ledger on real parts whose keys a thief has, and what the operator would see: the doctor's findings and the firing alerts.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { createGovernanceReader } from '../../src/chain/factory/governance.ts'
import { createReadings } from '../../src/chain/pages/readings.ts'
import { localSigner } from '../../src/chain/send/signer.ts'
import { createSignerAccount, encodeCall } from '../../src/chain/send/signer-account.ts'
import { runChecks } from '../../src/checks/check.ts'
import { LEDGER_CHECKS } from '../../src/checks/ledger.ts'
import { lookAtPowers } from '../../src/checks/owner.ts'
import type { Opening } from '../../src/domain/schedule.ts'
import { type Hash, type Wei, wei } from '../../src/domain/units.ts'
import { createMetricsReader } from '../../src/metrics/readings.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import type { OwnerDeps, OwnerPreview } from '../../src/operator/acts/owner.ts'
import type { CohortCredit, MintOrder } from '../../src/ports/sending.ts'
import { FOREVER } from '../support/factory.ts'
import { checkInvariants, type OnPurpose } from '../support/invariants.ts'
import { startWorld, type World, type WorldOptions } from '../support/world.ts'

const RULES = new URL('../../ops/prometheus/alerts.yaml', import.meta.url)

/** The thief's calls, with the keys in hand. Each is mined, and may revert. */
export interface Thief {
  mint(...orders: MintOrder[]): Promise<boolean>
  open(first: number, ...openings: Opening[]): Promise<boolean>
  credit(round: number, credits: CohortCredit[], valueWei: bigint): Promise<boolean>
}

export interface Stage {
  world: World
  thief: Thief
  /** The thief's acts, which the invariants must not count as a breach. */
  done: { foreign: Hash[]; unpaidRefs: Hash[]; stolenRounds: number[] }
  desk: OwnerDeps
  /** Checks of the doctor that are worse than ok. */
  doctor(): Promise<string[]>
  /** Alerts that would fire, by their rules over the metrics page. */
  alerts(): Promise<string[]>
  /** Sends what a preview prints, as the owner's wallet would. */
  sign(found: object): Promise<void>
}

/** A test of one attack in its own world; at the end all invariants hold. */
export function attack(sentence: string, body: (stage: Stage) => Promise<void>, options: WorldOptions = {}): void {
  test(sentence, async () => {
    const world = await startWorld({}, options)
    const done: Stage['done'] = { foreign: [], unpaidRefs: [], stolenRounds: [] }
    try {
      await world.settle()
      await body(stageOf(world, done))
      await checkInvariants(world, done satisfies OnPurpose)
    } finally {
      await world.close()
    }
  })
}

function stageOf(world: World, done: Stage['done']): Stage {
  const governance = createGovernanceReader(world.rpc, world.factory)
  const steal = async (from: number, data: `0x${string}`, valueWei = 0n) => {
    const txHash = await world.call(from, world.factory, data, valueWei)
    done.foreign.push(txHash)
    return (await world.succeeded(txHash)) === true
  }
  const encoded = (call: Parameters<typeof encodeCall>[0]) => encodeCall(call, { withGuard: false }).data
  return {
    world,
    done,
    desk: { pool: world.pool, governance },
    thief: {
      mint: (...orders) => steal(1, encoded({ kind: 'mint', orders, guard: null, validUntil: FOREVER })),
      open: (first, ...openings) => steal(1, encoded({ kind: 'openCohorts', first, openings, validUntil: FOREVER })),
      async credit(round, credits, valueWei) {
        const call = {
          kind: 'credit',
          round,
          credits,
          valueWei: wei(valueWei),
          guard: null,
          validUntil: FOREVER,
        } as const
        const paid = await steal(2, encoded(call), valueWei)
        if (paid) done.stolenRounds.push(round)
        return paid
      },
    },
    doctor: () => findings(world),
    async alerts() {
      // It checks once a minute, by the database's clock.
      await world.pool`DELETE FROM passes WHERE name = 'budget'`
      await world.payments()
      return firing(world)
    },
    async sign(found) {
      if (isOperatorRefusal(found)) assert.fail(found.message)
      const { owner, transaction, refusal } = found as OwnerPreview
      assert.deepEqual([owner, refusal], [world.at(0), null])
      assert.equal(await world.succeeded(await world.call(0, transaction.to, transaction.data)), true)
    },
  }
}

async function findings(world: World): Promise<string[]> {
  const found = [
    ...(await lookAtPowers(world.factory, world.rpc, world.pool)),
    ...(await runChecks(LEDGER_CHECKS, {
      pool: world.pool,
      config: { staleAfterSec: 3_600, SCHEDULER: false },
      head: null,
      signers: [world.at(1), world.at(2)],
    })),
  ]
  return found.filter(({ verdict }) => verdict !== 'ok').map(({ check }) => check)
}

interface Rule {
  alert: string
  expr: string
}

/** The firing rules, among those that only ask whether one figure is above zero, and another one not. */
async function firing(world: World): Promise<string[]> {
  const { pool, ctx, rpc, factory } = world
  const readings = createReadings({ rpc, factory, distributor: null })
  const samples = await createMetricsReader({ pool, chain: ctx.chain, readings, minter: null, distributor: null })()
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Rule[] }[] }
  /** The samples that a rule of this form covers; none for a rule of another form. */
  const above = (expr = '') => {
    const name = /^max(?: by \(\w+\))? \((\w+)\)(?: == 1| > 0)$/.exec(expr.replace('max(', 'max ('))?.[1]
    return samples.filter((sample) => sample.name === name && Number(sample.value) > 0)
  }
  return groups
    .flatMap(({ rules }) => rules)
    .flatMap(({ alert, expr }) => {
      const [rule, unless] = expr.split(' unless on(what) ')
      const causes = above(unless).map(({ labels }) => labels?.what)
      return above(rule).some(({ labels }) => !causes.includes(labels?.what)) ? [alert] : []
    })
}

/** Another account of the chain as a key of the service. */
export function senderAt({ chain, rpc, factory }: World, account: number) {
  const { privateKey } = chain.accounts[account] ?? assert.fail('no such account')
  return createSignerAccount({ rpc, signer: localSigner(privateKey), chainId: chain.chainId, factory })
}

/** All nodes in the ledger. */
export async function nodesOf(world: World): Promise<{ id: number; ref: Hash; cohort: number | null }[]> {
  return await world.pool<{ id: number; ref: Hash; cohort: number | null }[]>`
    SELECT node_id AS id, ref, cohort FROM nodes ORDER BY node_id`
}

/** A node's balance by the contract. */
export async function balanceOf(world: World, nodeId: number): Promise<Wei> {
  const [, balance] = await world.read<[string, bigint]>('nodeInfo', [BigInt(nodeId)])
  return wei(balance)
}
