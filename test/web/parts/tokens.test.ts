// Only tokens.css has colours, font sizes and distances.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const STYLES = new URL('../../../web/src/styles/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, STYLES), 'utf8').replace(/\/\*.*?\*\//gs, '')
const tokens = read('tokens.css')
const others = [...readdirSync(STYLES).filter((name) => name !== 'tokens.css'), '../../public/document.css']

const RULES: readonly (readonly [what: string, wrong: RegExp])[] = [
  ['a colour', /#[0-9a-f]{3,8}\b|\brgba?\(|\bhsl|\boklch\(/i],
  ['a size of type', /font-size: (?!var\(--type-|0\.9em)|\bfont: (?!inherit|.*var\(--type-)/],
  ['a distance', /\b(gap|padding[a-z-]*|margin[a-z-]*): [^;]*[0-9.](rem|px)/],
]

test('every size, distance and colour of the styles is in tokens.css, and each of those is used', () => {
  for (const name of others)
    for (const line of read(name).split('\n'))
      for (const [what, wrong] of RULES) assert.doesNotMatch(line, wrong, `${name} has ${what} of its own`)
  const all = others.map(read).join('\n') + tokens
  const named = [...tokens.matchAll(/^ {2}(--[a-z-]+):/gm)].map(([, token = '']) => token)
  assert.deepEqual(
    named.filter((token) => !all.includes(`var(${token})`) && !all.includes(`var(${token},`)),
    [],
  )
})

test('a style of wrapping lets nothing wrap that must not', () => {
  // The short form also sets whether text wraps, even inside what does not.
  for (const name of others) assert.doesNotMatch(read(name), /text-wrap: pretty/, name)
})

test('there are at most seven sizes of type, and eight distances', () => {
  const count = (kind: string) => [...tokens.matchAll(new RegExp(`^ {2}--${kind}-`, 'gm'))].length
  assert.ok(count('type') <= 7)
  assert.ok(count('space') <= 8)
})
