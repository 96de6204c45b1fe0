// The checks of the ledger itself: whether the passes run and succeed, whether they are paused or halted, what waits for the operator, whether the
// last comparisons with the contract found drift, and whether there are signs of a stolen key.

import { BELIEVED_TODO } from '../../boot/preflight.ts'
import type { Head } from '../../chain/rpc/probe.ts'
import type { Config } from '../../config/load.ts'
import { readCursor } from '../../db/blocks/blocks.ts'
import { readHalt } from '../../db/blocks/halts.ts'
import { readMending } from '../../db/blocks/mending.ts'
import { readParted } from '../../db/blocks/parted.ts'
import { readStuck, readUnsent } from '../../db/blocks/stuck.ts'
import type { Pool } from '../../db/core/sql.ts'
import { readPaused, readState } from '../../db/core/state.ts'
import { listUnpaidNodes } from '../../db/nodes/grants.ts'
import { readSeedWait } from '../../db/nodes/seed-waits.ts'
import {
  readFailedResidues,
  readHeldReasons,
  readRecentTrouble,
  readRuns,
  readThefts,
  readUnproven,
  readUnusualCohorts,
} from '../../db/reads/doctor.ts'
import { readPaymentWallets, readWalletInForce } from '../../db/sale/payment-wallets.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import { readLostRoles, readSignerTroubles } from '../../db/sends/signers.ts'
import { type Drift, driftInWords } from '../../domain/drift.ts'
import { isStale, LAG_SEC, STUCK_SEC } from '../../domain/health.ts'
import type { Address } from '../../domain/units.ts'
import { partedInWords } from '../../follower/histories.ts'
import { haltInWords } from '../service/halt.ts'
import type { Checks, Look } from './check.ts'

/** We name at most this many nodes without payment or grant. */
/** How many differences a finding names. */
const NAMED_MAX = 3
const UNPAID_MAX = 20
const STOLEN_KEY = 'docs/RUNBOOK.md, "A lost or stolen key".'

export interface LedgerExamined {
  readonly pool: Pool
  readonly config: Pick<Config, 'staleAfterSec' | 'SCHEDULER' | 'QUOTE_TIER'>
  /** The signer accounts; null if not known here. */
  readonly signers: Address[] | null
  /** The chain's head; null if no provider answered. */
  readonly head: Head | null
}

