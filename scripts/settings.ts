// Writes .env.example and the tables of docs/SETTINGS.md from the table of settings (src/config/table.ts).
import { readFileSync, writeFileSync } from 'node:fs'
import type { Setting, SettingGroup } from '../src/config/setting.ts'
import { SETTING_GROUPS } from '../src/config/table.ts'

const PAGE = new URL('../docs/SETTINGS.md', import.meta.url)
const EXAMPLE = new URL('../.env.example', import.meta.url)
const MARK = '<!-- From here on made by: npm run generate -->\n'
const GROUPS: readonly SettingGroup[] = SETTING_GROUPS
const WIDTH = 120

const HEAD = `Every setting of Node Ledger. Copy this file to .env, which is read in development, and take the # away from what you want to set; in
production set them in the environment. A variable of the environment wins over .env, and an empty one counts as not set. What stands
behind the # is the default (where there are two, that of the embedded chain).

Durations are in seconds, amounts in wei (0.001 ether is 1000000000000000). Switches take true or false, on or off. Settings marked
(secret) can also be read from a file: set NAME_FILE to its path instead of NAME. Nothing needs to be set for "npm start": a missing
DATABASE_URL or RPC_URL is replaced by an embedded database or chain.`

/** The full text of .env.example. */
export function envExample(): string {
  const parts = GROUPS.flatMap(({ title, text, settings }) => [
    `# ${` ${title.toLowerCase()}`.padStart(WIDTH - 2, '-')}${text === undefined ? '' : `\n${comment(text)}`}`,
    ...Object.entries(settings).map(([name, setting]) => `${comment(sentences(setting))}\n# ${name}=${shown(setting)}`),
  ])
  return `${[...HEAD.split('\n\n').map(comment), ...parts].join('\n\n')}\n`
}

/** docs/SETTINGS.md with its tables filled in from the settings. */
export function withSettings(page: string): string {
  const [written] = page.split(MARK)
  const tables = GROUPS.map(({ title, text, settings }) => {
    const rows = Object.entries(settings).map(
      ([name, setting]) =>
        `| \`${name}\`${setting.secret ? ' 🔑' : ''}${setting.first ? ' 🌱' : ''} | ${defaultCell(setting)} | ${linked(setting.text)}${exampleOf(setting, '`')} |`,
    )
    const intro = text === undefined ? '' : `${linked(text)}\n\n`
    return `## ${title}\n\n${intro}| setting | default | meaning |\n|---|---|---|\n${rows.join('\n')}\n`
  })
  return `${written}${MARK}\n${tables.join('\n')}`
}

export function writeSettings(): void {
  writeFileSync(EXAMPLE, envExample())
  writeFileSync(PAGE, withSettings(readFileSync(PAGE, 'utf8')))
}

/** Checks that both files match the table. If not, says what to do. */
export function checkSettings(): boolean {
  const page = readFileSync(PAGE, 'utf8')
  const isCurrent = readFileSync(EXAMPLE, 'utf8') === envExample() && page === withSettings(page)
  if (!isCurrent)
    console.error('.env.example or docs/SETTINGS.md is not what src/config/table.ts makes: run "npm run generate".')
  return isCurrent
}

const shown = (setting: Setting) => setting.embedded ?? setting.default ?? ''
const exampleOf = ({ example }: Setting, quote: string) => (example ? ` Example: ${quote}${example}${quote}` : '')
const linked = (text: string) => text.replaceAll(/docs\/([A-Z]+\.md)/g, '[$1]($1)')

function defaultCell(setting: Setting): string {
  const embedded = setting.embedded === undefined ? '' : ` [\`${setting.embedded}\`]`
  return `${setting.otherwise ?? (setting.default === undefined ? 'none' : `\`${setting.default}\``)}${embedded}`
}

function sentences(setting: Setting): string {
  const { text, secret, otherwise, embedded } = setting
  // If the default is a single value, we show it after the name.
  const isShown = embedded === undefined && setting.default !== undefined
  const words = otherwise ?? (isShown ? null : (setting.default ?? 'none'))
  const onEmbedded = embedded === undefined ? '' : ` (embedded chain: ${embedded})`
  const said = words === null ? '' : ` Default: ${words}${onEmbedded}.`
  return `${secret ? '(secret) ' : ''}${text}${said}${exampleOf(setting, '')}`
}

/** Commands in quotes, without other Markdown. */
const plain = (_: string, code: string) => (code.includes(' ') ? `"${code}"` : code)

/** A text as comment lines. */
function comment(text: string): string {
  const lines = ['#']
  for (const word of text.replaceAll(/`([^`]*)`/g, plain).split(/\s+/)) {
    if (`${lines.at(-1)} ${word}`.length > WIDTH) lines.push('#')
    lines.push(`${lines.pop()} ${word}`)
  }
  return lines.join('\n')
}
