// Looks at the ledger itself: do the passes run and end well, are they paused or halted, what waits for the operator, does it agree
// with the contract as far as it was compared.
import { readCursor } from '../../db/blocks/blocks.ts'
import { readHalt } from '../../db/blocks/halts.ts'
import type { Pool } from '../../db/core/sql.ts'
import { readState } from '../../db/core/state.ts'
import { listUnpaidNodes } from '../../db/nodes/grants.ts'
import { type PassRun, readHeldReasons, readRecentTrouble, readRuns } from '../../db/reads/doctor.ts'
import { readWalletInForce } from '../../db/sale/payment-wallets.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import type { Drift } from '../../domain/drift.ts'
import type { Address } from '../../domain/units.ts'
import { haltInWords } from '../service/halt.ts'
import { type Finding, fail, look, ok, warn } from './finding.ts'
import { lookAtRefusals } from './signers.ts'
import { lookAtWalletChange } from './wallet.ts'

/** Blocks that a ledger which is kept up to date may be behind, as passes and blocks come in turns. */
const BEHIND_WARN = 60
/** Nodes without payment or grant that are named. */
const UNPAID_MAX = 20

export interface LedgerOptions {
  staleAfterSec: number
  /** True if the service's own timer runs the passes. */
  timer: boolean
  quoteTier: string | null
  /** The accounts that send; null where they are not known here. */
  signers: Address[] | null
  /** Null where no provider answered. */
  headBlock: number | null
}

export async function lookAtLedger(pool: Pool, options: LedgerOptions): Promise<Finding[]> {
  return [
    ...(await look('passes.scheduler', () => lookAtRuns(pool, options))),
    ...(await look('passes.halt', () => lookAtHalt(pool))),
    ...(await look('passes.pause', () => lookAtPause(pool))),
    ...(await look('passes.signers', () => lookAtRefusals(pool))),
    ...(await look('ledger.follows', () => lookAtCursor(pool, options))),
    ...(await look('ledger.drift', () => lookAtDrift(pool))),
    ...(await look('sale', () => lookAtSale(pool, options))),
    ...(await look('wallet.ledger', () => lookAtWalletChange(pool))),
    ...(await look('payments.held', () => lookAtHeld(pool))),
    ...(await look('nodes.unpaid', () => lookAtUnpaid(pool))),
    ...(await look('transactions', () => lookAtTrouble(pool, options))),
  ]
}

async function lookAtRuns(pool: Pool, { staleAfterSec, timer }: LedgerOptions): Promise<Finding[]> {
  const runs = await readRuns(pool)
  return ['payments', 'credit'].map((name): Finding => {
    const run = runs.find((candidate) => candidate.name === name)
    const who = timer
      ? 'Start the service, or see in its log why its timer does not run.'
      : `SCHEDULER is off: have a scheduler call /api/cron/${name}, or set SCHEDULER=on.`
    const check = `passes.${name}`
    if (!run) return fail(check, `the ${name} pass has never run`, who)
    const says = `the ${name} pass ran ${Math.round(run.secondsAgo)} s ago`
    if (run.secondsAgo > staleAfterSec) return fail(check, `${says}, STALE_AFTER_SEC is ${staleAfterSec}`, who, run)
    const { error, secondsWithoutSuccess: failingSec } = run
    const stopped = error === null ? says : `${says} and stopped: ${error}`
    if ((failingSec ?? 0) > staleAfterSec) {
      const since = `no run has ended well for ${Math.round(failingSec ?? 0)} s`
      return fail(
        check,
        `${stopped}; ${since}`,
        todoOf(run, 'See to what it names. The log has the fault, as an error.'),
        run,
      )
    }
    if (error === null) return ok(check, says, run)
    return warn(check, stopped, todoOf(run, 'The next run tries again; if it goes on, see to what it names.'), run)
  })
}

const todoOf = ({ error }: PassRun, todo: string) => (error?.startsWith('halted') ? 'See passes.halt.' : todo)

async function lookAtHalt(pool: Pool): Promise<Finding> {
  const halt = await readHalt(pool)
  if (!halt) return ok('passes.halt', 'not halted')
  return fail(
    'passes.halt',
    haltInWords(halt),
    halt.sealed
      ? 'docs/RUNBOOK.md, "NodeLedgerHalted", says what to look at; "node-ledger resume --halt" then clears it.'
      : 'It is withdrawn by itself if the next runs find all well; else docs/RUNBOOK.md, "NodeLedgerHalted", says what to look at.',
    halt,
  )
}

async function lookAtPause(pool: Pool): Promise<Finding> {
  if ((await readState(pool, 'paused')) !== true) return ok('passes.pause', 'not paused')
  return warn('passes.pause', 'crediting is paused by the operator', '"node-ledger resume" ends the pause.')
}

