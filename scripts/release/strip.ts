// `node scripts/release/strip.ts --into DIRECTORY FOLDER …`: writes the folders with JavaScript in place of TypeScript. The package and the image
// need that, because Node strips no types under node_modules. Elsewhere Node strips them at each start; doing it here saves 20 MB. Types become
// spaces and the new file names are as long, so lines and columns match the source. Needs only Node, because the image has nothing else.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

/** A relative module name in an import or an export, including dynamic ones. */
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
