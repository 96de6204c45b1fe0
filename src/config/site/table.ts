// The settings of what people are shown, as a group of the table of all settings.
import type { SettingGroup } from '../setting.ts'

export const SITE_GROUP = {
  title: 'What people see',
  text: 'Shown on the pages, and in `/.well-known/node-ledger.json`. A change takes a restart, and no new build.',
  settings: [
    {
      name: 'CHAIN_NAME',
      kind: 'text',
      otherwise: "by the chain's id, where it is a known one",
      example: 'Ethereum',
      text: "The chain's name.",
    },
    {
      name: 'EXPLORER_URL',
      kind: 'url',
      otherwise: "by the chain's id, where it is a known one",
      example: 'https://etherscan.io',
      text: 'A block explorer. `/tx/…`, `/address/…` and `/block/…` are put after it.',
    },
    { name: 'BRAND_NAME', kind: 'text', example: 'Aurora Nodes', text: 'Whose sale it is.' },
    {
      name: 'BRAND_LOGO',
      kind: 'path',
      text: 'A file: an SVG image of 64 KiB at most, without scripts. Served as `/brand/logo.svg`.',
    },
    {
      name: 'BRAND_COLOR',
      kind: 'text',
      example: '#1a6b52',
      text: 'The colour of buttons and links.',
    },
    {
      name: 'BRAND_CONTACT',
      kind: 'text',
      example: 'help@example.org',
      text: 'Where buyers ask: an address of mail, or a page.',
    },
    { name: 'TERMS_URL', kind: 'url', example: 'https://nodes.example.org/terms', text: 'The terms of the sale.' },
  ],
} as const satisfies SettingGroup
