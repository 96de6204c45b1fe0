// The checks of the ledger itself: whether the passes run and succeed, whether they are paused or halted, what waits for the operator, whether the
// last comparisons with the contract found drift, and whether there are signs of a stolen key.

import type { Head } from '../chain/rpc/probe.ts'
import type { Config } from '../config/load.ts'
import { readCursor } from '../db/blocks/blocks.ts'
import { haltInWords, readHalt } from '../db/blocks/halts.ts'
import { readMending } from '../db/blocks/mending.ts'
import { readParted } from '../db/blocks/parted.ts'
import { readStuck, readUnsent } from '../db/blocks/stuck.ts'
import type { Pool } from '../db/core/sql.ts'
import { readState } from '../db/core/state.ts'
import { listUnpaidNodes } from '../db/nodes/grants.ts'
import { readSeedWait } from '../db/nodes/seed-waits.ts'
import {
  readFailedResidues,
  readForeign,
  readHeldReasons,
  readRecentTrouble,
  readRuns,
  readTakenRefs,
  readUnproven,
  readUnusualCohorts,
} from '../db/reads/doctor.ts'
import { readSenderTroubles } from '../db/sends/signers.ts'
import { type Drift, driftInWords } from '../domain/drift.ts'
import { isStale, LAG_SEC, STUCK_SEC } from '../domain/health.ts'
import type { Address } from '../domain/units.ts'
import { partedInWords } from '../follower/histories.ts'
import { BELIEVED_TODO } from './chain.ts'
import { type Check, type Checks, check, checkEach, ofLedger } from './check.ts'

/** How many differences a finding names, and how many nodes without payment or grant. */
const NAMED_MAX = 3
const UNPAID_MAX = 20
const RETRIES = 'See the runbook. The service keeps trying.'
const STOLEN_KEY = 'docs/RUNBOOK.md, "A lost or stolen key".'

export interface LedgerExamined {
  readonly pool: Pool
  readonly config: Pick<Config, 'staleAfterSec' | 'SCHEDULER'>
  /** The signer accounts; null if not known here. */
  readonly signers: Address[] | null
  /** The chain's head; null if no provider answered. */
  readonly head: Head | null
}

const readTransactions = ({ pool, signers }: LedgerExamined) => readRecentTrouble(pool, signers)
const readUnpaid = ({ pool }: LedgerExamined) => listUnpaidNodes(pool, { open: true, before: null, limit: UNPAID_MAX })

const PASS_CHECKS: Checks<LedgerExamined> = {
  'passes.payments': checkRuns('payments', 'NodeLedgerPaymentsPassStale'),
  'passes.credit': checkRuns('credit', 'NodeLedgerCreditPassStale'),

  'passes.halt': check('NodeLedgerHalted', ofLedger(readHalt), (halt) => {
    if (!halt) return 'not halted'
    const todo = halt.sealed
      ? 'See the runbook; "node-ledger resume --halt" then clears it.'
      : 'The service clears it if the next runs find nothing wrong; otherwise see the runbook.'
    return { says: haltInWords(halt), fail: todo }
  }),

  'passes.stuck': check('NodeLedgerPassesStuck', ofLedger(readStuck), (stuck) => {
    if (!stuck) return null
    const { block, runs, since, rule, host } = stuck
    return {
      says: `block ${block} has stopped ${runs} runs since ${since}${host ? `, last as reported by ${host}` : ''}: ${rule}`,
      fail: 'See the runbook. The service keeps trying, and continues automatically.',
    }
  }),

  'passes.waiting': checkEach('NodeLedgerPaymentsWaiting', ofLedger(readUnsent), null, (unsent) => ({
    says: `sending for ${unsent.pass} has failed in ${unsent.runs} runs since ${unsent.since}: ${unsent.why}`,
    fail: RETRIES,
  })),

  'passes.histories': check(null, ofLedger(readParted), (difference) => {
    if (!difference?.lasts) return null
    const { says, todo } = partedInWords(difference)
    return { says: `since ${difference.since}, ${says}`, fail: todo }
  }),

  'passes.seeds': check(null, ofLedger(readSeedWait), (wait) => {
    if (!wait) return null
    return {
      says: `turns from ${new Date(wait.due * 1000).toISOString()} on wait for their seed: ${wait.says}`,
      warn: 'The next runs retry. If a provider of RPC_URL is gone for good, or differs from the others, replace it.',
    }
  }),

  'passes.pause': check(
    null,
    ofLedger((pool) => readState(pool, 'paused')),
    (isPaused) => {
      if (!isPaused) return 'not paused'
      return { says: 'crediting is paused by the operator', warn: '"node-ledger resume" ends the pause.' }
    },
  ),

  /** As the passes recorded it. An instance without keys has no other evidence. */
  'passes.signers': checkEach(
    'NodeLedgerSignerDown',
    ofLedger((pool) => readSenderTroubles(pool, 'signer')),
    'no signer refused its last request',
    ({ since, role, address, detail }) => ({
      says: `the signer of the ${role}, ${address}, has not signed since ${since}: ${detail}`,
      fail: RETRIES,
    }),
  ),

  'passes.roles': checkEach(
    'NodeLedgerRoleLost',
    ofLedger((pool) => readSenderTroubles(pool, 'role')),
    null,
    ({ since, address, role }) => ({
      says: `since ${since}, ${address} is no longer the contract’s ${role}, so it sends nothing`,
      fail: RETRIES,
    }),
  ),
}

