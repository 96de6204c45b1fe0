// Edge cases: a second instance with other settings, floods of junk, unreadable holdings, signers that do not sign,
// transactions cancelled by hand, and the operator's decisions, also during reorganisations. Drawn from separate dice,
// so the rest of a seed stays the same.
import type { Hex } from 'viem'
import { operatorDeps } from '../../src/boot/app.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { dismissPayment, releasePayment } from '../../src/operator/acts/decide.ts'
import { cancelRefund, prepareRefund } from '../../src/operator/acts/refunds/prepare.ts'
import { refundPayment } from '../../src/operator/acts/refunds/record.ts'
import { createDice, type Dice } from '../support/faults/dice.ts'
import type { Answer } from '../support/faults/names.ts'
import { ETHER } from '../support/world.ts'
import { BUYERS, send } from './acts.ts'
import { reorganise } from './mishaps.ts'
import { FINAL_AFTER } from './model/rpc.ts'
import { hex, mine, type OtherSettings, type Plan, type Play, runPass, startInstance } from './play.ts'
import { count } from './tally.ts'

/** Settings in which a second instance may differ from the first, by name. */
export const OTHER_SETTINGS: Record<string, OtherSettings> = {
  'no keys': { without: ['minter', 'distributor'] },
  'no minter': { without: ['minter'] },
  'no distributor': { without: ['distributor'] },
  'one block deep': { rules: { finality: 1 } },
  'final blocks only': { rules: { finality: 'finalized' } },
  '9,999 blocks deep': { rules: { finality: 9_999 } },
  'calls good for a minute': { rules: { validForSec: 60 } },
  'calls good for an hour': { rules: { validForSec: 3_600 } },
  'a fee cap of 1 wei': { rules: { feeCapWei: 1n } },
  'no fee cap': { rules: { feeCapWei: ETHER } },
  'no tip': { rules: { tipMaxWei: 0n } },
  'any tip': { rules: { tipMaxWei: ETHER } },
  'rounds from swaps': { rules: { distMode: 'swaps' } },
  'holdings asked for once': { rules: { holdingRetrySec: 0 } },
}

/** Accounts that only send junk. */
const JUNK_SENDERS = [12, 13, 14]
const JUNK_MIN = 10
const JUNK_MAX = 40
/** Bad answers for a holding: an error, two words, nothing. */
const UNREADABLE: readonly Answer[] = [
  { error: { code: -32000, message: 'missing trie node' } },
  { result: `0x${'0'.repeat(63)}1${'0'.repeat(64)}` },
  { result: '0x' },
]
const GAS = hex(21_000)
/** More than any transaction to cancel offers. */
const FEES = { maxFeePerGas: hex(2_000n * 10n ** 9n), maxPriorityFeePerGas: hex(100n * 10n ** 9n) }
/** More than any cancellation costs. */
const NEEDED_WEI = ETHER / 10n

type EdgeAct = (play: Play, dice: Dice) => Promise<string | null>

async function flood(play: Play, dice: Dice): Promise<string | null> {
  const { world } = play.stage
  const many = dice.between('junk', JUNK_MIN, JUNK_MAX)
  const buyer = dice.pick('junk buyer', BUYERS)
  for (let i = 0; i < many; i++) {
    // One in ten comes from a buyer, because order matters within a wallet.
    const from = dice.roll('from a buyer') < 0.1 ? buyer : dice.pick('junk sender', JUNK_SENDERS)
    await send(play, from, world.at(3), dice.pick('junk wei', [0n, 1n]))
  }
  return `${many} transfers of 0 and 1 wei`
}

/** Restarts instance B with different settings. */
function restartB(play: Play, other: OtherSettings): void {
  play.other = other
  const [, b] = play.instances
  if (b) play.closed.push(b)
  play.instances[1] = startInstance(play, 'B')
}

/** A pending transaction of ours loses its nonce to another one, sent with the key by hand. */
async function cancel(play: Play, dice: Dice): Promise<string | null> {
  const { chain, observer } = play.stage
  const pending = await observer<{ sender: Address; nonce: number }[]>`
    SELECT sender, nonce FROM outbox WHERE state = 'pending' ORDER BY id`
  if (pending.length === 0) return null
  const { sender, nonce } = dice.pick('cancelled', pending)
  const [next, balance] = await Promise.all(
    ['eth_getTransactionCount', 'eth_getBalance'].map((method) => chain.rpc<Hex>(method, [sender, 'latest'])),
  )
  if (Number(next) > nonce || BigInt(balance ?? 0) < NEEDED_WEI) return null
  const cancelling = { from: sender, to: sender, value: '0x0', nonce: hex(nonce), gas: GAS, ...FEES }
  // The pool refuses a second one with the same nonce.
  const txHash = await chain.send(cancelling as never).catch(() => null)
  if (txHash === null) return null
  play.foreign.push(txHash)
  return `nonce ${nonce} of ${sender} is used by hand`
}

