// The table of settings (src/config/table.ts) and its products agree: the parsers, .env.example, docs/SETTINGS.md.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { parseEnv } from 'node:util'
import { envExample, withSettings } from '../../scripts/settings.ts'
import { describeConfig, inspectConfig } from '../../src/config/load.ts'
import { isSecret, SETTING, SETTINGS, type SettingName } from '../../src/config/names.ts'

const TABLE = SETTINGS.map((name) => ({ name, ...SETTING[name] }))
const EXTERNAL = {
  RPC_URL: 'http://127.0.0.1:9999',
  FACTORY_ADDRESS: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  DATABASE_URL: 'postgres://localhost/x',
}
const isSecretName = (name: string) => isSecret(name as SettingName)

function inspect(env: Record<string, string>, dotEnv = '') {
  const readFile = (path: string) => {
    if (path === '.env') return dotEnv
    throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
  }
  return inspectConfig(env, { readFile })
}

function load(env: Record<string, string>, dotEnv = '') {
  const { config, problems } = inspect(env, dotEnv)
  assert.deepEqual(problems, [])
  return config
}

describe('the lists of settings agree', () => {
  const root = new URL('../../', import.meta.url)
  const example = readFileSync(new URL('.env.example', root), 'utf8')

  test('.env.example lists every setting, each once', () => {
    const named = [...example.matchAll(/^# ([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name)
    assert.deepEqual(named.sort(), [...SETTINGS].sort())
  })

  test('.env.example changes nothing unedited, and its examples are valid', () => {
    assert.deepEqual(Object.keys(parseEnv(example)), [])
    const all = example.replaceAll(/^# ([A-Z][A-Z0-9_]+=)/gm, '$1')
    assert.deepEqual({ ...load({}, all), namedSettings: [] }, load({}))
  })

  test('the table makes .env.example and docs/SETTINGS.md, each with every setting once', () => {
    assert.equal(example, envExample())
    const page = readFileSync(new URL('docs/SETTINGS.md', root), 'utf8')
    assert.equal(page, withSettings(page))
    const rows = [...page.matchAll(/^\| `([A-Z][A-Z0-9_]+)`( 🔑)?( 🌱)? \|/gm)]
    assert.deepEqual(rows.map(([, name]) => name).sort(), [...SETTINGS].sort())
    for (const [, name = '', mark, first] of rows) {
      assert.equal(mark !== undefined, isSecretName(name), name)
      assert.equal(first !== undefined, SETTING[name as SettingName].first === true, name)
    }
  })

  test('the defaults of the table apply, with an embedded chain and without', () => {
    const [embedded, external] = [describeConfig(load({})), describeConfig(load(EXTERNAL))]
    for (const setting of TABLE) {
      const { name, otherwise } = setting
      if (setting.default !== undefined || setting.embedded !== undefined) {
        assert.equal(embedded[name], setting.embedded ?? setting.default, name)
        assert.equal(external[name], setting.default ?? null, name)
      } else if (otherwise === undefined) {
        assert.ok([null, 'embedded'].includes(embedded[name]), name)
      }
    }
  })

  test('every setting of the table is read: an invalid text is refused, others take effect', () => {
    const before = inspect({})
    for (const name of SETTINGS) assert.notDeepEqual(inspect({ [name]: '\u00a7 1' }), before, name)
  })

  test('the examples of the table are accepted', () => {
    for (const { name, example: given } of TABLE) {
      if (given === undefined) continue
      const { problems } = inspect({ [name]: given })
      assert.deepEqual(
        problems.filter(({ setting }) => setting === name),
        [],
      )
    }
  })
})
