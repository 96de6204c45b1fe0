// `npm run demo`: plays buyers and owners on a service with the embedded chain, and compares the API with the chain at
// each step. Exit code 0 only if everything agreed. It may be run again, and beside another run.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Account, BaseError, formatEther, HttpRequestError } from 'viem'
import { type Api, type Health, type Node, openApi, type Tier, type WellKnown } from './demo/api.ts'
import { chainOf, type DemoChain, freshAccount, GAS_MONEY_WEI, playingAccounts } from './demo/chain.ts'
import { type Part, payWrongly, play, STAGES, type Stage } from './demo/play.ts'
import { openScreen, type Screen } from './demo/screen.ts'
import { sellOut } from './demo/sell-out.ts'
import { Trouble } from './demo/trouble.ts'

const USAGE = `Usage: npm run demo -- [--wallets <n> | --sell-out] [--url <service>]

Pays, waits for the node, watches a round credit it, withdraws, and compares ledger and chain; about 75 seconds.

  --wallets <n>  how many wallets play at the same time, 1 to 200; 1 where it is left out
  --sell-out     enters a tier of ten places, for which twelve wallets pay at once, one by a referral code, and a tier
                 of a list, then takes both off sale. DEMO_ADMIN_KEY is the operator's key; by default the one that
                 "npm start" made
  --url <url>    the service; http://127.0.0.1:3000, or PORT's, where it is left out`

/** How many wallets the demo plays at most. With more, it would spend its time waiting for the API's rate limits. */
const WALLETS_MAX = 200

/** For how long the ledger may lag behind a block: one pass and one block. */
const FOLLOW_SLACK_MS = 2_500
/** How often each wallet polls the API. */
const LOOK_EVERY_MS = 1_500
const LOOK_EVERY_MS_MAX = 20_000

interface Scene {
  readonly api: Api
  readonly chain: DemoChain
  readonly paymentAddress: `0x${string}`
  readonly tiers: readonly Tier[]
  /** How long a pass may take to reach the newest block. */
  readonly followMs: number
  readonly screen: Screen
}

