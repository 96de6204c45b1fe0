// A history drawn from a seed and played on a chain, and everything the service could see of it, in words that two chains can
// share: names instead of hashes, times relative to the start, fees added back. It does not know which chain it is on.
import { encodeFunctionData, type Hex, keccak256, toHex } from 'viem'
import { factoryFullAbi } from '../../contracts/factory.full.abi.ts'
import { demoTokenAbi } from '../../src/chain/factory/abi.ts'
import { type Address, address, type Hash, ZERO_ADDRESS, ZERO_HASH } from '../../src/domain/units.ts'
import type { TestChain } from '../support/anvil.ts'
import { FOREVER } from '../support/factory.ts'
import { createDice, type Dice } from '../support/faults/dice.ts'
import { deployContracts, ETHER } from '../support/world.ts'
import { deployPayers, type Payers } from './payers/contracts.ts'
import { lookInside, payingCall, walletCode } from './payers/history.ts'

/** The time of a history's first block, in unix seconds: later than any clock. */
const BEGIN = 2_200_000_000
const STEP_SEC = 60
/** A reorganised block takes the clock's time, so times are compared to this precision. */
const TIME_GRAIN_SEC = 30
const CAP = 3n
const WALLETS = [5, 6, 7, 8, 9]
const TIERS = [1n, 2n]
const COHORTS = [0n, 1n, 2n, 3n, 4n, 70_000n]
const GAS = '0x400000'
/** Above any base fee a short history reaches, and the same for all, so the order of arrival decides. */
const FEES = { maxFeePerGas: toHex(100n * 10n ** 9n), maxPriorityFeePerGas: toHex(10n ** 9n) }

interface Play {
  chain: TestChain
  dice: Dice
  at(account: number): Address
  factory: Address
  token: Address
  payers: Payers
  time: number
  /** Gas fees of each account in a block, by the block's hash. */
  fees: Map<Hash, Map<string, bigint>>
  /** Transactions in the order of sending, and their names. */
  sent: Hash[]
  refs: Hash[]
}

type Act = (play: Play) => Promise<void>

/** Plays `blocks` blocks; returns what was visible, one entry per block and one for everything left at the end. */
export async function playHistory(chain: TestChain, seed: number, blocks: number): Promise<unknown[]> {
  const accounts = chain.accounts.map((account) => address(account.address))
  const at = (index: number) => accounts[index] as Address
  await chain.setNextTime(BEGIN)
  const contracts = await deployContracts(chain, CAP)
  const payers = await deployPayers(chain)
  const play: Play = {
    chain,
    dice: createDice(seed),
    at,
    ...contracts,
    payers,
    time: BEGIN,
    fees: new Map(),
    sent: [],
    refs: [],
  }
  await factoryAct(1, 'openCohorts', () => [
    1n,
    [1n, 2n].map((tier) => ({ tier, firstDue: BigInt(BEGIN + 240 * Number(tier)), interval: 300n })),
    BigInt(FOREVER),
  ])(play)
  const seen: unknown[] = []
  for (let block = 0; block < blocks; block++) {
    await putCode(play, walletCode(play.dice))
    for (let n = play.dice.between('acts', 1, 5); n > 0; n--) await play.dice.pick('act', ACTS)(play)
    await mine(play)
    await putCode(play, '0x')
    if (play.dice.roll('reorganisation') < 0.12) await reorganise(play)
    seen.push(await look(play))
  }
  seen.push(await lookBack(play))
  return seen
}

/** Gives the payments wallet a code, or removes it. */
const putCode = ({ chain, at }: Play, code: Hex) => chain.rpc('anvil_setCode', [at(3), code])

async function mine(play: Play): Promise<void> {
  play.time += STEP_SEC * play.dice.between('time', 1, 3)
  await play.chain.setNextTime(play.time)
  await play.chain.mine()
}

/** Sends a transaction to the pool. If the pool refuses it, the refusal's text is part of what is visible. */
async function send(play: Play, from: number, to: Address | null, data: Hex, value = 0n): Promise<void> {
  const call = { ...(to && { to }), data, value: toHex(value) }
  const hash = await play.chain.send({ from: play.at(from), ...call, gas: GAS, ...FEES } as never)
  play.sent.push(hash)
}

