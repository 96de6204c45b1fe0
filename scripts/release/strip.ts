// `node scripts/release/strip.ts --into DIRECTORY FOLDER …`: the folders with JavaScript in place of TypeScript, as the package and the image have
// them, because Node strips no types under node_modules. Elsewhere it does so at each start, and this saves 20 MB. Types become spaces and a file's
// new name is as long as its old one, so each line and column is the source's. Needs only Node, because the image has nothing else.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

/** A relative module name in an import or an export, also a dynamic one. */
const SPECIFIER = /((?:\bfrom|\bimport)\s*\(?\s*')(\.\.?\/[^']+)\.ts(?=')/g

const { values, positionals } = parseArgs({ options: { into: { type: 'string' } }, allowPositionals: true })
const { into } = values
if (into === undefined || positionals.length === 0) throw new Error('usage: strip.ts --into DIRECTORY FOLDER …')
for (const folder of positionals) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const from = join(entry.parentPath, entry.name)
    const to = join(into, from)
    mkdirSync(dirname(to), { recursive: true })
    if (!from.endsWith('.ts')) cpSync(from, to)
    else {
      const code = stripTypeScriptTypes(readFileSync(from, 'utf8'), { mode: 'strip' })
      writeFileSync(to.replace(/\.ts$/, '.js'), code.replace(SPECIFIER, '$1$2.js'))
    }
  }
}
