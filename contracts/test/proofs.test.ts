// Holds the record of proofs in docs/CONTRACT.md against the properties themselves: every one is listed there and runs as a
// fuzz test, and each recorded proof is of this bytecode.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { keccak256 } from 'viem'
import { factoryBytecode, factoryRuntimeHash } from '../../src/chain/factory/bytecode.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const names = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1]).sort()

const stated = readdirSync(join(ROOT, 'contracts/proofs'))
  .flatMap((file) => names(read(`contracts/proofs/${file}`), /function (check_\w+)\(/g))
  .sort()
const record =
  read('docs/CONTRACT.md')
    .split('\n## ')
    .find((section) => section.startsWith('Proofs\n')) ?? ''

/** The deployed contract: the last commit that changed what its code is made of, and the hashes of what it compiles to. */
const CONTRACT = {
  commit: '74a36733',
  creation: '0xd5f9c8b899cc16c5499cbae828f1bc74bbe5e108a826bdcb0f9a080e1af322f4',
  /** With zeros in place of the immutables, which a deployment fills in. */
  runtime: '0xf4fa0a41c5b8543bb78bcdbbba7d95a1a452e80ddf95576e3b34ff38d2fb1bf6',
} as const

it('the bytecode is that of the commit that the rules of the house identify', () => {
  assert.equal(keccak256(factoryBytecode), CONTRACT.creation)
  assert.equal(factoryRuntimeHash, CONTRACT.runtime)
  assert.ok(read('CONTRIBUTING.md').includes(`commit \`${CONTRACT.commit}\``), 'the rule names the commit')
})

it('every property runs as a fuzz test', () => {
  assert.deepEqual(names(read('contracts/test/Proofs.t.sol'), /function test_(check_\w+)\(/g), stated)
})

it('every property is in the documents, and nothing else is', () => {
  assert.deepEqual(names(record, /^\| `(check_\w+)` \|/gm), stated)
})

it('the recorded proof is of this bytecode', () => {
  const proven = /Runtime code hash: `(0x[0-9a-f]{64}|none)`/.exec(record)?.[1]
  assert.ok(proven, 'the record names the code it is of')
  if (proven !== 'none') assert.equal(proven, factoryRuntimeHash, 'stale: prove again, or record none')
})

it('the prover runs for the named properties beside the compiler, and fails if it is missing', () => {
  const directory = mkdtempSync(join(tmpdir(), 'node-ledger-prover-'))
  const prove = (path: string, ...args: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'scripts/contracts.ts'), 'prove', ...args], {
      encoding: 'utf8',
      env: { ...process.env, PATH: path },
    })
  try {
    assert.equal(prove(directory).status, 2)
    writeFileSync(join(directory, 'halmos'), '#!/bin/sh\npwd; echo "$@"\n', { mode: 0o755 })
    const { status, stdout } = prove([directory, '/usr/bin', '/bin'].join(delimiter), 'credit', '--solver', 'z3')
    assert.equal(status, 0)
    assert.match(stdout, /\/contracts\n.*--function check_credit --storage-layout generic .*--solver z3\n$/)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
