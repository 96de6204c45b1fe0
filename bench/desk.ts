// The operator's work after a restore: one command decides thousands of held payments, and the passes that follow mint
// them. For comparison, the same decisions as separate commands.

import { spawnSync } from 'node:child_process'
import { worldEnv } from '../test/support/cli.ts'
import { payFrom } from '../test/support/wallets/payer.ts'
import { startWorld, type World } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { ms, seconds } from './lib/numbers.ts'
import { atMost, type Row } from './lib/report.ts'

const PAYMENTS = 3_000
const SINGLE = 10
const PER_BLOCK = 250
/** One wei too much, so it matches no tier's price. */
const HELD_WEI = 10n ** 16n + 1n
/** Low, because a separate command starts a process for each payment. */
const GOAL = 0.1

export const desk: Bench = {
  name: 'desk',
  about: 'Held payments, released by one command for all, beside a command for each; then minted by the passes.',
  isTimed: true,
  run: async (options) => {
    const world = await startWorld()
    try {
      return await measure(world, options)
    } finally {
      await world.close()
    }
  },
}

async function measure(world: World, { quick, progress }: BenchOptions): Promise<Row[]> {
  const payments = quick ? 100 : PAYMENTS
  await world.chain.mine(3)
  const held = await pay(world, payments + SINGLE)
  for (let left = 1; left > 0; ) {
    await world.payments()
    const [row] = await world.pool<{ left: number }[]>`
      SELECT ${held.length}::int - count(*)::int AS left FROM payments WHERE state = 'held'`
    left = row?.left ?? 0
  }
  progress(`${held.length} payments are held`)
  const release = ['--tier-id', 'basic', '--reason', 'a recheck', '--yes']
  const alone = timed(() => {
    for (const hash of held.slice(0, SINGLE)) command(world, 'payments', 'release', hash, ...release)
  })
  const all = timed(() => command(world, 'payments', 'decide', 'release', '--held-for', 'wrongAmount', ...release))
  progress('decided')
  const began = performance.now()
  const minted = async () => {
    const [row] = await world.pool<
      { count: number }[]
    >`SELECT count(*)::int AS count FROM payments WHERE state = 'minted'`
    return row?.count ?? 0
  }
  while ((await minted()) < held.length) {
    await world.payments()
    await world.chain.mine()
  }
  const mintedMs = performance.now() - began
  const [together, single] = [all / payments, alone / SINGLE]
  return [
    atMost(
      `${payments.toLocaleString('en')} payments released at once, each`,
      ms(together),
      `a command each: ${ms(single)}`,
      together / single,
      GOAL,
    ),
    {
      what: `${payments.toLocaleString('en')} payments: from the command to the last node`,
      ours: seconds(all + mintedMs),
      peer: `of which deciding ${seconds(all)}`,
      ratio: null,
      goal: '',
      met: null,
    },
  ]
}

/** Pays one wei too much from each of several new wallets. Returns the hashes. */
async function pay({ chain, at }: World, count: number): Promise<string[]> {
  const sent: string[] = []
  for (let buyer = 0; buyer < count; buyer++) {
    sent.push(await payFrom(chain, buyer, { to: at(3), value: HELD_WEI }))
    if (sent.length % PER_BLOCK === 0) await chain.mine()
  }
  await chain.mine()
  return sent
}

/** Runs a command the way an operator does. */
function command(world: World, ...words: string[]): void {
  const env = { ...process.env, ...worldEnv(world) }
  const { status, stderr } = spawnSync(process.execPath, ['src/main.ts', ...words], { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
}

function timed(work: () => void): number {
  const began = performance.now()
  work()
  return performance.now() - began
}
