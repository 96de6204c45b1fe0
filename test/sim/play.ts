// One running seed: its dice, its log, the instances of the service, and the acts so far that the checks depend on.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Hex } from 'viem'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import type { Rpc } from '../../src/chain/rpc/rpc.ts'
import { localSigner, type Signer } from '../../src/chain/send/signer.ts'
import { createSignerAccount } from '../../src/chain/send/signer-account.ts'
import { claimer } from '../../src/claims/claim.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { type Failpoint, Killed, watchFailpoints } from '../../src/lib/failpoint.ts'
import { creditPass } from '../../src/passes/credit.ts'
import { paymentsPass } from '../../src/passes/payments.ts'
import type { ChainFacts } from '../../src/ports/chain.ts'
import type { AccountRole, PassContext, Rules } from '../../src/ports/contexts.ts'
import { SignerFault } from '../../src/ports/faults.ts'
import { createDice, type Dice } from '../support/faults/dice.ts'
import type { Answer, Call, Fault } from '../support/faults/names.ts'
import type { SendRules } from '../support/faults/send-rules.ts'
import { contextOf } from '../support/world.ts'
import { passRequest } from './clock.ts'
import type { Lying } from './liars/liar.ts'
import { type BadTraces, traceBadly } from './payers/faults.ts'
import { Provider } from './provider.ts'
import { FIRST_BLOCK, type Stage, sendRulesFor } from './stage.ts'
import { count, type Tally } from './tally.ts'

/** Requests that an instance can serve; a claim names a drawn transaction. */
export type PassName = 'payments' | 'credit' | 'claim'

/** The event in the middle of one run of a pass. */
export type Plan =
  | { kind: 'nothing' }
  /** The instance dies at a failpoint of the passes, or at its nth request. */
  | { kind: 'dieAt'; point: Failpoint; skip: number }
  | { kind: 'dieAtRequest'; request: number }
  /** The nth request waits until this is done. */
  | { kind: 'interrupt'; request: number; what: string; act: () => Promise<void> }

/** One instance of the service, as long as it lives. */
export interface Instance {
  name: string
  dead: boolean
  plan: Plan
  /** Requests of the present run. */
  requests: number
  /** Resolves with what came in the middle of the run. */
  interruption: Promise<void>
  ctx: PassContext
  passes: Record<PassName, () => Promise<unknown>>
  close(): Promise<void>
}

export interface Play {
  stage: Stage
  seed: number
  dice: Dice
  tally: Tally
  log: string[]
  rules: Partial<Rules>
  /** The chain's facts, such as whether its contracts see blocks by the hashes that providers name. If not, waiting replaces the guard. */
  facts: ChainFacts
  weather: { rate: number; faults: readonly Fault[] }
  providers: number
  instances: Instance[]
  /** Lowest base fee of the next blocks. */
  baseFeeWei: bigint
  /** Versions of the tiers' prices and sale, as entered. */
  terms: Terms[]
  /** Wallets whose payments a reorganisation removed, and wallets that gave or received nodes. */
  dropped: Set<Address>
  traded: Set<Address>
  /** Transactions sent with our senders' keys outside the outbox. */
  foreign: Hash[]
  /** Transactions that buyers sent, for claims; and those that a claim called no sale. */
  sent: Hash[]
  refused: Set<Hash>
  /** Restores the ledger to an earlier moment of this seed. */
  backup: (() => Promise<void>) | null
  /** Final blocks were reorganised, so the passes halt until the operator has looked. */
  pastFinal: boolean
  /** From then on payments may be held for the operator's review. */
  restored: boolean
  /** The last event that some failpoints wait for. */
  lately: 'reorganisation' | 'stuck' | null
  sendRules: SendRules
  closed: Instance[]
  /** Settings of instance B, if they differ from A's. */
  other: OtherSettings
  /** Every provider's answer for the token while no holding is readable. */
  tokenAnswer: Answer | null
  /** Accounts whose signer does not sign. */
  silent: Set<AccountRole>
  /** The ways in which every provider traces badly; null: correctly. */
  badTraces: BadTraces | null
  /** The lie of this seed, and who tells it; null: no one lies. */
  lying: Lying | null
  /** Contracts that at some time were proven to be someone's: allowed, or signed in. */
  everShown: Set<Address>
  /** The operator's last decision about a payment, by its ref. */
  decided: Map<Hash, Decision>
}

export interface OtherSettings {
  rules?: Partial<Rules>
  /** Accounts whose keys it lacks. */
  without?: readonly AccountRole[]
}

