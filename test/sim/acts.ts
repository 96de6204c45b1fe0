// What people do between two blocks: buyers pay, rightly and wrongly; owners trade and withdraw; the operator changes
// terms; money runs short. The seed draws each act with its details, and the act goes into its log.

import { encodeFunctionData, type Hex } from 'viem'
import { factoryFullAbi } from '../../contracts/factory.full.abi.ts'
import { demoTokenAbi } from '../../src/chain/factory/abi.ts'
import { inTransaction } from '../../src/db/core/sql.ts'
import { insertTierVersion, readTierVersions } from '../../src/db/sale/tiers.ts'
import { type Address, type Hash, wei } from '../../src/domain/units.ts'
import { namingPresent } from '../support/factory.ts'
import { ETHER } from '../support/world.ts'
import { hex, type Play, runPass, startInstance } from './play.ts'
import { count } from './tally.ts'

/** Accounts of buyers. */
export const BUYERS = [5, 6, 7, 8, 9]
const BASIC = ETHER / 100n
const PLUS = ETHER / 40n
const FOUNDER = ETHER / 20n
/** Prices that only the basic tier has had or may have. */
const BASIC_PRICES = [BASIC, BASIC + 10n ** 15n, BASIC + 2n * 10n ** 15n]
const AMOUNTS = [BASIC, BASIC, BASIC, PLUS, FOUNDER, FOUNDER, ...BASIC_PRICES, BASIC + 1n, 0n]
const GAS = hex(0x200000)
/** Above any base fee a seed has, so only our own transactions get stuck. */
const FEES = { maxFeePerGas: hex(2_000n * 10n ** 9n), maxPriorityFeePerGas: hex(10n ** 9n) }
/** Refuses everything sent to it. */
const REFUSING_CODE = '0x60006000fd'
/** A balance that runs short, and one that does not. */
const SHORT = 10n ** 12n
const FULL = 10_000n * ETHER

/** Far above the offer of a transaction signed in quiet times, below the cap of the rules. */
export const HIGH_FEE_WEI = 60n * 10n ** 9n

type Act = (play: Play) => Promise<string | null>

/** Sends a transaction of an account. */
export async function send(play: Play, from: number, to: Address, value: bigint, data: Hex = '0x'): Promise<Hash> {
  const { chain, world } = play.stage
  // A contract's code runs at any transfer.
  const gas = data === '0x' && to !== play.stage.factory ? hex(21_000) : GAS
  return chain.send({ from: world.at(from), to, value: hex(value), data, gas, ...FEES } as never)
}

async function pay(play: Play, from: number, amount: bigint): Promise<void> {
  play.sent.push(await send(play, from, play.stage.world.at(3), amount))
}
const buyer = (play: Play) => play.dice.pick('buyer', BUYERS)

/** Calldata of any function of the factory. */
export function callOf(functionName: string, args: readonly unknown[]): Hex {
  const abi = factoryFullAbi.filter((item) => item.type === 'function' && item.name === functionName)
  return encodeFunctionData({ abi, functionName, args } as never)
}

async function payOnce(play: Play): Promise<string> {
  const [from, amount] = [buyer(play), play.dice.pick('amount', AMOUNTS)]
  await pay(play, from, amount)
  return `account ${from} pays ${amount}`
}

/** More payments for a tier than its allowance permits. */
async function race(play: Play): Promise<string> {
  const from = buyer(play)
  const times = play.dice.between('race', 3, 7)
  const amount = play.dice.pick('raced', [PLUS, PLUS, BASIC, FOUNDER])
  for (let i = 0; i < times; i++) await pay(play, from, amount)
  return `account ${from} pays ${amount} ${times} times at once`
}

/** Gives away, withdraws from, or claims to own, a node of the chain. */
async function ownersAct(play: Play): Promise<string | null> {
  const { factory, world } = play.stage
  const last = Number(await world.read<bigint>('lastId'))
  if (last === 0) return null
  const id = BigInt(play.dice.between('node', 1, last))
  const [owner, balance] = await world.read<[string, bigint]>('nodeInfo', [id])
  const account = BUYERS.find((one) => world.at(one) === owner.toLowerCase())
  if (account === undefined) return null
  const kind = play.dice.pick('owner', ['transfer', 'withdraw', 'withdraw', 'withdrawAll', 'tooMuch', 'stranger'])
  const to = world.at(buyer(play))
  if (kind === 'transfer') {
    for (const wallet of [owner.toLowerCase() as Address, to]) play.traded.add(wallet)
    await send(play, account, factory, 0n, callOf('transferFrom', [owner, to, id]))
  } else if (kind === 'withdrawAll') await send(play, account, factory, 0n, callOf('withdrawAll', [[id], to]))
  else {
    const from = kind === 'stranger' ? buyer(play) : account
    const amount = kind === 'tooMuch' ? balance + 1n : balance / 2n || 1n
    await send(play, from, factory, 0n, callOf('withdraw', [id, to, amount]))
  }
  count(play.tally, `owner ${kind}`)
  return `account ${account}: ${kind} of node ${id}`
}

