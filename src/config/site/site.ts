// Reads what people are shown of this deployment: the chain's name and explorer, and whose sale it is. Nothing here decides about money.
import type { SettingOf } from '../names.ts'
import { type Source, shown } from '../source.ts'
import { parseUrl, readText } from '../values.ts'
import { KNOWN_CHAINS } from './known-chains.ts'

/** As the settings have it; null where they say nothing. */
export interface SiteConfig {
  readonly chainName: string | null
  readonly explorerUrl: string | null
  readonly brand: BrandConfig
}

export interface BrandConfig {
  readonly name: string | null
  readonly logo: { readonly path: string; readonly svg: string } | null
  /** `#rrggbb`. */
  readonly color: string | null
  /** A URL, of the web or of mail. */
  readonly contact: string | null
  readonly termsUrl: string | null
}

/** A logo is an icon, not a picture. */
const LOGO_CHARS_MAX = 65_536
/** A name must fit into a header on a phone. */
const NAME = {
  form: /^[^\p{C}<>]{1,40}$/u,
  remedy: 'set it to 1 to 40 characters of text',
}
const COLOR = { form: /^#[0-9a-fA-F]{6}$/, remedy: 'set it to # and 6 hex digits, like #1a6b52' }
/** Parts that an image has no use for, and a browser that opens it as a page may run. */
const ACTIVE = /<script|<foreignObject|<!ENTITY|\son[a-z]+\s*=|javascript:/i

export function readSite(source: Source): SiteConfig {
  return {
    chainName: readText(source, 'CHAIN_NAME', NAME, null),
    explorerUrl: readWebUrl(source, 'EXPLORER_URL', { query: false }),
    brand: {
      name: readText(source, 'BRAND_NAME', NAME, null),
      logo: readLogo(source),
      color: readText(source, 'BRAND_COLOR', COLOR, null)?.toLowerCase() ?? null,
      contact: readContact(source),
      termsUrl: readWebUrl(source, 'TERMS_URL', { query: true }),
    },
  }
}

/** Name and explorer of a chain: the settings go before what is known of its id. */
export function siteOn({ chainName, explorerUrl, brand }: SiteConfig, chainId: number) {
  const known = KNOWN_CHAINS.get(chainId)
  return {
    chainName: chainName ?? known?.name ?? null,
    explorerUrl: explorerUrl ?? known?.explorerUrl ?? null,
    brand: { ...brand, logo: brand.logo?.svg ?? null },
  }
}

/** These settings with their values as text. */
export function describeSite({ chainName, explorerUrl, brand }: SiteConfig) {
  return {
    CHAIN_NAME: chainName,
    EXPLORER_URL: explorerUrl,
    BRAND_NAME: brand.name,
    BRAND_LOGO: brand.logo?.path ?? null,
    BRAND_COLOR: brand.color,
    BRAND_CONTACT: brand.contact,
    TERMS_URL: brand.termsUrl,
  }
}

/** A URL that everybody is shown; without a slash at its end where paths are put after it. */
function readWebUrl(source: Source, name: SettingOf<'url'>, { query }: { query: boolean }): string | null {
  const text = source.get(name)
  if (text === null) return null
  const url = parseUrl(text, ['https:', 'http:'])
  const mistake = url === null ? 'is no URL' : webUrlMistake(url, query)
  if (mistake !== null) source.refuse(name, `${mistake}: set it to an https://… that everybody may open`)
  return url && (query ? url.href : url.href.replace(/\/+$/, ''))
}

function webUrlMistake({ username, password, search, hash }: URL, query: boolean): string | null {
  if (username !== '' || password !== '') return 'contains a user or password, and is shown to everybody'
  return !query && (search !== '' || hash !== '') ? 'has a query or fragment, and paths are put after it' : null
}

/** An address of mail as people write it, or a page. */
function readContact(source: Source): string | null {
  const text = source.get('BRAND_CONTACT')
  if (text === null) return null
  if (/^[^\s@:/<>"]+@[^\s@:/<>"]+\.[^\s@:/<>"]+$/.test(text)) return `mailto:${text}`
  const url = parseUrl(text, ['https:', 'http:'])
  if (url !== null && url.username === '' && url.password === '') return url.href
  source.refuse('BRAND_CONTACT', `is ${shown(text)}: set it to an address of mail, or to an https://…`)
  return null
}

function readLogo(source: Source): BrandConfig['logo'] {
  const path = source.get('BRAND_LOGO')
  const svg = source.file('BRAND_LOGO')
  if (path === null || svg === null) return null
  const mistake = logoMistake(svg)
  if (mistake === null) return { path, svg }
  source.refuse('BRAND_LOGO', `is ${shown(path)}, ${mistake}: set it to an SVG image of 64 KiB at most`)
  return null
}

function logoMistake(svg: string): string | null {
  if (svg.length > LOGO_CHARS_MAX) return 'a file that is too large'
  if (!/^\s*(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*(<!DOCTYPE[^>[]*>\s*)?<svg[\s>]/.test(svg)) return 'which is no SVG'
  return ACTIVE.test(svg) ? 'which holds more than an image' : null
}
