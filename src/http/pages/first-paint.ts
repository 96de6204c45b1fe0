// The first paint of a page: heading, offer, price and state in the HTML that the service sends. It is for crawlers, people without JavaScript and
// slow phones; the pages replace it when their script runs. Its classes come from web/src/styles.
import type { TierRow } from '../../db/reads/public-api.ts'
import { inEther } from '../../domain/units.ts'

/** A page's title and a sentence about it. */
export type Said = readonly [title: string, description: string]

interface Sale {
  name: string
  logoUrl: string
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
const STATES = { upcoming: 'not open yet', open: 'on sale', soldOut: 'sold out', closed: 'not on sale' }

/** The top of every page. */
export const topOf = ({ name, logoUrl }: Sale, path: string): string =>
  `<header class="top"><div class="width"><a class="brand" href="/"><img src="${logoUrl}" alt="" width="28" height="28"><span>${escaped(name)}</span></a>` +
  `<nav aria-label="Pages">${PLACES.map(([href, place, here]) => `<a href="${href}"${here.test(path) ? ' aria-current="page"' : ''}>${place}</a>`).join('')}</nav></div></header>`

/** The checkout's title and lead. */
export const saidOf = ({ label, payoutBps }: TierRow): Said => [
  `Buy ${label}`,
  `One node that earns ${(payoutBps / 10_000).toLocaleString('en', { maximumFractionDigits: 4 })}× the base credit each round. We check your wallet before you pay.`,
]

/**
 * The page as far as we can show it before a script runs. `tiers`: all tiers, or the tier that the checkout sells; null if we could not read the
 * ledger.
 */
export function firstPaint(path: string, [title, lead]: Said, sale: Sale, tiers: readonly TierRow[] | null): string {
  const head = `<div class="page-head"><h1>${escaped(title)}</h1><p class="lead">${escaped(lead)}</p></div>`
  const offeredTiers = (tiers ?? []).filter(({ onSale }) => onSale || path !== '/')
  const cards = SHOPS.includes(path) ? `<ul class="tiers">${offeredTiers.map(cardOf).join('')}</ul>` : ''
  const checkout = path === CHECKOUT ? offeredTiers.map(checkoutOf).join('') : ''
  const buy = '<p class="buttons"><a class="button main big" href="/buy">Buy a node</a>'
  const hero = `<div class="hero"><div class="stack">${head}${buy}<span class="note">Sold by ${escaped(sale.name)}</span></p></div></div>`
  return `${topOf(sale, path)}<main id="main" class="width">${path === '/' ? hero : head}${cards}${checkout}</main>`
}

const priceOf = ({ priceWei }: TierRow) => `<p class="price">${inEther(BigInt(priceWei))} ETH</p>`
const standsOf = ({ state, soldOut }: TierRow) => (state === 'open' && soldOut ? 'sold out for now' : STATES[state])
const leftOf = ({ remaining, supply }: TierRow) =>
  remaining === null || !supply
    ? '<p class="left note">no limit on how many are sold</p>'
    : `<p class="left"><meter max="${supply}" value="${supply - remaining}" aria-hidden="true"></meter><span>${remaining} of ${supply} left</span></p>`

const checkoutOf = (tier: TierRow): string =>
  `<div class="one-column"><section class="card"><header><h2>Pay</h2><span class="note">${standsOf(tier)}</span></header>` +
  `<div class="ways">${priceOf(tier)}${leftOf(tier)}<div class="place"></div></div></section></div>`

function cardOf(tier: TierRow): string {
  const { id, label, state, soldOut, opensAt } = tier
  const isOpen = state === 'open' && !soldOut
  const opens =
    state === 'upcoming' && opensAt ? `<p class="act">Opens <time datetime="${opensAt}">${opensAt}</time></p>` : ''
  const buy = isOpen
    ? `<p class="act"><a class="button main wide" href="/buy/${id}">Buy ${escaped(label)}</a></p>`
    : opens
  return (
    `<li class="card tier"><header><h2>${escaped(label)}</h2><span class="mark ${isOpen ? 'good' : 'calm'}">${standsOf(tier)}</span></header>` +
    `${priceOf(tier)}${leftOf(tier)}<div class="room"></div>${buy}</li>`
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
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign)