/** The next version of the basic tier: another price, or off sale, or on again. */
async function changeTerms(play: Play): Promise<string> {
  const { chain, observer } = play.stage
  const head = await chain.block()
  const now = (await readTierVersions(observer)).filter((version) => version.tierId === 'basic').at(-1)
  if (!now) throw new Error('there is no basic tier')
  const onSale = play.dice.roll('on sale') < 0.7
  const terms = {
    tierId: 'basic',
    priceWei: play.dice.pick('price', BASIC_PRICES),
    onSale,
    fromBlock: Number(head.number) + 1,
    fromTime: Number(head.timestamp) + 1,
  }
  const tier = { ...now, ...terms, priceWei: wei(terms.priceWei), holdingSymbol: null, holdingDecimals: null }
  await inTransaction(observer, (sql) => insertTierVersion(sql, tier, 'operator'))
  play.terms.push(terms)
  return `basic costs ${terms.priceWei} ${onSale ? '' : 'and is off sale '}from block ${terms.fromBlock}`
}

/** A buyer gets demo tokens, or sends them away. */
async function moveTokens(play: Play): Promise<string> {
  const { token, world } = play.stage
  const who = buyer(play)
  const comes = play.dice.roll('comes') < 0.6
  const [from, to] = comes ? [4, world.at(who)] : [who, world.at(4)]
  const args = [to, 1_000n * ETHER]
  await send(play, from, token, 0n, encodeFunctionData({ abi: demoTokenAbi, functionName: 'transfer', args } as never))
  return `1000 tokens ${comes ? 'to' : 'from'} account ${who}`
}

/** The wallet has code that refuses, so a payment now is in the block, but failed. */
async function payInVain(play: Play): Promise<string> {
  const { chain, world } = play.stage
  await chain.rpc('anvil_setCode', [world.at(3), REFUSING_CODE])
  const from = buyer(play)
  await pay(play, from, BASIC)
  return `account ${from} pays in vain`
}

const setBalance = ({ stage: { chain } }: Play, of: Address, wei: bigint) => chain.setBalance(of, wei)

async function isShort({ stage: { chain, world } }: Play, account: number): Promise<boolean> {
  return BigInt(await chain.rpc<Hex>('eth_getBalance', [world.at(account), 'latest'])) < ETHER
}

/** The contract gets its own ether, and permission to spend it on rounds, which it pays for in that mode. */
async function fundSwaps(play: Play): Promise<void> {
  const { factory } = play.stage
  await send(play, 10, factory, ETHER)
  const args = await namingPresent(play.stage.world.read, 'setSwapsAllowance', [ETHER])
  await send(play, 0, factory, 0n, callOf('setSwapsAllowance', args))
}

/** An old backup replaces the ledger, the operator's worst case; all instances restart. */
async function restoreBackup(play: Play): Promise<string | null> {
  const { backup, stage, instances, closed, foreign } = play
  if (!backup) return null
  // Calls that the lost ledger had sent are on chain, and this one never stored them.
  const sent = await stage.observer<{ hash: Hash }[]>`SELECT tx_hash AS hash FROM outbox_attempts`
  foreign.push(...sent.map(({ hash }) => hash))
  await backup()
  play.restored = true
  closed.push(...instances)
  play.instances = [startInstance(play, 'A'), startInstance(play, 'B')]
  return 'an old backup is restored'
}

