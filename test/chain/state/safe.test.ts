// A real Safe 1.5.0, from its makers' published bytecode. Its factory creates it, it pays by an internal call, we find
// it as the sender, recognise its code and singleton, and accept its owner's signature as its proof.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { privateKeyToAccount } from 'viem/accounts'
import { encodeAbiParameters, hashMessage } from 'viem/utils'
import { createChainReader } from '../../../src/chain/evidence/reader.ts'
import { createWalletProver } from '../../../src/chain/pages/wallets.ts'
import { knownWalletOf } from '../../../src/domain/payers/known-wallets.ts'
import type { Address } from '../../../src/domain/units.ts'
import { mined } from '../../support/wallets/deploy.ts'
import { makeSafe, paySafely } from '../../support/wallets/safe.ts'
import { type Stage, startStage } from '../stage.ts'

let stage: Stage
/** The Safe, whose one owner is account 5. */
let safe: Address
before(async () => {
  stage = await startStage()
  safe = await makeSafe(stage.chain, stage.at(5), 0x1000n)
})
after(() => stage.close())

test('a Safe’s payment is its own inner transfer, and its code and singleton identify the Safe', async () => {
  const data = paySafely(stage.at(5), stage.at(3), 77n)
  const { txHash } = await mined(stage.chain, { from: stage.at(5), to: safe, data })
  const reader = createChainReader(stage.rpc, stage.watched)
  assert.deepEqual(await reader.innerTransfers(txHash, stage.at(3)), [{ index: 1, from: safe, valueWei: 77n }])
  const code = await reader.payerCode(safe, await stage.head())
  assert.ok(code?.kind === 'contract')
  const known = knownWalletOf(code)
  assert.deepEqual([known?.name, known?.version], ['Safe', '1.5.0'])
})

test('a Safe proves itself by the word of its owner, and not by another’s', async () => {
  const message = 'example.org wants you to sign in'
  const prove = createWalletProver(stage.rpc)
  /** The hash that a Safe's owners sign for a message: EIP-712, with the Safe as its domain. */
  const hash = encodeAbiParameters([{ type: 'bytes32' }], [hashMessage(message)])
  const typed = {
    domain: { chainId: stage.chain.chainId, verifyingContract: safe },
    types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
    primaryType: 'SafeMessage',
    message: { message: hash },
  } as const
  for (const [account, proof] of [
    [5, { deployed: true }],
    [6, null],
  ] as const) {
    const signature = await privateKeyToAccount(stage.keyOf(account)).signTypedData(typed)
    assert.deepEqual(await prove(safe, message, signature), proof)
  }
})
