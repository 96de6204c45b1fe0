// Holds the means of verifying the deployed code: the committed standard-JSON input compiles, alone, to the committed bytecode with its
// metadata hash; and the one private derivation of Solady's that the contract relies on is of the very source that was read.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { it } from 'node:test'
import { factoryBytecode } from '../../src/chain/factory/bytecode.ts'
import { compileAlone, compilerVersion } from '../tools/compile.ts'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')
/** Solady's src/tokens/ERC721.sol: WordERC721.sol repeats its slot derivations. After an update read them again. */
const SOLADY_ERC721 = { version: '0.1.26', sha256: 'e6e83b87598b230481b1ec764c440f1443cfc6e50f9b2b37a16dc894715b0676' }

it('the input for explorers compiles alone to the deployed code', () => {
  const kit = JSON.parse(read('src/chain/factory/verification.json'))
  assert.equal(kit.compilerVersion, compilerVersion())
  assert.equal(kit.contractIdentifier, 'src/NodeFactory.sol:NodeFactory')
  const { bytecode } = compileAlone(kit.stdJsonInput, 'NodeFactory.sol', 'NodeFactory').evm
  assert.equal(`0x${bytecode.object}`, factoryBytecode)
})

it('every pragma requires that compiler and no other', () => {
  const { stdJsonInput, compilerVersion: version } = JSON.parse(read('src/chain/factory/verification.json'))
  for (const [path, { content }] of Object.entries<{ content: string }>(stdJsonInput.sources)) {
    if (path.startsWith('src/')) assert.ok(content.includes(`pragma solidity ${version.split('+')[0]};`), path)
  }
})

it('the slot derivations are those of the Solady that was read', () => {
  const require = createRequire(import.meta.url)
  const { version } = JSON.parse(readFileSync(require.resolve('solady/package.json'), 'utf8'))
  const source = readFileSync(require.resolve('solady/src/tokens/ERC721.sol'))
  const found = { version, sha256: createHash('sha256').update(source).digest('hex') }
  assert.deepEqual(found, SOLADY_ERC721, 'read its slot derivations again, then WordERC721.sol')
})
