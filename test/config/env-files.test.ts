// What editors and tools leave in files of settings: a byte order mark, another encoding, quotes that a shell would remove.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspectConfig } from '../../src/config/load.ts'

/** Loads settings; returns them with the problems found. */
function load(env: Record<string, string>, files: Record<string, string> = {}) {
  const readFile = (path: string) => {
    const text = files[path]
    if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
    return text
  }
  const { config, problems } = inspectConfig(env, { readFile })
  return { config, said: problems.map(({ setting, message }) => `${setting} ${message}`).join('\n') }
}

test('.env is read without a byte order mark, and refused in any encoding but UTF-8', () => {
  const { config, said } = load({}, { '.env': '\uFEFFPORT=4000\nHOST=::1' })
  assert.deepEqual([said, config.PORT, config.HOST], ['', 4000, '::1'])
  assert.match(load({}, { '.env': 'P\0O\0R\0T\0=\x004\0' }).said, /^NODE_ENV .*not UTF-8 text/)
})

test('a value in quotes is refused by its name, and not repeated: an env file is no shell', () => {
  const [double, single] = ['"a-key-in-double-quotes-0123456789"', "'a-key-in-quotes-0123456789abcdef'"]
  for (const [env, files] of [
    [{ CRON_KEY: double }, {}],
    [{ CRON_KEY: single }, {}],
    [{ CRON_KEY_FILE: '/k' }, { '/k': `${double}\n` }],
  ] as const) {
    const { said } = load(env, files)
    assert.match(said, /^CRON_KEY is in quotes/)
    assert.doesNotMatch(said, /0123456789/)
  }
  assert.deepEqual([load({ BRAND_NAME: "Joe's" }).said, load({ BRAND_NAME: '"' }).said], ['', ''])
})
