// `npm run bench [-- name ...] [--quick] [--full]`: measures the product against its limits and peers, prints each ratio beside its goal, and writes
// them to bench/RESULTS.md (not with --quick, whose figures mean nothing). README.md describes each bench.
import { bill } from './bill.ts'
import { contracts } from './contracts.ts'
import { desk } from './desk.ts'
import { follow } from './follow.ts'
import { growth } from './growth.ts'
import { hostile } from './hostile.ts'
import { judging } from './judging.ts'
import { latency } from './latency.ts'
import type { Bench } from './lib/bench.ts'
import { describeCommit, describeMachine } from './lib/machine.ts'
import { seconds } from './lib/numbers.ts'
import { type Row, table, writeSection } from './lib/report.ts'
import { lists } from './lists.ts'
import { load } from './load.ts'
import { peers } from './peers.ts'
import { proving } from './proving.ts'
import { reads } from './reads.ts'
import { round } from './round.ts'
import { sale } from './sale.ts'
import { sparse } from './sparse.ts'
import { start } from './start.ts'

const BENCHES: readonly Bench[] = [
  start,
  reads,
  growth,
  round,
  judging,
  proving,
  latency,
  sale,
  contracts,
  desk,
  lists,
  follow,
  sparse,
  bill,
  load,
  hostile,
  peers,
]
const FLAGS = ['--quick', '--full']

const words = process.argv.slice(2)
const names = words.filter((word) => !word.startsWith('--'))
const unknown = words.filter((word) => !FLAGS.includes(word) && !BENCHES.some(({ name }) => name === word))
if (unknown.length > 0) {
  console.error(
    `There is no ${unknown.join(', ')}. Benches: ${BENCHES.map(({ name }) => name).join(', ')}; ${FLAGS.join(', ')}.`,
  )
  process.exit(2)
}
const quick = words.includes('--quick')
const full = words.includes('--full')
const machine = describeMachine()
const commit = describeCommit()
const command = ['npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' ')
console.log(`${machine}\ncommit ${commit}${quick ? '\nquick: the figures mean nothing' : ''}`)

// Databases and chains do not keep this process alive.
const alive = setInterval(() => {}, 60_000)
const missed: string[] = []
const chosen = BENCHES.filter(({ name }) => names.length === 0 || names.includes(name))
for (const bench of chosen.filter(({ isTimed }) => isTimed)) await measure(bench, '')
// These take minutes, because they wait for blocks or for a provider's pace.
await Promise.all(chosen.filter(({ isTimed }) => !isTimed).map((bench) => measure(bench, `${bench.name}: `)))
clearInterval(alive)
console.log(missed.length === 0 ? '\nEvery goal that was measured is met.' : `\nMissed:\n  ${missed.join('\n  ')}`)
process.exit(0)

async function measure(bench: Bench, prefix: string): Promise<void> {
  const began = performance.now()
  console.log(`\n${bench.name}: ${bench.about}`)
  const progress = (text: string) =>
    console.log(`  ${seconds(performance.now() - began).padStart(7)}  ${prefix}${text}`)
  const rows = await bench.run({ quick, full, progress })
  const took = seconds(performance.now() - began)
  console.log(`\n${bench.name}:\n${table(rows)}\n${took}`)
  missed.push(...rows.filter((row) => row.met === false).map((row) => named(bench, row)))
  const origin = `\`${command}\`, ${new Date().toISOString().slice(0, 10)}, commit ${commit}, ${took}. ${machine}.`
  if (!quick)
    writeSection(
      bench.name,
      `${bench.about}\n\n${table(rows)}\n\n${origin}`,
      BENCHES.map(({ name }) => name),
    )
}

function named({ name }: Bench, row: Row): string {
  return `${name}: ${row.what}, ${row.ratio?.toFixed(2) ?? row.ours} (${row.goal})`
}
