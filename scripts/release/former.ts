// `npm run release:former [-- FILE.tgz | FOLDER]`: keeps the scripts of the release before, so that pages loaded before an upgrade find the parts that
// they load later. Takes that release's npm package, or a folder that holds its code and built pages. It puts what that release built itself into
// web/public/assets, which Vite copies at the next build, and nothing of still older ones. Without an argument, which is right for the first release,
// it keeps nothing. Needs only Node and tar.
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

/** The files that a release's pages load, directly or through others. The ones that it kept from its own predecessor are not among them. */
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
