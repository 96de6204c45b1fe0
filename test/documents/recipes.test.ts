// The recipes of CONTRIBUTING.md: their files exist, and an entry that belongs in all files of a recipe is in each. A
// failure names what is missing and where.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { SETTINGS } from '../../src/config/names.ts'
import { HELD_REASONS, IGNORE_REASONS } from '../../src/domain/judgement.ts'
import { MOVES, type Move } from '../../src/domain/transitions.ts'
import { words } from '../../web/src/words/payment.ts'
import { ROOT, readPage } from './pages.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const wordsIn = (text = '') => [...text.matchAll(/'(\w+)'/g)].map(([, word = '']) => word)
/** Reasons why a transfer is no sale, so no operator decides about them. */
const IGNORED: readonly string[] = IGNORE_REASONS
/** Buyers see another reason, because only the operator may know who is on the deny list. */
const shownToBuyers = (reason: string) => (reason === 'review' ? 'senderDenied' : reason)

test('the places of each recipe exist', () => {
  const [, recipes = ''] = /^## Recipes\n(.*?)^## /ms.exec(readPage('CONTRIBUTING.md').text) ?? []
  const places = [...recipes.matchAll(/^\| (`.+?) \| /gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
  )
  assert.ok(places.length > 25)
  assert.deepEqual(
    places.filter((path) => !existsSync(join(ROOT, path))),
    [],
  )
})

describe('a reason to hold a payment is', () => {
  const reasons: readonly string[] = [...HELD_REASONS].sort()
  const lacks = (place: string, found: readonly string[]) =>
    assert.deepEqual(
      reasons.filter((reason) => !found.includes(reason)),
      [],
      `missing in ${place}`,
    )
  const surplus = (place: string, found: readonly string[]) =>
    assert.deepEqual(
      found.filter((reason) => !reasons.includes(reason) && !IGNORED.includes(reason)),
      [],
      `unknown in ${place}`,
    )
  const places: Record<string, () => readonly string[]> = {
    'migrations/0001_schema.sql': () =>
      wordsIn(/ reason text CHECK \(reason IN \(([^)]*)\)/.exec(read('migrations/0001_schema.sql'))?.[1]),
    'src/domain/transitions.ts': () =>
      Object.values(MOVES as Record<string, Move>).flatMap(({ reasons = [], heldFor = [] }) => [
        ...reasons,
        ...heldFor,
      ]),
    'api/openapi.yaml': () => reasonsOfApi().map(shownToBuyers),
    'web/src/words/payment.ts': () => Object.keys(words.reasons).map(shownToBuyers),
    'docs/RUNBOOK.md': () => reasons.filter((reason) => read('docs/RUNBOOK.md').includes(`\n### ${reason}\n`)),
  }
  for (const [place, found] of Object.entries(places)) {
    test(`in ${place}`, () => {
      assert.ok(reasons.length > 10)
      lacks(place, found())
      surplus(place, found())
    })
  }
})

function reasonsOfApi(): string[] {
  const { components } = parse(read('api/openapi.yaml'), { merge: true }) as {
    components: { schemas: { Payment: { properties: { reason: { enum: (string | null)[] } } } } }
  }
  return components.schemas.Payment.properties.reason.enum.filter((reason) => reason !== null)
}

test('a setting is used somewhere beside its row of the table', () => {
  const source = globSync('src/**/*.ts', { cwd: ROOT }).map(read).join('\n')
  const uses = (name: string) => {
    const ofRole = `\\$\\{role\\}${name.replace(/^(MINTER|DISTRIBUTOR)/, '')}\\b`
    return source.match(new RegExp(`\\b${name}\\b(?!: \\{)|${ofRole}`, 'g')) ?? []
  }
  assert.deepEqual(
    SETTINGS.filter((name) => uses(name).length === 0),
    [],
  )
})