interface Undecided {
  id: number
  ref: Hash
  from: Address | null
  value: bigint
  /** A mint that carries it has been signed. */
  wasSigned: boolean
  /** For an internal transfer: the block to which the decision applies. */
  onlyIn: Hash | null
}

/** One of the payments in these states, by the dice; null if there is none. */
async function pickPayment({ stage }: Play, dice: Dice, states: readonly string[]): Promise<Undecided | null> {
  const found = await stage.observer<Undecided[]>`
    SELECT id, ref, from_address AS "from", value_wei AS value, EXISTS (SELECT FROM outbox o WHERE o.call -> 'orders' @>
      jsonb_build_array(jsonb_build_object('ref', p.ref))) AS "wasSigned",
      CASE WHEN inner_index > 0 THEN block_hash END AS "onlyIn"
    FROM payments p WHERE state = ANY(${[...states]}) ORDER BY id`
  return found.length > 0 ? dice.pick('decided', found) : null
}

const OPERATOR = { name: 'operator', requestId: null }

/** The operator releases or dismisses a held payment. If the service refuses, nothing happens. */
async function decide(play: Play, dice: Dice, kind: 'release' | 'dismissal'): Promise<string | null> {
  const { pool } = play.stage
  const payment = await pickPayment(play, dice, ['held'])
  if (!payment) return null
  const { id, ref, from, wasSigned, onlyIn } = payment
  const act = kind === 'release' ? releasePayment : dismissPayment
  const input = { payment: id, reason: 'as the dice will' }
  const outcome = await act({ pool }, OPERATOR, input)
  // The operator names the tier if the amount names none.
  const named = isOperatorRefusal(outcome) && kind === 'release' && outcome.because === 'invalid'
  const decided = named ? await act({ pool }, OPERATOR, { ...input, tierId: 'plus' }) : outcome
  if (isOperatorRefusal(decided)) return null
  play.decided.set(ref, { kind, wasSigned, onlyIn })
  // A gift to the wallet does not count against its allowance.
  if (from) play.traded.add(from)
  return `${kind} of ${ref}`
}

/** Now and then reorganises blocks right after a decision. */
async function decideOnSand(play: Play, dice: Dice, kind: 'release' | 'dismissal'): Promise<string | null> {
  const told = await decide(play, dice, kind)
  if (!told || dice.roll('on sand') < 0.4) return told
  count(play.tally, 'decision taken back')
  return `${told}, then ${await reorganise(play)}`
}

/** The account that sends refunds. */
const TREASURY = 15
/** Longer than any call is valid, in the seeds that do not give it an hour. */
const CALLS_OVER_SEC = 1_000

/** The operator refunds a payment in two steps and in their order: not before the service says that it is safe. */
async function refund(play: Play, dice: Dice): Promise<string | null> {
  const { pool, world } = play.stage
  const finality = play.rules.finality ?? 'guarded'
  const deps = operatorDeps({ ...world.ctx, pool, rules: { ...world.ctx.rules, finality } }, pool)
  const payment = await pickPayment(play, dice, ['seen', 'accepted', 'minting', 'held', 'dismissed'])
  if (!payment?.from) return null
  const { id, ref, from, value, wasSigned } = payment
  const ask = () => prepareRefund.unguarded(deps, OPERATOR, { payment: id })
  if (isOperatorRefusal(await ask())) return null
  play.traded.add(from)
  if (dice.roll('given up') < 0.2) {
    await cancelRefund(deps, OPERATOR, { payment: id })
    play.decided.delete(ref)
    count(play.tally, 'refund given up')
    return `the refund of ${ref} is given up`
  }
  play.decided.set(ref, { kind: 'refunding', wasSigned, onlyIn: null })
  const pass = () => runPass(play, 0, 'payments', { kind: 'nothing' })
  if (dice.roll('on sand') < 0.3) play.log.push(`  ${await reorganise(play)}`)
  await mine(play, CALLS_OVER_SEC)
  for (let i = 0; i <= FINAL_AFTER; i++) await mine(play, 1)
  await pass()
  const prepared = await ask()
  if (isOperatorRefusal(prepared) || !prepared.sendNow) return `the refund of ${ref} is prepared`
  const refundTxHash = await send(play, TREASURY, from, value)
  play.decided.set(ref, { kind: 'refund', wasSigned: false, onlyIn: null })
  await mine(play, 1)
  if (dice.roll('on sand') < 0.4) play.log.push(`  ${await reorganise(play)}`)
  await pass()
  const recorded = await refundPayment(deps, OPERATOR, { payment: id, refundTxHash })
  if (!isOperatorRefusal(recorded)) count(play.tally, 'refund recorded')
  return `${ref} is paid back${isOperatorRefusal(recorded) ? `, and not recorded: ${recorded.message}` : ''}`
}

