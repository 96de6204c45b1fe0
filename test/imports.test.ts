// The directions of imports are right (scripts/imports.ts), and the check notices each form of an import and each past gap.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path/posix'
import { test } from 'node:test'
import { checkImports, checkTable, importsOf, readSources } from '../scripts/imports.ts'

/** The check's findings in a tree of these files. */
const check = (files: Record<string, string>) => checkImports(new Map(Object.entries(files)))
/** True if a file may import another. */
function mayImport(from: string, to: string): boolean {
  return check({ [from]: `import '${to}'` }).length === 0
}

test('every import is one that the table allows', () => {
  const sources = readSources()
  assert.ok(sources.size > 300, `only ${sources.size} files were found`)
  assert.deepEqual(checkImports(sources), [])
})

test('the table lists existing files and layers only', () => {
  assert.deepEqual(checkTable(), [])
})

test('docs/ARCHITECTURE.md has a row for every folder of src', () => {
  const page = readFileSync(new URL('../docs/ARCHITECTURE.md', import.meta.url), 'utf8')
  const folders = readdirSync(new URL('../src', import.meta.url), { withFileTypes: true }).filter((one) =>
    one.isDirectory(),
  )
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  assert.deepEqual(
    folders.map(({ name }) => `\`src/${name}\``).filter((name) => !rows.some((row) => row.includes(name))),
    [],
  )
})

const FORMS = {
  'an import': `import { a } from './x.ts'`,
  'an import over several lines': `import {\n  a,\n  b,\n} from './x.ts'`,
  'an import for its effects': `import './x.ts'`,
  'an import of types': `import type { A } from './x.ts'`,
  'an import of a type among others': `import { type A } from "./x.ts"`,
  'an import of everything': `import * as x from './x.ts'`,
  'a re-export': `export { a } from './x.ts'`,
  'a re-export of types': `export type { A } from './x.ts'`,
  'a re-export of everything': `export * from './x.ts'`,
  'a dynamic import': `const x = async () => (await import('./x.ts')).a`,
  'a dynamic import by a template': 'void import(`./x.ts`)',
  'a type by its module': `let a: import('./x.ts').A`,
  'a type of a module': `let a: typeof import('./x.ts')`,
  'an import by require': `import x = require('./x.ts')`,
}
for (const [form, text] of Object.entries(FORMS)) {
  test(`${form} is seen`, () => {
    assert.deepEqual(importsOf('src/domain/a.ts', text), ['./x.ts'])
  })
}

test('an import in a comment, a text or a page is none', () => {
  const text = `// import './a.ts'
    /* import { a } from './b.ts' */
    const c = "import './c.ts'" + \`export * from './d.ts'\`
    export const Page = () => <p>Don't import('./e.ts') from './f.ts'</p>`
  assert.deepEqual(importsOf('web/src/pages/a.tsx', text), [])
})

test('a computed import is refused', () => {
  assert.equal(check({ 'src/cli/a.ts': 'const at = process.argv[2]; await import(at)' }).length, 1)
})

test('a file without a layer is refused', () => {
  assert.equal(check({ 'src/loose.ts': '' }).length, 1)
  assert.equal(check({ 'packages/other/index.ts': '' }).length, 1)
})

