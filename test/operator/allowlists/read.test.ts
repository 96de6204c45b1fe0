// Reading an allowlist, from any spreadsheet: what is a row, what is refused with its line, and that no input has the reader hold more than a row.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readList } from '../../../src/operator/acts/allowlists/read.ts'
import { cases } from '../../support/property.ts'

const A = '0x52908400098527886e0f7030069857d2e4169ee7'
const B = '0x8617e340b3d01fa5f11f306f4090fd50e238070d'
const MIXED = '0xde709f2102306220921060314715629080e2fB77'
const CHECKED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

const read = (text: string, entriesMax?: number) => readList([Buffer.from(text)], entriesMax)
const problems = async (text: string, entriesMax?: number) =>
  (await read(text, entriesMax)).problems.map(({ line, text }) => `${line}: ${text}`)

test('accepts rows with header, byte order mark, quotes, spaces, carriage returns or blank lines', async () => {
  const plain = await read(`${A},1\n${B},20`)
  assert.deepEqual(plain, {
    addresses: [A, B],
    allocations: [1, 20],
    allocated: 21,
    badLines: 0,
    duplicates: 0,
    badChecksums: 0,
    problems: [],
  })
  for (const text of [
    `${A},1\n${B},20\n`,
    `address,allocation\n${A},1\n${B},20`,
    `\uFEFFaddress,allocation\r\n${A},1\r\n${B},20\r\n`,
    `"Address","Allocation"\r\n"${A}","1"\r\n\r\n "${B}" , "20" \r\n\r\n`,
    `\uFEFF${A.toUpperCase().replace('0X', '0x')},1\n\n\n${B},20`,
  ])
    assert.deepEqual(await read(text), plain, text)
  assert.deepEqual((await read(`${CHECKED},1`)).addresses, [CHECKED.toLowerCase()])
})

interface Spelling {
  readonly separator: string
  readonly lineEnd: string
  readonly mark: string
  /** The columns; null: the plain order, without a header. */
  readonly order: readonly string[] | null
  readonly title: (name: string) => string
  readonly quote: (cell: string) => string
  readonly note: string
  /** Empty cells at the end of each line. */
  readonly more: string
  /** What stands between lines, and before the first. */
  readonly gap: string
  readonly utf16: boolean
}

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`
const spelling: fc.Arbitrary<Spelling> = fc.record({
  separator: fc.constantFrom(',', ';', '\t'),
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  mark: fc.constantFrom('', '\uFEFF'),
  order: fc.constantFrom(
    ...[null, ['address', 'allocation'], ['amount', 'wallet'], ['wallet', 'amount', 'note']],
    ...[
      ['note', 'amount', 'address'],
      ['comment', 'wallet', 'notes', 'amount'],
    ],
  ),
  title: fc.constantFrom<Spelling['title'][]>(
    (name) => name,
    (name) => name.toUpperCase(),
    (name) => ` ${name[0]?.toUpperCase()}${name.slice(1)} `,
  ),
  quote: fc.constantFrom<Spelling['quote'][]>((cell) => (/[",;\t\r\n]/.test(cell) ? quoted(cell) : cell), quoted),
  note: fc.oneof(fc.string({ maxLength: 30 }), fc.constantFrom('', 'Ann, of "B"; C\tand D', 'two\r\nlines', '\n', '#')),
  more: fc.constantFrom('', '|', '||||'),
  gap: fc.constantFrom('', '\n', '|||\n', ' \n\n'),
  utf16: fc.boolean(),
})

function spelt(rows: readonly (readonly [address: string, allocation: number])[], how: Spelling): Buffer {
  const { order, quote, note, utf16 } = how
  const columns = order ?? ['address', 'allocation']
  const cellOf = (name: string, [address, allocation]: readonly [string, number]) =>
    /address|wallet/.test(name) ? address : /a(lloca|moun)t/.test(name) ? String(allocation) : note
  const lines = [
    ...(order ? [order.map((name) => quote(how.title(name)))] : []),
    ...rows.map((row) => columns.map((name) => quote(cellOf(name, row)))),
  ]
  const gap = how.gap.replaceAll('|', how.separator).replaceAll('\n', how.lineEnd)
  const all = lines.map((cells) => `${gap}${cells.join(how.separator)}${how.more.replaceAll('|', how.separator)}`)
  const text = (utf16 ? '\uFEFF' : how.mark) + all.join(how.lineEnd)
  return Buffer.from(text, utf16 ? 'utf16le' : 'utf8')
}

const rows = fc.uniqueArray(
  fc.tuple(
    fc
      .array(fc.integer({ min: 0, max: 15 }), { minLength: 40, maxLength: 40 })
      .map((digits) => `0x${digits.map((digit) => digit.toString(16)).join('')}`),
    fc.integer({ min: 1, max: 2_147_483_647 }),
  ),
  { minLength: 1, maxLength: 5, selector: ([address]) => address },
)

test('the same list gives the same rows in every spelling and in pieces of any size', async () => {
  await fc.assert(
    fc.asyncProperty(rows, spelling, fc.integer({ min: 2, max: 90 }), async (list, how, size) => {
      const bytes = spelt(list, how)
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.subarray(n * size, (n + 1) * size),
      )
      const { addresses, allocations, problems } = await readList(pieces)
      assert.deepEqual(
        { rows: addresses.map((address, i) => [address, allocations[i]]), problems },
        { rows: list, problems: [] },
      )
    }),
    { numRuns: cases(500) },
  )
})

test('an ambiguous line is refused, with its number and the right form', async () => {
  const refused: [string, string][] = [
    [`wallet,value\n${A},1`, '1: a header must have address or wallet, and allocation or amount, each once'],
    [`wallet,address,amount\n${A},${A},1`, '1: a header must have'],
    ['who,how many\nx,y', '1: a header must have'],
    [`wallet;note\n${A};x`, '1: a header must have'],
    [`wallet;amount, nodes\n${A};1`, '1: a header must have'],
    [`\n${A},1,000`, '2: it must be address,allocation'],
    [`${A};1,5`, '1: the allocation must be a whole number'],
    [`${A};1\n${B},2`, '2: it must be address,allocation'],
    [`wallet,amount,,\n${A},1,,x`, '2: it must be address,allocation'],
    [`${A},"1,000"`, '1: the allocation must be a whole number'],
    [`${A},1\n${B},"1" "2"`, '2: text follows a closing quote'],
    [`${A},1\n${B},"1"2`, '2: text follows a closing quote'],
    [`wallet,amount,note\n${A},1,"x\n${B},1,\n\n`, '2: its quotes do not end'],
    [`wallet,amount,note\n${A},1,"x\n${B},1,\n${'y'.repeat(4_000)}\n${B},x,`, '2: it has more than 4,000 characters'],
    [`wallet,amount,note\n${A},1,"x\ny"\n\n${B},x,`, '5: the allocation must be a whole number'],
  ]
  for (const [text, problem] of refused) {
    const [first = ''] = await problems(text)
    assert.ok(first.startsWith(problem), `${JSON.stringify(text)}: ${first}`)
  }
})

