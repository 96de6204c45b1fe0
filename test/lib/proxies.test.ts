// Proxies that the environment names: the service ignores them, as its settings say.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startFalseProvider } from '../chain/false-provider.ts'

const ROOT = new URL('../..', import.meta.url)
/** Asks a provider, and then any other host as the source of prices is asked. */
const ASKING = `
  import { createRpc } from './src/chain/rpc/rpc.ts'
  import { request } from './src/lib/undici.ts'
  import { silentLog } from './src/lib/log.ts'
  const rpc = createRpc({ urls: [process.argv[1]], log: silentLog })
  console.log(await rpc.request('eth_chainId', []))
  console.log((await request(process.argv[1], { method: 'POST', body: '{"id":1,"method":"eth_chainId","params":[]}' })).statusCode)
  process.exit()`

test('the service connects straight to other hosts, with any proxies in the environment', async () => {
  const settings = readFileSync(new URL('docs/SETTINGS.md', ROOT), 'utf8')
  assert.match(settings, /connects straight to providers.*It ignores proxy settings in the environment/)
  const [provider, proxy] = await Promise.all([startFalseProvider(), startFalseProvider()])
  try {
    provider.rule = () => ({ result: '0x7a69' })
    const named = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
    const proxies = Object.fromEntries(named.map((name) => [name, proxy.url]))
    const env = { ...process.env, ...proxies, NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1' }
    const child = spawn(process.execPath, ['--input-type=module', '--eval', ASKING, provider.url], { cwd: ROOT, env })
    let output = ''
    child.stdout.on('data', (part: Buffer) => (output += part))
    child.stderr.on('data', (part: Buffer) => (output += part))
    await once(child, 'close')
    assert.equal(output, '0x7a69\n200\n')
    assert.deepEqual([provider.requests, proxy.requests], [2, 0])
  } finally {
    await Promise.all([provider.close(), proxy.close()])
  }
})
