// The configuration in a printable form for operators, by setting, with secrets masked. It must never reveal a secret, or a part of a URL that may be
// one.
import type { Config } from './derived.ts'
import { SETTING, SETTINGS, type SettingName } from './names.ts'
import { maskUrl } from './setting.ts'

/** Every setting (without its NAME_FILE form) and its effective value as text; null if it has none. */
export function describeConfig(config: Config): Record<SettingName, string | null> {
  const texts = Object.fromEntries(SETTINGS.map((name) => [name, textOf(name, config)]))
  for (const role of ['MINTER', 'DISTRIBUTOR'] as const) {
    // The embedded chain has a key of its own, which we show unless the settings name a key that is kept elsewhere.
    const own = `${role}_PRIVATE_KEY` as const
    const key = role === 'MINTER' ? config.keys.minter : config.keys.distributor
    if (key !== null && key.kind !== 'privateKey') texts[own] = null
  }
  return texts as Record<SettingName, string | null>
}

function textOf(name: SettingName, config: Config): string | null {
  const { secret, part, show } = SETTING[name]
  const value = config[name]
  if (value === null) return part && config.embedded[part] ? 'embedded' : null
  if (show) return show(value as never)
  const texts = (Array.isArray(value) ? value : [value]).map((one) =>
    secret ? masked(String(one), secret) : String(one),
  )
  return texts.join(',')
}

const masked = (text: string, secret: true | 'url') => (secret === 'url' ? maskUrl(text) : '***')
