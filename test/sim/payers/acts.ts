// Acts of paying contracts, and of the operator who decides which of them may buy: forwarders, a splitter, contracts
// that destroy themselves or never existed, a delegating account, ether that leaves by a call, modes, allowed wallets,
// sign-ins, and providers that trace badly. Drawn from separate dice, so the rest of a seed stays the same.
import { proveWallet } from '../../../src/db/payments/payers.ts'
import { CONTRACT_WALLET_MODES } from '../../../src/domain/payers/payer.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import {
  allowContractWallet,
  disallowContractWallet,
  setContractWallets,
} from '../../../src/operator/acts/contract-wallets.ts'
import type { Hex } from '../../support/anvil.ts'
import type { Dice } from '../../support/faults/dice.ts'
import { forwardTo, leakOf, splitTo } from '../../support/forwarder.ts'
import { ETHER } from '../../support/world.ts'
import { BUYERS } from '../acts.ts'
import { diceWhereBusy } from '../edges.ts'
import { endingCode, payingConstructor } from '../model/contracts.ts'
import { hex, mine, type Play, runPass } from '../play.ts'
import { count } from '../tally.ts'
import type { TraceFault } from './faults.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n
const AMOUNTS = [BASIC, BASIC, BASIC, PLUS, ETHER / 20n, BASIC + 1n]
/**
 * The wallet's own code sends this away. No payments add up to so many of them to the wei, because value that came and
 * went in one block to the same wei is invisible, as docs/ARCHITECTURE.md says.
 */
const LEAK_WEI = BASIC + 3n
const PAYMENTS_WALLET = 3
const STRANGER = 10
const GAS = hex(0x100000)
/** As for the other acts: above any base fee of a seed. */
const FEES = { maxFeePerGas: hex(2_000n * 10n ** 9n), maxPriorityFeePerGas: hex(10n ** 9n) }
/** Share of such payments made by a wallet of the versioned list. */
const KNOWN_SHARE = 0.4
export const KNOWN_PAID = 'payment by a known wallet'
const OPERATOR = { name: 'operator', requestId: null }

type PayersAct = (play: Play, dice: Dice) => Promise<string | null>

interface Call {
  to: Address | null
  data: Hex
  value: bigint
}

/** Sends a buyer's call. A claim may name it. */
async function send(play: Play, dice: Dice, { to, data, value }: Call): Promise<Hash> {
  const { chain, world } = play.stage
  const from = world.at(dice.pick('by', BUYERS))
  const call = { ...(to && { to }), data, value: hex(value), gas: GAS, ...FEES }
  const hash = (await chain.send({ from, ...call } as never)) as Hash
  play.sent.push(hash)
  return hash
}

const walletOf = ({ stage: { world } }: Play) => world.at(PAYMENTS_WALLET)

async function payInside(play: Play, dice: Dice, kind: 'forwarder' | 'other' | 'delegating'): Promise<string> {
  const value = dice.pick('amount', AMOUNTS)
  // From a separate stream, so a seed's other draws stay the same.
  const by = dice.roll('known wallet') < KNOWN_SHARE ? 'known' : kind
  if (by === 'known') count(play.tally, KNOWN_PAID)
  await send(play, dice, { to: play.stage.payers[by], data: forwardTo(walletOf(play)), value })
  return `${value} comes by way of the contract ${by}`
}

async function split(play: Play, dice: Dice): Promise<string> {
  const { payers, world } = play.stage
  const transfers = Array.from({ length: dice.between('shares', 2, 4) }, () => {
    const isElsewhere = dice.roll('elsewhere') < 0.2
    const value = dice.roll('dust') < 0.1 ? 1n : dice.pick('share', AMOUNTS)
    return [isElsewhere ? world.at(STRANGER) : walletOf(play), value] as const
  })
  const value = transfers.reduce((sum, [, share]) => sum + share, 0n)
  await send(play, dice, { to: payers.splitter, data: splitTo(...transfers), value })
  return `a splitter pays ${transfers.length} shares of ${value}`
}

/** The contract that the operator allows, or no longer allows. */
const allowable = ({ stage: { payers } }: Play, dice: Dice) =>
  dice.pick('allowed', [payers.forwarder, payers.other, payers.splitter, payers.ending])