test('reports each bad line by its number, with its fault', async () => {
  const text = [
    ...['address,allocation', `${A},1`, `${A},2`, `${MIXED},1`, `${B},0`, `${B},-1`, `${B},1.5`, `${B},01`, `${B},1e3`],
    ...[
      `${B},2147483648`,
      `${B},${'9'.repeat(80)}`,
      B,
      `${B},1,2`,
      `${B},`,
      '0x12,1',
      'vitalik.eth,1',
      `${B.slice(2)},1`,
      `${B},=1`,
    ],
    ...['address,allocation', `${B},${'1'.repeat(4_000)}`],
  ]
  const allocation = 'the allocation must be a whole number from 1 to 2147483647'
  const address = 'the address must be 0x and 40 hex digits'
  assert.deepEqual(await problems(text.join('\n')), [
    ...['3: the address is already on line 2', '4: the checksum of the address is wrong'],
    ...[5, 6, 7, 8, 9, 10, 11].map((line) => `${line}: ${allocation}`),
    ...[12, 13, 14].map((line) => `${line}: it must be address,allocation`),
    ...[15, 16, 17].map((line) => `${line}: ${address}`),
    ...[`18: ${allocation}`, `19: ${address}`, '20: it has more than 4,000 characters'],
  ])
  const { badLines, duplicates, badChecksums, allocated } = await read(text.join('\n'))
  assert.deepEqual(
    { badLines, duplicates, badChecksums, allocated },
    { badLines: 18, duplicates: 1, badChecksums: 1, allocated: 1 },
  )
})

test('lists the first twenty bad lines, and counts all', async () => {
  const list = await read(`${A},1\n${`${A},1\n`.repeat(500)}`)
  assert.deepEqual([list.problems.length, list.badLines, list.duplicates], [20, 500, 500])
})

test('refuses an empty list, and one with more rows than it may have', async () => {
  for (const text of ['', '\n\n', '\uFEFF', 'address,allocation\n'])
    assert.match((await problems(text)).join(), /the list has no row/)
  assert.deepEqual(await problems(`${A},1\n${B},1\n\n`, 2), [])
  assert.deepEqual(await problems(`${A},1\n${B},1\n${CHECKED},1\n${MIXED},1`, 2), ['3: a list has at most 2 rows'])
})

test('reads on to the end of no endless line, and holds none of it', async () => {
  let given = 0
  async function* endless() {
    for (; ; given++) yield Buffer.alloc(1024 * 1024, 'a')
  }
  const { problems: told } = await readList(endless())
  assert.deepEqual(told, [{ line: 1, text: 'the list is longer than 128 MiB' }])
  assert.ok(given < 130)
  assert.match(
    (await readList([Buffer.from([0, 255, 254, 10, 65, 0])])).problems.map(({ text }) => text).join(),
    /address/,
  )
})
