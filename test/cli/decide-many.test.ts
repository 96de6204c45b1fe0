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
  assert.equal((await decide(['dismiss', ...chosen, '--yes'])).code, 0)
  const none = await decide(['dismiss', ...chosen, '--yes'])
  assert.deepEqual([none.code, none.out], [0, 'No held payment matches.\n'], 'decided by now')

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
  // What could not succeed is refused with its own reason, and not stored.
  const count = async () => (await world.pool`SELECT FROM proposals`).count
  const before = await count()
  const low = await run('terms', 'set', '--max-wei', '1', '--yes')
  assert.deepEqual([low.code, /maxWei|max-wei/.test(low.err), await count()], [2, true, before], low.err)
  const own = await run('proposals', 'confirm', String(proposal.id), '--dry-run')
  assert.deepEqual([own.code, /you proposed it yourself/.test(own.err)], [1, true], own.err)
  // Another person sees what the act's own preview says.
  await world.pool`UPDATE proposals SET proposed_by = 'grace'`
  const other = await run('proposals', 'confirm', String(proposal.id), '--dry-run')
  assert.match(other.out, /^grace proposed: Before: From .*\nFrom .*: turns are owed, 0\.0005 to 0\.0016 ETH, every/)
  await world.pool`UPDATE ledger_state SET second_person_wei = NULL`
})

test('the question shows what each decision would do, and what warns of it', async () => {
  const [first = '', second = ''] = [await world.pay(17, CENT + 8n), await world.pay(17, CENT + 9n)]
  await world.settle()
  await world.pool`INSERT INTO audit (actor, action, subject, detail)
    SELECT 'ann', 'refundFileMade', tx_hash, jsonb_build_object('after', jsonb_build_object('ref', ref)) FROM payments WHERE tx_hash = ${first}`
  const file = join(temporaryDirectory(), 'asked')
  writeFileSync(file, `${first}\n${second}\nnobody\n`)
  const words = ['payments', 'decide', 'release', '--file', file, '--tier-id', 'basic']
  const declined = await runHere(words, worldEnv(world), 'n')
  assert.equal(declined.code, 1)
  assert.match(
    declined.err,
    /^2 payments, 0\.020000000000000017 ETH: a node for each, in tier basic\.\nNot 1 \(payment nobody\): /,
  )
  assert.match(
    declined.err,
    /Payment \d+ \(0\.01\d+ ETH from 0x\w+\): A file made at .* pays it back: .*\nRelease them\?/,
  )
  const batch = await runHere(['payments', 'refund-batch', `${first},${second}`, '--dry-run'], worldEnv(world))
  assert.match(batch.out, /^(Payment \d+ \(0\.01\d+ ETH from 0x\w+\): .*\n){2}Of it 0/, batch.err)
  const states = await world.pool`SELECT DISTINCT reason FROM payments WHERE tx_hash IN (${first}, ${second})`
  assert.deepEqual(
    states.map(({ reason }) => reason),
    ['wrongAmount'],
  )
})
