// The settings of telemetry, as a group of the table of all settings. Names and meanings are OpenTelemetry's own
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/, …/protocol/exporter/).
import type { SettingGroup } from '../setting.ts'

export const TELEMETRY_GROUP = {
  title: 'Telemetry',
  text: 'Traces and logs to an OpenTelemetry collector, besides metrics and the log on stdout. Off unless `OTEL_EXPORTER_OTLP_ENDPOINT` is set. [OBSERVABILITY.md](OBSERVABILITY.md#traces-and-logs) says what is sent, and which packages it takes.',
  settings: [
    {
      name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      kind: 'url',
      example: 'http://collector.internal:4318',
      text: 'The collector, spoken to by OTLP over HTTP in JSON (its port is 4318 as a rule). `/v1/traces` and `/v1/logs` are put after it.',
    },
    {
      name: 'OTEL_EXPORTER_OTLP_HEADERS',
      kind: 'key',
      secret: true,
      example: 'x-api-key=0123456789abcdef',
      text: 'Headers for it, `name=value` with commas between them; values may be percent-encoded.',
    },
    {
      name: 'OTEL_TRACES_EXPORTER',
      kind: 'word',
      default: 'otlp',
      text: '`otlp`, or `none` for no traces.',
    },
    { name: 'OTEL_LOGS_EXPORTER', kind: 'word', default: 'otlp', text: '`otlp`, or `none` for no logs.' },
    {
      name: 'OTEL_TRACES_SAMPLER',
      kind: 'word',
      default: 'parentbased_always_on',
      text: '`always_on`, `always_off`, `traceidratio`, or one of them after `parentbased_`: then the decision of the proxy before the service holds, if it is one of `TRUSTED_PROXIES`.',
    },
    {
      name: 'OTEL_TRACES_SAMPLER_ARG',
      kind: 'text',
      otherwise: '1',
      example: '0.1',
      text: 'The share of traces that `traceidratio` keeps, from 0 to 1.',
    },
    { name: 'OTEL_SERVICE_NAME', kind: 'text', default: 'node-ledger', text: 'The name under which they are sent.' },
    {
      name: 'OTEL_RESOURCE_ATTRIBUTES',
      kind: 'text',
      example: 'deployment.environment.name=production',
      text: 'What else is said of this instance, `name=value` with commas between them.',
    },
  ],
} as const satisfies SettingGroup
