// The client's hooks under real React: the README's own example, bundled, on a page of another origin, with a wallet that signs.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { wallet } from '../../support/service.ts'
import type { Shop } from './frame.ts'

const CLIENT = fileURLToPath(new URL('../../../client/', import.meta.url))
const src = (file: string) => `${CLIENT}src/${file}`

/** The example with the service's URL, and what a page does around it: in strict mode React mounts everything twice. */
async function bundle(serviceUrl: string): Promise<string> {
  const [, example = ''] = /```tsx\n([\s\S]*?)```/.exec(readFileSync(`${CLIENT}README.md`, 'utf8')) ?? []
  assert.match(example, /useOwner/)
  const around = `
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createWalletClient, custom } from 'viem'
addEventListener('eip6963:announceProvider', async ({ detail }) => {
  const transport = custom(detail.provider)
  const [account] = await createWalletClient({ transport }).requestAddresses()
  const wallet = createWalletClient({ account, transport })
  createRoot(document.querySelector('main')).render(<StrictMode><Basic wallet={wallet} /></StrictMode>)
}, { once: true })
dispatchEvent(new Event('eip6963:requestProvider'))`
  const { outputFiles } = await build({
    stdin: {
      contents: example.replace('https://ledger.example', serviceUrl) + around,
      resolveDir: CLIENT,
      loader: 'tsx',
    },
    ...{ bundle: true, minify: true, format: 'esm', platform: 'browser', jsx: 'automatic', write: false },
    define: { 'process.env.NODE_ENV': '"production"' },
    alias: {
      '@node-ledger/client/react': src('react/index.ts'),
      '@node-ledger/client/viem': src('viem/index.ts'),
      '@node-ledger/client': src('index.ts'),
    },
  })
  return outputFiles[0]?.text ?? assert.fail('nothing was bundled')
}

export function testReact({ url, serve, service, wellKnown, open }: Shop): void {
  test('the hooks of the client buy, follow and show what is owned, live', async () => {
    const { page, own } = await open(13)
    const script = await bundle(service().url)
    serve(
      '/react',
      `<!doctype html><html lang="en"><title>A shop</title><main></main><script type="module">${script}</script></html>`,
    )
    await page.goto(`${url()}/react`)
    await page.getByText('You own 0.').waitFor()
    own.refuseNext()
    const button = page.getByRole('button', { name: 'Buy for 10000000000000000 wei' })
    await button.click()
    await page.getByText('The wallet refused. Nothing was sent.').waitFor()
    await button.click()
    await page.getByText(/^Node \d+ is yours$/).waitFor()
    await page.getByText('You own 1.').waitFor()
    // What was bought elsewhere comes by itself.
    await wallet(13, wellKnown()).pay(wellKnown().paymentAddress, 10n ** 16n)
    await page.getByText('You own 2.').waitFor()
  })
}