/** Every act by its name. Null: there was nothing to act on. */
export const EDGE_ACTS: Record<string, EdgeAct> = {
  'junk flood': flood,
  async 'other settings'(play, dice) {
    // Without a guard so few confirmations are the operator's risk.
    const names = Object.keys(OTHER_SETTINGS).filter((name) => play.facts.guardUsable || name !== 'one block deep')
    const name = dice.pick('settings', names)
    restartB(play, OTHER_SETTINGS[name] ?? {})
    count(play.tally, `settings ${name}`)
    return `B is started with other settings: ${name}`
  },
  async 'same settings'(play) {
    if (Object.keys(play.other).length === 0) return null
    restartB(play, {})
    return 'B is started with the settings of A'
  },
  async 'unreadable holdings'(play, dice) {
    play.tokenAnswer = dice.pick('unreadable', UNREADABLE)
    return 'no holding can be read'
  },
  async 'readable holdings'(play) {
    if (!play.tokenAnswer) return null
    play.tokenAnswer = null
    return 'holdings can be read again'
  },
  async 'silent signer'(play, dice) {
    const role = dice.pick('silent', ['minter', 'distributor'] as const)
    play.silent.add(role)
    return `the ${role}'s signer does not sign`
  },
  async 'signing again'(play) {
    if (play.silent.size === 0) return null
    play.silent.clear()
    return 'all signers sign'
  },
  'cancelled transaction': cancel,
  release: (play, dice) => decideOnSand(play, dice, 'release'),
  dismissal: (play, dice) => decideOnSand(play, dice, 'dismissal'),
  refund,
}

/** Weight of each in the draw, relative to the others. */
const WEIGHTS: Record<string, number> = {
  'junk flood': 2,
  'other settings': 4,
  'same settings': 2,
  'unreadable holdings': 2,
  'readable holdings': 3,
  'silent signer': 2,
  'signing again': 3,
  'cancelled transaction': 5,
  release: 4,
  dismissal: 5,
  refund: 5,
}
const DRAWN = Object.keys(EDGE_ACTS).flatMap((name) => Array<string>(WEIGHTS[name] ?? 1).fill(name))

/** Events that may come in the middle of a pass. */
export const EDGE_INTERRUPTS: Record<string, EdgeAct> = {
  'a transaction is cancelled': cancel,
  'a payment is released': (play, dice) => decide(play, dice, 'release'),
  'a payment is dismissed': (play, dice) => decide(play, dice, 'dismissal'),
  async 'the signers fall silent'(play) {
    for (const role of ['minter', 'distributor'] as const) play.silent.add(role)
    return 'the signers fall silent'
  },
}

/** In half of the seeds there are edge cases now and then. */
const BUSY = 0.5
const OFTEN = 0.6
const INTERRUPTS = 0.25
/** The request of a pass before which something happens. */
const REQUEST_MAX = 24
/** With this offset, no kept seed (seeds.json) has them, so those still play what they were kept for. */
const DICE_OFFSET = 2_000_048

/**
 * Returns the dice of a part of the market that is busy in a `share` of the seeds, null in the others. Its draws come
 * from a separate seed, `offset` from the play's, so those of the other parts do not change.
 */
export function diceWhereBusy(offset: number, share: number): (play: Play) => Dice | null {
  const diceOf = new WeakMap<Play, Dice | null>()
  return (play) => {
    const known = diceOf.get(play)
    if (known !== undefined) return known
    const fresh = createDice(play.seed + offset)
    const dice = fresh.roll('busy') < share ? fresh : null
    diceOf.set(play, dice)
    return dice
  }
}

/** The dice of a seed's edge cases; null if it has none. */
const edgeDice = diceWhereBusy(DICE_OFFSET, BUSY)

/** Draws whether an edge case comes, and plays it. */
export async function edgeActs(play: Play): Promise<void> {
  const dice = edgeDice(play)
  if (!dice || dice.roll('acts') >= OFTEN) return
  const name = dice.pick('act', DRAWN)
  const told = await EDGE_ACTS[name]?.(play, dice)
  if (!told) return
  count(play.tally, `act ${name}`)
  play.log.push(`  ${told}`)
}

/** Draws one for the middle of a run; null for nothing. */
export function edgePlan(play: Play): Plan | null {
  const dice = edgeDice(play)
  if (!dice || dice.roll('interrupts') >= INTERRUPTS) return null
  const what = dice.pick('interrupt', Object.keys(EDGE_INTERRUPTS))
  const act = async () => {
    const told = await EDGE_INTERRUPTS[what]?.(play, dice)
    if (told) count(play.tally, `meanwhile ${what}`)
  }
  return { kind: 'interrupt', request: dice.between('request', 0, REQUEST_MAX), what, act }
}

/** Removes every obstacle. */
export function calmEdges(play: Play): void {
  play.tokenAnswer = null
  play.silent.clear()
}
