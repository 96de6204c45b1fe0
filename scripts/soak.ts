// The long run: era after era of payments, rounds, lies, kills and reorganisations, each from its own seed. Then seeds of the simulation, on the
// model chain and on real parts. Prints progress and a report of counts. Exits with 1 if anything was lost or doubled, or broke an invariant. If
// interrupted once, it ends after the current check, and reports.
//   npm run soak -- --minutes 60 --seed 1
// Every third era plays on a chain that cannot use a fork guard. In every second era the first of two providers lies.
//   npm run soak -- --unguarded --minutes 60         every era plays on such a chain
//   npm run soak -- --misconfigured --minutes 60     only eras; the second instance is misconfigured, differently at each start
import { parseArgs } from 'node:util'
import { coverage, missing, noCounts, report } from '../test/faults/counts.ts'
import { WAYS } from '../test/faults/misconfigured.ts'
import { runEra } from '../test/faults/soak.ts'
import { report as reportSeeds, runSeeds } from '../test/sim/run.ts'
import { removeStaleDirectories } from '../test/support/temporary.ts'

const CYCLES_PER_CHECK = 5
/** Share of the time for the eras, then for seeds on the model chain. Seeds on real parts get the rest. */
const SHARES = { eras: 0.8, model: 0.12 }
const PROGRESS_MS = 30_000

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    misconfigured: { type: 'boolean', default: false },
    unguarded: { type: 'boolean', default: false },
  },
})
const { misconfigured, unguarded } = values
const minutes = Number(values.minutes)
const firstSeed = Number(values.seed)
if (!(minutes > 0) || !Number.isSafeInteger(firstSeed) || (misconfigured && unguarded)) {
  console.error('Usage: npm run soak -- [--misconfigured | --unguarded] [--minutes N] [--seed S]')
  process.exit(2)
}

removeStaleDirectories()
const began = performance.now()
const isPast = (share: number) => performance.now() - began > minutes * 60_000 * share
const stopping = new AbortController()
process.once('SIGINT', () => {
  say('interrupted: ends after the check under way')
  stopping.abort()
})
const say = (line: string) => console.log(`${clock()}  ${line}`)

const counts = noCounts(misconfigured ? WAYS : [])
const broken: string[] = []
const eraIsOver = () => stopping.signal.aborted || isPast(misconfigured ? 1 : SHARES.eras)
for (let seed = firstSeed; !eraIsOver(); seed++) {
  say(`era of seed ${seed}`)
  const drawn = { cyclesPerCheck: CYCLES_PER_CHECK, ratePercent: [5, 50], depth: 'deep' } as const
  // A misconfigured instance may use its own depth, which only a fork guard corrects.
  const plays = { unguarded: unguarded || (!misconfigured && seed % 3 === 0), lying: !misconfigured && seed % 2 === 1 }
  await runEra({ ...drawn, ...plays, seed, counts, misconfigured, say, enough: eraIsOver }).catch((error: unknown) => {
    broken.push(`era ${seed}`)
    console.error(error)
  })
}
const model = await seedsUntil('model', SHARES.eras + SHARES.model)
const real = await seedsUntil('real', 1)

console.log(`\n${clock().trim()} minutes, seeds from ${firstSeed}\n`)
console.log(report(counts).join('\n'))
for (const [name, seeds] of [
  ['on the model chain', model],
  ['on real parts', real],
] as const)
  if (!misconfigured) console.log(`\nsimulation ${name}: ${reportSeeds(seeds).join('\n')}`)
// If a kind of misconfiguration never occurred, the run shows nothing about it.
const { ways } = missing(counts)
if (ways.length > 0) broken.push(`${ways.length} ways of being misconfigured never happened`)
const never = coverage(counts) < 1 ? ', though not everything happened' : ''
console.log(broken.length === 0 ? `\nnothing broke${never}` : `\nbroken: ${broken.join(', ')}`)
process.exit(broken.length === 0 ? 0 : 1)

/** Plays seeds until their share of the time is over. */
async function seedsUntil(backend: 'model' | 'real', share: number): ReturnType<typeof runSeeds> {
  const late = new AbortController()
  let told = performance.now()
  const onSeed = ({ seeds }: { seeds: number }) => {
    if (isPast(share) || stopping.signal.aborted) late.abort()
    if (performance.now() - told < PROGRESS_MS) return
    told = performance.now()
    say(`simulation, ${backend}: ${seeds} seeds`)
  }
  if (isPast(share) || stopping.signal.aborted) late.abort()
  const count = Number.MAX_SAFE_INTEGER - firstSeed
  const played = await runSeeds({ from: firstSeed, count, backend, say, onSeed, signal: late.signal })
  for (const seed of played.failed) broken.push(`${backend} seed ${seed}`)
  return played
}

function clock(): string {
  const seconds = Math.floor((performance.now() - began) / 1000)
  return `${String(Math.floor(seconds / 60)).padStart(3)}:${String(seconds % 60).padStart(2, '0')}`
}
