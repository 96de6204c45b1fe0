// `node scripts/release/strip.ts --into DIRECTORY FOLDER …`: the folders with JavaScript in the place of TypeScript, as the package and the image
// hold them. Node strips no types under node_modules, and elsewhere does it at each start, which keeps 20 MB. Types become spaces and a
// file's new name is as long as its old one, so that each line and column is that of the source. It needs Node alone: the image has no more.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

/** A module's own name for another one of ours, in an import or an export, or in an import at run time. */
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
