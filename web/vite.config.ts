// Builds the pages into web/dist, which the service serves. In development `npx vite web` serves them itself, and
// proxies everything else to `npm start`.
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { marked } from 'marked'
import { parseAbi } from 'viem'
import { build, defineConfig, type Plugin } from 'vite'
import { anchored, framed } from './contents.ts'
import { referenceOf } from './reference.ts'

const DIST = fileURLToPath(new URL('dist', import.meta.url))
const client = (file: string) => fileURLToPath(new URL(`../client/src/${file}`, import.meta.url))
// Also the origin, because the service refuses sign-ins and acts from pages of another one.
const service = { target: 'http://127.0.0.1:3000', headers: { origin: 'http://127.0.0.1:3000' } }

/**
 * Two ways to save. Safe's provider requires all of Safe's library, and with it a second build of viem, for the names
 * of a transaction's states, so we import them from the file that has them. And of wagmi's connectors we look only at
 * Safe's, because others need packages that are not installed.
 */
const leanSafe: Plugin = {
  name: 'lean-safe',
  enforce: 'pre',
  async resolveId(source, importer) {
    if (source === '@safe-global/safe-apps-sdk' && importer?.includes('/safe-apps-provider/'))
      return this.resolve('@safe-global/safe-gateway-typescript-sdk', importer, { skipSelf: true })
    if (source !== 'wagmi/connectors') return null
    const wagmi = await this.resolve('wagmi', importer)
    const all = await this.resolve('@wagmi/connectors', wagmi?.id)
    return all && { ...all, id: all.id.replace('exports/index.js', 'safe.js') }
  },
}

/**
 * Two ways to save on viem. We parse interfaces written for people at build time, because their parser is larger than
 * all of them. And we leave out the code for calling contracts that are not deployed, which pages never do.
 */
const leanViem: Plugin = {
  name: 'lean-viem',
  enforce: 'pre',
  transform(code, id) {
    if (id.endsWith('viem/_esm/constants/contracts.js')) return code.replace(/0x[0-9a-f]{200,}/g, '0x')
    if (!/client\/src\/viem|node_modules\/viem/.test(id)) return null
    return code.replace(/\bparseAbi\(\[((?:\s*'[^']*',?)+)\s*\]\)/g, (_, lines: string) =>
      JSON.stringify(parseAbi([...lines.matchAll(/'([^']+)'/g)].map(([, line]) => line))),
    )
  },
}

const OF_VIEM = /node_modules\/(viem|ox|abitype|@noble)\/|client\/src\/viem\//
const VIEM = fileURLToPath(new URL('../node_modules/viem/_esm/utils/', import.meta.url))

/** Modules of every page go into one file, because pages share them differently and they would be a dozen. So does the recomputing. */
function chunkOf(id: string, build: Build): string | null {
  const isLoadedFirst = (module: string, seen: Set<string>): boolean => {
    if (seen.has(module)) return false
    seen.add(module)
    const info = build.getModuleInfo(module)
    return info !== null && (info.isEntry || info.importers.some((importer) => isLoadedFirst(importer, seen)))
  }
  // Too small to be worth their own request.
  if (/web\/src\/(ui\/(choice|dialog|sign-in)|wallet\/qr|pages\/payment\/intent|live|providers)\.tsx?$/.test(id))
    return 'base'
  if (!OF_VIEM.test(id)) return isLoadedFirst(id, new Set()) ? 'base' : null
  // Through viem's index every page reaches all of its modules. Pages use something of these two.
  if (neededBy(`${VIEM}address/getAddress.js`, build).has(id)) return 'base'
  const isOfAmounts =
    /client\/src\/viem\/(amount|turns)\.ts$/.test(id) || neededBy(`${VIEM}abi/encodeAbiParameters.js`, build).has(id)
  return isOfAmounts ? 'amounts' : null
}

/** A module, and what it imports. */
function neededBy(id: string, build: Build, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(id)) return found
  found.add(id)
  for (const imported of build.getModuleInfo(id)?.importedIds ?? []) neededBy(imported, build, found)
  return found
}

type ModuleInfo = { isEntry: boolean; importers: readonly string[]; importedIds: readonly string[] }
type Build = { getModuleInfo: (id: string) => ModuleInfo | null }

/** The name of the style that is in the page. */
let inlined = ''

/**
 * The pages' style goes into the page, so that the first paint waits for one request alone. The script goes below
 * reload.js, which has to hear if it is missing.
 */
const onePiece: Plugin = {
  name: 'one-piece',
  apply: 'build',
  // Parts that load later would still wait for the style, as Vite lists it among what they need.
  async writeBundle(_, bundle) {
    const entry = Object.values(bundle).find((one) => one.type === 'chunk' && one.isEntry)
    for (const chunk of Object.values(bundle))
      if (inlined && entry && chunk.type === 'chunk' && chunk.code.includes(inlined))
        await writeFile(`${DIST}/${chunk.fileName}`, chunk.code.replaceAll(inlined, entry.fileName))
  },
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle = {} }) {
      const [link = '', name = ''] = /<link rel="stylesheet"[^>]* href="\/([^"]+)">/.exec(html) ?? []
      const [script = ''] = /<script type="module".*?<\/script>/.exec(html) ?? []
      const sheet = bundle[name]
      if (sheet?.type !== 'asset' || script === '') throw new Error('the page has no style or no script')
      delete bundle[name]
      inlined = name
      return html
        .replace(script, '')
        .replace(link, () => `<style>${String(sheet.source).trim()}</style>`)
        .replace('</body>', () => `${script}\n  </body>`)
    },
  },
}

