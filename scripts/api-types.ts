// The types of the routes' answers, made by openapi-typescript, which needs the TypeScript 5 that the client brings for itself: the
// client's from api/openapi.yaml, the operator's from api/admin.yaml. And the scopes of the operator's acts, for the console.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const CLIENT = join(ROOT, 'client')
const GENERATOR = join(CLIENT, 'node_modules/openapi-typescript/bin/cli.js')

/** Files, each with the document that it is made from. */
const MADE = [
  { file: 'client/src/schema.ts', document: 'api/openapi.yaml', make: types(['components', 'operations']) },
  { file: 'api/admin.ts', document: 'api/admin.yaml', make: types(['paths', 'components', 'operations']) },
  { file: 'api/admin-scopes.ts', document: 'api/admin.yaml', make: scopes },
]

/** Writes all of them. */
export async function writeApiTypes(): Promise<void> {
  for (const { file, document, make } of MADE) await writeFile(join(ROOT, file), make(document))
}

/** Checks that they are made from the documents; says what to do when not. */
export async function checkApiTypes(): Promise<boolean> {
  let isCurrent = true
  for (const { file, document, make } of MADE) {
    if ((await readFile(join(ROOT, file), 'utf8')) === make(document)) continue
    console.error(`${file} is not what ${document} makes: run "npm run generate" and commit it.`)
    isCurrent = false
  }
  return isCurrent
}

/** Others ask for no key, and have no scope. */
const OPERATORS = '/api/admin/'
type Operations = Record<string, Record<string, { 'x-scope'?: string }>>

/** The scope of each act by its route, in order. */
function scopes(document: string): string {
  const { paths } = parse(readFileSync(join(ROOT, document), 'utf8'), { merge: true }) as { paths: Operations }
  const acts = Object.entries(paths).flatMap(([path, { post }]) =>
    post && path.startsWith(OPERATORS) ? [`  '${path.slice(OPERATORS.length)}': '${post['x-scope']}',`] : [],
  )
  return `// The scope that a key must have for each act of the operator's. Written by "npm run generate" from ${document}; never edit it.

export const ACT_SCOPES = {
${acts.map((line) => line.replace(/^ {2}'(\w+)':/, '  $1:')).join('\n')}
} as const
`
}

/** The types of these names alone: what is imported, and what it refers to. */
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
    // Of each route it names all methods and places of parameters that there are none of.
    return [head, ...kept]
      .join('')
      .replaceAll(/^ +(get|put|post|delete|options|head|patch|trace|query|header|path|cookie)\?: never;\n/gm, '')
      .replaceAll(/^ +parameters: \{\n +\};\n/gm, '')
  }
}
