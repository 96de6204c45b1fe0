// Parsing of the command line. Nothing here needs a database or a chain.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { parseArguments } from '../../src/cli/arguments.ts'
import type { Command } from '../../src/cli/command.ts'
import { loadCommands } from '../../src/cli/commands.ts'
import { overview, reference } from '../../src/cli/help.ts'
import { readableLine } from '../../src/cli/log-line.ts'
import { fieldsOf } from '../../src/cli/operator.ts'
import { tableOf } from '../../src/cli/output.ts'
import { OPERATIONS } from '../../src/operator/operations.ts'
import { runHere } from '../support/cli.ts'

const COMMANDS = await loadCommands()

const root = new URL('../../', import.meta.url)

describe('an unknown word is refused with exit code 2, and with the nearest one there is', () => {
  const rows: [string, RegExp][] = [
    ['paus', /did you mean "pause"\?/],
    ['payment list', /did you mean "payments list"\?/],
    ['verfy', /did you mean "verify"\?/],
    ['tiers', /tiers price <tier-id>/],
    ['keys', /keys new --out <file>/],
    ['frobnicate', /There is no command "frobnicate"\./],
    ['verify --jsn', /--jsn: there is no such option; did you mean --json\?/],
    ['payments list --staus held', /did you mean --status\?/],
    ['payments list -s held', /-s: there is no such option/],
    ['pass', /<pass>: is missing/],
    ['pass paymnts', /<pass>: is one of payments, credit/],
    ['payments show', /<payment>: is missing/],
    ['payments show a b', /1 word too many/],
    ['verify now', /1 word too many: the command takes options only/],
    ['resume --yes=no', /--yes: takes no value/],
    ['payments list --status', /--status: needs a value/],
    ['payments list --status --json', /--status: needs a value/],
    ['payments list --limit 1 --limit 2', /--limit: was given twice/],
    ['payments refund 0x1', /--refund-tx-hash: is missing/],
    ['tiers create x', /--label: is missing[\s\S]*--price-wei: is missing[\s\S]*--max-per-wallet: is missing/],
    ['', /Usage: node-ledger <command>/],
    ['frobnicate --json', /There is no command/],
    ['payments --json', /payments show <payment>/],
    ['--json payments list', /The command comes first, its options after it/],
    ['help payments frobnicate', /Choose one:\n {2}node-ledger payments list/],
    ['help frobnicate --json', /There is no command/],
  ]
  for (const [line, words] of rows) {
    test(line || 'nothing at all', async () => {
      const { code, out, err } = await runHere(line.split(' ').filter(Boolean), {})
      assert.equal(code, 2)
      assert.match(err, words)
      assert.doesNotMatch(err, /at .*\.ts:\d/)
      if (line.includes('--json')) assert.match(JSON.parse(out).error, words)
      else assert.equal(out, '')
    })
  }
})

test('a mistake that may be a secret is not repeated', async () => {
  const secret = 'c0ffee'.repeat(10)
  const { err } = await runHere(['keys', 'new', '--private-key', secret, secret], {})
  assert.match(err, /--private-key: there is no such option/)
  assert.ok(!err.includes(secret))
})

describe('help', () => {
  test('lists every command, and each command lists its options and runs nothing', async () => {
    const all = await runHere(['--help'], {})
    assert.equal(all.code, 0)
    for (const { name, summary } of COMMANDS) assert.ok(all.out.includes(name) && all.out.includes(summary), name)
    for (const command of COMMANDS) {
      for (const words of [
        ['help', ...command.name.split(' ')],
        [...command.name.split(' '), '--help'],
        [...command.name.split(' '), '-h'],
      ]) {
        const { code, out } = await runHere(words, {})
        assert.equal(code, 0, words.join(' '))
        for (const name of Object.keys(command.options ?? {})) assert.ok(out.includes(`--${name}`), name)
        for (const example of command.examples) assert.ok(out.includes(example))
      }
    }
  })

  test('a group of commands is explained together', async () => {
    for (const words of [
      ['help', 'senders'],
      ['senders', '--help'],
      ['senders', '-h'],
    ]) {
      const { code, out } = await runHere(words, {})
      assert.equal(code, 0, words.join(' '))
      assert.equal(out.match(/^Usage: /gm)?.length, 3)
    }
  })

  test('fits a terminal', () => {
    for (const line of overview(COMMANDS).split('\n')) assert.ok(line.length <= 160, line)
  })
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  assert.equal((await runHere(['--version'], {})).out, `${version}\n`)
  assert.deepEqual(JSON.parse((await runHere(['--version', '--json'], {})).out), { version })
})

