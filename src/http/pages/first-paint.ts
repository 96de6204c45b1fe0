// The first paint of a page: heading, offer, price and state in the HTML that the service sends. It is for crawlers, people without JavaScript and
// slow phones; the pages replace it when their script runs. Its classes come from web/src/styles.

import { words as checkout } from '../../../web/src/words/checkout.ts'
import { words as ledger } from '../../../web/src/words/ledger.ts'
import { ringsOf } from '../../../web/src/words/rings.ts'
import type { DistributionRow, ShownTier, Stats } from '../../db/reads/public-api.ts'
import { inEther } from '../../domain/units.ts'

const { tiers: shop, buy } = checkout
const { overview } = ledger

/** A page's title and a sentence about it. */
export type Said = readonly [title: string, description: string]

interface Sale {
  name: string
  logoUrl: string
}

/** The service's own answers that a page that sells shows first. Its script begins with them too. */
export interface ShopFacts {
  /** All tiers; at the checkout only the one that it sells. */
  tiers: readonly ShownTier[]
  /** The newest rounds, as few as a page can carry. */
  rounds: readonly DistributionRow[]
  stats: Stats
  deployment: {
    chainId: number
    chainName: string | null
    embedded: boolean
    paymentAddress: string | null
    brand: { name: string | null }
  }
  /** What to pay at the checkout; null if nothing can be bought there now. */
  quote: { priceWei: string; paymentAddress: string; chainId: number } | null
}

/** The items of the navigation; the same as in web/src/ui/layout.tsx. */
const PLACES: readonly (readonly [path: string, name: string, here: RegExp])[] = [
  ['/', 'Overview', /^\/$/],
  ['/buy', 'Buy', /^\/(buy|tiers)/],
  ['/rounds', 'Rounds', /^\/round/],
  ['/owner', 'My nodes', /^\/owner/],
]
/** Pages that show all tiers. */
export const SHOPS = ['/', '/tiers', '/buy']
/** The page that sells one tier. */
export const CHECKOUT = '/buy/:id'
const STATES = { ...shop.states, open: shop.open }

/** The top of every page. */
export const topOf = ({ name, logoUrl }: Sale, path: string): string =>
  `<header class="top${path.startsWith('/console') ? ' own' : ''}"><div class="width"><a class="brand" href="/"><img src="${logoUrl}" alt="" width="28" height="28"><span>${escapeHtml(name)}</span></a>` +
  (path.startsWith('/console') ? '' : placesOf(path)) +
  '</div></header>'

const placesOf = (path: string) =>
  `<nav aria-label="Pages">${PLACES.map(([href, place, here]) => `<a href="${href}"${here.test(path) ? ' aria-current="page"' : ''}>${place}</a>`).join('')}</nav>`

/** The checkout's title and lead. */
export const saidOf = (tier: ShownTier): Said =>
  isBuyable(tier) ? [filled(shop.buy, { tier: tier.label }), buy.lead] : [tier.label, standsOf(tier)]

/** The page as far as we can show it before a script runs. `facts` is null if we could not read the ledger, or if the page sells nothing. */
export function firstPaint(path: string, [title, lead]: Said, sale: Sale, facts: ShopFacts | null): string {
  const back = path === CHECKOUT ? `<p class="back"><a href="/buy">${buy.allTiers}</a></p>` : ''
  const head = `<div class="page-head">${back}<h1>${escapeHtml(title)}</h1><p class="lead">${escapeHtml(lead)}</p></div>`
  const main = (content: string) => `${topOf(sale, path)}<main id="main" class="width">${content}</main>`
  if (path === '/') return main(heroOf(head, facts) + cardsOf(facts, CARDS_MAX))
  if (SHOPS.includes(path)) return main(head + cardsOf(facts) + howOf(facts))
  return main(head + (facts && path === CHECKOUT ? facts.tiers.map((tier) => checkoutOf(tier, facts)).join('') : ''))
}

