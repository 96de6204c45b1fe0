// The types of the routes' answers: the client's from api/openapi.yaml, the operator's from api/admin.yaml. openapi-typescript generates them, and
// needs the client's own TypeScript 5. Also generates the declarations of the operator's acts, for the console.
import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Field } from '../src/operator/input.ts'
import { OPERATIONS } from '../src/operator/operations.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const CLIENT = join(ROOT, 'client')
const GENERATOR = join(CLIENT, 'node_modules/openapi-typescript/bin/cli.js')

/** The generated files, each with its source document. */
const MADE = [
  { file: 'client/src/schema.ts', document: 'api/openapi.yaml', make: types(['components', 'operations']) },
  { file: 'api/admin.ts', document: 'api/admin.yaml', make: types(['paths', 'components', 'operations']) },
  { file: 'api/admin-acts.ts', document: 'src/operator/operations.ts', make: acts },
]

/** Writes all generated files. */
export async function writeApiTypes(): Promise<void> {
  for (const { file, document, make } of MADE) await writeFile(join(ROOT, file), make(document))
}

/** Checks that the files match the documents. If not, says what to do. */
export async function checkApiTypes(): Promise<boolean> {
  let isCurrent = true
  for (const { file, document, make } of MADE) {
    if ((await readFile(join(ROOT, file), 'utf8')) === make(document)) continue
    console.error(`${file} is not what ${document} makes: run "npm run generate" and commit it.`)
    isCurrent = false
  }
  return isCurrent
}

/** The scope of each act by its route, and the fields of its form with their labels. */
function acts(source: string): string {
  const routes = OPERATIONS.filter(({ kind, path }) => kind === 'act' && path !== null).map(
    ({ path, scope, fields, leavesOut = [] }) => {
      const inPath = [...(path ?? '').matchAll(/:(\w+)/g)].map(([, name = '']) => name)
      const asked = Object.entries(fields).filter(([name]) => ![...inPath, ...leavesOut].includes(name))
      return [
        `  ${quotedIfNeeded(path?.replaceAll(/:(\w+)/g, '{$1}') ?? '')}: {`,
        `    scope: '${scope ?? 'any'}',`,
        '    fields: {',
        ...asked.map(([name, field]) => `      ${name}: ${formOf(field)},`),
        '    },',
        '  },',
      ].join('\n')
    },
  )
  return `// The scope that a key must have for each act of the operator's, and the fields that it takes. Written by "npm run generate" from what the
// modules of ${source} declare; never edit it.

export const ACTS = {
${routes.join('\n')}
} as const
`
}

const quotedIfNeeded = (name: string) => (/^\w+$/.test(name) ? name : `'${name}'`)

const formOf = ({ help, value, words, required }: Field) =>
  `{ help: ${JSON.stringify(help)}, value: ${JSON.stringify(value)}, required: ${required}${words ? `, words: ${JSON.stringify(words)}` : ''} }`

/** Keeps only the types with these names, and the types to which they refer. */
function types(names: readonly string[]): (document: string) => string {
  return (document) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [GENERATOR, join('..', document)], {
      cwd: CLIENT,
      encoding: 'utf8',
      maxBuffer: 16 << 20,
    })
    if (status !== 0) throw new Error(`openapi-typescript failed:\n${stderr}`)
    const [head = '', ...parts] = stdout.split(/^(?=export )/m)
    const kept = parts.filter((part) => names.some((name) => part.startsWith(`export interface ${name} `)))
    // The generator lists all methods and parameters of each route, even absent ones.
    return [head, ...kept]
      .join('')
      .replaceAll(/^ +(get|put|post|delete|options|head|patch|trace|query|header|path|cookie)\?: never;\n/gm, '')
      .replaceAll(/^ +parameters: \{\n +\};\n/gm, '')
  }
}