export const LEDGER_CHECKS: Checks<LedgerExamined> = {
  'passes.payments': lookAtRuns('payments'),
  'passes.credit': lookAtRuns('credit'),

  'passes.halt': async ({ pool }) => {
    const halt = await readHalt(pool)
    if (!halt) return 'not halted'
    const todo = halt.sealed
      ? 'See the runbook; "node-ledger resume --halt" then clears it.'
      : 'The service clears it if the next runs find nothing wrong; otherwise see the runbook.'
    return { says: haltInWords(halt), fail: todo, reading: halt }
  },

  'passes.stuck': async ({ pool }) => {
    const stuck = await readStuck(pool)
    if (!stuck) return null
    const { block, runs, since, rule, host } = stuck
    return {
      says: `block ${block} has stopped ${runs} runs since ${since}${host ? `, last by the word of ${host}` : ''}: ${rule}`,
      fail: 'See the runbook. The passes try again, and continue automatically.',
      reading: stuck,
    }
  },

  'passes.waiting': async ({ pool }) =>
    (await readUnsent(pool)).map((unsent) => ({
      says: `the ${unsent.pass} pass has sent nothing in ${unsent.runs} runs since ${unsent.since}: ${unsent.why}`,
      fail: 'See the runbook. Each pass retries, and sends what waits.',
      reading: unsent,
    })),

  'passes.histories': async ({ pool }) => {
    const parted = await readParted(pool)
    if (!parted?.lasts) return null
    const { says, todo } = partedInWords(parted)
    return { says: `since ${parted.since}, ${says}`, fail: todo, reading: parted }
  },

  'passes.seeds': async ({ pool }) => {
    const wait = await readSeedWait(pool)
    if (!wait) return null
    return {
      says: `turns from ${new Date(wait.due * 1000).toISOString()} on wait for their seed: ${wait.says}`,
      warn: 'The next runs go on. If a provider of RPC_URL is gone for good, or differs from the others, replace it.',
      reading: wait,
    }
  },

  'passes.pause': async ({ pool }) => {
    if (!(await readPaused(pool))) return 'not paused'
    return { says: 'crediting is paused by the operator', warn: '"node-ledger resume" ends the pause.' }
  },

  /** Refusals by the signers, as the passes recorded them. An instance without keys has no other evidence. */
  'passes.signers': async ({ pool }) => {
    const troubles = await readSignerTroubles(pool)
    if (troubles.length === 0) return 'no signer refused its last request'
    return troubles.map((trouble) => ({
      says: `since ${trouble.since} nothing is signed for the ${trouble.role}, ${trouble.address}: ${trouble.detail}`,
      fail: 'See the runbook. Each pass retries, and sends what waits.',
      reading: trouble,
    }))
  },

  /** Roles that the contract denied our accounts, as the passes recorded them. An instance without keys has no other evidence. */
  'passes.roles': async ({ pool }) =>
    (await readLostRoles(pool)).map((lost) => ({
      says: `since ${lost.since}, ${lost.address} is no longer the contract’s ${lost.role}: nothing is sent for it`,
      fail: 'See the runbook. Each pass retries, and sends what waits.',
      reading: lost,
    })),

  'ledger.follows': async ({ pool, head }) => {
    const cursor = await readCursor(pool)
    if (!cursor) return { says: 'no block is followed yet', warn: 'The first payments pass begins at START_BLOCK.' }
    const behind = head && Math.max(0, head.number - cursor.number)
    const apart = behind === null ? '; how far behind is not known' : `, ${behind} behind the chain`
    const todo = 'It catches up while the payments pass runs; if not, see that pass.'
    return {
      says: `followed up to block ${cursor.number}${apart}`,
      warn: head !== null && head.time - cursor.time > LAG_SEC && todo,
      reading: { block: cursor.number, behind },
    }
  },

  'ledger.mending': async ({ pool }) => {
    const mending = await readMending(pool)
    if (!mending) return null
    return {
      says: `blocks ${mending.at + 1} to ${mending.to} are read again, because the ledger differed from one of them`,
      warn: 'Until they are read, nothing is sold, minted, credited, granted or released. It goes on automatically.',
      reading: mending,
    }
  },

  'ledger.drift': async ({ pool }) => {
    const drifts = (await readState(pool, 'drift')) as Drift[] | null
    if (drifts === null) return { says: 'not compared with the contract yet', reading: [] }
    if (drifts.length === 0) return { says: 'agreed with the contract when last compared', reading: [] }
    return {
      says: `${drifts.length} differences from the contract when last compared: ${drifts.slice(0, NAMED_MAX).map(driftInWords).join('; ')}`,
      fail: '"node-ledger verify" names them; "node-ledger rebuild" says what a new ledger would hold.',
      reading: drifts.slice(0, 20),
    }
  },

  /** Names the wallet in force and any others that we still watch. */
  'sale.wallet': async ({ pool }) => {
    const [wallets, wallet] = [await readPaymentWallets(pool), await readWalletInForce(pool)]
    if (wallet === null) {
      const todo = '"node-ledger wallets set <address>" enters the wallet that buyers pay to.'
      return { says: 'the ledger has no payments wallet: nothing can be bought', warn: todo }
    }
    const open = wallets.filter((known) => known.wallet !== wallet && known.closedBlock === null)
    const beside = open.length > 0 ? `; ${open.map((known) => known.wallet).join(', ')} watched beside it` : ''
    return { says: `buyers pay to ${wallet}${beside}`, reading: { wallet, wallets } }
  },

  'sale.tiers': async ({ pool }) => {
    const onSale = await tiersOnSale(pool)
    if (onSale.length > 0) return { says: `on sale: ${onSale.join(', ')}`, reading: onSale }
    const todo = '"node-ledger tiers create" enters one, "tiers on-sale" opens it.'
    return { says: 'no tier is on sale', warn: todo, reading: onSale }
  },

  'sale.quote': async ({ pool, config: { QUOTE_TIER } }) => {
    if (QUOTE_TIER === null || (await tiersOnSale(pool)).includes(QUOTE_TIER)) return null
    const todo = 'Set QUOTE_TIER to a tier on sale, or unset it.'
    return { says: `QUOTE_TIER is ${QUOTE_TIER}, which is not on sale`, warn: todo }
  },

  'payments.held': async ({ pool }) => {
    const held = await readHeldReasons(pool)
    const count = held.reduce((sum, { payments }) => sum + payments, 0)
    if (count === 0) return { says: 'no payment waits for you', reading: held }
    const says = `${count} held: ${held.map(({ reason, payments }) => `${payments} ${reason}`).join(', ')}`
    return { says, warn: '"node-ledger payments list --status held" shows them.', reading: held }
  },

  'payments.failed': async ({ pool }) => {
    const found = await readFailedResidues(pool)
    if (!found) return null
    return {
      says: `of ether that nothing explains (${found.ids.map((id) => `payment ${id}`).join(', ')}) a transaction of the same block that is recorded as failed has the same value: a provider may have lied about its outcome`,
      fail: `Rescan from here: "node-ledger rescan --from-block ${found.fromBlock}".`,
      reading: found,
    }
  },

  'payments.unproven': async ({ pool }) => {
    const unproven = await readUnproven(pool)
    if (unproven.length === 0) return null
    return {
      says: `${unproven.length} payments rest on one provider alone, the newest ${unproven[0]}: they are not minted`,
      fail: `Compare them with an explorer. If the chain has them, a provider of RPC_URL lags or lacks them; if not, one of them lies: replace it. If RPC_URL names only one: ${BELIEVED_TODO}`,
      reading: { payments: unproven },
    }
  },

  'nodes.unpaid': async ({ pool }) => {
    const unpaid = await listUnpaidNodes(pool, { open: true, before: null, limit: UNPAID_MAX })
    if (unpaid.length === 0) return 'every node is paid for or granted'
    const nodes = unpaid.map(({ id }) => id)
    return {
      says: `${nodes.length === UNPAID_MAX ? 'at least ' : ''}${nodes.length} nodes without payment or grant, the newest node ${nodes[0]}: their cohorts are not credited`,
      fail: `Did you mint them yourself? Then "node-ledger nodes grant <node>"; "node-ledger nodes unpaid --open" lists them. If not, the minter's key is stolen: ${STOLEN_KEY}`,
      reading: { nodes },
    }
  },

  'transactions.reverted': async ({ pool, signers }) => {
    const { reverted, pending } = await readRecentTrouble(pool, signers)
    const reading = { reverted, pending }
    if (reverted === 0) return { says: `none reverted in the last day, ${pending} pending`, reading }
    const todo = '"node-ledger transactions list" shows them. Reverts cost gas.'
    return { says: `${reverted} of our transactions reverted in the last day`, warn: todo, reading }
  },

  'transactions.rest': async ({ pool, signers }) => {
    const { cooldowns } = await readRecentTrouble(pool, signers)
    if (cooldowns === 0) return null
    const todo = 'See the audit log ("node-ledger audit list --action senderRests").'
    return { says: 'a signer account pauses after reverts in a row', warn: todo, reading: { rests: cooldowns } }
  },

  'transactions.pending': async ({ pool, signers }) => {
    const { pending, oldestPendingSec } = await readRecentTrouble(pool, signers)
    if (pending === 0 || (oldestPendingSec ?? 0) <= STUCK_SEC) return null
    const todo = 'The service raises its fee; check that the sender has funds and the provider is up.'
    return {
      says: `a transaction has waited ${Math.round(oldestPendingSec ?? 0)} s for a block`,
      warn: todo,
      reading: { pending, oldestPendingSec },
    }
  },

  'transactions.funds': async ({ pool, signers }) =>
    (await readRecentTrouble(pool, signers)).unfunded.map((sender) => ({
      says: `providers reject a pending transaction of ${sender} for lack of funds`,
      fail: `Send ether to ${sender}. On a rollup our estimate lacks the fee for L1 data, so keep more there than "funds" asks for. A higher gas price would not help, so we do not offer one.`,
      reading: { sender },
    })),

  'keys.foreign': async ({ pool }) => {
    const { foreign } = await readThefts(pool)
    if (foreign.length === 0) return 'no key of ours was used elsewhere within a week'
    return {
      says: `within a week our keys signed ${foreign.length} times without this ledger, the newest ${foreign[0]}`,
      fail: `Was the ledger restored from a backup? Then they are its own transactions. Did you send them yourself? Never do that with these keys. If neither, the key is stolen: ${STOLEN_KEY}`,
      reading: { transactions: foreign },
    }
  },

  'payments.refs': async ({ pool }) => {
    const { refs } = await readThefts(pool)
    if (refs.length === 0) return 'no payment’s node belongs to a wallet other than the payer'
    return {
      says: `the nodes of ${refs.length} payments were minted to another wallet, the newest payment ${refs[0]}`,
      fail: `The minter’s key is stolen: ${STOLEN_KEY} These payments are refunded or dismissed: their refs stay used.`,
      reading: { refs },
    }
  },

  'cohorts.intervals': async ({ pool }) => {
    const unusual = await readUnusualCohorts(pool)
    if (unusual.length === 0) return 'every cohort’s interval and phase come from the ledger’s terms'
    const odd = unusual.filter((cohort) => cohort.odd).map(({ cohort }) => cohort)
    const named = unusual.map(({ cohort, intervalSec }) => `${cohort} (${intervalSec} s)`).join(', ')
    return {
      says: `cohorts ${named} have intervals or phases that were never in the terms${odd.length === 0 ? '' : `; not credited: ${odd.join(', ')}`}`,
      warn: `Did the owner set them? If not, check whether a key was stolen: ${STOLEN_KEY}`,
      reading: { cohorts: unusual },
    }
  },
}