export interface Decision {
  /** `refund`: the ether was sent back, once the service had permitted it. */
  kind: 'release' | 'dismissal' | 'refunding' | 'refund'
  /** A mint that carries the payment had been signed before, so it may still land after a reorganisation. */
  wasSigned: boolean
  /** The only block in which a release or a dismissal of an internal transfer holds; null for any. */
  onlyIn: Hash | null
}

export interface Terms {
  tierId: string
  priceWei: bigint
  onSale: boolean
  fromBlock: number
  fromTime: number
}

/** A claim looks twice, and at most waits for the pass it started, because time stands still here. */
const POLL_POLICY = { readMs: 600_000, waitMs: 600_000, looksMax: 2, pauseMs: 0 }
/** A claim names one of the last transactions. */
const CLAIMABLE = 6

const running = new AsyncLocalStorage<Instance>()

/** The end of an instance; only the caller that started the pass catches it. */
class Died extends Killed {
  override readonly name = 'Died'
}

/** Makes the failpoints of the passes kill the instance that reaches them. */
export function armInstances(tally: () => Tally): void {
  watchFailpoints((point) => {
    const instance = running.getStore()
    if (!instance || instance.dead) return
    const { plan } = instance
    if (plan.kind !== 'dieAt' || plan.point !== point || plan.skip-- > 0) return
    instance.dead = true
    count(tally(), `point ${point}`)
    throw new Died(`at ${point}`)
  })
}

export function createPlay(stage: Stage, seed: number): Omit<Play, 'rules' | 'facts' | 'weather' | 'providers'> {
  const sendRules = sendRulesFor(stage.chain)
  return {
    stage,
    seed,
    sendRules,
    dice: createDice(seed),
    tally: new Map(),
    log: [],
    instances: [],
    closed: [],
    baseFeeWei: 0n,
    terms: [],
    dropped: new Set(),
    traded: new Set(),
    foreign: [],
    sent: [],
    refused: new Set<Hash>(),
    lately: null,
    backup: null,
    restored: false,
    pastFinal: false,
    other: {},
    tokenAnswer: null,
    silent: new Set(),
    decided: new Map(),
    badTraces: null,
    lying: null,
    everShown: new Set(),
  }
}

const ROLES = [
  ['minter', 1],
  ['distributor', 2],
] as const
const signers = new Map<string, Signer>()

/** The accounts with their keys, if the instance has them and their signers sign. */
function accountsOf(play: Play, rpc: Rpc, without: readonly AccountRole[] = []) {
  const { chain, factory } = play.stage
  const senderOf = (role: AccountRole, account: number) => {
    const privateKey = chain.accounts[account]?.privateKey ?? '0x'
    const signer = signers.get(privateKey) ?? localSigner(privateKey)
    signers.set(privateKey, signer)
    const sign: Signer['sign'] = async (tx) => {
      if (!play.silent.has(role)) return signer.sign(tx)
      count(play.tally, `not signed by the ${role}`)
      throw new SignerFault(`the signer of the ${role} does not answer`)
    }
    return createSignerAccount({ rpc, signer: { ...signer, sign }, chainId: chain.chainId, factory })
  }
  const senders = ROLES.map(
    ([role, account]) => [role, without.includes(role) ? null : senderOf(role, account)] as const,
  )
  const held = ROLES.filter(([role]) => !without.includes(role)).map(([, account]) => play.stage.world.at(account))
  return {
    ...(Object.fromEntries(senders) as Pick<PassContext, AccountRole>),
    // The ledger decides whose transactions to watch, not this instance's keys.
    chain: createChainReader(rpc, { factory, wallets: [], signers: held }),
  }
}

/** Starts an instance with its own clients; its predecessor's memory is gone. */
export function startInstance(play: Play, name: string): Instance {
  const { stage, dice } = play
  const providers = Array.from({ length: play.providers }, (_, place) => {
    return new Provider({
      chain: stage.chain,
      rules: play.sendRules,
      weather: { ...play.weather, dice },
      onRequest: (calls) => onRequest(play, instance, calls),
      onFault: (fault) => count(play.tally, `fault ${fault}`),
      answerInstead: (call) => answerInstead(play, place, call),
    })
  })
  const { rules: otherRules, without } = name === 'B' ? play.other : {}
  const rpc = stage.rpcOn(providers)
  const { chain, factory, database, locks } = stage
  // Each instance starts with no memory of its queries to providers about this ledger.
  const pool = new Proxy(stage.pool, {})
  const rules = { startBlock: FIRST_BLOCK, ...play.rules, ...otherRules }
  const ctx = {
    ...contextOf({ chain, rpc, pool, factory, directUrl: database.url }, rules, play.facts),
    ...accountsOf(play, rpc, without),
    ...(locks.lock && { lock: locks.lock }),
    pollPolicy: POLL_POLICY,
  }
  const payments = paymentsPass(ctx)
  const instance: Instance = {
    name,
    dead: false,
    plan: { kind: 'nothing' },
    requests: 0,
    ctx,
    interruption: Promise.resolve(),
    close: () => rpc.close(),
    passes: { payments, credit: creditPass(ctx), claim: () => claimOne(play, ctx, payments) },
  }
  return instance
}