/** A call of the factory with arguments drawn when its turn comes. */
function factoryAct(
  from: number | ((play: Play) => number),
  name: string,
  args: (play: Play) => readonly unknown[],
): Act {
  return async (play) => {
    const who = typeof from === 'number' ? from : from(play)
    // Now and then someone else tries.
    const sender = play.dice.roll('stranger') < 0.05 ? play.dice.pick('strangers', WALLETS) : who
    await send(play, sender, play.factory, callOf(name, args(play)))
  }
}

function callOf(functionName: string, args: readonly unknown[]): Hex {
  const abi = factoryFullAbi.filter((item) => item.type === 'function' && item.name === functionName)
  return encodeFunctionData({ abi, functionName, args } as never)
}

const wallet = (play: Play) => play.dice.pick('wallet', WALLETS)
const someone = (play: Play) => play.at(wallet(play))
const nodeId = (play: Play) => BigInt(play.dice.between('node', 0, 5))
const amount = (play: Play) => play.dice.pick('amount', [0n, 1n, 1n, 1_000n, 1_000n, ETHER / 1000n, ETHER])
/** Mostly a buyer; now and then the zero address, the factory itself, or an address that refuses ether. */
const recipient = (play: Play) =>
  play.dice.roll('recipient') < 0.15
    ? play.dice.pick('odd', [ZERO_ADDRESS, play.factory, play.token, play.at(3)])
    : someone(play)

/** A guard on a recent block: none, right, wrong, or out of reach. */
async function guardOf({ chain, dice }: Play): Promise<[bigint, Hash]> {
  const head = await chain.block()
  const kind = dice.pick('guard', ['none', 'none', 'right', 'right', 'right', 'parent', 'parent', 'wrong', 'ahead'])
  if (kind === 'right') return [BigInt(head.number), head.hash]
  if (kind === 'parent') return [BigInt(head.number) - 1n, head.parentHash]
  if (kind === 'wrong') return [BigInt(head.number), keccak256(head.hash)]
  return kind === 'ahead' ? [BigInt(head.number) + 1n, head.hash] : [0n, ZERO_HASH]
}

function orders(play: Play): { to: Address; cohort: bigint; ref: Hash }[] {
  return Array.from({ length: play.dice.between('orders', 0, 6) }, () => {
    const used = play.refs.length > 0 && play.dice.roll('used') < 0.2
    const ref = used ? play.dice.pick('ref', play.refs) : keccak256(toHex(`payment ${play.refs.length}`))
    if (!used) play.refs.push(ref)
    return { to: recipient(play), cohort: play.dice.pick('order', [1n, 2n, 1n, 2n, 1n, 2n, ...COHORTS]), ref }
  })
}

/** A call's expiry: far ahead, or past. */
const validUntil = ({ dice }: Play) => (dice.roll('expired') < 0.05 ? BigInt(BEGIN - 1) : BigInt(FOREVER))

/** A number in the contract's state at its head. */
async function numberOf({ chain, factory }: Play, name: string): Promise<bigint> {
  return BigInt(await chain.rpc<Hex>('eth_call', [{ to: factory, data: callOf(name, []) }, 'latest']))
}

/** The contract's cohorts at present, because a round needs them to succeed. */
async function cohortOf({ chain, factory }: Play, id: bigint): Promise<{ size: bigint; nextDue: bigint }> {
  const words = await chain.rpc<Hex>('eth_call', [{ to: factory, data: callOf('cohort', [id]) }, 'latest'])
  const word = (index: number) => BigInt(`0x${words.slice(2 + 64 * index, 66 + 64 * index)}`)
  return { size: word(1), nextDue: word(2) }
}

const nodesLeft = (play: Play) => play.dice.pick('nodes left', [0n, 2n, 1_000n, 1_000n, 1_000n, 2n ** 32n])
const cohortsLeft = (play: Play) => play.dice.pick('cohorts left', [0n, 1n, 100n, 100n, 100n, 2n ** 16n])
/** Floor and ceiling, mostly far apart. */
const boundsOf = (play: Play) =>
  play.dice.pick('bounds', [
    [0n, 10n ** 12n],
    [0n, 10n ** 12n],
    [10n ** 6n, 10n ** 6n],
    [2n, 1n],
  ])