describe('amounts', () => {
  const price = (text: string) => {
    const command = COMMANDS.find(({ name }) => name === 'tiers price') ?? assert.fail()
    return parseArguments(command, ['basic', `--price-wei=${text}`]).values['price-wei']
  }
  const bounds = (text: string) => {
    const command = COMMANDS.find(({ name }) => name === 'owner set-bounds') ?? assert.fail()
    return parseArguments(command, ['--floor-gwei', text, '--ceiling-gwei', '1']).values['floor-gwei']
  }

  test('are digits, or have their unit, and are parsed whole', () => {
    assert.equal(price('0.1ether'), '100000000000000000')
    assert.equal(price('1.5 gwei'), '1500000000')
    assert.equal(price('7wei'), '7')
    for (const text of ['0.1 ETH', '0.1eth', '0.1 Ether']) assert.equal(price(text), '100000000000000000')
    assert.equal(price('12000000000000000'), '12000000000000000')
    assert.equal(price('0.000000000000000001ether'), '1')
    assert.equal(bounds('0.01ether'), '10000000')
    assert.equal(bounds('3'), '3')
  })

  test('are refused if a digit would be lost or guessed', () => {
    for (const text of [
      '0.1',
      '0.0000000000000000001ether',
      '1.5wei',
      '-1',
      '1e18',
      '0x1',
      '1,5ether',
      'ether',
      '.5ether',
      '1finney',
    ])
      assert.throws(() => price(text), /--price-wei: is a whole number of wei, or has a unit: 0\.1ether, 5gwei/, text)
    assert.throws(() => bounds('1wei'), /--floor-gwei: is a whole number of gwei/)
  })
})

describe('the table of commands', () => {
  test('has every name once, an example for each, and examples that parse', () => {
    assert.equal(new Set(COMMANDS.map(({ name }) => name)).size, COMMANDS.length)
    for (const command of COMMANDS) {
      assert.ok(command.examples.length > 0, command.name)
      for (const example of command.examples) parseArguments(command, wordsAfterName(example, command))
    }
  })

  test('matches docs/CLI.md', () => {
    const document = readFileSync(new URL('docs/CLI.md', root), 'utf8')
    assert.ok(document.includes(reference(COMMANDS)), 'docs/CLI.md is not current: npm run generate writes it')
  })

  test('takes --yes on every command', () => {
    for (const { name, options = {}, args = [] } of COMMANDS) {
      const required = Object.entries(options).flatMap(([option, { required: must }]) =>
        must ? [`--${option}=1`] : [],
      )
      const words = args.map(({ choices = ['1'] }) => choices[0] ?? '')
      const command = COMMANDS.find((one) => one.name === name) ?? assert.fail()
      assert.ok(parseArguments(command, [...words, ...required, '--yes']).flags.has('yes'), name)
    }
  })
})

function wordsAfterName(example: string, command: Command): string[] {
  const prefix = `node-ledger ${command.name}`
  assert.ok(example.startsWith(prefix), example)
  return (example.slice(prefix.length).match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''))
}

test('a list that shows an amount in ether does not call it wei', () => {
  const lists = OPERATIONS.flatMap(({ columns }) => columns ?? [])
  assert.ok(lists.some((column) => String(column).endsWith('Wei')))
  assert.equal(tableOf([{ dueWei: '10000000000000000' }], ['dueWei']), 'due ETH\n0.01')
  assert.doesNotMatch(tableOf([], lists), /Wei/)
})

describe('a line of the log, to read', () => {
  test('begins with time, level and message', () => {
    const line = {
      level: 'warn',
      time: '2026-01-02T03:04:05.678Z',
      pid: 1,
      hostname: 'h',
      host: 'rpc',
      msg: 'it is late',
    }
    assert.match(readableLine(JSON.stringify(line)), /^\d\d:04:05 WARN {2}it is late host=rpc$/)
  })
  test('shows anything else as it is', () => {
    for (const text of ['plain', '{"no":"log"}', '{broken', '1', 'null', '']) assert.equal(readableLine(text), text)
  })
  test('keeps to the message of an error', () => {
    const line = {
      level: 'error',
      time: '2026-01-02T03:04:05.678Z',
      err: { message: 'no luck', stack: 'at x' },
      msg: 'm',
    }
    assert.match(readableLine(JSON.stringify(line)), /ERROR m err="no luck"$/)
  })
})

test('a command’s arguments, options and flags become fields, those of the command line do not', () => {
  const fields = (name: string, ...words: string[]) => {
    const command = COMMANDS.find((one) => one.name === name) ?? assert.fail(name)
    return fieldsOf({ ...parseArguments(command, words), command })
  }
  const price = ['plus', '--price-wei', '7', '--immediately', '--yes', '--json']
  assert.deepEqual(fields('tiers price', ...price), { tierId: 'plus', priceWei: '7', immediately: true })
  assert.deepEqual(fields('statement', '--month', '2026-10', '--csv'), { month: '2026-10' })
  assert.deepEqual(fields('resume', '--halt'), {})
})