const REFUSED: readonly [from: string, to: string][] = [
  ['src/http/routes/a.ts', '../../passes/steps/send.ts'],
  ['src/http/routes/a.ts', '../../boot/keys.ts'],
  ['src/http/routes/a.ts', '../../mending/rebuild/rebuild.ts'],
  ['src/http/a.ts', '../passes/payments.ts'],
  ['src/http/a.ts', '../claims/sync.ts'],
  ['src/http/a.ts', '../chain/rpc/rpc.ts'],
  ['src/http/a.ts', '../config/load.ts'],
  ['src/http/a.ts', 'postgres'],
  ['src/operator/a.ts', '../passes/steps/send.ts'],
  ['src/operator/a.ts', '../passes/steps/mint.ts'],
  ['src/operator/a.ts', '../boot/keys.ts'],
  ['src/operator/a.ts', '../chain/send/sender.ts'],
  ['src/operator/a.ts', '../http/reply.ts'],
  ['src/claims/sync.ts', '../passes/payments.ts'],
  ['src/passes/credit.ts', './payments.ts'],
  ['src/passes/steps/a.ts', '../payments.ts'],
  ['src/passes/steps/judge.ts', './send.ts'],
  ['src/domain/a.ts', '../metrics/meters.ts'],
  ['src/domain/a.ts', '../lib/log.ts'],
  ['src/lib/a.ts', '../domain/units.ts'],
  ['src/domain/a.ts', 'node:fs'],
  ['src/domain/a.ts', 'viem/utils'],
  ['src/db/a.ts', '../boot/keys.ts'],
  ['src/db/a.ts', '../ports/chain.ts'],
  ['src/chain/rpc/rpc.ts', '../send/signer.ts'],
  ['src/chain/a.ts', '../db/sql.ts'],
  ['src/metrics/a.ts', '../ports/contexts.ts'],
  ['src/webhooks/a.ts', '../ports/chain.ts'],
  ['src/mending/rebuild/a.ts', '../../boot/keys.ts'],
  ['src/mending/rebuild/a.ts', '../../passes/payments.ts'],
  ['src/mending/rebuild/a.ts', '../../http/reply.ts'],
  ['packages/embed/a.ts', '../../src/chain/send/signer.ts'],
  ['src/boot/a.ts', '../../packages/embed/index.ts'],
  ['src/cli/a.ts', '../../test/support/world.ts'],
  ['src/cli/a.ts', 'postgres'],
  ['client/src/a.ts', 'viem'],
  ['client/src/a.ts', './viem/index.ts'],
  ['client/src/viem/a.ts', '../../../src/chain/factory/abi.ts'],
  ['web/src/pages/a.tsx', '../../../src/domain/units.ts'],
  ['web/src/pages/a.tsx', '../console/admin.ts'],
  ['web/src/ui/a.tsx', '../pages/buy.tsx'],
  ['web/src/console/a.tsx', '@node-ledger/client/viem'],
  ['web/src/pages/a.tsx', 'node:fs'],
  ['scripts/a.ts', '../bench/run.ts'],
  ['bin/a.mjs', '../src/main.ts'],
]
for (const [from, to] of REFUSED) {
  test(`${from} may not import ${to}`, () => assert.equal(mayImport(from, to), false))
}

test('an import that the table allows passes', () => {
  assert.ok(mayImport('src/http/routes/a.ts', '../../operator/act.ts'))
  assert.ok(mayImport('src/passes/payments.ts', './steps/send.ts'))
  assert.ok(mayImport('src/chain/sub/a.ts', 'viem/utils'))
  assert.ok(mayImport('src/cli/deep/a.ts', '../../passes/steps/send.ts'))
  assert.ok(mayImport('web/src/pages/a.tsx', '@node-ledger/client'))
})

const BETWEEN: readonly [from: string, specifier: string, path: string][] = [
  ['src/http/a.ts', '../ports/outcomes.ts', 'src/ports/outcomes.ts'],
  ['src/operator/a.ts', '../follower/rewind.ts', 'src/follower/rewind.ts'],
  ['src/mending/rebuild/a.ts', '../../passes/steps/judge.ts', 'src/passes/steps/judge.ts'],
  ['src/claims/claim.ts', '../follower/halt.ts', 'src/follower/halt.ts'],
]
for (const [from, specifier, between] of BETWEEN) {
  test(`${from} may not reach the send step by way of ${between}`, () => {
    const problems = check({
      [from]: `import '${specifier}'`,
      [between]: `export type { A } from './${relative(dirname(between), 'src/passes/steps/mint.ts')}'`,
      'src/passes/steps/mint.ts': `type Send = import('./send.ts').Send`,
    })
    const way = `must not be reached: ${from} > ${between} > src/passes/steps/mint.ts > src/passes/steps/send.ts`
    assert.ok(problems.includes(way), problems.join('\n'))
  })
}
