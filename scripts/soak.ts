// The long run: era after era of payments, rounds, lies, kills and reorganisations, each from its own seed, until the time is
// up. Prints progress and a report of counts; ends with 1 when anything was lost, doubled or broke an invariant.
//   node bin/with-runtime.mjs scripts/soak.ts --minutes 60 --seed 1
import { parseArgs } from 'node:util'
import { noCounts, report, runEra } from '../test/faults/soak.ts'
import { removeStaleDirectories } from '../test/support/temporary.ts'

/** An era's chain is kept short enough for its invariants to be checked in seconds. */
const CHECKS_PER_ERA = 5
const CYCLES_PER_CHECK = 6

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
})
const minutes = Number(values.minutes)
const firstSeed = Number(values.seed)
if (!(minutes > 0) || !Number.isSafeInteger(firstSeed)) {
  console.error('Usage: soak.ts [--minutes N] [--seed S]')
  process.exit(2)
}

removeStaleDirectories()
const began = Date.now()
const enough = () => Date.now() - began > minutes * 60_000
const counts = noCounts()
const say = (line: string) => console.log(`${clock()}  ${line}`)
let broken = 0
for (let seed = firstSeed; !enough(); seed++) {
  say(`era of seed ${seed}`)
  try {
    await runEra({ seed, checks: CHECKS_PER_ERA, cyclesPerCheck: CYCLES_PER_CHECK, counts, say, enough })
  } catch (error) {
    broken++
    console.error(error)
  }
}
console.log(`\n${((Date.now() - began) / 60_000).toFixed(1)} minutes, seeds from ${firstSeed}`)
console.log(report(counts).join('\n'))
console.log(broken === 0 ? 'nothing broke' : `${broken} eras broke: see their seeds above`)
process.exit(broken === 0 ? 0 : 1)

function clock(): string {
  const seconds = Math.floor((Date.now() - began) / 1000)
  return `${String(Math.floor(seconds / 60)).padStart(3)}:${String(seconds % 60).padStart(2, '0')}`
}