function readArguments(): { url: string; wallets: number; sellsOut: boolean } {
  const { PORT } = process.env
  try {
    const { values } = parseArgs({
      options: {
        wallets: { type: 'string', default: '1' },
        url: { type: 'string', default: `http://127.0.0.1:${PORT || 3000}` },
        'sell-out': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    const wallets = Number(values.wallets)
    if (
      !values.help &&
      URL.canParse(values.url) &&
      Number.isInteger(wallets) &&
      wallets >= 1 &&
      wallets <= WALLETS_MAX
    ) {
      return { url: values.url.replace(/\/+$/, ''), wallets, sellsOut: values['sell-out'] }
    }
  } catch {
    // Ignored here; an unknown argument is reported below.
  }
  throw new Trouble(USAGE)
}

/** Checks the service and what it sells. Throws a Trouble if the demo cannot play. */
async function setScene(url: string, screen: Screen): Promise<Scene> {
  const api = openApi(url, (text) => screen.line(`  (${text})`))
  const wellKnown = await api.get<WellKnown>('/.well-known/node-ledger.json')
  const chain = chainOf(wellKnown)
  const { chainId, paymentAddress } = wellKnown
  screen.line(`GET ${url}/.well-known/node-ledger.json`)
  screen.line(`  chain ${chainId}, factory ${wellKnown.factoryAddress}, payments to ${paymentAddress}`)
  const { tiers } = await api.get<{ tiers: Tier[] }>('/api/tiers')
  screen.line('GET /api/tiers')
  for (const { id, priceWei, maxPerWallet, payoutBps, onSale, openTo } of tiers) {
    const rest = `${onSale ? '' : ', not on sale'}, for ${openTo}`
    screen.line(`  ${id}: ${formatEther(BigInt(priceWei))} ETH, ${maxPerWallet} a wallet, ${payoutBps} bps${rest}`)
  }
  const open = tiers.filter(({ state, openTo }) => state === 'open' && openTo === 'everyone')
  if (open.length === 0) throw new Trouble('No tier is on sale for everybody.')
  if (paymentAddress === null) throw new Trouble('The service has no payments address, so nothing can be bought.')
  const { distEnabled, paused, tickSec } = await api.get<Health>('/api/cron/health')
  if (!distEnabled)
    throw new Trouble(
      'Payouts are switched off in this ledger: "node-ledger terms set --payouts true" switches them on.',
    )
  if (paused) throw new Trouble('The service, or its contract, is paused.')
  return { api, chain, paymentAddress, tiers: open, followMs: tickSec * 1000 + FOLLOW_SLACK_MS, screen }
}

/** Wallets with ether and room for more nodes, each with its tier: playing accounts first, then new wallets. */
async function cast(scene: Scene, wallets: number): Promise<{ account: Account; tier: Tier }[]> {
  const { chain, screen } = scene
  const cap = await chain.maxPerWallet()
  const accounts = playingAccounts()
  const players: { account: Account; tier: Tier }[] = []
  const tierOf = (index: number) => scene.tiers[index % scene.tiers.length] as Tier
  for (const account of accounts) {
    const tier = tierOf(players.length)
    if (players.length < wallets && (await hasRoom(scene, account, tier, cap))) players.push({ account, tier })
  }
  const fresh = Array.from({ length: wallets - players.length }, freshAccount)
  if (fresh.length > 0) {
    screen.line(
      `${fresh.length} new wallet(s), funded by a playing account: the others play already or hold all they may`,
    )
    await chain.fund(await richest(chain, accounts), fresh, fundingWei(scene.tiers))
    for (const account of fresh) players.push({ account, tier: tierOf(players.length) })
  }
  return players
}

async function hasRoom({ api, chain }: Scene, { address }: Account, tier: Tier, cap: number): Promise<boolean> {
  if ((await chain.balance(address)) < fundingWei([tier])) return false
  const held = (await chain.nodesOf(address)).length
  if (held === 0) return true
  if (held >= cap) return false
  const nodes = await api.get<Node[]>(`/api/nodes/${address}`)
  return nodes.filter(({ tierId }) => tierId === tier.id).length < tier.maxPerWallet
}

/** Enough for a node, a payment of one wei too much, and gas. */
function fundingWei(tiers: readonly Tier[]): bigint {
  const dearest = tiers.map(({ priceWei }) => BigInt(priceWei)).reduce((a, b) => (a > b ? a : b))
  return dearest * 2n + 1n + GAS_MONEY_WEI
}

async function richest(chain: DemoChain, accounts: readonly Account[]): Promise<Account> {
  const balances = await Promise.all(
    accounts.map(async (account) => ({ account, wei: await chain.balance(account.address) })),
  )
  return balances.reduce((best, next) => (next.wei > best.wei ? next : best)).account
}

/** Plays one wallet, and prints a line for each step. */
async function playOne({ api, chain, paymentAddress, screen }: Scene, player: { account: Account; tier: Tier }) {
  const part: Part = {
    api,
    chain,
    paymentAddress,
    ...player,
    claims: true,
    patience: { firstMs: 0, thenMs: LOOK_EVERY_MS },
    onStage: () => {},
    tell: (line) => screen.line(`  ${line}`),
    onWait: (what, untilMs) => screen.moving(what === null ? null : waiting(what, untilMs)),
  }
  screen.line(`Wallet ${player.account.address} buys ${player.tier.label}`)
  const stillHeld = await payWrongly(part)
  await play(part)
  await stillHeld()
  const cover = await api.get<{ isSolvent: boolean | null; coverBps: number | null }>('/api/cover')
  screen.line(`GET /api/cover: solvent ${cover.isSolvent}, covered ${cover.coverBps ?? '-'} bps`)
}

function waiting(what: string, untilMs: number | undefined): () => string {
  const since = Date.now()
  return () => {
    const now = Date.now()
    const left = untilMs === undefined || now > untilMs ? '' : `, ${Math.ceil((untilMs - now) / 1000)} s to go`
    return `  … waiting for ${what} (${Math.floor((now - since) / 1000)} s${left})`
  }
}

/** Plays many wallets at once and shows counts. Throws a Trouble if any wallet had one. */
async function playMany(scene: Scene, players: readonly { account: Account; tier: Tier }[]): Promise<void> {
  const { api, chain, paymentAddress, screen } = scene
  const reached = new Map<Stage, number>(STAGES.map((stage) => [stage, 0]))
  const since = Date.now()
  const count = () => STAGES.map((stage) => `${stage} ${reached.get(stage)}`).join(', ')
  screen.line(`${players.length} wallets buy ${scene.tiers.map(({ label }) => label).join(', ')} in turn`)
  screen.moving(() => `  of ${players.length}: ${count()} (${Math.floor((Date.now() - since) / 1000)} s)`)
  const parts = players.map(
    (player): Part => ({
      api,
      chain,
      paymentAddress,
      ...player,
      claims: false,
      patience: { firstMs: scene.followMs, thenMs: Math.min(LOOK_EVERY_MS_MAX, LOOK_EVERY_MS * players.length) },
      onStage: (stage) => reached.set(stage, (reached.get(stage) ?? 0) + 1),
      tell: () => {},
      onWait: () => {},
    }),
  )
  const [first] = parts
  const stillHeld = first && (await payWrongly({ ...first, tell: (line) => screen.line(`  ${line}`) }))
  const outcomes = await Promise.allSettled(parts.map((part) => play(part)))
  await stillHeld?.()
  screen.moving(null)
  screen.line(`  of ${players.length}: ${count()}`)
  const lost = outcomes.flatMap((outcome, i) =>
    outcome.status === 'rejected' ? [`  ${players[i]?.account.address}: ${messageOf(outcome.reason)}`] : [],
  )
  if (lost.length > 0)
    throw new Trouble(`${lost.length} of ${players.length} wallets did not get through:\n${lost.join('\n')}`)
}

/** Sells out a tier with few places to more wallets than it has places. */
async function playSellOut(scene: Scene): Promise<void> {
  const adminKey = process.env.DEMO_ADMIN_KEY || embeddedKey()
  if (adminKey === null)
    throw new Trouble('Set DEMO_ADMIN_KEY to an admin key of the service that may read and change prices.')
  const faucet = await richest(scene.chain, playingAccounts())
  const lowest = scene.tiers.map(({ priceWei }) => BigInt(priceWei)).reduce((a, b) => (a < b ? a : b))
  // No other tier may have this price, or have had it a moment ago.
  await sellOut({ ...scene, adminKey, faucet, priceWei: lowest + BigInt(Date.now() % 1_000_000_000) + 1n })
}

/** The key that `npm start` made in this checkout; null if it made none. */
function embeddedKey(): string | null {
  try {
    const secrets = readFileSync(join(process.env.DATA_DIR || '.node-ledger', 'secrets.json'), 'utf8')
    return (JSON.parse(secrets) as { ADMIN_KEY?: string }).ADMIN_KEY ?? null
  } catch {
    return null
  }
}

function messageOf(error: unknown): string {
  if (error instanceof Trouble) return error.message
  const unreachable = error instanceof BaseError && error.walk((cause) => cause instanceof HttpRequestError) !== null
  if (unreachable) return 'The chain has stopped answering. Is the service still running?'
  // viem puts the essentials in the first lines, and the whole call after them.
  const { shortMessage, message } = error as Error & { shortMessage?: string }
  return shortMessage ?? message
}

const screen = openScreen(process.stdout)
try {
  const { url, wallets, sellsOut } = readArguments()
  const scene = await setScene(url, screen)
  if (sellsOut) await playSellOut(scene)
  else {
    const players = await cast(scene, wallets)
    const [only] = players
    if (players.length === 1 && only) await playOne(scene, only)
    else await playMany(scene, players)
  }
  screen.line('Everything agreed.')
} catch (error) {
  screen.moving(null)
  console.error(error instanceof Trouble ? error.message : messageOf(error))
  process.exitCode = 1
}