const ACTS: readonly Act[] = [
  async (play) => send(play, wallet(play), play.at(3), '0x', amount(play)),
  async (play) => send(play, wallet(play), someone(play), '0x', amount(play)),
  async (play) => send(play, 3, play.at(3), '0x', 5n),
  ...[1, 2, 3].map(
    (): Act => async (play) => {
      const { to, data, value } = payingCall(play, { recipient: () => recipient(play), amount: () => amount(play) })
      await send(play, wallet(play), to, data, value)
    },
  ),
  async (play) => send(play, wallet(play), play.factory, '0x', ETHER),
  async (play) => {
    const next = (await numberOf(play, 'lastCohort')) + 1n
    const openings = Array.from({ length: play.dice.between('openings', 0, 2) }, () => ({
      tier: play.dice.pick('tier', [...TIERS, ...TIERS, 2n ** 16n]),
      firstDue: play.dice.pick('due', [0n, BigInt(play.time - 1000), BigInt(play.time + 170)]),
      interval: play.dice.pick('interval', [0n, 120n, 300n]),
    }))
    const first = play.dice.pick('first', [next, next, next, next, next + 1n, next - 1n])
    await factoryAct(1, 'openCohorts', () => [first, openings, validUntil(play)])(play)
  },
  ...[1, 2, 3, 4, 5, 6].map(
    (): Act => async (play) => {
      const [number, hash] = await guardOf(play)
      await send(
        play,
        play.dice.roll('stranger') < 0.05 ? 2 : 1,
        play.factory,
        callOf('mint', [orders(play), number, hash, validUntil(play)]),
      )
    },
  ),
  ...[1, 2, 3, 4, 5, 6].map(
    (): Act => async (play) => {
      const { dice, factory } = play
      const [number, hash] = await guardOf(play)
      const round = (await numberOf(play, 'round')) + 1n
      const cohorts =
        dice.roll('all') < 0.7
          ? [1n, 2n]
          : Array.from({ length: dice.between('turns', 0, 3) }, () => dice.pick('cohort', COHORTS))
      const credits: Record<'cohort' | 'firstDue' | 'skipped' | 'paid' | 'amountPerNode', bigint>[] = []
      let total = 0n
      for (const cohort of cohorts) {
        const amountPerNode =
          dice.roll('huge') < 0.05 ? 2n ** 80n : ETHER / 1000n + BigInt(dice.between('per node', 0, 99))
        const { size, nextDue } = await cohortOf(play, cohort)
        // Mostly only payable turns.
        if (dice.roll('careless') > 0.15 && (size === 0n || nextDue > BigInt(play.time + STEP_SEC))) continue
        const skipped = BigInt(dice.pick('skipped', [0, 0, 0, 0, 0, 0, 1, 2]))
        const paid = BigInt(dice.pick('paid', [1, 1, 1, 1, 1, 1, 2, 0]))
        const firstDue = dice.roll('turn') < 0.05 ? nextDue + 1n : nextDue
        credits.push({ cohort, firstDue, skipped, paid, amountPerNode })
        total += size * amountPerNode
      }
      const value = dice.pick('value', [total, total, total, 0n, total + 1n])
      const wrong = dice.roll('round') < 0.1 ? 1n : 0n
      await send(
        play,
        2,
        factory,
        callOf('credit', [round + wrong, number, hash, validUntil(play), credits]),
        value > 100n * ETHER ? 0n : value,
      )
    },
  ),
  ...[1, 2].map((): Act => factoryAct(wallet, 'withdraw', (play) => [nodeId(play), recipient(play), amount(play)])),
  factoryAct(wallet, 'withdrawAll', (play) => [[nodeId(play), nodeId(play), nodeId(play)], recipient(play)]),
  ...[1, 2].map(
    (): Act => async (play) => {
      // Mostly from its owner, whom only the chain knows.
      const id = nodeId(play)
      const ask = { to: play.factory, data: callOf('ownerOf', [id]) }
      const owner = await play.chain.rpc<Hex>('eth_call', [ask, 'latest']).then(
        (word) => address(`0x${word.slice(26)}`),
        () => someone(play),
      )
      const account = WALLETS.find((candidate) => play.at(candidate) === owner) ?? wallet(play)
      const act = play.dice.pick('owner act', ['transferFrom', 'withdraw', 'withdrawAll', 'approve'])
      const args = {
        transferFrom: () => [owner, recipient(play), id],
        withdraw: () => [id, recipient(play), amount(play)],
        withdrawAll: () => [[id], recipient(play)],
        approve: () => [someone(play), id],
      }[act] as () => unknown[]
      await send(play, play.dice.roll('stranger') < 0.1 ? wallet(play) : account, play.factory, callOf(act, args()))
    },
  ),
  factoryAct(wallet, 'setApprovalForAll', (play) => [someone(play), play.dice.roll('approved') < 0.5]),
  factoryAct(0, 'setInterval', (play) => [
    play.dice.pick('cohort', COHORTS),
    play.dice.pick('interval', [0n, 120n, 300n]),
  ]),
  async (play) => {
    const former = (await numberOf(play, 'swapsAllowance')) + BigInt(play.dice.pick('former', [0, 0, 0, 1]))
    await factoryAct(0, 'setSwapsAllowance', () => [
      play.at(play.dice.pick('key', [2, 2, 2, 1])),
      amount(play),
      former,
    ])(play)
  },
  factoryAct(0, 'capTier', (play) => [
    play.dice.pick('tier', [7n, 7n, 8n, 65_536n]),
    BigInt(play.dice.pick('most', [2, 4, 8, 20, 2 ** 32])),
  ]),
  // A wallet's mistake.
  async (play) => send(play, wallet(play), play.factory, '0x', BigInt(play.dice.between('stray', 0, 9))),
  factoryAct(0, 'sweep', (play) => [recipient(play), amount(play)]),
  async (play) => {
    if (play.dice.roll('pause') < 0.2) await factoryAct(0, 'pause', () => [])(play)
    else await factoryAct(0, 'unpause', () => [])(play)
  },
  async (play) => {
    if (play.dice.roll('roles') < 0.3) {
      await factoryAct(0, 'transferOwnership', () => [play.at(10)])(play)
      await factoryAct(10, 'acceptOwnership', () => [])(play)
      await factoryAct(10, 'transferOwnership', () => [play.at(0)])(play)
      await factoryAct(0, 'acceptOwnership', () => [])(play)
    } else {
      const former = () => play.at(play.dice.pick('former', [1, 1, 2]))
      await factoryAct(0, 'setMinter', () => [play.at(1), former(), nodesLeft(play), cohortsLeft(play)])(play)
      await factoryAct(0, 'setDistributor', () => [play.at(2), play.at(2), ...boundsOf(play)])(play)
    }
  },
  factoryAct(0, 'refillMinter', (play) => [
    ...[play.at(play.dice.pick('key', [1, 1, 1, 2]))],
    ...[nodesLeft(play), nodesLeft(play), cohortsLeft(play), cohortsLeft(play)],
  ]),
  factoryAct(0, 'setBounds', (play) => [play.at(play.dice.pick('key', [2, 2, 2, 1])), ...boundsOf(play)]),
  ...[1, 2].map(
    (): Act => async (play) => {
      const next = (await numberOf(play, 'notOwedCount')) + BigInt(play.dice.pick('window', [1, 1, 1, 0]))
      const from = BigInt(play.time - 600 * play.dice.between('from', 0, 2))
      const until = play.dice.pick('until', [from + 1_200n, from + 1n, from, BigInt(FOREVER)])
      await factoryAct(0, 'addNotOwed', () => [next, from, until])(play)
    },
  ),
  async (play) => {
    const last = await numberOf(play, 'notOwedCount')
    await factoryAct(0, 'endNotOwed', () => [last, BigInt(play.time + play.dice.pick('end', [-900, 0, 900]))])(play)
  },
  factoryAct(0, 'expel', (play) => [
    Array.from({ length: play.dice.between('refs', 0, 2) }, () =>
      play.refs.length > 0 ? play.dice.pick('ref', play.refs) : ZERO_HASH,
    ),
  ]),
  factoryAct(wallet, 'declineGifts', (play) => [play.dice.roll('declined') < 0.5]),
  async (play) => {
    const from = play.dice.roll('holder') < 0.6 ? 4 : wallet(play)
    const args = [someone(play), play.dice.pick('tokens', [0n, ETHER, 600n * ETHER])]
    await send(
      play,
      from,
      play.token,
      encodeFunctionData({ abi: demoTokenAbi, functionName: 'transfer', args } as never),
    )
  },
]

