// Files that `node-ledger init` writes for the way in which the service will run: the shipped unit, compose file or manifests, put to its folder.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseKmsKey } from '../../chain/send/kms/key.ts'
import { RefusedError } from '../errors.ts'
import type { Folder } from './folder.ts'
import type { Form } from './questions.ts'

/** Where this program is: a checkout or an installed package. */
const PROGRAM = resolve(fileURLToPath(new URL('../../..', import.meta.url)))
const read = (name: string) => readFileSync(join(PROGRAM, name), 'utf8')
/** The program as Node starts it. */
export const MAIN = ['ts', 'js'].map((kind) => join(PROGRAM, `src/main.${kind}`)).find((path) => existsSync(path)) ?? ''
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

interface Written {
  readonly files: Readonly<Record<string, string>>
  /** Steps that are left to the operator. */
  readonly next: readonly string[]
}

/** The command of this folder: any other command, with its settings. */
export function commandOf(folder: Folder): string {
  const secrets = Object.entries(folder.secretSettings()).map(([name, value]) => `export ${name}=${quoted(value)}`)
  return `#!/bin/sh
# A command of Node Ledger with the settings of this folder: ./ledger doctor
set -a
. ${quoted(folder.at('settings.env'))}
set +a
export NODE_LEDGER_COMMAND="$0"
${secrets.join('\n')}
export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072
exec ${quoted(process.execPath)} --max-semi-space-size=4 --max-old-space-size=512 ${quoted(MAIN)} "$@"
`
}

/** The files of a form, and what comes next. Throws a RefusedError where this installation cannot make it. */
export function filesOf(form: Form, folder: Folder): Written {
  return FILES_OF[form](folder)
}

const FILES_OF: Readonly<Record<Form, (folder: Folder) => Written>> = { shell, systemd, compose, kubernetes }

function shell(folder: Folder): Written {
  return { files: {}, next: [`Start it: ${folder.at('ledger')} start`] }
}

/** The unit with the paths of this folder, and with the secrets that there are. */
function systemd(folder: Folder): Written {
  const unit = read('ops/systemd/node-ledger.service')
  const lines = unit.split('\n').filter((line) => !/^(LoadCredential|Environment=\w+_FILE)=/.test(line))
  const secrets = folder
    .secrets()
    .flatMap(([setting, name]) => [
      `LoadCredential=${name}:${folder.at('secrets', name)}`,
      `Environment=${setting}=%d/${name}`,
    ])
  const at = lines.findIndex((line) => line.startsWith('ExecStart='))
  lines.splice(at, 0, ...secrets)
  const text = lines
    .join('\n')
    .replace(/^WorkingDirectory=.*$/m, `WorkingDirectory=${PROGRAM}`)
    .replace(/^EnvironmentFile=.*$/m, `EnvironmentFile=${folder.at('settings.env')}`)
    .replace(/^Documentation=.*$/m, `Documentation=file:${join(PROGRAM, 'docs/RUNBOOK.md')}`)
    .replace(/^ExecStart=\S+ (.*) src\/main\.ts start$/m, `ExecStart=${process.execPath} $1 ${MAIN} start`)
  return {
    files: { 'node-ledger.service': text },
    next: [
      `As root: cp ${folder.at('node-ledger.service')} /etc/systemd/system/ && systemctl daemon-reload && systemctl enable --now node-ledger`,
    ],
  }
}

/** The compose file, which brings a PostgreSQL of its own. */
function compose(folder: Folder): Written {
  if (!existsSync(join(PROGRAM, 'compose.yaml')))
    throw new RefusedError('--form compose needs a checkout, which holds the Dockerfile that it builds from.')
  folder.addSecret('database_password', () => randomBytes(24).toString('hex'))
  folder.addSecret('database_url', () => `postgres://ledger:${folder.secret('database_password')}@database:5432/ledger`)
  const secrets = folder.secrets()
  const text = read('compose.yaml')
    .replace('build: .', `build: ${PROGRAM}`)
    .replace(
      /(?: {6}\w+_FILE: \/run\/secrets\/\w+\n)+(?= {4}secrets: )/,
      secrets.map(([setting, name]) => `      ${setting}: /run/secrets/${name}\n`).join(''),
    )
    .replace(/secrets: \[database_url, .*\]/, `secrets: [${secrets.map(([, name]) => name).join(', ')}]`)
    .replace(
      /(?: {2}\w+: \{ file: .*\n)+$/,
      ['database_password', ...secrets.map(([, name]) => name)]
        .map((name) => `  ${name}: { file: ./secrets/${name} }\n`)
        .join(''),
    )
  return {
    files: { 'compose.yaml': text, 'compose.env': plainSettings(folder) },
    next: [
      `Secrets are readable by user 65532 of the image: chown -R 65532 ${folder.at('secrets')}`,
      `Start it: docker compose --project-directory ${folder.path} up --detach --build`,
    ],
  }
}

/** The manifests, under a kustomization that has the settings and the secrets. */
function kubernetes(folder: Folder): Written {
  const secrets = folder.secrets()
  const mounted = '/run/secrets/node-ledger/'
  const ledger = read('ops/kubernetes/ledger.yaml')
    .replace(
      new RegExp(`(?: {12}- name: \\w+\\n {14}value: ${mounted}\\w+\\n)+`),
      secrets
        .map(([setting, name]) => `            - name: ${setting}\n              value: ${mounted}${name}\n`)
        .join(''),
    )
    .replace(/$/, egressTo(folder))
  const settings = plainSettings(folder)
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line) && !line.startsWith('NODE_ENV='))
    .map((line) => line.replace(/^(\w+)=(.*)$/, (_, name, value) => `        ${name}: ${JSON.stringify(value)}`))
  const text = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - ledger.yaml
patches:
  - patch: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: node-ledger
      data:
${settings.join('\n')}
generatorOptions:
  disableNameSuffixHash: true
secretGenerator:
  - name: node-ledger
    files:
${secrets.map(([, name]) => `      - secrets/${name}`).join('\n')}
`
  return {
    files: { 'ledger.yaml': ledger, 'kustomization.yaml': text },
    next: [
      'Put the image, the namespaces and the ports of the network policy to yours in ledger.yaml.',
      `Start it: kubectl apply --kustomize ${folder.path}`,
    ],
  }
}

/** Rules of the network policy for where keys are, which may be in a private network: signers, and what hands out keys to a service. */
function egressTo(folder: Folder): string {
  const roles = ['minter', 'distributor']
  const signers = roles.flatMap((role) => folder.secret(`${role}_signer_url`) ?? [])
  const ports = signers.map((url) => Number(new URL(url).port) || (url.startsWith('https:') ? 443 : 80))
  const services = roles.map((role) => parseKmsKey(folder.secret(`${role}_kms_key`) ?? '')?.service)
  // EKS Pod Identity; the metadata server of GKE, as it is with Dataplane V2 and without.
  const aws = services.includes('aws') ? [toHost('169.254.170.23', 80)] : []
  const google = services.includes('google') ? [toHost('169.254.169.254', 80), toHost('169.254.169.252', 988)] : []
  return [...[...new Set(ports)].map((port) => `    - ports:\n        - port: ${port}\n`), ...aws, ...google].join('')
}

const toHost = (host: string, port: number) =>
  `    - to:\n        - ipBlock:\n            cidr: ${host}/32\n      ports:\n        - port: ${port}\n`

const plainSettings = (folder: Folder) => readFileSync(folder.at('settings.env'), 'utf8')