function lookAtRuns(name: 'payments' | 'credit'): Look<LedgerExamined> {
  return async ({ pool, config: { staleAfterSec, SCHEDULER } }) => {
    const run = (await readRuns(pool)).find((candidate) => candidate.name === name)
    const who = SCHEDULER
      ? 'Start the service, or find out from its log why its timer does not run.'
      : `SCHEDULER is off: have a scheduler call /api/cron/${name}, or set SCHEDULER=on.`
    if (!run) return { says: `the ${name} pass has never run`, fail: who }
    const { error, secondsAgo, secondsWithoutSuccess } = run
    const ran = `the ${name} pass ran ${Math.round(secondsAgo)} s ago`
    const stale = isStale(run, staleAfterSec)
    if (stale && secondsAgo > staleAfterSec)
      return { says: `${ran}, more than ${staleAfterSec} s`, fail: who, reading: run }
    const halt = await readHalt(pool)
    const next = (todo: string) => (error !== null && halt ? 'See passes.halt.' : todo)
    const stopped = error === null ? ran : `${ran} and stopped: ${error}`
    if (stale) {
      const todo = next('Fix the fault named above. The log has it at level error.')
      return {
        says: `${stopped}; no run has succeeded for ${Math.round(secondsWithoutSuccess ?? 0)} s`,
        fail: todo,
        reading: run,
      }
    }
    const todo = error !== null && next('The next run tries again. If the fault lasts, fix it.')
    return { says: stopped, warn: todo, reading: run }
  }
}

async function tiersOnSale(pool: Pool): Promise<string[]> {
  const latest = new Map((await readTierVersions(pool)).map((tier) => [tier.tierId, tier]))
  return [...latest.values()].filter((tier) => tier.onSale).map((tier) => tier.tierId)
}