/** Reorganises blocks. Each account's transactions in them stay in place, move to the last, are dropped, or are replaced. */
async function reorganise(play: Play): Promise<void> {
  const { chain, dice } = play
  const head = Number((await chain.block()).number)
  const depth = Math.min(dice.between('depth', 1, 4), head - 4)
  if (depth < 1) return
  const entries: [Hex | object, number][] = []
  const fates = new Map<string, string>()
  for (let place = 0; place < depth; place++) {
    const block = await blockOf(chain, head - depth + 1 + place)
    for (const { hash, from, nonce } of block.transactions) {
      const known = fates.get(from)
      const fate = known ?? dice.pick('fate', ['kept', 'kept', 'moved', 'dropped', 'double'])
      fates.set(from, fate === 'double' ? 'dropped' : fate)
      const where = fate === 'kept' ? place : depth - 1
      if (fate === 'double') {
        const to = address(play.at(11))
        entries.push([{ from, to, value: '0x1', nonce, gas: '0x7530', ...FEES }, where])
      } else if (fate !== 'dropped') entries.push([await chain.rpc<Hex>('eth_getRawTransactionByHash', [hash]), where])
    }
  }
  await chain.reorg(depth, entries as never)
}

interface WireBlock {
  number: Hex
  hash: Hash
  parentHash: Hash
  timestamp: Hex
  logsBloom: Hex
  transactions: { hash: Hash; from: Hex; to: Hex | null; value: Hex; nonce: Hex; transactionIndex: Hex }[]
}
const blockOf = (chain: TestChain, number: number) =>
  chain.rpc<WireBlock>('eth_getBlockByNumber', [toHex(number), true])

