// Writes .env.example and the tables of docs/SETTINGS.md from the table of settings (src/config/table.ts).
import { readFileSync, writeFileSync } from 'node:fs'
import type { Setting, SettingGroup } from '../src/config/setting.ts'
import { SETTING_GROUPS } from '../src/config/table.ts'

const PAGE = new URL('../docs/SETTINGS.md', import.meta.url)
const EXAMPLE = new URL('../.env.example', import.meta.url)
const MARK = '<!-- From here on made by: npm run generate -->\n'
const GROUPS: readonly SettingGroup[] = SETTING_GROUPS
const WIDTH = 120

const HEAD = `# Every setting of Node Ledger with its default. docs/SETTINGS.md explains them. For development, copy this file to .env and
# uncomment what you want to set. In production, set environment variables instead.`

/** The full text of .env.example. */
export function envExample(): string {
  const parts = GROUPS.map(({ title, settings }) => {
    const lines = Object.entries<Setting>(settings).map(
      ([name, own]) => `# ${name}=${own.embedded ?? own.default ?? ''}`,
    )
    return [`# ${` ${title.toLowerCase()}`.padStart(WIDTH - 2, '-')}`, ...lines].join('\n')
  })
  return `${[HEAD, ...parts].join('\n\n')}\n`
}

/** docs/SETTINGS.md with its tables filled in from the settings. */
export function withSettings(page: string): string {
  const [written] = page.split(MARK)
  const tables = GROUPS.map(({ title, text, settings }) => {
    const rows = Object.entries(settings).map(
      ([name, setting]) =>
        `| \`${name}\`${setting.secret ? ' 🔑' : ''}${setting.first ? ' 🌱' : ''} | ${defaultCell(setting)} | ${linked(setting.text)}${exampleOf(setting)} |`,
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

const linked = (text: string) => text.replaceAll(/docs\/([A-Z]+\.md)/g, '[$1]($1)')

function defaultCell(setting: Setting): string {
  const embedded = setting.embedded === undefined ? '' : ` [\`${setting.embedded}\`]`
  return `${setting.otherwise ?? (setting.default === undefined ? 'none' : `\`${setting.default}\``)}${embedded}`
}

const exampleOf = ({ example }: Setting) => (example ? ` Example: \`${example}\`` : '')
