// Plays docs/TUTORIAL.md word for word: each of its commands, on a local chain in the test network's place and on PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAnvil } from '../../packages/embed/anvil.ts'
import { findFreePort } from '../../packages/embed/port.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createEmptyDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { blocksOf, readPage } from './pages.ts'
import { PLAY_TIMEOUT_MS, play } from './play.ts'

const PAGE = readPage('docs/TUTORIAL.md')
const BLOCKS = blocksOf(PAGE).filter(({ language }) => language === 'sh')

test('the tutorial sells a node, holds a wrong amount, and credits the node', {
  timeout: PLAY_TIMEOUT_MS,
}, async () => {
  const chain = await startAnvil({
    dataDir: temporaryDirectory(),
    port: 0,
    blockTimeSec: 1,
    persist: false,
    log: silentLog,
  })
  const database = await createEmptyDatabase()
  try {
    const { code, outputs, said } = await play(
      BLOCKS.map(({ text }) => text),
      {
        'http://127.0.0.1:8545': chain.rpcUrl,
        'postgres://ledger:secret@127.0.0.1:5432/ledger': database.url,
        'localhost:3000': `localhost:${await findFreePort()}`,
      },
    )
    assert.equal(code, 0, `after block ${outputs.length} of ${BLOCKS.length}:\n${outputs.at(-1)}\n${said}`)
    assert.equal(outputs.length, BLOCKS.length)
    const shown = (words: string) => outputs[BLOCKS.findIndex(({ text }) => text.includes(words))] ?? ''
    assert.match(shown('cat secrets/factory'), /^CHAIN_ID=31337\nFACTORY_ADDRESS=0x\w{40}\nSTART_BLOCK=\d+\nRPC_URL=/m)
    assert.match(shown('api/deploy-quote'), /"priceWei":"10000000000000000"/)
    assert.match(shown('--status minted'), /"owner":"0x70997970c51812dc3a010c7d01b50e0d17dc79c8"/)
    assert.match(shown('--status held'), /wrongAmount/)
    assert.match(shown('rounds list'), /"seed":"0x/)
    assert.match(shown('ledger verify'), /equal/i)
  } finally {
    await database.drop()
    await chain.stop()
  }
})
