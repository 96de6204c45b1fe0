// The head of each page: what a link to the page shows elsewhere (OpenGraph), and whose sale it is, so that pages have its name and colour from the
// start. Built from the path and the settings alone, because we serve pages even while the database is down; the first paint then leaves out what is
// sold.
import { words as checkout } from '../../../web/src/words/checkout.ts'
import { words as ledger } from '../../../web/src/words/ledger.ts'
import { words as owner } from '../../../web/src/words/owner.ts'
import { ui } from '../../../web/src/words/ui.ts'
import { toJson } from '../../lib/json.ts'
import type { HttpSettings } from '../deps.ts'
import { LOGO_PATH } from '../routes/well-known.ts'
import { CHECKOUT, escapeHtml, firstPaint, type Said, type ShopFacts, saidOf } from './first-paint.ts'

/** The name of a sale that has not set one. */
const OWN_NAME = 'Node Ledger'
const OWN_LOGO = '/icon.svg'
/** The part of the built page that we replace. */
const PLACE = /<!--head-->.*<!--\/head-->/s
const FIRST = /<!--first-->.*<!--\/first-->/s
const NUMBER = /^[1-9][0-9]{0,18}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const HASH = /^0x[0-9a-fA-F]{64}$/

/** The parameters of a path; null if they are invalid. */
export interface Params {
  id?: string
  address?: string
  hash?: string
}

/** The overview's heading, and the text that a link to it shows. */
const OVERVIEW: Said = [ledger.overview.heading, ledger.overview.lead]
const [, ABOUT] = OVERVIEW

const BUY: Said = [checkout.tiers.title, checkout.tiers.lead]

/** The title and description of each page, by the router's path. */
const PAGES: Readonly<Record<string, (params: Params) => Said>> = {
  '/tiers': () => BUY,
  '/rounds': () => [ledger.rounds.title, ledger.rounds.lead],
  '/round/:id': ({ id }) => [withNumber('Round', id), 'The nodes it credited, and the seed to recompute each amount.'],
  '/node/:id': ({ id }) => [
    withNumber('Node', id),
    'What it was credited and paid out, and what the contract reports.',
  ],
  '/address/:address': ({ address }) => [withHex('Wallet', address, ADDRESS), 'Its nodes and its payments.'],
  '/payment/:hash': ({ hash }) => [withHex('Payment', hash, HASH), 'Its progress to a node.'],
  '/buy': () => BUY,
  [CHECKOUT]: () => [checkout.buy.title, checkout.buy.lead],
  '/404': () => [ui.notFound.title, ui.notFound.lead],
  '/docs': () => ['API', 'Every request that the service answers, with its parameters and answers.'],
  '/runbook.html': () => ['Runbook', 'What to do at each alert.'],
  '/owner': () => [owner.title, owner.lead],
}

const withNumber = (what: string, id = '') => (NUMBER.test(id) ? `${what} ${id}` : what)
const withHex = (what: string, hex = '', form: RegExp) =>
  form.test(hex) ? `${what} ${hex.slice(0, 6)}…${hex.slice(-4)}` : what

/** Whose sale it is, in the form that the pages expect. */
export function saleOf({ site }: Pick<HttpSettings, 'site'>) {
  const { name = null, color = null, logo = null } = site?.brand ?? {}
  return { name: name ?? OWN_NAME, color, logoUrl: logo === null ? OWN_LOGO : LOGO_PATH }
}

/** As in web/src/site.ts. */
const chainInWords = ({ site, chainId }: Pick<HttpSettings, 'site' | 'chainId'>) =>
  site?.chainName ? `${site.chainName} (chain ${chainId})` : `chain ${chainId}`

interface Asked {
  /** The page's path in the router's syntax. */
  path: string
  params?: Params
  /** What the page shows of the ledger; null if we could not read it. */
  facts?: ShopFacts | null
}

/** The built page with the head of a path, and its first paint. */
export function withHead(html: string, settings: HttpSettings, { path, params = {}, facts = null }: Asked): string {
  const sale = saleOf(settings)
  const chain = chainInWords(settings)
  const tier = path === CHECKOUT ? facts?.tiers.find(({ id }) => id === params.id) : undefined
  const [title, description] = tier ? saidOf(tier) : (PAGES[path]?.(params) ?? [null, ABOUT])
  const full = title === null ? sale.name : `${title} · ${sale.name}`
  const param = Object.values(params)[0]
  const url = new URL(path.replace(/:.*$/, param ? encodeURIComponent(param) : ''), settings.publicUrl).href
  const head = [
    `<title>${escapeHtml(full)}</title>`,
    meta('name', 'description', description),
    meta('name', 'application-name', sale.name),
    meta('name', 'node-ledger:sale', JSON.stringify({ name: sale.name, logoUrl: sale.logoUrl, chain })),
    meta('property', 'og:type', 'website'),
    meta('property', 'og:site_name', sale.name),
    meta('property', 'og:title', title ?? sale.name),
    meta('property', 'og:description', description),
    meta('property', 'og:url', url),
    meta('property', 'og:image', new URL('/preview.png', settings.publicUrl).href),
    meta('property', 'og:image:type', 'image/png'),
    meta('property', 'og:image:width', '1200'),
    meta('property', 'og:image:height', '630'),
    meta('property', 'og:image:alt', ABOUT),
    meta('name', 'twitter:card', 'summary_large_image'),
    `<link rel="icon" href="${sale.logoUrl}" type="image/svg+xml">`,
    ...(sale.logoUrl === OWN_LOGO ? ['<link rel="apple-touch-icon" href="/apple-touch-icon.png">'] : []),
    ...(facts === null ? [] : [meta('name', 'node-ledger:served', toJson(facts))]),
    '<link rel="manifest" href="/app.webmanifest">',
  ]
  const texts = title === null ? OVERVIEW : ([title, description] as const)
  const part = facts && path === CHECKOUT ? { ...facts, tiers: tier ? [tier] : [] } : facts
  const first = firstPaint(path, texts, sale, part)
  return html.replace(PLACE, () => head.join('\n    ')).replace(FIRST, () => first)
}

const meta = (kind: 'name' | 'property', name: string, content: string) =>
  `<meta ${kind}="${name}" content="${escapeHtml(content)}">`

/** The manifest with which a browser puts the pages on a home screen. */
export function appManifest(settings: Pick<HttpSettings, 'site'>): string {
  const { name, logoUrl } = saleOf(settings)
  return JSON.stringify({
    id: '/',
    start_url: '/',
    scope: '/',
    display: 'minimal-ui',
    name,
    short_name: name,
    description: ABOUT,
    // The background of the light theme. Each page sets its own for both themes.
    background_color: '#f6f7fa',
    theme_color: '#f6f7fa',
    icons: [{ src: logoUrl, sizes: 'any', type: 'image/svg+xml' }],
  })
}