const alias = [
  { find: /^@node-ledger\/client$/, replacement: client('index.ts') },
  { find: /^@node-ledger\/client\/viem$/, replacement: client('viem/index.ts') },
]
const ROOT = fileURLToPath(new URL('.', import.meta.url))

/** Builds the page that owners keep: one file that holds all it needs, with a policy that allows only that and no requests. */
const pageToKeep: Plugin = {
  name: 'page-to-keep',
  apply: 'build',
  async closeBundle() {
    const input = `${ROOT}src/keep/withdraw.ts`
    const options = { write: false, target: 'es2022', rolldownOptions: { input, output: { codeSplitting: false } } }
    const built = await build({
      root: ROOT,
      configFile: false,
      logLevel: 'warn',
      publicDir: false,
      plugins: [leanViem],
      resolve: { alias },
      build: options,
    })
    const [chunk] = 'output' in built ? built.output : []
    if (chunk?.type !== 'chunk') throw new Error('the page to keep has no script')
    const script = chunk.code.replaceAll('</script', '<\\/script')
    const face = await readFile(`${ROOT}src/styles/geist.woff2`, 'base64')
    const style = (await readFile(`${ROOT}src/keep/withdraw.css`, 'utf8')).replace(
      'geist.woff2',
      `data:font/woff2;base64,${face}`,
    )
    const policy = `default-src 'none'; script-src ${digest(script)}; style-src ${digest(style)}; font-src data:; img-src data:; base-uri 'none'; form-action 'none'`
    const html = (await readFile(`${ROOT}src/keep/withdraw.html`, 'utf8'))
      .replace('content-security-policy" content=""', () => `content-security-policy" content="${policy}"`)
      .replace('<style></style>', () => `<style>${style}</style>`)
      .replace('module"></script>', () => `module">${script}</script>`)
    await writeFile(`${ROOT}dist/withdraw.html`, html)
  },
}

const digest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Documents for /docs and /runbook.html. The service puts them into the pages' frame. Alerts link to the runbook's sections. */
const documents: Plugin = {
  name: 'documents',
  apply: 'build',
  async closeBundle() {
    const runbook = await readFile(`${ROOT}../docs/RUNBOOK.md`, 'utf8')
    const html = await marked(runbook.replaceAll(/\[([^\]]+)\]\((?!#)[^)]+\)/g, '$1'))
    const [head = '', text = ''] = anchored(html).split(/(?<=<\/h1>)/, 2)
    await writeFile(`${DIST}/runbook.html`, framed(head, text))
    await writeFile(`${DIST}/reference.html`, referenceOf(`${ROOT}../api/openapi.yaml`))
  },
}

export default defineConfig({
  root: ROOT,
  plugins: [react(), leanSafe, leanViem, onePiece, pageToKeep, documents],
  resolve: { alias },
  build: {
    target: 'es2022',
    emptyOutDir: true,
    // The content security policy admits data: URLs only for images.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // If only one page uses a module, the others must not load it.
          includeDependenciesRecursively: false,
          groups: [
            { name: chunkOf, debugName: 'base', priority: 2 },
            // The pages with wallets share it, and it would become a dozen files, too.
            { name: 'wallet', test: OF_VIEM, minShareCount: 2, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': service, '/.well-known': service, '/docs': service } },
})
