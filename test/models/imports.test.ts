// A model is a second reading of the rules, so it must not lean on the first: no file of this folder but a test imports more than types of src.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/** The lines of a text that import more than types from a path with `src` in it, whichever the form. */
function leaningLines(text: string): string[] {
  const joined = text
    .replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
    .replace(/\{[^}]*\}/g, (braces) => braces.replace(/\s+/g, ' '))
  return joined.split('\n').filter((line) => {
    if (!/['"`][^'"`]*\bsrc\/[^'"`]*['"`]/.test(line)) return false
    if (/^\s*(import|export) type\b/.test(line)) return false
    return /\b(import|export|require)\b/.test(line)
  })
}

test('a model imports nothing of src but types', () => {
  const all = readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' })
  const files = all.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  assert.ok(files.length >= 13, `only ${files.length} files were found`)
  const found = files.flatMap((name) =>
    leaningLines(readFileSync(new URL(name, import.meta.url), 'utf8')).map((line) => `${name}: ${line}`),
  )
  assert.deepEqual(found, [])
})

test('each form of an import of code from src is found, and an import of types is none', () => {
  const leans = [
    `import { selectTier } from '../../src/domain/tiers.ts'`,
    `import { type TierVersion, selectTier } from '../../src/domain/tiers.ts'`,
    `import {\n  selectTier,\n} from '../../src/domain/tiers.ts'`,
    `import * as tiers from '../../src/domain/tiers.ts'`,
    `import '../../src/domain/tiers.ts'`,
    `export { selectTier } from '../../src/domain/tiers.ts'`,
    `export * from '../../src/domain/tiers.ts'`,
    `const tiers = await import('../../src/domain/tiers.ts')`,
    `const tiers = require('../../src/domain/tiers.ts')`,
  ]
  for (const text of leans) assert.equal(leaningLines(text).length, 1, text)
  const fine = [
    `import type { TierVersion } from '../../src/domain/tiers.ts'`,
    `import type {\n  TierVersion,\n} from '../../src/domain/tiers.ts'`,
    `// import { selectTier } from '../../src/domain/tiers.ts'`,
    `import { place } from './sale.ts'`,
  ]
  for (const text of fine) assert.deepEqual(leaningLines(text), [], text)
})
