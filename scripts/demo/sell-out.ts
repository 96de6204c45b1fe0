// A tier of ten places for which twelve wallets pay at once: each verdict of the service is held against an own count of the chain. A further
// rule of a sale, such as a list or a code, is one more buyer in `buyers` and one more line in `expected`.
import { type Account, formatEther } from 'viem'
import type { Api, Tier } from './api.ts'
import { type DemoChain, freshAccount, GAS_MONEY_WEI } from './chain.ts'
import type { Screen } from './screen.ts'
import { payTogether, type Transfer, transfersTo } from './together.ts'
import { Trouble, until } from './trouble.ts'

const SUPPLY = 10
const BUYERS = 12
const EVERY_MS = 1_500
const WAIT_MS = 90_000

interface Sale {
  readonly api: Api
  readonly chain: DemoChain
  readonly paymentAddress: `0x${string}`
  readonly screen: Screen
  /** The operator's key, `X-Admin-Key`. */
  readonly adminKey: string
  /** Pays for the wallets' ether. */
  readonly faucet: Account
  /** A price that no tier has. */
  readonly priceWei: bigint
}

/** What the chain alone says of a payment: its place, and so whether it is sold. */
interface Expected {
  transfer: Transfer
  place: number
  isSold: boolean
}

/** Sells the tier out. Throws a Trouble if one verdict is another than the chain's order makes it. */
export async function sellOut(sale: Sale): Promise<void> {
  const { api, chain, paymentAddress, screen, priceWei } = sale
  const tierId = await enterTier(sale)
  const buyers = Array.from({ length: BUYERS }, freshAccount)
  await chain.fund(sale.faucet, buyers, priceWei + GAS_MONEY_WEI)
  const sum = { to: paymentAddress, value: priceWei }
  const transfers = await payTogether(chain, buyers, sum)
  const blocks = new Set(transfers.map(({ blockNumber }) => blockNumber))
  screen.line(`${BUYERS} wallets pay ${formatEther(priceWei)} ether each, in block ${[...blocks].join(' and ')}`)
  for (const { transfer, place, isSold } of expected(await transfersTo(chain, sum, [...blocks]))) {
    const paid = await decided(api, transfer)
    const nodes = await chain.nodesOf(transfer.from)
    screen.line(`  place ${place}: ${transfer.from} ${paid.status}${paid.reason ? ` (${paid.reason})` : ''}`)
    const isAgreed = isSold
      ? paid.status === 'minted' && nodes.length === 1
      : paid.status === 'held' && paid.reason === 'soldOut' && nodes.length === 0
    if (!isAgreed)
      throw new Trouble(`By the chain's order, place ${place} of ${SUPPLY} is ${isSold ? 'sold' : 'too late'}.`)
  }
  const { state, sold, remaining } = await tierOf(api, tierId)
  if (state !== 'soldOut' || sold !== SUPPLY || remaining !== 0)
    throw new Trouble(`GET /api/tiers says ${state}, ${sold} sold, ${remaining} left.`)
  screen.line(`GET /api/tiers: ${tierId} is sold out, ${sold} of ${SUPPLY}`)
}

/** Places by block and position in it, counted from the blocks themselves. */
const expected = (transfers: readonly Transfer[]): Expected[] =>
  transfers
    .toSorted((a, b) => a.blockNumber - b.blockNumber || a.index - b.index)
    .map((transfer, i) => ({ transfer, place: i + 1, isSold: i < SUPPLY }))

async function enterTier({ api, screen, adminKey, priceWei }: Sale): Promise<string> {
  const tierId = `demo-${Date.now().toString(36)}`
  const tier = { tierId, label: 'Ten places', priceWei: priceWei.toString(), maxPerWallet: 1, supply: SUPPLY }
  const { status, body } = await api.post('/api/admin/tiers', tier, { 'x-admin-key': adminKey })
  if (status !== 200) throw new Trouble(`POST /api/admin/tiers answers ${status}: ${body.error}`)
  screen.line(`POST /api/admin/tiers: ${tierId}, ${SUPPLY} places`)
  const isOpen = async () => {
    const { paymentAddress } = await api.get<{ paymentAddress?: string }>(`/api/deploy-quote?tier=${tierId}`)
    return paymentAddress ?? null
  }
  await until(isOpen, { everyMs: EVERY_MS, withinMs: WAIT_MS, late: `There is no quote for ${tierId}.` })
  return tierId
}

/** A payment, once it is a node or held. */
const decided = (api: Api, { hash, from }: Transfer) =>
  until(
    async () => {
      const paid = (await api.get<Paid[]>(`/api/payments/${from}`)).find(({ txHash }) => txHash === hash)
      return paid && ['minted', 'held'].includes(paid.status) ? paid : null
    },
    { everyMs: EVERY_MS, withinMs: WAIT_MS, late: `Payment ${hash} is not decided.` },
  )
interface Paid {
  txHash: string
  status: string
  reason: string | null
}

async function tierOf(api: Api, id: string): Promise<Tier> {
  const { tiers } = await api.get<{ tiers: Tier[] }>('/api/tiers')
  return tiers.find((tier) => tier.id === id) ?? Promise.reject(new Trouble(`GET /api/tiers has no ${id}.`))
}
