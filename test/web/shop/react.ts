// The client in React, as its README shows it: that hook, bundled with TanStack Query, on a page of another origin, with a wallet that signs.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { wallet } from '../../support/service.ts'
import type { Shop } from './frame.ts'

const CLIENT = fileURLToPath(new URL('../../../client/', import.meta.url))
const src = (file: string) => `${CLIENT}src/${file}`

/** The hook on a page that buys, too. In strict mode React's development build mounts everything twice. */
async function bundle(serviceUrl: string): Promise<string> {
  const examples = readFileSync(`${CLIENT}README.md`, 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)
  const [example = ''] = [...examples].flatMap(([, text = '']) => (text.includes('useOwner') ? [text] : []))
  assert.match(example, /useQuery/)
  const page = `
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createClient } from '@node-ledger/client'
import { buy } from '@node-ledger/client/viem'
import { QueryClient, QueryClientProvider, useMutation } from '@tanstack/react-query'
import { createWalletClient, custom } from 'viem'
const ledger = createClient({ baseUrl: '${serviceUrl}' })
function Basic({ wallet }) {
  const owned = useOwner(wallet.account.address)
  const bought = useMutation({ mutationFn: () => buy(ledger, wallet, 'basic') })
  return (
    <>
      <p>You own {owned.data?.nodes.length ?? '…'}.</p>
      <button type="button" onClick={() => bought.mutate()}>Buy</button>
      <p role="status">{bought.error?.message ?? (bought.data && 'Node ' + bought.data.node.nodeId + ' is yours')}</p>
    </>
  )
}
addEventListener('eip6963:announceProvider', async ({ detail }) => {
  const transport = custom(detail.provider)
  const [account] = await createWalletClient({ transport }).requestAddresses()
  const wallet = createWalletClient({ account, transport })
  const client = new QueryClient()
  createRoot(document.querySelector('main')).render(
    <StrictMode><QueryClientProvider client={client}><Basic wallet={wallet} /></QueryClientProvider></StrictMode>
  )
}, { once: true })
dispatchEvent(new Event('eip6963:requestProvider'))`
  const { outputFiles } = await build({
    stdin: { contents: example + page, resolveDir: CLIENT, loader: 'tsx' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    jsx: 'automatic',
    write: false,
    define: { 'process.env.NODE_ENV': '"development"' },
    alias: {
      '@node-ledger/client/viem': src('viem/index.ts'),
      '@node-ledger/client': src('index.ts'),
    },
  })
  return outputFiles[0]?.text ?? assert.fail('nothing was bundled')
}

export function testReact({ url, serve, service, wellKnown, open }: Shop): void {
  test('in React the README’s query shows owned nodes live beside a purchase', async () => {
    const { page, own } = await open(13)
    const script = await bundle(service().url)
    serve(
      '/react',
      `<!doctype html><html lang="en"><title>A shop</title><main></main><script type="module">${script}</script></html>`,
    )
    await page.goto(`${url()}/react`)
    await page.getByText('You own 0.').waitFor()
    own.refuseNext()
    const button = page.getByRole('button', { name: 'Buy' })
    await button.click()
    await page.getByText('The wallet declined. Nothing was sent.').waitFor()
    await button.click()
    await page.getByText(/^Node \d+ is yours$/).waitFor()
    await page.getByText('You own 1.').waitFor()
    // A purchase made elsewhere appears without a reload.
    await wallet(13, wellKnown()).pay(wellKnown().paymentAddress, 10n ** 16n)
    await page.getByText('You own 2.').waitFor()
  })
}