/** Every act by its name. Null: there was nothing to act on. */
export const ACTS: Record<string, Act> = {
  payment: payOnce,
  race,
  async 'self payment'(play) {
    await pay(play, 3, BASIC)
    return 'the payments wallet pays itself'
  },
  async outflow(play) {
    await send(play, 3, play.stage.world.at(10), 7n)
    return 'the payments wallet pays somebody'
  },
  'failed payment': payInVain,
  async 'unseen payment'(play) {
    const { payers, world } = play.stage
    const from = buyer(play)
    await send(play, from, payers.forwarder, BASIC, `0x${world.at(3).slice(2).padStart(64, '0')}`)
    return `account ${from} pays by way of a contract`
  },
  owner: ownersAct,
  terms: changeTerms,
  tokens: moveTokens,
  async pause(play) {
    await send(play, 0, play.stage.factory, 0n, callOf('pause', []))
    return 'the contract is paused'
  },
  async unpause(play) {
    await send(play, 0, play.stage.factory, 0n, callOf('unpause', []))
    return 'the contract is not paused any more'
  },
  async interval(play) {
    const cohort = BigInt(play.dice.between('cohort', 1, 6))
    const interval = BigInt(play.dice.pick('interval', [300, 600, 900]))
    await send(play, 0, play.stage.factory, 0n, callOf('setInterval', [cohort, interval]))
    return `cohort ${cohort} is to pay every ${interval} s`
  },
  async 'short purse'(play) {
    const account = play.dice.pick('purse', [1, 2])
    await setBalance(play, play.stage.world.at(account), SHORT)
    return `account ${account} is short of money`
  },
  async 'full purse'(play) {
    for (const account of [1, 2]) await setBalance(play, play.stage.world.at(account), FULL)
    return 'the senders have money'
  },
  async 'high fees'(play) {
    play.baseFeeWei = HIGH_FEE_WEI
    return 'fees are high'
  },
  async 'low fees'(play) {
    play.baseFeeWei = 10n ** 9n
    return 'fees are low'
  },
  async 'foreign use'(play) {
    const account = play.dice.pick('key', [1, 2])
    if (await isShort(play, account)) return null
    play.foreign.push(await send(play, account, play.stage.world.at(11), 1n))
    return `account ${account}'s key is used elsewhere`
  },
  async backup(play) {
    const restore = await play.stage.backUp()
    const known = play.terms.length
    play.backup = async () => {
      await restore()
      play.terms.length = known
    }
    return 'a backup is taken'
  },
  'restored backup': restoreBackup,
  async swaps(play) {
    if (play.rules.distMode !== 'swaps') return null
    await fundSwaps(play)
    return 'the contract has ether for rounds'
  },
  async claim(play) {
    await runPass(play, play.dice.between('instance', 0, 1), 'claim', { kind: 'nothing' })
    return 'somebody claims'
  },
  async eviction(play) {
    await play.stage.chain.rpc('anvil_dropAllTransactions', [])
    return 'the pool forgets everything'
  },
}

/** Weight of each in the draw, relative to the others. */
const WEIGHTS: Record<string, number> = {
  payment: 30,
  race: 6,
  'self payment': 1,
  outflow: 2,
  'failed payment': 3,
  'unseen payment': 2,
  owner: 14,
  terms: 4,
  tokens: 5,
  pause: 2,
  unpause: 3,
  interval: 2,
  'short purse': 2,
  'full purse': 3,
  'high fees': 4,
  'low fees': 3,
  eviction: 3,
  'foreign use': 3,
  claim: 3,
  backup: 4,
  'restored backup': 8,
  swaps: 4,
}
const DRAWN = Object.keys(ACTS).flatMap((name) => Array<string>(WEIGHTS[name] ?? 1).fill(name))

/** Draws one act and does it. */
export async function act(play: Play): Promise<void> {
  const name = play.dice.pick('act', DRAWN)
  const told = await ACTS[name]?.(play)
  if (!told) return
  count(play.tally, `act ${name}`)
  play.log.push(`  ${told}`)
}

/** Undoes what a test did to accounts, not to the chain. */
export async function mendWallet({ stage: { chain, world } }: Play): Promise<void> {
  await chain.rpc('anvil_setCode', [world.at(3), '0x'])
}

/** Removes every obstacle: all open work must now come to rest. */
export async function calm(play: Play): Promise<void> {
  await ACTS['full purse']?.(play)
  await ACTS['low fees']?.(play)
  await mendWallet(play)
  await ACTS.unpause?.(play)
  await ACTS.swaps?.(play)
}

/** Of three hours one has its price from its first step on, one after it is over, and one never. */
export async function notePrice({ stage: { chain, observer } }: Play): Promise<void> {
  const hour = Math.floor(Number((await chain.block()).timestamp) / 3600)
  const priced = hour % 3 === 0 ? hour : hour % 3 === 2 ? hour - 1 : null
  if (priced === null) return
  await observer`INSERT INTO price_history (hour, usd, quoted_at) VALUES (to_timestamp(${priced * 3600}::bigint), 2345.25, now()) ON CONFLICT DO NOTHING`
}