const STATE_CHECKS: Checks<LedgerExamined> = {
  'ledger.follows': check('NodeLedgerLagging', ofLedger(readCursor), (cursor, { head }) => {
    if (!cursor) return { says: 'no block is followed yet', warn: 'The service begins at START_BLOCK.' }
    const apart = head
      ? `, ${Math.max(0, head.number - cursor.number)} behind the chain`
      : '; how far behind is not known'
    const todo = 'The service catches up by itself. If it does not, see passes.payments.'
    const isLagging = head !== null && head.time - cursor.time > LAG_SEC
    return { says: `followed up to block ${cursor.number}${apart}`, warn: isLagging && todo }
  }),

  'ledger.mending': check(null, ofLedger(readMending), (mending) => {
    if (!mending) return null
    return {
      says: `the service is reading blocks ${mending.at + 1} to ${mending.to} again, because the ledger differed from one of them`,
      warn: 'Until then nothing is sold, minted, credited, granted or released. It continues automatically.',
    }
  }),

  'ledger.drift': check('NodeLedgerDrift', ofLedger(readDrift), (drift) => {
    if (drift === null) return 'not compared with the contract yet'
    if (drift.count === 0) return 'agreed with the contract when last compared'
    return {
      says: `${drift.count} differences from the contract when last compared: ${drift.first.map(driftInWords).join('; ')}`,
      fail: '"node-ledger verify" lists them; "node-ledger rebuild" shows what a new ledger would contain.',
    }
  }),

  'payments.held': check('NodeLedgerPaymentsHeld', ofLedger(readHeldReasons), (held) => {
    const count = held.reduce((sum, { payments }) => sum + payments, 0)
    if (count === 0) return 'no payment needs your decision'
    const says = `${count} held: ${held.map(({ reason, payments }) => `${payments} ${reason}`).join(', ')}`
    return { says, warn: '"node-ledger payments list --status held" shows them.' }
  }),

  'payments.failed': check(null, ofLedger(readFailedResidues), (residues) => {
    if (!residues) return null
    return {
      says: `a transaction that is recorded as failed has the same value as unexplained ether of its block (${residues.ids.map((id) => `payment ${id}`).join(', ')}): a provider may have lied about its outcome`,
      fail: `Rescan from here: "node-ledger rescan --from-block ${residues.fromBlock}".`,
    }
  }),

  'payments.unproven': check('NodeLedgerPaymentsWaiting', ofLedger(readUnproven), (unproven) => {
    if (unproven.length === 0) return null
    return {
      says: `only one provider reports ${unproven.length} payments, the newest ${unproven[0]}: they are not minted`,
      fail: `Compare them with an explorer. If the chain has them, a provider of RPC_URL lags or lacks blocks. If not, one of them lies: replace it. If RPC_URL lists only one: ${BELIEVED_TODO}`,
    }
  }),

  'payments.refs': check('NodeLedgerRefsTaken', ofLedger(readTakenRefs), (refs) => {
    if (refs.length === 0) return 'no payment’s node belongs to a wallet other than the payer'
    return {
      says: `the nodes of ${refs.length} payments were minted to another wallet, the newest payment ${refs[0]}`,
      fail: `The minter’s key is stolen: ${STOLEN_KEY} Refund or dismiss these payments, because their refs stay used.`,
    }
  }),

  'nodes.unpaid': check('NodeLedgerNodesUnpaid', readUnpaid, (nodes) => {
    if (nodes.length === 0) return 'every node is paid for or granted'
    return {
      says: `${nodes.length === UNPAID_MAX ? 'at least ' : ''}${nodes.length} nodes without payment or grant, the newest node ${nodes[0]?.id}: their cohorts are not credited`,
      fail: `Did you mint them yourself? Then "node-ledger nodes grant <node>"; "node-ledger nodes unpaid --open" lists them. If not, the minter's key is stolen: ${STOLEN_KEY}`,
    }
  }),

  'cohorts.intervals': check(null, ofLedger(readUnusualCohorts), (unusual) => {
    if (unusual.length === 0) return 'every cohort’s interval and phase come from the ledger’s terms'
    const odd = unusual.filter((cohort) => cohort.odd).map(({ cohort }) => cohort)
    const list = unusual.map(({ cohort, intervalSec }) => `${cohort} (${intervalSec} s)`).join(', ')
    return {
      says: `cohorts ${list} have intervals or phases that were never in the terms${odd.length === 0 ? '' : `; not credited: ${odd.join(', ')}`}`,
      warn: `Did the owner set them? If not, check whether a key was stolen: ${STOLEN_KEY}`,
    }
  }),
}