/** A text of the pages with its values. */
const filled = (text: string, values: Readonly<Record<string, string | undefined>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')

/** How buying works. */
const howOf = (facts: ShopFacts | null) =>
  facts === null
    ? ''
    : `<section class="card"><header><h2>${shop.how}</h2></header><ol class="how">${[
        [shop.pay, filled(shop.payHow, { chain: escapeHtml(networkOf(facts.deployment)) })],
        [shop.arrives, shop.arrivesHow],
        [earnsIn(facts), shop.earnsHow],
      ]
        .map(([step, text]) => `<li><h3>${step}</h3><p>${text}</p></li>`)
        .join('')}</ol></section>`

const earnsIn = ({ tiers: [tier] }: ShopFacts) =>
  tier?.credit ? filled(shop.earnsEvery, { span: spanOf(tier.credit.intervalSec) }) : shop.earns

const networkOf = ({ chainName, chainId }: ShopFacts['deployment']) =>
  chainName ? `${chainName} (chain ${chainId})` : `chain ${chainId}`

/** Tiers in these states have a card. The others are folded. */
const OFFERED: readonly string[] = ['open', 'upcoming']

/** An amount cut to at most so many figures, but never to only zeros; the same as in web/src/format.ts. */
function fewFigures(ether: string, figures: number): string {
  const [, whole = ether, zeros = ''] = /^([0-9]+)\.(0*)/.exec(ether) ?? []
  const decimals = Math.max(figures - whole.length, whole === '0' ? zeros.length + 2 : 0)
  return ether.slice(0, whole.length + 1 + decimals).replace(/\.$/, '')
}
const etherOf = (wei: string | bigint, figures: number) => fewFigures(inEther(BigInt(wei)), figures)

/** The most figures of a price, and of what a node got. */
const PRICE_FIGURES = 10
const CREDIT_FIGURES = 7
const GWEI = 10n ** 9n

/** The overview's first look: what a node earned, room for its bars, and who sells. */
function heroOf(head: string, facts: ShopFacts | null): string {
  const prices = (facts?.tiers ?? []).filter(isBuyable)
  const [cheapest] = prices.toSorted((a, b) => (BigInt(a.priceWei) < BigInt(b.priceWei) ? -1 : 1))
  const from = cheapest ? filled(overview.from, { amount: etherOf(cheapest.priceWei, PRICE_FIGURES) }) : ''
  const button = `<p class="buttons"><a class="button main big" href="/buy">${overview.buy}${from}</a><span class="note">${escapeHtml(sellerIn(facts))}</span></p>`
  return `<div class="hero">${head}${button}${facts ? earnedOf(facts, cheapest) : ''}</div>`
}

function earnedOf(facts: ShopFacts, cheapest: ShownTier | undefined): string {
  const [last] = facts.rounds
  const credit = (cheapest ?? facts.tiers[0])?.credit
  const often = credit ? filled(overview.often, { span: spanOf(credit.intervalSec) }) : ''
  if (facts.stats.totalDistributions === 0) return cheapest?.credit ? mayEarnOf(cheapest, often) : ''
  if (!last) return ''
  const turn = cheapest && lastTurnOf(cheapest, facts)
  const perNode = turn ? BigInt(turn.amountWei) : BigInt(last.totalWei) / BigInt(last.nodeCount)
  const earned = turn && cheapest ? filled(overview.earnedIn, { tier: escapeHtml(cheapest.label) }) : overview.earned
  return (
    `<div class="card yield"><p>${earned}</p><p class="earned">${perNode < GWEI ? perNode : etherOf(perNode, CREDIT_FIGURES)} <span>${perNode < GWEI ? 'wei' : 'ETH'}</span></p>` +
    `<div class="course"></div><p class="note">${often && `${often} · `}${filled(overview.sinceStart, { amount: `${etherOf(facts.stats.totalDistributedWei, PRICE_FIGURES)} ETH` })}</p></div>` +
    '<section class="proof ticks"></section>'
  )
}

/** What the terms let the first round pay a node of the cheapest tier. */
const mayEarnOf = (tier: ShownTier, often: string) =>
  `<div class="card yield"><p>${filled(overview.mayEarn, { tier: escapeHtml(tier.label) })}</p>` +
  `<p class="earned range">${rangeOf(tier)} <span>ETH</span></p><p class="note">${often}</p></div>`

/** The range that the terms in force let a round pay a node; one amount if both ends are the same. Null without terms. */
function rangeOf({ credit }: ShownTier): string | null {
  if (credit === null) return null
  const [least, most] = [credit.minWei, credit.maxWei].map((wei) => etherOf(wei, CREDIT_FIGURES))
  return least === most ? (least ?? null) : filled(shop.fromTo, { least, most })
}

/** Who sells. In development a sale without a name shows which setting names it. */
function sellerIn(facts: ShopFacts | null): string {
  if (facts === null) return ''
  const { brand, embedded, paymentAddress } = facts.deployment
  const name = brand.name ?? (embedded ? overview.nameIt : shorten(paymentAddress ?? ''))
  return filled(overview.soldBy, { name })
}

const shorten = (hex: string) => (hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex)

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const
function spanOf(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => seconds % size === 0) ?? ['second', 1]
  return seconds === size ? unit : `${seconds / size} ${unit}s`
}

const priceOf = (wei: string) => `<p class="price">${etherOf(wei, PRICE_FIGURES)} ETH</p>`
const standsOf = ({ state, soldOut }: ShownTier) => (state === 'open' && soldOut ? shop.soldOut : STATES[state])
const isBuyable = ({ state, soldOut }: ShownTier) => state === 'open' && !soldOut

/** The newest turn of a tier. */
const lastTurnOf = ({ id }: ShownTier, { rounds }: ShopFacts) =>
  rounds.flatMap(({ turns }) => turns).find(({ tierId }) => tierId === id)

