// Finds the test files and sorts them into three kinds: quick ones for `npm test` (quick.ts lists them), long ones for `npm run check:long` (their
// names end with `.long.test.ts`), and all others for `npm run check`. Each file has exactly one kind.
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { QUICK } from './quick.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LONG_SUFFIX = '.long.test.ts'

export type Kind = 'quick' | 'other' | 'long'

export const isLong = (file: string) => file.endsWith(LONG_SUFFIX)

/** True if the entry of quick.ts is this file, or a folder that holds it. */
export const isOf = (path: string, file: string) => file === path || (path.endsWith('/') && file.startsWith(path))

function kindOf(file: string): Kind {
  if (isLong(file)) return 'long'
  return QUICK.some(({ path }) => isOf(path, file)) ? 'quick' : 'other'
}

/** Paths from the project's root of all test files of a kind. */
export function findTestFiles(kind: Kind): string[] {
  return globSync('test/**/*.test.ts', { cwd: ROOT })
    .filter((file) => kindOf(file) === kind)
    .sort()
}

/** The test files whose path contains one of `filters`. Long ones only if a filter matches no other. */
export function selectTestFiles(filters: readonly string[]): string[] {
  const others = [...findTestFiles('quick'), ...findTestFiles('other')]
  return filters.flatMap((filter) => {
    const wanted = filter.replace(/^\.\//, '')
    const found = others.filter((file) => file.includes(wanted))
    return found.length > 0 ? found : findTestFiles('long').filter((file) => file.includes(wanted))
  })
}
