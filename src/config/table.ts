// The table of all settings, by group. Each setting is in one place, with its parser, its default, whether it is a secret, and its text for people.
// From the table follow the type of the configuration, the names, `node-ledger config`, .env.example and docs/SETTINGS.md.
import { CHAIN } from './chain.ts'
import { KEYS } from './keys.ts'
import { PRICE, REWARDS, SALE, SCHEDULE } from './sale.ts'
import { SECRETS } from './secrets.ts'
import { DATABASE, EMBEDDED, SERVICE } from './service.ts'
import { SITE } from './site.ts'
import { WEBHOOKS } from './webhooks.ts'

export const SETTING_GROUPS = [
  SERVICE,
  SITE,
  EMBEDDED,
  DATABASE,
  CHAIN,
  SALE,
  KEYS,
  REWARDS,
  SCHEDULE,
  SECRETS,
  PRICE,
  WEBHOOKS,
]
