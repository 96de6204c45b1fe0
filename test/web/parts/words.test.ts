// The catalogues of the pages: each language has the texts of the English one, with the same places for values and elements. That none is missing holds
// by type; that none is too many, here.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { german } from '../../../web/src/words/de/index.ts'
import { sentences } from '../../../web/src/words/de/said.ts'
import { languageFor } from '../../../web/src/words/language.ts'

const ROOT = new URL('../../../', import.meta.url)
const { said, ...parts } = german

/** The texts of a part by their paths. */
function textsOf(part: object, path = ''): [path: string, text: string][] {
  return Object.entries(part).flatMap(([name, text]: [string, string | object]) =>
    typeof text === 'string' ? [[`${path}${name}`, text] as [string, string]] : textsOf(text, `${path}${name}.`),
  )
}

/** Places of a text: values, and elements around words. */
const placesOf = (text: string) => [...new Set(text.match(/\{\w+\}|<\/?\w+>/g))].sort()

for (const [name, part] of Object.entries(parts)) {
  test(`German has each text of ${name} with its places, and no other`, async () => {
    const english = (await import(new URL(`web/src/words/en/${name}.ts`, ROOT).href)) as Record<string, object>
    const [own, theirs] = [new Map(textsOf(english[name] ?? {})), new Map(textsOf(part))]
    assert.deepEqual([...theirs.keys()], [...own.keys()])
    // One thing may be counted without its number.
    const places = (path: string, text = '') =>
      placesOf(text).filter((place) => place !== '{n}' || !path.endsWith('.one'))
    for (const [path, text] of own) {
      assert.deepEqual(places(path, theirs.get(path)), places(path, text), path)
    }
  })
}

test('each sentence that is translated by itself is one that the service, the contract or the client says', () => {
  const files = ['src/http/refusals.ts', ...globSync('client/src/**/*.ts', { cwd: ROOT.pathname })]
  const sources = files.map((file) => readFileSync(new URL(file, ROOT), 'utf8')).join('\n')
  const said = sources.replace(/\$\{[^}]*\}/g, '{}')
  assert.deepEqual(
    Object.keys(sentences).filter(
      (sentence) => !/['`]/.test(said.split(sentence.replace(/\{\w+\}/g, '{}'))[1]?.[0] ?? ''),
    ),
    [],
  )
})

test('a sentence comes in German with what it held, and one that German does not know comes as none', () => {
  assert.equal(said('There is no such node.'), 'Diesen Node gibt es nicht.')
  assert.equal(
    said('The price is 0.02 ETH now. Nothing was sent.'),
    'Der Preis ist jetzt 0.02 ETH. Es wurde nichts gesendet.',
  )
  assert.equal(said('toString'), null)
})

test('a page speaks the language that was chosen, else the first of the browser’s that there is, else English', () => {
  assert.equal(languageFor('/tiers', null, ['fr-CH', 'de-CH', 'en']), 'de')
  assert.equal(languageFor('/tiers', null, ['en-GB', 'de']), 'en')
  assert.equal(languageFor('/tiers', null, ['ja']), 'en')
  assert.equal(languageFor('/tiers', 'en', ['de']), 'en')
  assert.equal(languageFor('/tiers', 'toString', ['de']), 'de')
  // The operator's.
  assert.equal(languageFor('/console/payments', 'de', ['de']), 'en')
})