interface WireReceipt {
  transactionHash: Hash
  blockHash: Hash
  blockNumber: Hex
  transactionIndex: Hex
  status: Hex
  from: Hex
  to: Hex | null
  contractAddress: Hex | null
  gasUsed: Hex
  effectiveGasPrice: Hex
  logs: {
    address: Hex
    topics: Hash[]
    data: Hex
    logIndex: Hex
    transactionHash: Hash
    blockHash: Hash
    removed?: boolean
  }[]
}

const nameOf = ({ sent }: Play, hash: Hash) => {
  const at = sent.indexOf(hash)
  return at < 0 ? 'another' : `transaction ${at}`
}

/** The complete head. */
async function look(play: Play): Promise<unknown> {
  const { chain } = play
  const block = await blockOf(chain, Number((await chain.block()).number))
  const parent = await blockOf(chain, Number(block.number) - 1)
  return {
    ...(await seenBlock(play, block)),
    follows: block.parentHash === parent.hash,
    inside: await lookInside(play, { ...block, name: (hash) => nameOf(play, hash) }),
    finalized: (await chain.rpc<{ number: Hex }>('eth_getBlockByNumber', ['finalized', false])).number,
    views: await views(play, 'latest'),
    balances: await balances(play, toHex(BigInt(block.number))),
    nonces: await Promise.all(WALLETS.map((at) => chain.rpc('eth_getTransactionCount', [play.at(at), 'latest']))),
    refused: await refusals(play),
  }
}

async function seenBlock(play: Play, block: WireBlock) {
  const receipts = await Promise.all(block.transactions.map((tx) => receiptOf(play, tx.hash)))
  const places = [...block.transactions.keys(), block.transactions.length].map((index) => toHex(index))
  return {
    bytes: await Promise.all(places.map((place) => transactionAt(play, block, place))),
    number: block.number,
    time: Math.floor((Number(block.timestamp) - BEGIN) / TIME_GRAIN_SEC),
    bloom: block.logsBloom,
    transactions: block.transactions.map(({ hash, from, to, value, nonce, transactionIndex }) => ({
      ...{ name: nameOf(play, hash), from, to, value, nonce, transactionIndex },
    })),
    receipts: receipts.map((receipt) => showReceipt(play, block, receipt as WireReceipt)),
  }
}

