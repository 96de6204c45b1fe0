// Lets forge use npm's solc: answers the two calls that forge makes, `--version` and `--standard-json`, and refuses
// all others. It must never download anything or read a file itself: forge passes the sources in.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const solc = createRequire(import.meta.url)('solc')
const args = process.argv.slice(2)

if (args.includes('--version')) {
  // forge takes the version from the second line.
  console.log(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}`)
} else if (args.includes('--standard-json')) {
  process.stdout.write(solc.compile(readFileSync(0, 'utf8')))
} else {
  console.error(`solc wrapper: expected --version or --standard-json, got: ${args.join(' ')}`)
  process.exitCode = 1
}