const SEND_CHECKS: Checks<LedgerExamined> = {
  'transactions.reverted': check(null, readTransactions, ({ reverted: revertedCount, pending }) => {
    if (revertedCount === 0) return `none reverted in the last day, ${pending} pending`
    const todo = '"node-ledger transactions list" shows them. Reverts cost gas.'
    return { says: `${revertedCount} of our transactions reverted in the last day`, warn: todo }
  }),

  'transactions.rest': check(null, readTransactions, ({ cooldowns }) => {
    if (cooldowns === 0) return null
    const todo = 'See the audit log ("node-ledger audit list --action senderRests").'
    return { says: 'a signer account pauses after reverts in a row', warn: todo }
  }),

  'transactions.pending': check('NodeLedgerTransactionStuck', readTransactions, ({ oldestPendingSec }) => {
    if (oldestPendingSec === null || oldestPendingSec <= STUCK_SEC) return null
    const todo = 'The service raises its fee; check that the sender has funds and the provider is up.'
    return { says: `a transaction has waited ${Math.round(oldestPendingSec)} s for a block`, warn: todo }
  }),

  'transactions.funds': check('NodeLedgerFundsLow', readTransactions, ({ unfunded: senders }) =>
    senders.map((sender) => ({
      says: `providers reject a pending transaction of ${sender} for lack of funds`,
      fail: `Send ether to ${sender}. On a rollup our estimate lacks the fee for L1 data, so keep more there than "funds" asks for. A higher gas price would not help, so we do not offer one.`,
    })),
  ),

  'keys.foreign': check('NodeLedgerForeignTransaction', ofLedger(readForeign), (foreign) => {
    if (foreign.length === 0) return 'no key of ours was used elsewhere within a week'
    return {
      says: `within a week our keys signed ${foreign.length} transactions that this ledger did not send, the newest ${foreign[0]}`,
      fail: `Was the ledger restored from a backup? Then they are its own transactions. Did you send them yourself? Never do that with these keys. If neither, the key is stolen: ${STOLEN_KEY}`,
    }
  }),
}

export const LEDGER_CHECKS: Checks<LedgerExamined> = { ...PASS_CHECKS, ...STATE_CHECKS, ...SEND_CHECKS }

async function readDrift(pool: Pool): Promise<{ count: number; first: Drift[] } | null> {
  const drifts = await readState(pool, 'drift')
  return drifts && { count: drifts.length, first: drifts.slice(0, NAMED_MAX) }
}

function checkRuns(name: 'payments' | 'credit', alert: string): Check<LedgerExamined> {
  const read = async ({ pool }: LedgerExamined) => {
    const run = (await readRuns(pool)).find((candidate) => candidate.name === name)
    return { run, isHalted: (await readHalt(pool)) !== null }
  }
  return check(alert, read, ({ run, isHalted }, { config: { staleAfterSec, SCHEDULER } }) => {
    const who = SCHEDULER
      ? 'Start the service, or find out from its log why its timer does not run.'
      : `SCHEDULER is off: have a scheduler call /api/cron/${name}, or set SCHEDULER=on.`
    if (!run) return { says: `the ${name} pass has never run`, fail: who }
    const { error, secondsAgo, secondsWithoutSuccess } = run
    const ran = `the ${name} pass ran ${Math.round(secondsAgo)} s ago`
    const isLate = isStale(run, staleAfterSec)
    if (isLate && secondsAgo > staleAfterSec) return { says: `${ran}, more than ${staleAfterSec} s`, fail: who }
    const next = (todo: string) => (error !== null && isHalted ? 'See passes.halt.' : todo)
    const ending = error === null ? ran : `${ran} and stopped: ${error}`
    if (isLate) {
      const says = `${ending}; no run has succeeded for ${Math.round(secondsWithoutSuccess ?? 0)} s`
      return { says, fail: next('Fix the fault named above. The log has it at level error.') }
    }
    return { says: ending, warn: error !== null && next('The next run tries again. If the fault lasts, fix it.') }
  })
}
