// `payments decide` on a real ledger: selects held payments by a filter or a file, previews, and decides each separately.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runHere, worldEnv } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'

const CENT = ETHER / 100n

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.close())

test('are chosen by a filter, previewed, decided one by one, and again from a file', async () => {
  const payer = world.at(17)
  const held: string[] = []
  for (const wei of [CENT + 5n, CENT + 6n]) held.push(await world.pay(17, wei))
  await world.settle()
  const decide = (words: string[], typed?: string) => runHere(['payments', 'decide', ...words], worldEnv(world), typed)
  const chosen = ['--held-for', 'wrongAmount', '--from', payer]
  const dry = await decide(['release', ...chosen, '--dry-run', '--tier-id', 'basic', '--json'])
  assert.deepEqual([dry.code, JSON.parse(dry.out).decided], [0, 2], dry.err)
  assert.match(dry.err, /wrongAmount +- +2 +0\.020000000000000011/)
  assert.equal((await decide(['dismiss', ...chosen], 'n')).code, 1)
  // Without a tier the service refuses to release these, each separately, and the list says so.
  const refused = await decide(['release', ...chosen, '--yes', '--json'])
  assert.deepEqual([refused.code, JSON.parse(refused.out).refused.length], [1, 2])
  assert.equal((await decide(['refund-prepare', ...chosen, '--yes'])).code, 0)
  const none = await decide(['dismiss', ...chosen, '--yes'])
  assert.deepEqual([none.code, none.out], [0, 'No held payment matches.\n'], 'held for another reason by now')

  const file = join(temporaryDirectory(), 'decided')
  writeFileSync(file, `# as agreed\n${held[0]}, the first\n${held[1]} # the second\n\nnobody\n`)
  const named = await decide(['dismiss', '--file', file, '--reason', 'tests', '--yes', '--json'])
  assert.equal(named.code, 1, named.err)
  const { decided, refused: rest } = JSON.parse(named.out)
  assert.deepEqual([decided + rest.length, rest.at(-1).payment], [3, 'nobody'])

  writeFileSync(file, `\uFEFFNote;txHash\r\n\r\n"one, paid twice";${held[0]}\r\n`)
  const sheet = await decide(['dismiss', '--file', file, '--yes', '--json'])
  assert.equal(JSON.parse(sheet.out).refused[0].payment, held[0], sheet.err)
  writeFileSync(file, `who,why\n${held[0]},"x\n`)
  const wrong = await decide(['dismiss', '--file', file, '--yes'])
  assert.deepEqual([wrong.code, /--file: line 1: a header must have payment or/.test(wrong.err)], [2, true], wrong.err)

  // More than one request takes: its hash in capitals is in the first, its row id in the second.
  const twice = await world.pay(17, CENT + 7n)
  await world.settle()
  const [row] = await world.pool`SELECT id FROM payments WHERE tx_hash = ${twice}`
  const strangers = Array.from({ length: 99 }, (_, n) => `nobody ${n}`)
  writeFileSync(file, [`0x${twice.slice(2).toUpperCase()}`, ...strangers, row?.id, twice].join('\n'))
  const once = JSON.parse((await decide(['dismiss', '--file', file, '--dry-run', '--json'])).out)
  assert.equal(once.decided, 1)
  assert.deepEqual(
    once.refused.slice(-2).map(({ payment, refusal }: { payment: string; refusal: string }) => [payment, refusal]),
    [String(row?.id), twice].map((name) => [
      name,
      `Given twice: 0x${twice.slice(2).toUpperCase()} is the same payment.`,
    ]),
  )

  for (const words of [
    ['dismiss', '--yes'],
    ['dismiss', '--file', file, ...chosen],
    ['dismiss', '--file', '/nowhere'],
  ])
    assert.equal((await decide(words)).code, 2, words.join(' '))
})

test('an act that waits for a second person has its own exit code, and prints its proposal', async () => {
  const run = (...words: string[]) => runHere(words, worldEnv(world))
  assert.equal((await run('second-person', 'set', '--above-wei', '0', '--yes')).code, 0)
  const waits = await run('terms', 'set', '--max-wei', '0.0016 ETH', '--yes')
  assert.equal(waits.code, 4, waits.err)
  assert.match(
    waits.out,
    /^Not done yet: a second person .* as proposal (\d+)\. They run "node-ledger proposals confirm \1"\.\n$/,
  )
  const { proposal } = JSON.parse((await run('terms', 'set', '--max-wei', '0.0016 ETH', '--yes', '--json')).out)
  assert.equal(proposal.act, 'enterTerms')
  assert.equal((await run('proposals', 'list', '--yes')).code, 0)
})
