// Copies the project so that its text may be changed: to plant bugs, and to mutate the rules. The copy is deleted when the process ends.
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryDirectory } from '../test/support/temporary.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Everything that tests read. */
const COPIED = [
  ...['src', 'packages', 'test', 'scripts', 'migrations', 'api', 'bin', 'docs', 'ops', 'client/src', 'web/src'],
  ...['package.json', 'tsconfig.json', '.env.example', 'README.md', 'compose.yaml'],
]

/** Creates a copy; returns its directory. */
export function copyProject(): string {
  const copy = temporaryDirectory()
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  // Includes the built pages, if there are any, because tests of the served pages read them.
  for (const name of ['node_modules', 'contracts', 'web/dist']) symlinkSync(join(ROOT, name), join(copy, name))
  return copy
}
