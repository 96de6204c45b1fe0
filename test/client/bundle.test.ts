// The client's size in a page, and its work there: bundled, then run in a real Chromium against the service's own origin.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { noBrowser, startBrowser } from '../support/chromium.ts'
import { type Service, startService } from '../support/http.ts'
import { insertSmallLedger } from '../support/http-ledger.ts'

const CLIENT = fileURLToPath(new URL('../../client/src', import.meta.url))
let service: Service
before(async () => {
  service = await startService()
  await insertSmallLedger(service.sql)
})
after(() => service.close())

/** A browser bundle of what the given module uses, as text. */
async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: CLIENT, loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  return outputFiles[0]?.text ?? assert.fail('nothing was bundled')
}

test('reading costs a page a few kilobytes, and nothing of viem', async () => {
  const text = await bundle(
    `import { createClient } from './index.ts'; globalThis.ledger = createClient({ baseUrl: 'http://a' })`,
  )
  assert.ok(text.length < 6_700, `${text.length} bytes`)
  assert.doesNotMatch(text, /keccak|secp256k1|eth_/)
})

test('unused code is left out', async () => {
  assert.equal((await bundle(`import { createClient, followPayment, LedgerError } from './index.ts'`)).trim(), '')
  assert.doesNotMatch(
    await bundle(`import { recompute } from './viem/index.ts'; globalThis.x = recompute`),
    /secp256k1|eth_sendTransaction/,
  )
})

test('it works in a browser, signed in or not', { skip: noBrowser }, async () => {
  const browser = await startBrowser()
  try {
    const page = await (await browser.newContext({ bypassCSP: true })).newPage()
    await page.goto(`http://127.0.0.1:${service.port}/api/stats`)
    const script = await bundle(`import * as client from './index.ts'; Object.assign(globalThis, client)`)
    await page.addScriptTag({ content: script, type: 'module' })
    const seen = await page.evaluate(async () => {
      // biome-ignore lint/suspicious/noExplicitAny: what the script above has put there
      const { createClient, LedgerError, location } = globalThis as any
      const ledger = createClient({ baseUrl: location.origin })
      const [stats, tiers, me] = await Promise.all([ledger.getStats(), ledger.getTiers(), ledger.getMe()])
      const error = await ledger.getNode('999').catch((thrown: unknown) => thrown)
      const { message } = await ledger.getNonce()
      return {
        nodes: stats.totalNodes,
        price: typeof tiers[0].priceWei,
        me,
        status: error instanceof LedgerError && (error as { status: number }).status,
        message: typeof message,
      }
    })
    assert.deepEqual(seen, { nodes: seen.nodes, price: 'bigint', me: null, status: 404, message: 'string' })
    assert.ok(seen.nodes > 0)
  } finally {
    await browser.close()
  }
})
