// An operator names one colour; text in it, and on it, is readable in both themes, whichever colour it is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { brandRoles } from '../../../src/http/pages/accent.ts'

/** Backgrounds on which the styles put text in the accent's colour, as in web/src/styles/tokens.css. */
const LIGHT = ['#f6f7fa', '#ffffff', '#eef0f5']
const DARK = ['#0c0e14', '#151923', '#1c212d', '#10141c']

/** By WCAG 2, written independently of the tested code. */
function contrast(one: string, other: string): number {
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return red * 0.2126 + green * 0.7152 + blue * 0.0722
  }
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const colors = fc
  .array(fc.integer({ min: 0, max: 255 }), { minLength: 3, maxLength: 3 })
  .map((parts) => `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`)

test('text in the colour of a sale, and on it, has a contrast of 4.5 to 1 in both themes', () => {
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom('#000000', '#ffffff', '#ffd400', '#1a6b52', '#808080'), colors), (color) => {
      const roles = brandRoles(color) as Record<string, string>
      const pairs = [
        ...[...LIGHT, roles['--brand-soft-light']].map((ground) => [roles['--brand-light'], ground]),
        ...[...DARK, roles['--brand-soft-dark']].map((ground) => [roles['--brand-dark'], ground]),
        ...['--brand-ground', '--brand-hover'].map((ground) => [roles['--brand-on'], roles[ground]]),
      ]
      for (const [text = '', ground = ''] of pairs)
        assert.ok(contrast(text, ground) >= 4.5, `${text} on ${ground} of ${color}: ${contrast(text, ground)}`)
    }),
    { numRuns: 300 },
  )
})
