// Every check, by its name, so that a test can compare the alerts with ops/prometheus/alerts.yaml and docs/RUNBOOK.md. boot/preflight.ts chooses those of
// the start; the doctor makes all.
import { FACTORY_CHECKS, PROVIDER_CHECKS } from './chain.ts'
import type { Check } from './check.ts'
import { DATABASE_CHECKS, REACHED } from './database.ts'
import { KEY_CHECKS } from './keys.ts'
import { LEDGER_CHECKS } from './ledger.ts'
import { OWNER_CHECKS } from './owner.ts'
import { ASKED_CHECKS } from './providers.ts'
import { SALE_CHECKS } from './sale.ts'
import { SERVICE_CHECKS } from './service.ts'
import { WEBHOOK_CHECKS } from './webhooks.ts'

export const CHECKS: Readonly<Record<string, Pick<Check<never>, 'alert'>>> = {
  ...SERVICE_CHECKS,
  ...REACHED,
  ...DATABASE_CHECKS,
  ...PROVIDER_CHECKS,
  ...ASKED_CHECKS,
  ...FACTORY_CHECKS,
  ...OWNER_CHECKS,
  ...KEY_CHECKS,
  ...SALE_CHECKS,
  ...LEDGER_CHECKS,
  ...WEBHOOK_CHECKS,
}