/** A false answer of one of the providers; null for the truth. */
async function answerInstead(play: Play, place: number, call: Call): Promise<Answer | null> {
  const { stage, badTraces, tokenAnswer, lying } = play
  const told = lying && (place === 0 || lying.voices === 'both alike') ? await lying.liar.answer(call) : null
  if (told) return told
  if (tokenAnswer && isOfToken(stage, call)) return tokenAnswer
  const bad = badTraces && (await traceBadly(badTraces, call, { chain: stage.chain, firstBlock: FIRST_BLOCK }))
  if (bad) count(play.tally, `traces ${bad.fault}`)
  return bad?.answer ?? null
}

const isOfToken = ({ token }: Stage, { method, params }: Call) =>
  method === 'eth_call' && (params[0] as { to?: string }).to?.toLowerCase() === token

/** A person claims their own transaction, or another's. The passes that the claim starts end with this. */
async function claimOne(play: Play, ctx: PassContext, payments: ReturnType<typeof paymentsPass>): Promise<object> {
  if (play.sent.length === 0) return { kind: 'nothing to claim' }
  const txHash = play.dice.pick('claimed', play.sent.slice(-CLAIMABLE))
  const started: Promise<unknown>[] = []
  const claim = claimer(ctx, () => {
    const run = payments()
    started.push(run)
    return run
  })
  const spoken = play.lying?.liar.spoken()
  const outcome = await claim(txHash).finally(() => Promise.allSettled(started))
  count(play.tally, `claim ${outcome.kind}`)
  // A claim's answer is a hint, which rests on one provider. The ledger rests on proofs.
  if (outcome.kind === 'notASale' && play.lying?.liar.spoken() === spoken) play.refused.add(txHash)
  return outcome
}

async function onRequest(play: Play, instance: Instance, calls: readonly Call[]): Promise<void> {
  const request = instance.requests++
  passRequest()
  const { plan } = instance
  if (plan.kind === 'dieAtRequest' && plan.request === request) {
    instance.dead = true
    count(play.tally, 'crash at a request')
  }
  // A dead instance cannot send requests.
  if (instance.dead) throw new Died('dead')
  if (plan.kind === 'interrupt' && plan.request === request) {
    instance.plan = { kind: 'nothing' }
    play.log.push(`    ${instance.name}, before ${calls[0]?.method}: ${plan.what}`)
    count(play.tally, `interrupt ${plan.what}`)
    instance.interruption = plan.act()
    await instance.interruption
  }
  await play.stage.checkStored(calls)
}

/** Runs a pass of an instance under a plan; returns how it ended. Replaces a dead instance. */
export async function runPass(play: Play, at: number, name: PassName, plan: Plan): Promise<void> {
  const instance = play.instances[at]
  if (!instance) return
  instance.plan = plan
  instance.requests = 0
  let ending: string
  try {
    const outcome = await running.run(instance, () => instance.passes[name]())
    ending = shortOf(outcome)
  } catch (error) {
    ending = `stopped: ${error instanceof Error ? error.message : String(error)}`
    // A fault ends a pass with an error in words. An error of JavaScript's own is our bug.
    if (error instanceof TypeError || error instanceof ReferenceError) throw error
  }
  // The run may have stopped for another request before the event in the middle of this one was over.
  await instance.interruption
  instance.plan = { kind: 'nothing' }
  play.log.push(`    ${instance.name} ${name}: ${ending}`)
  if (!instance.dead) return
  play.log.push(`    ${instance.name} died and is started again`)
  count(play.tally, 'crash')
  play.closed.push(instance)
  play.instances[at] = startInstance(play, instance.name)
}

function shortOf(outcome: unknown): string {
  const entries = Object.entries(outcome as object).filter(
    ([name, value]) => name !== 'durationMs' && value !== null && value !== 0,
  )
  return entries.map(([name, value]) => `${name} ${String(value)}`).join(', ')
}

/** Mines, at a time that we choose, at the present base fee. */
export async function mine(play: Play, seconds: number): Promise<void> {
  const { chain } = play.stage
  if (play.baseFeeWei > 0n) await chain.rpc('anvil_setNextBlockBaseFeePerGas', [hex(play.baseFeeWei)])
  const { timestamp } = await chain.block()
  await chain.setNextTime(Number(timestamp) + seconds)
  await chain.mine()
}

export const hex = (value: bigint | number): Hex => `0x${value.toString(16)}`
