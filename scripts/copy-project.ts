// A copy of the project whose text may be changed: for planting bugs, and for mutating the rules. Goes when the process ends.
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryDirectory } from '../test/support/temporary.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** All that tests read. */
const COPIED = [
  ...['src', 'packages', 'test', 'scripts', 'migrations', 'api', 'bin', 'docs', 'ops', 'client/src', 'web/src'],
  ...['package.json', 'tsconfig.json', '.env.example', 'README.md', 'compose.yaml'],
]

/** Makes one; gives its directory. */
export function copyProject(): string {
  const copy = temporaryDirectory()
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  // The pages as they were built, if they were: tests of what is served read them.
  for (const name of ['node_modules', 'contracts', 'web/dist']) symlinkSync(join(ROOT, name), join(copy, name))
  return copy
}