async function lookAtCursor(pool: Pool, { headBlock }: LedgerOptions): Promise<Finding> {
  const cursor = await readCursor(pool)
  if (!cursor)
    return warn('ledger.follows', 'no block is followed yet', 'The first payments pass begins at START_BLOCK.')
  const behind = headBlock === null ? null : headBlock - cursor.number
  const reading = { block: cursor.number, behind }
  if (behind === null)
    return ok('ledger.follows', `followed up to block ${cursor.number}; how far behind is not known`, reading)
  const says = `followed up to block ${cursor.number}, ${Math.max(0, behind)} behind the chain`
  if (behind <= BEHIND_WARN) return ok('ledger.follows', says, reading)
  return warn(
    'ledger.follows',
    says,
    'It catches up by itself while the payments pass runs; if not, see that pass.',
    reading,
  )
}

async function lookAtDrift(pool: Pool): Promise<Finding> {
  const drifts = (await readState(pool, 'drift')) as Drift[] | null
  if (drifts === null) return ok('ledger.drift', 'not compared with the contract yet', [])
  if (drifts.length === 0) return ok('ledger.drift', 'agreed with the contract when last compared', [])
  const says = `${drifts.length} differences from the contract when last compared`
  return fail(
    'ledger.drift',
    says,
    '"node-ledger verify" names them; "node-ledger rebuild" says what a new ledger would hold.',
    drifts.slice(0, 20),
  )
}

async function lookAtSale(pool: Pool, { quoteTier }: LedgerOptions): Promise<Finding[]> {
  const findings: Finding[] = []
  const paymentAddress = await readWalletInForce(pool)
  if (paymentAddress === null)
    findings.push(
      warn(
        'sale.wallet',
        'the ledger has no payments wallet: nothing can be bought',
        '"node-ledger wallets set <address>" enters the wallet that buyers pay to.',
      ),
    )
  else findings.push(ok('sale.wallet', `buyers pay to ${paymentAddress}`, { paymentAddress }))
  const latest = new Map((await readTierVersions(pool)).map((tier) => [tier.tierId, tier]))
  const onSale = [...latest.values()].filter((tier) => tier.onSale).map((tier) => tier.tierId)
  if (onSale.length === 0)
    findings.push(
      warn(
        'sale.tiers',
        'no tier is on sale',
        '"node-ledger tiers create" enters one, "tiers on-sale" opens it.',
        onSale,
      ),
    )
  else findings.push(ok('sale.tiers', `on sale: ${onSale.join(', ')}`, onSale))
  if (quoteTier !== null && !onSale.includes(quoteTier))
    findings.push(
      warn(
        'sale.quote',
        `QUOTE_TIER is ${quoteTier}, which is not on sale`,
        'Set QUOTE_TIER to a tier on sale, or unset it.',
      ),
    )
  return findings
}

async function lookAtHeld(pool: Pool): Promise<Finding> {
  const held = await readHeldReasons(pool)
  const count = held.reduce((sum, { payments }) => sum + payments, 0)
  if (count === 0) return ok('payments.held', 'no payment waits for you', held)
  const says = `${count} held: ${held.map(({ reason, payments }) => `${payments} ${reason}`).join(', ')}`
  return warn('payments.held', says, '"node-ledger payments list --status held" shows them.', held)
}

async function lookAtUnpaid(pool: Pool): Promise<Finding> {
  const unpaid = await listUnpaidNodes(pool, { open: true, before: null, limit: UNPAID_MAX })
  if (unpaid.length === 0) return ok('nodes.unpaid', 'every node is paid for or granted')
  const nodes = unpaid.map(({ id }) => id)
  return fail(
    'nodes.unpaid',
    `${nodes.length === UNPAID_MAX ? 'at least ' : ''}${nodes.length} without payment or grant, the newest is node ${nodes[0]}: their cohorts are not credited`,
    'Did you mint them yourself? Then "node-ledger nodes grant <node>"; "node-ledger nodes unpaid --open" lists them. If not, the minter\'s key is stolen: docs/RUNBOOK.md, "A lost or stolen key".',
    { nodes },
  )
}

async function lookAtTrouble(pool: Pool, { signers }: LedgerOptions): Promise<Finding[]> {
  const { reverted, oldestPendingSec, pending, cooldowns } = await readRecentTrouble(pool, signers)
  const findings: Finding[] = []
  if (reverted > 0)
    findings.push(
      warn(
        'transactions.reverted',
        `${reverted} of our transactions reverted in the last day`,
        '"node-ledger transactions list" shows them. Reverts cost gas.',
        { reverted },
      ),
    )
  if (cooldowns > 0)
    findings.push(
      warn(
        'transactions.rest',
        'a signer account pauses after reverts in a row',
        'See the audit log ("node-ledger audit list --action senderRests").',
        { rests: cooldowns },
      ),
    )
  if (pending > 0 && (oldestPendingSec ?? 0) > 600)
    findings.push(
      warn(
        'transactions.pending',
        `a transaction has waited ${Math.round(oldestPendingSec ?? 0)} s for a block`,
        'Its fee is raised by itself; see that the sender has funds and the provider is up.',
        { pending, oldestPendingSec },
      ),
    )
  return findings.length > 0
    ? findings
    : [ok('transactions', `none reverted in the last day, ${pending} on the way`, { reverted, pending })]
}
