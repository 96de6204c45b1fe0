// Allowlists on a real ledger: entered over HTTP and by the command, answered with proofs that OpenZeppelin's library takes, and copied by a rebuild.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { StandardMerkleTree } from '@openzeppelin/merkle-tree'
import { createClient } from '../../../client/src/index.ts'
import { verifyAllowlisted } from '../../../client/src/viem/allowlist.ts'
import { readAllowlisted } from '../../../src/db/sale/allowlists.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import { rebuild } from '../../../src/mending/rebuild/rebuild.ts'
import { runHere, runProcess, worldEnv } from '../../support/cli.ts'
import { type Desk, startDesk } from '../../support/operator.ts'
import { openDatabase } from '../../support/postgres.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const directory = temporaryDirectory()
let desk: Desk
before(async () => {
  desk = await startDesk()
})
after(() => desk.close())

const addressOf = (n: number) => `0x${createHash('sha256').update(String(n)).digest('hex').slice(0, 40)}` as Address
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => [addressOf(n), String((n % 5) + 1)] as [string, string])
const csvOf = (rows: readonly (readonly string[])[]) =>
  `address,allocation\r\n${rows.map((row) => `${row.join()}\r\n`).join('')}`
const treeOf = (rows: [string, string][]) => StandardMerkleTree.of(rows, ['address', 'uint256'])
const acts = () => desk.world.pool<{ action: string; subject: string }[]>`
  SELECT action, subject FROM audit WHERE action = 'allowlistEntered' ORDER BY id`
const stored = async () => (await desk.get('allowlists')).json.allowlists.length

test('300 rows fit into a request; they are previewed, entered once, and listed with their sum', async () => {
  const rows = rowsOf(300)
  const { root } = treeOf(rows)
  const body = { rows: csvOf(rows), label: 'first phase', reason: 'whitelist' }
  const said = { root, entries: 300, allocated: 900, badLines: 0, duplicates: 0, badChecksums: 0, problems: [] }
  const preview = await desk.post('allowlists', { ...body, dryRun: true })
  assert.deepEqual({ ...preview.json, says: '' }, { ...said, dryRun: true, changed: false, says: '' })
  assert.equal(preview.json.says, `Valid, not entered: ${root}, 300 wallets, 900 nodes in all.`)
  assert.equal(await stored(), 0)
  assert.equal((await desk.service.get(`/api/allowlists/${root}/${addressOf(0)}`)).status, 404)
  const entered = await desk.post('allowlists', body)
  assert.deepEqual({ ...entered.json, says: '' }, { ...said, dryRun: false, changed: true, says: '' })
  assert.equal((await desk.post('allowlists', body)).json.changed, false)
  assert.deepEqual([...(await acts())], [{ action: 'allowlistEntered', subject: root }])
  const [{ enteredAt: _, ...listed }] = (await desk.get('allowlists')).json.allowlists
  assert.deepEqual(listed, {
    root,
    label: 'first phase',
    entries: 300,
    allocated: 900,
    published: false,
    enteredBy: 'ada',
  })
})

test('a bad line refuses the whole list with its number, and a preview reports it without that', async () => {
  const before = await stored()
  const rows = csvOf([...rowsOf(3), [addressOf(1), '2'], [addressOf(9), '0']])
  const refused = await desk.post('allowlists', { rows, label: 'x' })
  assert.equal(refused.status, 400)
  assert.match(
    refused.json.error,
    /Bad lines: 2; duplicates: 1; wrong checksums: 0\. Line 5: .*already on line 3\. Line 6: the allocation/,
  )
  const { json } = await desk.post('allowlists', { rows, label: 'x', dryRun: true })
  assert.deepEqual(
    [json.root, json.entries, json.duplicates, json.problems.length, json.changed],
    [null, 3, 1, 2, false],
  )
  assert.match(
    (await desk.post('allowlists', { rows: csvOf(rowsOf(301)).slice(20), label: 'x' })).json.error,
    /at most 300 rows/,
  )
  for (const rows of ['', 5, null, ['a']])
    assert.equal((await desk.post('allowlists', { rows, label: 'x' })).status, 400)
  assert.equal(await stored(), before)
})

test('a wallet gets its allocation with a proof, for any size of its list', async () => {
  for (const count of [1, 2, 3, 7, 100]) {
    const rows = rowsOf(count).map(([address], n) => [address, String(n + count)] as [string, string])
    const tree = treeOf(rows)
    assert.equal((await desk.post('allowlists', { rows: csvOf(rows), label: `of ${count}` })).json.root, tree.root)
    for (const [row, [address, allocation]] of rows.entries()) {
      const answer = await desk.service.get(`/api/allowlists/${tree.root}/${address}`, { from: `127.0.1.${row}` })
      const proof = tree.getProof(row)
      assert.deepEqual(answer.json, { root: tree.root, address, allocation: Number(allocation), proof })
    }
    const { json } = await desk.service.get(`/api/allowlists/${tree.root}/${addressOf(999)}`)
    assert.deepEqual(json, { root: tree.root, address: addressOf(999), allocation: 0, proof: null })
  }
})

