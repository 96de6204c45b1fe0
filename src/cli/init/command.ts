// The script `ledger` in a ledger's folder: it runs any command of this program with the folder's settings and secrets.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Folder } from './folder.ts'

/** The program as Node starts it, from a checkout or a package. */
export const MAIN =
  ['ts', 'js']
    .map((kind) => fileURLToPath(new URL(`../../main.${kind}`, import.meta.url)))
    .find((path) => existsSync(path)) ?? ''
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** The text of the shell script. */
export function commandOf(folder: Folder): string {
  const secrets = Object.entries(folder.secretSettings()).map(([name, value]) => `export ${name}=${quoted(value)}`)
  return `#!/bin/sh
# A command of Node Ledger with the settings of this folder: ./ledger doctor
set -a
. ${quoted(folder.at('settings.env'))}
set +a
export NODE_LEDGER_COMMAND="$0"
${secrets.join('\n')}
export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072
exec ${quoted(process.execPath)} --max-semi-space-size=4 --max-old-space-size=512 ${quoted(MAIN)} "$@"
`
}
