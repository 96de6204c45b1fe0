// The files to mutate, in groups with their goals, and the tests that must notice a change: quick tests that need no service.
// Other files have their mutants drawn, and any quick test of their room may notice.
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { importsOf } from '../imports.ts'
import { findTestFiles } from '../tests/files.ts'
import { ROOT } from './tool.ts'

export interface Group {
  name: string
  /** The percentage of changes that the tests must notice. */
  goal: number
  files: readonly string[]
  tests: readonly string[]
}

export const GROUPS: readonly [Group, ...Group[]] = [
  {
    name: 'money and auth',
    goal: 95,
    files: [
      'src/domain/**/*.ts',
      'src/chain/digest.ts',
      'src/chain/send/send-errors.ts',
      'src/http/session/{session,sign-in-message,signature,origin,cookies}.ts',
      'src/http/secrets.ts',
      'src/http/edge/guards.ts',
      'src/http/routes/admin/guard.ts',
    ],
    tests: [
      'test/domain/**/*.test.ts',
      'test/models/*.test.ts',
      'test/models/ahead/ahead.test.ts',
      'test/models/acts/{contract,known,planning}.test.ts',
      'test/webhooks/{config,target}.test.ts',
      'test/operator/allowlists/tree.test.ts',
      'test/http/*.property.test.ts',
      'test/chain/{send-errors,digest}.test.ts',
    ],
  },
  {
    name: 'proofs',
    goal: 95,
    files: ['src/chain/prove/**/*.ts', 'client/src/viem/{allowlist,place,turns,verify}.ts'],
    tests: [
      'test/chain/prove/{account-proof,bloom,header,list-root,lists,published,sound,transaction}.test.ts',
      'test/chain/fuzz/{accounts,prover}.property.test.ts',
      'test/client/verify-{readings,rounds}.test.ts',
    ],
  },
  {
    name: 'the rest',
    goal: 85,
    files: ['src/http/edge/{client-address,limits}.ts', 'src/price/eth-usd.ts', 'src/config/{values,weak}.ts'],
    tests: [
      'test/http/{limits,parsers}.property.test.ts',
      'test/http/client-address.test.ts',
      'test/price/eth-usd.test.ts',
      'test/config/{load,values}.test.ts',
    ],
  },
]

/** The percentage of drawn changes that the tests must notice. */
export const DRAWN_GOAL = 90
/** More folders with quick tests of a room. */
const OTHER_TESTS: Readonly<Record<string, readonly string[]>> = {
  db: ['test/passes/', 'test/operator/', 'test/follower/'],
  operator: ['test/http/admin', 'test/cli/'],
}

/** The quick tests that may notice a change of these files of src: of all models, and of those of the files' rooms, the ones that import one of them. */
export function candidateTests(files: readonly string[]): string[] {
  const rooms = new Set(files.map((file) => file.split('/')[1] as string))
  const places = ['test/models/', ...[...rooms].flatMap((room) => [`test/${room}/`, ...(OTHER_TESTS[room] ?? [])])]
  const imports = new Map<string, string[]>()
  return findTestFiles('quick')
    .filter((file) => places.some((place) => file.startsWith(place)))
    .filter((test) => {
      const reached = reachedFrom(test, imports)
      return files.some((file) => reached.has(file))
    })
}

/** Everything that a file imports, at any distance. `imports`: of each file that was read before. */
function reachedFrom(start: string, imports: Map<string, string[]>): Set<string> {
  const reached = new Set([start])
  for (const path of reached) {
    const own = imports.get(path) ?? readImports(path)
    imports.set(path, own)
    for (const next of own) reached.add(next)
  }
  return reached
}

function readImports(path: string): string[] {
  return importsOf(path, readFileSync(join(ROOT, path), 'utf8'))
    .filter((specifier) => specifier?.startsWith('.') && specifier.endsWith('.ts'))
    .map((specifier) => posix.join(posix.dirname(path), specifier as string))
}
