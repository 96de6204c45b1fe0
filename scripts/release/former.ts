// `npm run release:former [-- FILE.tgz | FOLDER]`: keeps the scripts of the previous release, because pages that were loaded before an upgrade still
// load parts of it. Takes that release's npm package, or a folder with its code and built pages. Copies the scripts that this release built itself,
// and none of still older releases, into web/public/assets. Vite copies them at the next build. For the first release, give no argument: then nothing
// is kept. Needs only Node and tar.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  options: { into: { type: 'string', default: fileURLToPath(new URL('../../web/public/assets', import.meta.url)) } },
  allowPositionals: true,
})
const { into } = values
const [before] = positionals

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

/** The files that a release's pages load, directly or through others. Leaves out the files that it kept from its own predecessor. */
function ownAssets(dist: string): string[] {
  const names = existsSync(join(dist, 'assets')) ? readdirSync(join(dist, 'assets')) : []
  const own = new Set<string>()
  const search = (text: string) => {
    for (const name of names.filter((one) => !own.has(one) && text.includes(one))) {
      own.add(name)
      search(readFileSync(join(dist, 'assets', name), 'utf8'))
    }
  }
  for (const page of readdirSync(dist).filter((name) => name.endsWith('.html')))
    search(readFileSync(join(dist, page), 'utf8'))
  return [...own]
}

/** Copies the release's own files, from its unpacked code. */
function keep(release: string): void {
  const dist = join(release, 'web/dist')
  const own = existsSync(dist) ? ownAssets(dist) : []
  if (own.length === 0) fail(`${before} has no built pages.`)
  mkdirSync(into, { recursive: true })
  for (const name of own) cpSync(join(dist, 'assets', name), join(into, name))
  console.log(`Kept ${own.length} files of ${before}.`)
}

rmSync(into, { recursive: true, force: true })
if (before === undefined) console.log('No earlier release is given, so this one keeps none of its files.')
else if (statSync(before, { throwIfNoEntry: false })?.isDirectory()) keep(before)
else {
  const unpacked = mkdtempSync(join(tmpdir(), 'node-ledger-former-'))
  process.once('exit', () => rmSync(unpacked, { recursive: true }))
  const { status } = spawnSync('tar', ['-xzf', before, '-C', unpacked, 'package/web/dist'], { stdio: 'ignore' })
  if (status !== 0) fail(`${before} is not the package of a release.`)
  keep(join(unpacked, 'package'))
}
