// The colours that styles derive from a sale's colour. An operator names one colour. Text in that colour or on it stays
// readable in both themes: the contrast is at least 4.5 to 1. The colours are in the page's own style, so the first
// paint has them.
import { createHash } from 'node:crypto'

type Rgb = readonly [red: number, green: number, blue: number]

const WHITE: Rgb = [255, 255, 255]
const BLACK: Rgb = [0, 0, 0]
/**
 * The darkest background of the light theme and the lightest background of the dark theme, as in
 * web/src/styles/tokens.css.
 */
const SUNK_LIGHT: Rgb = [238, 240, 245]
const CARD_DARK: Rgb = [21, 25, 35]
const RAISED_DARK: Rgb = [28, 33, 45]
/** The contrast that we require: WCAG's minimum, with a margin for rounding. */
const CONTRAST_MIN = 4.6
const STEP = 0.04

/** The custom properties that replace the accent colour of tokens.css. `color` is `#` and six hex digits. */
export function brandRoles(color: string): Record<string, string> {
  const own = parse(color)
  const [softLight, softDark] = [mix(WHITE, own, 0.08), mix(CARD_DARK, own, 0.16)]
  const [onOwn, away] = contrast(own, WHITE) >= CONTRAST_MIN ? [WHITE, BLACK] : [BLACK, WHITE]
  const ground = readable(own, away, [onOwn])
  return {
    '--brand-light': hex(readable(own, BLACK, [softLight, SUNK_LIGHT])),
    '--brand-dark': hex(readable(own, WHITE, [softDark, RAISED_DARK])),
    '--brand-soft-light': hex(softLight),
    '--brand-soft-dark': hex(softDark),
    '--brand-ground': hex(ground),
    '--brand-hover': hex(mix(ground, away, 0.16)),
    '--brand-on': hex(onOwn),
  }
}

/** A page, with the sale's colour added at the end of its style. */
export function withAccent(page: string, color: string | null): string {
  if (color === null) return page
  const roles = Object.entries(brandRoles(color)).map(([role, value]) => `${role}:${value}`)
  return page.replace('</style>', `:root{${roles.join(';')}}</style>`)
}

const STYLE = /<style>(.*?)<\/style>/s

/** The source with which a content security policy admits a page's own style; null if it has none. */
export function styleSource(page: string): string | null {
  const style = STYLE.exec(page)?.[1]
  return style === undefined ? null : `'sha256-${createHash('sha256').update(style).digest('base64')}'`
}

/** Moves a colour towards another until it is readable on each of the backgrounds. */
function readable(color: Rgb, towards: Rgb, grounds: readonly Rgb[]): Rgb {
  for (let share = 0; share < 1; share += STEP) {
    const candidate = mix(color, towards, share)
    if (grounds.every((ground) => contrast(candidate, ground) >= CONTRAST_MIN)) return candidate
  }
  return towards
}

const parse = (color: string): Rgb =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) as unknown as Rgb
const hex = (color: Rgb) => `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`
const mix = (one: Rgb, other: Rgb, share: number): Rgb =>
  one.map((part, at) => Math.round(part + ((other[at] ?? 0) - part) * share)) as unknown as Rgb

/** The contrast ratio of WCAG 2: 1 to 21. */
function contrast(one: Rgb, other: Rgb): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