/** Every act by its name. Null: there was nothing to act on. */
export const PAYERS_ACTS: Record<string, PayersAct> = {
  'payment by a forwarder': (play, dice) => payInside(play, dice, 'forwarder'),
  'payment by another forwarder': (play, dice) => payInside(play, dice, 'other'),
  'payment by a delegating account': (play, dice) => payInside(play, dice, 'delegating'),
  'split payment': split,
  async 'payment by a contract that ends'(play, dice) {
    await send(play, dice, { to: play.stage.payers.ending, data: '0x', value: dice.pick('left', AMOUNTS) })
    return 'a contract ends into the wallet'
  },
  async 'payment by a contract that is gone'(play, dice) {
    const make = dice.pick('gone', [payingConstructor, endingCode])
    await send(play, dice, { to: null, data: make(walletOf(play)), value: dice.pick('last', AMOUNTS) })
    return 'a contract pays that is gone after its transaction'
  },
  async 'inner outflow'(play, dice) {
    const wallet = walletOf(play)
    await play.stage.chain.rpc('anvil_setCode', [wallet, leakOf(LEAK_WEI)])
    for (let i = dice.between('leaks', 1, 2); i > 0; i--)
      await send(play, dice, { to: wallet, data: forwardTo(play.stage.world.at(STRANGER)), value: 0n })
    return 'the wallet has code, and sends something away by it'
  },
  async 'claim after a contract'(play, dice) {
    await mine(play, 2)
    await runPass(play, dice.between('claimed by', 0, 1), 'claim', { kind: 'nothing' })
    return 'somebody claims one of the last transactions'
  },
  async mode(play, dice) {
    const mode = dice.pick('mode', CONTRACT_WALLET_MODES)
    const { pool, world } = play.stage
    const set = await setContractWallets.unguarded({ pool, chain: world.ctx.chain }, OPERATOR, { mode })
    if (isOperatorRefusal(set)) return null
    count(play.tally, `mode ${mode}`)
    return `contract wallets: ${mode} from block ${set.fromBlock}`
  },
  async 'allowed contract'(play, dice) {
    const address = allowable(play, dice)
    const input = { address, label: 'a fund', reason: 'as the dice will' }
    if (isOperatorRefusal(await allowContractWallet({ pool: play.stage.pool }, OPERATOR, input))) return null
    play.everShown.add(address)
    return `${address} is allowed`
  },
  async 'disallowed contract'(play, dice) {
    const address = allowable(play, dice)
    const { pool } = play.stage
    return isOperatorRefusal(await disallowContractWallet({ pool }, OPERATOR, { address }))
      ? null
      : `${address} is allowed no more`
  },
  async 'contract signs in'(play) {
    const { payers, pool } = play.stage
    await proveWallet(pool, payers.other, { deployed: true })
    play.everShown.add(payers.other)
    return 'the other forwarder signs in'
  },
  async 'bad traces'(play, dice) {
    const most: TraceFault[] = ['noTraces', 'shortTrace', 'prunedStates']
    // One that names false senders may be the only one that answers.
    const together: TraceFault[] = ['falseSender', 'noTraces']
    const faults = play.providers > 1 && dice.roll('false') < 0.7 ? together : [dice.pick('trace fault', most)]
    play.badTraces = { faults, rate: dice.pick('trace rate', [0.3, 0.7, 1]), dice }
    return `traces: ${faults.join(', ')}`
  },
  async 'good traces'(play) {
    if (!play.badTraces) return null
    play.badTraces = null
    return 'traces are right again'
  },
}

/** Weight of each in the draw, relative to the others. */
const WEIGHTS: Record<string, number> = {
  'payment by a forwarder': 8,
  'payment by another forwarder': 5,
  'payment by a delegating account': 4,
  'split payment': 6,
  'payment by a contract that ends': 3,
  'payment by a contract that is gone': 3,
  'inner outflow': 3,
  mode: 6,
  'allowed contract': 3,
  'disallowed contract': 3,
  'contract signs in': 2,
  'bad traces': 8,
  'good traces': 4,
  'claim after a contract': 6,
}
const DRAWN = Object.keys(PAYERS_ACTS).flatMap((name) => Array<string>(WEIGHTS[name] ?? 1).fill(name))

/** In half of the seeds contracts pay. */
const BUSY = 0.5
const ACTS_MAX = 4
/** With this offset, no kept seed (seeds.json) has them, so those still play what they were kept for. */
const DICE_OFFSET = 3_000_420

/** The dice of a seed's contracts; null if none pays. */
const payersDice = diceWhereBusy(DICE_OFFSET, BUSY)

/** Two providers more often if contracts pay, because only then can the service detect one that names another payer. */
export function providersFor(play: Play): number {
  return (payersDice(play)?.roll('two providers') ?? 1) < 0.5 ? 2 : play.providers
}

/** Draws what contracts do, and does it. */
export async function payersActs(play: Play): Promise<void> {
  const dice = payersDice(play)
  if (!dice) return
  for (let n = dice.between('acts', 0, ACTS_MAX); n > 0; n--) {
    const name: string = dice.pick('act', DRAWN)
    const told = await PAYERS_ACTS[name]?.(play, dice)
    if (!told) continue
    count(play.tally, `act ${name}`)
    play.log.push(`  ${told}`)
  }
}

/** Removes every obstacle: traces are right, and residues are traced again at once, instead of within a day. */
export async function calmPayers(play: Play): Promise<void> {
  play.badTraces = null
  await play.stage.observer`UPDATE residue_traces SET tried_at = now() - interval '2 days'`
}
