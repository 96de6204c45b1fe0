// `npm run release:notes -- v1.2.3`: prints the changelog's section of a version, for its release notes, and the digest of withdraw.html's script.
// Refuses a tag that is not the packages' version, or that the changelog does not have.
import { readFileSync } from 'node:fs'

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

const [tag = ''] = process.argv.slice(2)
const version = tag.replace(/^v/, '')
for (const name of ['package.json', 'client/package.json']) {
  const { version: own } = JSON.parse(read(name))
  if (own !== version) fail(`${name} has version ${own}, and the tag is ${tag}: they must be the same.`)
}
const part = read('CHANGELOG.md')
  .split(/^## /m)
  .find((text) => text.startsWith(`[${version}]`))
if (part === undefined) fail(`CHANGELOG.md has no part [${version}]: give the part [Unreleased] its version and day.`)
// Each service fills in its name, logo, colour and contract, so only the script is the same everywhere. The browser runs no other in that file.
const [, script] = /script-src '(sha256-[^']+)'/.exec(read('web/dist/withdraw.html')) ?? []
if (script === undefined) fail('web/dist/withdraw.html names no script: build the pages first.')
console.log(part.slice(part.indexOf('\n') + 1).trim())
console.log(`
### withdraw.html

A copy of this release has \`script-src '${script}'\` in its \`content-security-policy\`. Its browser then runs no other script.`)
