// Writes the table of events in docs/WEBHOOKS.md from the kinds of events. The table is below its mark, up to the next
// empty line.
import { readFileSync, writeFileSync } from 'node:fs'
import { KINDS } from '../src/domain/webhooks/kinds.ts'

const PAGE = new URL('../docs/WEBHOOKS.md', import.meta.url)
const TABLE = /(<!-- made by npm run generate: events -->\n)(?:\|.*\n)*/

/** The page with its table filled in from the code. */
function withTable(page: string): string {
  const rows = Object.entries(KINDS).map(
    ([type, { words, asks }]) => `| \`${type}\` | ${words} | ${asks ? 'yes' : ''} |\n`,
  )
  return page.replace(
    TABLE,
    (_all, mark) => `${mark}| \`type\` | meaning | needs a person |\n|---|---|---|\n${rows.join('')}`,
  )
}

export function writeTables(): void {
  writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8')))
}

/** Checks that the table matches the code. If not, says what to do. */
export function checkTables(): boolean {
  const page = readFileSync(PAGE, 'utf8')
  const isCurrent = page === withTable(page)
  if (!isCurrent) console.error('docs/WEBHOOKS.md has a table that is not what the code makes: run "npm run generate".')
  return isCurrent
}
