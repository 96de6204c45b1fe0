// Reads from the chain what will decide about a purchase, before the buyer makes it. Each reading may be null on its own: if a token does not answer,
// the other readings are not affected. We read token balance and code in the same way as when we judge a payment.
import { type Address, wei } from '../../domain/units.ts'
import { Cache } from '../../lib/cache.ts'
import { inTimeOrNull } from '../../lib/deadline.ts'
import { Semaphore } from '../../lib/semaphore.ts'
import type { BuyerReading, Readings } from '../../ports/contract.ts'
import { agreedState } from '../evidence/state/state.ts'
import { haveTraces } from '../evidence/trace/block.ts'
import { readView, viewCall } from '../factory/calls.ts'
import { createBreaker } from '../rpc/breaker.ts'
import { isOfKind } from '../rpc/kinds.ts'
import { type Rpc, resultOf } from '../rpc/rpc.ts'
import { header, quantity, safeNumber } from '../rpc/wire.ts'

/** Milliseconds that the answer may wait for the chain. It is short, because a buyer is waiting, and can pay without the answer. */
const BUDGET_MS = 2_000
/** How many wallets we read at the same time, and how many more may queue. If the queue is full, we check nothing. */
const CONCURRENCY_MAX = 16
const WAITING_MAX = 64
/** The same values as for the breaker of the other readings. This breaker is separate, because the reads for a buyer wait longer. */
const FAILURES_MAX = 3
const COOLDOWN_MS = 5_000

/** How long we cache whether traces work: providers seldom start or stop tracing, and a trace is the most expensive read. */
const TRACES_MS = 60_000

const UNREAD: BuyerReading = {
  blockNumber: null,
  balanceWei: null,
  gasPriceWei: null,
  walletMax: null,
  code: null,
  heldWei: null,
}

export function createBuyerReading(rpc: Rpc, factory: Address, clock: () => number): Readings['buyer'] {
  const breaker = createBreaker({ failuresMax: FAILURES_MAX, cooldownMs: COOLDOWN_MS, clock })
  const places = new Semaphore(CONCURRENCY_MAX, WAITING_MAX)
  const state = agreedState(rpc)
  const inTime = <T>(read: () => Promise<T | null>) => inTimeOrNull(BUDGET_MS, read)

  async function readNow(wallet: Address, token: Address | null): Promise<BuyerReading> {
    const facts = await inTime(() => readFacts(rpc, factory, wallet))
    if (facts === null) {
      breaker.failed()
      return UNREAD
    }
    breaker.succeeded()
    const { at, ...read } = facts
    const [code, heldWei] = await Promise.all([
      inTime(() => state.payerCode(wallet, at)),
      token === null ? null : inTime(() => state.holding(token, wallet, at)),
    ])
    return { blockNumber: at.number, ...read, code, heldWei }
  }

  return async (wallet, token) => {
    const leave = await places.enter().catch(() => null)
    if (leave === null) return UNREAD
    try {
      return breaker.allows() ? await readNow(wallet, token) : UNREAD
    } finally {
      leave()
    }
  }
}

/** The latest block, the wallet's ether, the gas price and the contract's cap per wallet. */
async function readFacts(rpc: Rpc, factory: Address, wallet: Address) {
  const read = { timeoutMs: BUDGET_MS / 2, attempts: 2 }
  const [gasPrice, ...replies] = await rpc.batch(
    [
      { method: 'eth_gasPrice', params: [] },
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
      { method: 'eth_getBalance', params: [wallet, 'latest'] },
      viewCall(factory, 'latest', 'maxPerWallet', []),
    ],
    read,
  )
  const [latest, balance, cap] = replies.map((reply) => resultOf('eth_call', reply))
  const price = gasPrice?.ok && isOfKind('eth_gasPrice', gasPrice.result) ? gasPrice.result : null
  const { number, hash } = header(latest)
  return {
    at: { number, hash },
    balanceWei: wei(quantity(balance, 'balance')),
    gasPriceWei: price === null ? null : wei(quantity(price, 'gas price')),
    walletMax: safeNumber(readView('maxPerWallet', cap), 'cap per wallet'),
  }
}

/** Creates a check that is true if traces work now. */
export function createTraceReading(rpc: Rpc, clock: () => number): Readings['tracesWork'] {
  const cache = new Cache<boolean>({ clock, weightMax: 1 })
  const read = () => haveTraces(rpc, { timeoutMs: BUDGET_MS, attempts: 1 })
  return async () => cache.get('', TRACES_MS, async () => (await inTimeOrNull(2 * BUDGET_MS, read)) ?? false)
}
