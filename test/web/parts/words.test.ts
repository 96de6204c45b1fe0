// The public pages contain no text of their own: each is in the catalogue (web/src/words), so you can add a language. The console is English.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseSync } from 'vite'

const SRC = new URL('../../../web/src/', import.meta.url).pathname
/** Text that is the same in every language, and entities. */
const NAMES = /\b(ETH|UTC|EIP-\d+)\b|&\w+;/g
/** Attributes that people read or hear. */
const READ = ['aria-label', 'title', 'placeholder', 'alt', 'label', 'lead']
const isText = (text: unknown): text is string => typeof text === 'string' && /\p{L}{2}/u.test(text.replace(NAMES, ''))

interface Node {
  type?: string
  value?: unknown
  name?: { name?: unknown }
}

/** Texts between tags and in attributes of a module. */
function textsIn(file: string): string[] {
  const { program, errors } = parseSync(file, readFileSync(`${SRC}${file}`, 'utf8'))
  assert.deepEqual(errors, [])
  const found: string[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, value, name } = node as Node
    if (type === 'JSXText' && isText(value)) found.push(value.trim())
    const given = (value as Node | null)?.value
    if (type === 'JSXAttribute' && READ.includes(String(name?.name)) && isText(given)) found.push(given)
    for (const child of Object.values(node)) visit(child)
  }
  visit(program)
  return found.map((text) => `${file}: ${text}`)
}

test('each text of the public pages is in the catalogue', () => {
  const files = globSync('{app,main,pages/**/*,ui/**/*,wallet/**/*}.tsx', { cwd: SRC })
  assert.ok(files.length > 50, `${files.length} files`)
  assert.deepEqual(files.flatMap(textsIn), [])
  assert.ok(globSync('console/*.tsx', { cwd: SRC }).flatMap(textsIn).length > 10, 'this finds texts')
})