/** The transaction whose bytes stand at a place of a block; null if there is none. */
async function transactionAt(play: Play, { hash }: WireBlock, place: Hex) {
  const raw = await play.chain.rpc<Hex | null>('eth_getRawTransactionByBlockHashAndIndex', [hash, place])
  return raw && nameOf(play, keccak256(raw))
}

const receiptOf = ({ chain }: Play, hash: Hash) => chain.rpc<WireReceipt | null>('eth_getTransactionReceipt', [hash])

function showReceipt(play: Play, block: WireBlock, receipt: WireReceipt) {
  const { status, from, to, contractAddress, blockNumber, transactionIndex } = receipt
  return {
    ...{ status, from, to, contractAddress, blockNumber, transactionIndex },
    here: receipt.blockHash === block.hash,
    name: nameOf(play, receipt.transactionHash),
    logs: receipt.logs.map(({ address: of, topics, data, logIndex, removed, ...log }) => ({
      ...{ of: of.toLowerCase(), topics, data, logIndex, removed: removed ?? false },
      name: nameOf(play, log.transactionHash),
      here: log.blockHash === block.hash,
    })),
  }
}

async function feesOf(play: Play, number: number): Promise<Map<string, bigint>> {
  const block = await blockOf(play.chain, number)
  const known = play.fees.get(block.hash)
  if (known) return known
  const fees = new Map<string, bigint>()
  for (const { hash } of block.transactions) {
    const { from, gasUsed, effectiveGasPrice } = (await receiptOf(play, hash)) as WireReceipt
    fees.set(from.toLowerCase(), (fees.get(from.toLowerCase()) ?? 0n) + BigInt(gasUsed) * BigInt(effectiveGasPrice))
  }
  play.fees.set(block.hash, fees)
  return fees
}

/** Every account's possessions, with its gas fees. */
async function balances(play: Play, tag: Hex): Promise<string[]> {
  const { chain, at, factory, payers } = play
  const fees = new Map<string, bigint>()
  for (let number = 0; number <= Number(tag); number++)
    for (const [from, fee] of await feesOf(play, number)) fees.set(from, (fees.get(from) ?? 0n) + fee)
  const all = [...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(at), factory, ...Object.values(payers)]
  return Promise.all(
    all.map(async (of) => {
      const held = BigInt(await chain.rpc<Hex>('eth_getBalance', [of, tag]))
      return String(held + (fees.get(of) ?? 0n))
    }),
  )
}

/** The answer of a call, or its revert. */
async function tried(
  play: Play,
  data: Hex,
  tag: unknown,
  rest: object = {},
  to: Address = play.factory,
): Promise<unknown> {
  try {
    return await play.chain.rpc('eth_call', [{ to, data, ...rest }, tag])
  } catch (error) {
    const { code, data: bytes } = error as { code: number; data?: unknown }
    return { code, bytes: bytes ?? null }
  }
}

async function views(play: Play, tag: unknown): Promise<unknown> {
  const ask = (name: string, args: readonly unknown[] = []) => tried(play, callOf(name, args), tag)
  const plain = ['lastId', 'round', 'creditedTotal', 'withdrawnTotal', 'outstanding', 'isSolvent', 'swapsAllowance']
  const roles = ['maxPerWallet', 'paused', 'owner', 'pendingOwner', 'minter', 'distributor']
  const limits = ['lastCohort', 'budget', 'bounds', 'notOwedCount', 'leastInterval', 'expulsionPeriod']
  const named = await Promise.all([...plain, ...roles, ...limits].map(async (name) => [name, await ask(name)]))
  const ids = Array.from({ length: 9 }, (_, id) => BigInt(id))
  const token = (of: number) =>
    encodeFunctionData({ abi: demoTokenAbi, functionName: 'balanceOf', args: [play.at(of)] } as never)
  return {
    named,
    nodes: await Promise.all(ids.map((id) => ask('nodeInfo', [id]))),
    approved: await Promise.all(ids.map((id) => ask('getApproved', [id]))),
    windows: await Promise.all([ask('nodesInfo', [0n, 5n]), ask('nodesInfo', [3n, 4n]), ask('nodesInfo', [50n, 3n])]),
    cohorts: await Promise.all(COHORTS.map((cohort) => ask('cohort', [cohort]))),
    notOwed: await Promise.all([0n, 1n, 2n, 9n].map((window) => ask('notOwed', [window]))),
    declining: await Promise.all(WALLETS.map((at) => ask('declinesGifts', [play.at(at)]))),
    lists: await Promise.all(WALLETS.map((at) => ask('nodesOf', [play.at(at)]))),
    counts: await Promise.all(WALLETS.map((at) => ask('balanceOf', [play.at(at)]))),
    refs: await Promise.all(play.refs.slice(-5).map((ref) => ask('nodeOfRef', [ref]))),
    supplies: await Promise.all([0n, 7n, 8n].map((tier) => ask('tierSupply', [tier]))),
    tokens: await Promise.all(WALLETS.map((at) => tried(play, token(at), tag, {}, play.token))),
  }
}

