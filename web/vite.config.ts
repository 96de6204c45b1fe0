// Builds the pages into web/dist, which the service serves. In development `npx vite web` serves them itself, and asks the service
// of `npm start` for everything else.
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const client = (file: string) => fileURLToPath(new URL(`../client/src/${file}`, import.meta.url))
// Named as the origin, too: of a page of another one the service takes no sign-in and no act.
const service = { target: 'http://127.0.0.1:3000', headers: { origin: 'http://127.0.0.1:3000' } }

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  resolve: {
    alias: [
      { find: /^@node-ledger\/client$/, replacement: client('index.ts') },
      { find: /^@node-ledger\/client\/viem$/, replacement: client('viem/index.ts') },
    ],
  },
  build: {
    target: 'es2022',
    emptyOutDir: true,
    // The content security policy admits no data: URLs but for images.
    assetsInlineLimit: 0,
  },
  server: { proxy: { '/api': service, '/.well-known': service, '/docs': service } },
})
