// The head of each page: what a link to it shows elsewhere (OpenGraph), and whose sale it is, so that pages have its name and colour from the start.
// Built from the path and the settings alone, because we serve pages while the database is down.
import type { HttpSettings } from '../deps.ts'
import { LOGO_PATH } from '../routes/well-known.ts'

/** The name of a sale that has none of its own. */
const OWN_NAME = 'Node Ledger'
/** The part of the built page that we replace. */
const PLACE = /<!--head-->.*<!--\/head-->/s
const NUMBER = /^[1-9][0-9]{0,18}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const HASH = /^0x[0-9a-fA-F]{64}$/

/** A page's title and a sentence about it. */
type Said = readonly [title: string, description: string]

/** The parameters of a path; null if they are invalid. */
export interface Params {
  id?: string
  address?: string
  hash?: string
}

const ABOUT = 'Nodes bought by one transfer of ether: what they were credited, and whether it is covered.'

/** By the router's path. */
const PAGES: Readonly<Record<string, (params: Params) => Said>> = {
  '/tiers': () => ['Tiers', 'The tiers of nodes, their prices and conditions.'],
  '/rounds': () => ['Rounds', 'Each round that credited nodes, with what it takes to recompute it.'],
  '/round/:id': ({ id }) => [numbered('Round', id), 'The nodes it credited, and the seed to recompute each amount.'],
  '/node/:id': ({ id }) => [numbered('Node', id), 'What it was credited and paid out, and what the contract says.'],
  '/address/:address': ({ address }) => [shortened('Wallet', address, ADDRESS), 'Its nodes and its payments.'],
  '/payment/:hash': ({ hash }) => [shortened('Payment', hash, HASH), 'Where it stands on its way to a node.'],
  '/buy': () => ['Buy a node', 'Choose a tier, and pay by one transfer.'],
  '/buy/:id': () => ['Buy a node', 'Your wallet is checked before you pay.'],
  '/owner': () => ['My nodes', 'What your nodes have earned, and withdrawing it.'],
}

const numbered = (what: string, id = '') => (NUMBER.test(id) ? `${what} ${id}` : what)
const shortened = (what: string, hex = '', form: RegExp) =>
  form.test(hex) ? `${what} ${hex.slice(0, 6)}…${hex.slice(-4)}` : what

/** Whose sale it is, in the form that pages read. */
export function saleOf({ site }: Pick<HttpSettings, 'site'>) {
  const { name = null, color = null, logo = null } = site?.brand ?? {}
  return { name: name ?? OWN_NAME, color, logoUrl: logo === null ? '/icon.svg' : LOGO_PATH }
}

/** The built page with the head of a path. */
export function withHead(built: string, settings: HttpSettings, path: string, params: Params = {}): string {
  const sale = saleOf(settings)
  const [title, description] = PAGES[path]?.(params) ?? [null, ABOUT]
  const full = title === null ? sale.name : `${title} · ${sale.name}`
  const given = Object.values(params)[0]
  const url = new URL(path.replace(/:.*$/, given ? encodeURIComponent(given) : ''), settings.publicUrl).href
  const head = [
    `<title>${escaped(full)}</title>`,
    meta('name', 'description', description),
    meta('name', 'application-name', sale.name),
    meta('name', 'node-ledger:sale', JSON.stringify(sale)),
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
    '<link rel="manifest" href="/app.webmanifest">',
  ]
  return built.replace(PLACE, () => head.join('\n    '))
}

const meta = (kind: 'name' | 'property', name: string, content: string) =>
  `<meta ${kind}="${name}" content="${escaped(content)}">`

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** A text as HTML. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign)

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
