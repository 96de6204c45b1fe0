// Plants the bugs of test/planted (see its README.md), one at a time, into a copy of the project, and runs the tests that must notice. Tests that
// miss one prove nothing. Prints 'N passed, N failed': a caught bug counts as passed.
//   npm run planted -- [--of contract|service] [--slice K/N] [--kind K] [--trust-tests] [--check | --refresh] [part of a bug's name ...]
// --of            only the bugs in the Solidity, or only the others
// --slice K/N     only the bugs of slice K of N, from 1; a bug stays in its slice when others are added or removed
// --kind K        only the bugs of kind K: a letter of test/planted/README.md
// --trust-tests   does not first run the tests without any bug: use it right after they have all passed
// --check         only lists patches that do not apply exactly once or that name a missing test, and counts the kinds
// --refresh       rewrites patches for the current sources: moved paths, context
import { parseArgs } from 'node:util'
import { findProblems, readBugs, refreshBugs } from './planted/bugs.ts'
import { forgeBench } from './planted/forge-bench.ts'
import { nodeBench } from './planted/node-bench.ts'
import { isForContracts, isInSlice, KINDS, kindOf, type PlantedBug } from './planted/patch.ts'
import { runBugs } from './planted/run.ts'
import { withTestServer } from './tests/server.ts'

const print = (line: string) => console.log(line)

/** Plants the bugs; returns how many the tests caught. */
async function run(bugs: readonly PlantedBug[], trusted: boolean): Promise<number> {
  const ofContracts = bugs.filter(isForContracts)
  const others = bugs.filter((bug) => !isForContracts(bug))
  let aborted = false
  const caught =
    others.length === 0
      ? 0
      : await withTestServer(async (signal) => {
          const count = await runBugs(others, nodeBench(signal), { trusted, signal, print })
          aborted = signal.aborted
          return count
        })
  if (ofContracts.length === 0 || aborted) return caught
  const { signal } = new AbortController()
  return caught + (await runBugs(ofContracts, await forgeBench(), { trusted, signal, print }))
}

/** Prints the patches that do not apply; returns how many do. */
function check(bugs: readonly PlantedBug[]): number {
  const sound = bugs.filter((bug) => {
    const problems = findProblems([bug])
    for (const problem of problems) console.log(problem)
    return problems.length === 0
  })
  for (const [kind, what] of Object.entries(KINDS)) {
    const count = sound.filter((bug) => kindOf(bug) === kind).length
    if (count > 0) console.log(`kind ${kind}: ${count} (${what})`)
  }
  if (sound.length < bugs.length)
    console.log('\nRun npm run planted -- --refresh, and see "Stale" in test/planted/README.md.')
  return sound.length
}

function refresh(bugs: readonly PlantedBug[]): number {
  for (const line of refreshBugs(bugs)) console.log(line)
  return check(readBugs().filter(({ name }) => bugs.some((bug) => bug.name === name)))
}

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    of: { type: 'string' },
    slice: { type: 'string', default: '1/1' },
    kind: { type: 'string' },
    'trust-tests': { type: 'boolean', default: false },
    check: { type: 'boolean' },
    refresh: { type: 'boolean' },
  },
})
if (options.of !== undefined && !['contract', 'service'].includes(options.of)) {
  console.error(`--of takes contract or service, not ${options.of}.`)
  process.exit(2)
}
const all = readBugs()
const bugs = all
  .filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .filter((bug) => options.of === undefined || isForContracts(bug) === (options.of === 'contract'))
  .filter(({ name }) => isInSlice(name, options.slice))
  .filter((bug) => options.kind === undefined || kindOf(bug) === options.kind)
if (bugs.length < all.length) console.log(`${bugs.length} of ${all.length} bugs`)
const passed = options.refresh ? refresh(bugs) : options.check ? check(bugs) : await run(bugs, options['trust-tests'])
console.log(`\n${passed} passed, ${bugs.length - passed} failed`)
// If a name matches no bug, the run proves nothing.
process.exit(passed === bugs.length && (bugs.length > 0 || wanted.length === 0) ? 0 : 1)