/** How many times the rewards of a plain tier a tier has; the same as in web/src/pages/checkout/tiers.tsx. */
function thanOf({ payoutBps }: ShownTier, { tiers }: ShopFacts): string {
  const plain = tiers.find((tier) => tier.payoutBps === PLAIN_BPS && isBuyable(tier))
  if (!plain || payoutBps === PLAIN_BPS) return ''
  return filled(shop.than, { rate: `${payoutBps / PLAIN_BPS}×`, tier: escapeHtml(plain.label) })
}
const PLAIN_BPS = 10_000

/** The range that a round may pay a node of a tier, by the terms in force, and the amount of the tier's newest turn. */
function paidOf(tier: ShownTier, facts: ShopFacts): string {
  const turn = lastTurnOf(tier, facts)
  const last = turn && etherOf(turn.amountWei, CREDIT_FIGURES)
  const range = rangeOf(tier)
  if (range === null) return last ? filled(shop.lastPaid, { amount: last }) : ''
  const than = thanOf(tier, facts)
  const latest = last ? `<span class="latest">${than && ' · '}${filled(shop.last, { amount: last })}</span>` : ''
  return `${filled(shop.mayPay, { range })}<span>${than}${latest}</span>`
}

function checkoutOf(tier: ShownTier, facts: ShopFacts): string {
  const { quote, deployment } = facts
  const paid = `<div class="paid"><p>${paidOf(tier, facts)}</p></div>`
  const head = `<section class="card"><header class="visually-hidden"><h2>${buy.total}</h2></header>`
  if (!isBuyable(tier))
    return `<div class="stack">${head}<div class="not-now">${pictureOf(tier)}<div>${priceOf(tier.priceWei)}${paid}</div><div class="notice"><p>${standsOf(tier)}</p></div></div></section></div>`
  const pay = quote
    ? `<a class="button main wide big" href="ethereum:${quote.paymentAddress}@${quote.chainId}?value=${quote.priceWei}">${buy.openInWallet}</a>` +
      `<p class="note">${filled(buy.to, { wallet: `<code translate="no">${quote.paymentAddress}</code>`, chain: escapeHtml(networkOf(deployment)) })}</p>` +
      `<p class="note">${buy.ownWallet} ${buy.checked}</p>`
    : `<p class="notice">${buy.notOnSale}</p>`
  return `<div class="selling"><div class="thing">${pictureOf(tier)}${paid}</div>${head}<div class="ways">${priceOf(tier.priceWei)}${pay}</div></section></div>`
}

/** A node's picture before it has a number; the same as in web/src/ui/picture.tsx. */
const pictureOf = (tier: ShownTier) =>
  '<svg class="picture tier-picture" viewBox="0 0 400 110" preserveAspectRatio="xMidYMid slice" aria-hidden="true"><rect width="400" height="110"/>' +
  `${ringsOf(tier)
    .map((r) => `<circle cx="200" cy="55" r="${r}"/>`)
    .join('')}</svg>`

/** How many cards the overview has; the same as in web/src/pages/ledger/overview.tsx. */
const CARDS_MAX = 3

/** The cards in the order of web/src/pages/checkout/tiers.tsx. */
function cardsOf(facts: ShopFacts | null, most?: number): string {
  if (facts === null) return '<ul class="tiers"></ul>'
  const tiers = facts.tiers
    .filter(({ state }) => OFFERED.includes(state))
    .toSorted(
      (a, b) =>
        OFFERED.indexOf(a.state) - OFFERED.indexOf(b.state) || (BigInt(a.priceWei) < BigInt(b.priceWei) ? -1 : 1),
    )
  return `<ul class="tiers">${tiers
    .slice(0, most)
    .map((tier) => cardOf(tier, facts))
    .join('')}</ul>`
}

function cardOf(tier: ShownTier, facts: ShopFacts): string {
  const { id, label, state, opensAt, remaining, supply } = tier
  const opens =
    state === 'upcoming' && opensAt ? filled(shop.opens, { time: `<time datetime="${opensAt}">${opensAt}</time>` }) : ''
  const act = isBuyable(tier)
    ? `<a class="button wide" href="/buy/${id}">${filled(shop.buy, { tier: escapeHtml(label) })}</a>`
    : opens
  const mark = isBuyable(tier) || opens ? '' : `<span class="mark calm">${standsOf(tier)}</span>`
  const left = { n: String(remaining), supply: String(supply), beingPaid: '' }
  const factList = supply ? `<dl class="facts"><dt>${shop.supply}</dt><dd>${filled(shop.left, left)}</dd></dl>` : ''
  return (
    `<li class="card tier${isBuyable(tier) ? '' : ' shut'}"><header>${pictureOf(tier)}<h2>${escapeHtml(label)}</h2>${mark}</header>${priceOf(tier.priceWei)}` +
    `<div class="paid"><p>${paidOf(tier, facts)}</p></div><div class="room">${factList}</div><p class="act">${act}</p></li>`
  )
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** A text as HTML. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign)
