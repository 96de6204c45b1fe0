// Writes the reference part of docs/CLI.md from the table of commands. A test holds the two together.
import { readFileSync, writeFileSync } from 'node:fs'
import { COMMANDS } from '../src/cli/commands.ts'
import { reference } from '../src/cli/help.ts'

const MARK = '<!-- From here on made by: node bin/with-runtime.mjs scripts/cli-reference.ts -->\n'
const path = new URL('../docs/CLI.md', import.meta.url)
const [written] = readFileSync(path, 'utf8').split(MARK)
writeFileSync(path, `${written}${MARK}\n${reference(COMMANDS)}`)
