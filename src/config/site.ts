// The settings of what people see of this deployment: the chain's name and explorer, and who sells. None of them affects money.
import { type Parse, type SettingGroup, shown } from './setting.ts'
import { formed, parseUrl } from './values.ts'

/** The most characters of a logo: enough for an icon, and too few for a picture. */
const LOGO_CHARS_MAX = 65_536
/** A name must fit into a page header on a phone. */
const NAME = {
  form: /^[^\p{C}<>]{1,40}$/u,
  remedy: 'set it to 1 to 40 characters of text',
}
const COLOR = { form: /^#[0-9a-fA-F]{6}$/, remedy: 'set it to # and 6 hex digits, like #1a6b52' }
/** Content that no image needs, and that a browser may run if the image is opened as a page. */
const ACTIVE = /<script|<foreignObject|<!ENTITY|\son[a-z]+\s*=|javascript:/i

/** Parses a URL that everyone sees. If we append paths to it, removes slashes at its end. */
const webUrl =
  ({ query }: { query: boolean }): Parse<string> =>
  (input, ask) => {
    const url = parseUrl(input, ['https:', 'http:'])
    const mistake = url === null ? 'is not a URL' : webUrlMistake(url, query)
    if (mistake !== null) return ask.refuse(`${mistake}: set it to a public https://…`)
    return url && (query ? url.href : url.href.replace(/\/+$/, ''))
  }

function webUrlMistake({ username, password, search, hash }: URL, query: boolean): string | null {
  if (username !== '' || password !== '') return 'contains a user or password, but everyone can see it'
  return !query && (search !== '' || hash !== '') ? 'has a query or fragment, but the pages append paths to it' : null
}

const color: Parse<string> = (input, ask) => formed(COLOR)(input, ask)?.toLowerCase() ?? null

/** An email address, or the URL of a page. */
const contact: Parse<string> = (input, ask) => {
  if (/^[^\s@:/<>"]+@[^\s@:/<>"]+\.[^\s@:/<>"]+$/.test(input)) return `mailto:${input}`
  const url = parseUrl(input, ['https:', 'http:'])
  if (url !== null && url.username === '' && url.password === '') return url.href
  return ask.refuse(`is ${shown(input)}: set it to an email address or an https://…`)
}

interface Logo {
  readonly path: string
  readonly svg: string
}

const logo: Parse<Logo> = (path, ask) => {
  const svg = ask.file()
  const mistake = svg === null ? null : logoMistake(svg)
  if (mistake !== null) return ask.refuse(`is ${shown(path)}, ${mistake}: set it to an SVG image of 64 KiB at most`)
  return svg === null ? null : { path, svg }
}

function logoMistake(svg: string): string | null {
  if (svg.length > LOGO_CHARS_MAX) return 'a file that is too large'
  if (!/^\s*(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*(<!DOCTYPE[^>[]*>\s*)?<svg[\s>]/.test(svg))
    return 'which is not an SVG'
  return ACTIVE.test(svg) ? 'which contains more than an image' : null
}

export const SITE = {
  title: 'What people see',
  text: 'The pages and `/.well-known/node-ledger.json` show these. A change needs a restart, but no new build.',
  settings: {
    EXPLORER_URL: {
      parse: webUrl({ query: false }),
      otherwise: "by the chain's id, if it is a known one",
      example: 'https://etherscan.io',
      text: 'A block explorer, to which the pages append `/tx/…`, `/address/…` and `/block/…`.',
    },
    BRAND_NAME: { parse: formed(NAME), example: 'Aurora Nodes', text: 'The name of the seller.' },
    BRAND_LOGO: {
      parse: logo,
      show: ({ path }: Logo) => path,
      text: 'The path of an SVG image of at most 64 KiB, without scripts. The service serves it as `/brand/logo.svg`.',
    },
    BRAND_COLOR: { parse: color, example: '#1a6b52', text: 'The colour of buttons and links.' },
    BRAND_CONTACT: {
      parse: contact,
      example: 'help@example.org',
      text: 'Where buyers ask for help: an email address or a page.',
    },
    TERMS_URL: {
      parse: webUrl({ query: true }),
      example: 'https://nodes.example.org/terms',
      text: 'The terms of the sale.',
    },
  },
} satisfies SettingGroup
