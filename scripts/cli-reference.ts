// Writes the tables of docs/CLI.md from the table of commands. A test compares the two.
import { readFileSync, writeFileSync } from 'node:fs'
import { loadCommands } from '../src/cli/commands.ts'
import { reference } from '../src/cli/help.ts'

const COMMANDS = await loadCommands()

const MARK = '<!-- From here on made by: npm run generate -->\n'
const PATH = new URL('../docs/CLI.md', import.meta.url)

export function writeCliReference(): void {
  const [written] = readFileSync(PATH, 'utf8').split(MARK)
  writeFileSync(PATH, `${written}${MARK}\n${reference(COMMANDS)}`)
}