/** Refusals of the contract and the node, and their traces in an estimate. */
async function refusals(play: Play): Promise<unknown> {
  const { chain, at, factory } = play
  const head = await chain.block()
  const mint = (number: bigint, hash: Hash) => callOf('mint', [[], number, hash, BigInt(FOREVER)])
  const credit = callOf('credit', [99n, 0n, ZERO_HASH, BigInt(FOREVER), []])
  const estimate = (from: number, data: Hex, value = 0n) =>
    chain.rpc('eth_estimateGas', [{ from: at(from), to: factory, data, value: toHex(value) }]).then(
      () => 'ok',
      (error: { code: number; message: string; data?: unknown }) => [error.code, error.message, error.data ?? null],
    )
  const answers = [
    tried(play, callOf('withdraw', [1n, at(5), 1n]), 'latest', { from: at(5) }),
    tried(play, mint(BigInt(head.number), head.hash), 'latest', { from: at(1) }),
    tried(play, mint(BigInt(head.number) - 1n, head.parentHash), 'latest', { from: at(1) }),
    tried(play, credit, 'latest', { from: at(2) }),
    tried(play, '0x12345678', 'latest'),
    tried(play, callOf('lastId', []), { blockHash: head.hash, requireCanonical: true }),
    tried(play, callOf('lastId', []), { blockHash: keccak256(head.hash), requireCanonical: true }),
    tried(play, callOf('lastId', []), '0xffff'),
    tried(play, callOf('lastId', []), 'latest', {}, at(12)),
    estimate(1, mint(0n, ZERO_HASH)),
    estimate(6, mint(0n, ZERO_HASH)),
    estimate(2, credit, 10n ** 30n),
  ]
  return Promise.all(answers)
}

/** The whole chain once more, through the reads that cover many blocks, and the past. */
async function lookBack(play: Play): Promise<unknown> {
  const { chain, factory } = play
  const head = Number((await chain.block()).number)
  const filters = [
    { address: factory, fromBlock: '0x0', toBlock: 'latest' },
    { address: factory, fromBlock: toHex(3), toBlock: toHex(head + 5) },
    { fromBlock: toHex(head - 1), toBlock: toHex(head) },
    {
      address: factory,
      fromBlock: '0x0',
      toBlock: 'latest',
      topics: [[keccak256(toHex('Transfer(address,address,uint256)'))]],
    },
    { address: factory, blockHash: (await blockOf(chain, Math.floor(head / 2))).hash },
  ]
  const logs = await Promise.all(
    filters.map(async (filter) =>
      (await chain.rpc<WireReceipt['logs']>('eth_getLogs', [filter])).map(
        ({ topics, data, logIndex, transactionHash }) => ({
          ...{ topics, data, logIndex, name: nameOf(play, transactionHash) },
        }),
      ),
    ),
  )
  const past = []
  for (let number = 3; number <= head; number += 7) past.push(await views(play, toHex(number)))
  const fates = await Promise.all(
    play.sent.map(async (hash) => {
      const [tx, receipt] = [
        await chain.rpc<{ blockNumber: Hex | null } | null>('eth_getTransactionByHash', [hash]),
        await receiptOf(play, hash),
      ]
      return [tx?.blockNumber ?? (tx ? 'waiting' : 'unknown'), receipt?.status ?? null]
    }),
  )
  return { logs, past, fates, unknown: await chain.rpc('eth_getBlockByNumber', [toHex(head + 9), false]) }
}
