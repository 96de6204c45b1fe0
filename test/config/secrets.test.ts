// The lengths of operators' keys: refusals, and warnings for a release.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspectConfig } from '../../src/config/load.ts'

const SESSION_SECRET = 'f1d3e5a7c9b8064215738a9c0bde4f62'
const [KEY_A, KEY_B] = ['5738a9c0bde4f62f1d3e5a7c9b806421', 'c0bde4f62f1d3e5a7c9b8064215738a9']

/** The problems and the warnings of settings, as text. */
function read(NODE_ENV: 'production' | 'development', env: Record<string, string>) {
  const missing = () => {
    throw Object.assign(new Error('no file'), { code: 'ENOENT' })
  }
  const { config, problems } = inspectConfig({ NODE_ENV, SESSION_SECRET, ...env }, { readFile: missing })
  const said = (found: typeof problems) =>
    found.flatMap(({ setting, message }) => (setting in env ? [`${setting} ${message}`] : []))
  return { mistakes: said(problems), warnings: said(config.hints) }
}

for (const name of ['ADMIN_KEY', 'CRON_KEY'] as const) {
  test(`in production an ${name} below 16 characters is refused, below 32 warned of without its text`, () => {
    const { mistakes, warnings } = read('production', { [name]: KEY_A.slice(0, 15) })
    assert.match(
      mistakes.join('\n'),
      new RegExp(`^${name} has 15 characters, but needs at least 16: .*openssl rand -hex 32`),
    )
    assert.deepEqual(warnings, [])
    for (const length of [16, 31]) {
      const short = read('production', { [name]: KEY_A.slice(0, length) })
      assert.deepEqual(short.mistakes, [])
      assert.match(
        short.warnings.join('\n'),
        new RegExp(`^${name} has a key of ${length} characters.* 32: .*openssl rand -hex 32`),
      )
      assert.doesNotMatch(short.warnings.join('\n'), /5738a9c0/)
    }
    assert.deepEqual(read('production', { [name]: KEY_A }), { mistakes: [], warnings: [] })
  })

  test(`in development an ${name} below 8 characters is refused, and none is warned of`, () => {
    assert.match(
      read('development', { [name]: 'a-key-7' }).mistakes.join('\n'),
      new RegExp(`^${name} has 7 characters, but needs at least 8`),
    )
    assert.deepEqual(read('development', { [name]: 'a-key-no-8' }), { mistakes: [], warnings: [] })
  })
}

test('each of several admin keys is checked', () => {
  const { warnings } = read('production', { ADMIN_KEY: `anna:${KEY_A},bert:${KEY_B.slice(0, 20)}` })
  assert.deepEqual(warnings.length, 1)
  assert.match(warnings[0] ?? '', /a key of 20 characters/)
})