test('a root that is unknown or none is refused, and so is a wrong address', async () => {
  const path = (root: string, address: string) => desk.service.get(`/api/allowlists/${root}/${address}`)
  const { root } = (await desk.get('allowlists')).json.allowlists[0]
  assert.equal((await path(`0x${'00'.repeat(32)}`, addressOf(0))).status, 404)
  assert.equal((await path('0x12', addressOf(0))).status, 400)
  assert.equal((await path(root, '0x12')).status, 400)
  assert.equal((await path(root.toUpperCase().replace('0X', '0x'), addressOf(0))).status, 200)
})

test('the client checks a proof by the root, and rejects any other allocation, list or wallet', async () => {
  const rows = rowsOf(5)
  const { root } = treeOf(rows)
  const [[address, allocation], [other]] = rows as [[Address, string], [Address, string]]
  const proof = treeOf(rows).getProof(0)
  const true_ = { root, address, allocation: Number(allocation), proof }
  const verify = (answer: object) =>
    verifyAllowlisted({ getAllowlisted: async () => answer } as never, root as Hash, address).then(
      ({ matches }) => matches,
    )
  assert.equal(await verify(true_), true)
  assert.equal(await verify({ ...true_, allocation: 0, proof: null }), null)
  for (const lie of [
    { allocation: 9 },
    { allocation: 0 },
    { proof: null },
    { proof: proof.slice(1) },
    { proof: [...proof].reverse() },
  ])
    assert.equal(await verify({ ...true_, ...lie }), false, JSON.stringify(lie))
  assert.equal(await verify({ ...true_, address: other }), false)
  assert.equal(await verify({ ...true_, root: `0x${'00'.repeat(32)}` }), false)
  await desk.post('allowlists', { rows: csvOf(rows), label: 'five' })
  const ledger = createClient({ baseUrl: `http://127.0.0.1:${desk.service.port}` })
  assert.deepEqual(await verifyAllowlisted(ledger, root as Hash, address), { matches: true, reported: true_ })
})

test('the command accepts a file of many parts, and every proof is right', async () => {
  const rows = rowsOf(8_194)
  const tree = treeOf(rows)
  const file = join(directory, 'large.csv')
  writeFileSync(file, csvOf(rows))
  const env = worldEnv(desk.world)
  const dry = await runHere(['allowlists', 'add', '--file', file, '--label', 'large', '--dry-run', '--json'], env)
  assert.equal(JSON.parse(dry.out).root, tree.root)
  const { code, out, err } = await runProcess(['allowlists', 'add', '--file', file, '--label', 'large', '--yes'], env)
  assert.equal(code, 0, err)
  assert.match(out, new RegExp(`^Entered: ${tree.root}, 8194 wallets`))
  assert.equal((await acts()).at(-1)?.subject, tree.root)
  for (const row of [0, 1, 511, 4_096, 8_191, 8_192, 8_193]) {
    const allowed = await readAllowlisted(desk.world.pool, tree.root as Hash, addressOf(row))
    assert.deepEqual(allowed, { allocation: (row % 5) + 1, proof: tree.getProof(row) })
  }
})

test('the command enters a file only if every line is good and a person agrees, else explains', async () => {
  const before = await stored()
  const env = worldEnv(desk.world)
  const file = join(directory, 'bad.csv')
  const add = (path: string, ...more: string[]) =>
    runHere(['allowlists', 'add', '--file', path, '--label', 'bad', ...more], env)
  writeFileSync(file, csvOf([...rowsOf(3), ['0x12', '1']]))
  const bad = await add(file, '--yes')
  assert.equal(bad.code, 1)
  assert.match(bad.out, /^Bad lines: 1; .*\nLine 5: the address must be/)
  writeFileSync(file, csvOf(rowsOf(11)))
  assert.equal((await add(file)).code, 2)
  assert.match((await add(join(directory, 'none.csv'), '--yes')).err, /cannot be read \(ENOENT\)/)
  assert.match((await add(directory, '--yes')).err, /cannot be read \(EISDIR\)/)
  assert.equal(await stored(), before)
})

test('a rebuild copies every list whole', async () => {
  const { world } = desk
  await world.settle()
  await using database = await openDatabase(5)
  const { pool } = database
  const again = world.instance({ pool, directUrl: database.url })
  const { comparison } = await rebuild(again.ctx, world.pool, () => {})
  assert.deepEqual(comparison?.differences, [])
  const { root } = treeOf(rowsOf(8_194))
  for (const row of [0, 8_193])
    assert.deepEqual(
      await readAllowlisted(pool, root as Hash, addressOf(row)),
      await readAllowlisted(world.pool, root as Hash, addressOf(row)),
    )
})
